"""Presets: the models' facts, and the bundle files made for them."""

from __future__ import annotations

from collections import Counter

import pytest

from wgslgen import decoder, formats, initialise, plans, presets
from wgslgen.bundlefile import MOST_VARIANTS, Grid, expand, parse
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel

STORED = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups]

NVIDIA = 49152
"""Bytes of workgroup memory that NVIDIA's devices have; for tiles of their matrix units the default is too few."""

every = pytest.mark.parametrize("preset", presets.PRESETS)
every_format = pytest.mark.parametrize("stored", STORED, ids=lambda stored: f"{stored.name}-{stored.group}")


def grid_of(preset: str, stored: Format) -> Grid:
    name, text = initialise.from_preset(preset, stored.name, stored.group)
    return expand(parse(text, f"{name}.toml"))


@pytest.mark.parametrize(
    ("preset", "shapes"),
    {
        "bonsai-1.7b": {(2048, 2048), (1024, 2048), (6144, 2048), (2048, 6144), (151669, 2048)},
        "bonsai-4b": {(4096, 2560), (1024, 2560), (2560, 4096), (9728, 2560), (2560, 9728), (151669, 2560)},
        "bonsai-8b": {(4096, 4096), (1024, 4096), (12288, 4096), (4096, 12288), (151669, 4096)},
    }.items(),
)
def test_shapes(preset: str, shapes: set[tuple[int, int]]) -> None:
    weights = presets.weights(presets.get(preset), formats.get("q1_0"))
    assert {(weight.n, weight.k) for weight in weights} == shapes
    assert sum(weight.count for weight in weights) == 7 * presets.get(preset).layers + 2


def test_only_the_largest_has_its_own_output_projection() -> None:
    heads = [
        weight.name
        for model in presets.PRESETS.values()
        for weight in presets.weights(model, formats.get("q1_0"))
        if weight.role == "head"
    ]
    assert heads == ["token_embd", "token_embd", "output"]


def test_unknown_preset() -> None:
    with pytest.raises(UsageProblem, match="there is no preset 'bonsai-2b'; expected one of: bonsai-1") as caught:
        presets.get("bonsai-2b")
    assert caught.value.hint is not None
    with pytest.raises(UsageProblem) as caught:
        presets.get("zzz")
    assert caught.value.hint == "choose a preset from: bonsai-1.7b, bonsai-4b, bonsai-8b"


def test_rows_that_are_not_whole_blocks() -> None:
    model = Model(
        hidden=576,
        intermediate=1536,
        q_heads=9,
        kv_heads=3,
        head_dim=64,
        layers=30,
        vocab=49152,
        rope_theta=1e5,
        eps=1e-5,
        tied=True,
    )
    assert presets.weights(model, formats.get("q4_1"))
    with pytest.raises(UsageProblem, match=r"attn_q: q1_0 with group 128: K = 576 is not a positive") as caught:
        presets.weights(model, formats.get("q1_0"))
    assert caught.value.hint == "K fits group 32, 64: set group = 32"


# The bundles.


@every
@every_format
def test_a_bundle_is_of_a_size_to_review(preset: str, stored: Format) -> None:
    grid = grid_of(preset, stored)
    least = 60 if stored.quantised else 50
    assert least <= len(grid.variants) <= 135 < MOST_VARIANTS
    assert grid.pruned == ()
    assert len({variant_name(variant) for variant in grid.variants}) == len(grid.variants)


@every
@every_format
def test_a_bundle_holds_all_that_a_token_needs(preset: str, stored: Format) -> None:
    """Each route with and without subgroups, and for 128 threads, with either cache: a form for any device."""
    grid, model = grid_of(preset, stored), presets.get(preset)
    made = plans.derive(grid.variants, model)
    routes = ("float", "int8") if stored.quantised else ("float",)
    group = f"_g{stored.group}" if len(stored.groups) > 1 else ""
    assert {plan.name for plan in made if plan.op == "decode_layer"} == {
        f"decode_layer.{stored.name}{group}_{route}_kv{cache}{form}"
        for route in routes
        for cache in ("f32", "f16")
        for form in ("", "_sg", "_wg128")
    }
    passes = {plan.name: len(plan.passes) for plan in made if plan.op == "decode_layer"}
    assert {count for name, count in passes.items() if "_float_" in name} == {9}
    assert {count for name, count in passes.items() if "_int8_" in name} <= {10}
    assert sum(plan.op == "decode_head" for plan in made) == 3 * len(routes)
    assert any(plan.op == "decode_embedding" for plan in made)
    plain = [plan for plan in made if not any(variant.features() for variant in plan.variants)]
    assert {"decode_embedding", "decode_layer", "decode_head"} <= {plan.op for plan in plain}


@every_format
def test_a_bundle_has_every_form_without_a_feature(stored: Format) -> None:
    """For each variant there is one that computes the same with f32 activations and no optional feature."""
    grid = grid_of("bonsai-1.7b", stored)

    def purpose(variant: Kernel) -> str:
        if isinstance(variant, Matmul):  # all its routes make the same product
            return f"{variant.NAME} {variant.epilogue}"
        optional = {"activation", "output", "cache", "subgroups", "tile_rows", "workgroup_size", "step_words", "vector"}
        return f"{variant.NAME} {variant.model_dump(exclude=optional)}"

    plain = {
        purpose(variant) for variant in grid.variants if not variant.requirements.features and not variant.raised_limits
    }
    assert plain == {purpose(variant) for variant in grid.variants}
    raised = [variant.raised_limits.get("maxComputeWorkgroupStorageSize", 0) for variant in grid.variants]
    assert max(raised) <= NVIDIA


@every_format
def test_every_int8_route_has_its_quantiser(stored: Format) -> None:
    grid = grid_of("bonsai-1.7b", stored)
    read = {
        (variant.activation_group, variant.weight_format.int8_stride)
        for variant in grid.variants
        if isinstance(variant, Matvec | Matmul) and variant.route == "int8"
    }
    written = {(v.group, v.stride) for v in grid.variants if isinstance(v, QuantizeQ8)}
    assert read == written
    assert bool(read) == stored.quantised


@every
def test_routes_and_baked_shapes(preset: str) -> None:
    grid = grid_of(preset, formats.get("q2_0", 64))
    matvecs = [variant for variant in grid.variants if isinstance(variant, Matvec)]
    assert {variant.route for variant in matvecs} == {"float", "int8", "block"}
    model = presets.get(preset)
    layer = decoder.shapes(model)
    for route in ("float", "int8"):
        mine = [variant for variant in matvecs if variant.route == route]
        assert {(v.n, v.k) for v in mine if v.n is not None} <= {*layer.values()}
        assert {v.k for v in mine if v.k is not None} == {
            model.hidden,
            model.intermediate,
            layer["attention_output"][1],
        }
        assert {v.epilogue for v in mine} == {"store", "residual", "swiglu"}
        loose = Counter(v.tile_rows for v in mine if v.k is None and v.layout == "planar")
        assert set(loose) == {1, 8}


# `init --preset`.


@pytest.mark.parametrize(
    ("weight_format", "group", "name", "command"),
    [
        ("q1_0", None, "bonsai-4b-q1_0", "--format q1_0 --group 128"),
        ("q1_0", 32, "bonsai-4b-q1_0-g32", "--format q1_0 --group 32"),
        ("q2_0", None, "bonsai-4b-q2_0", "--format q2_0 --group 64"),
        ("q2_0", 64, "bonsai-4b-q2_0", "--format q2_0 --group 64"),
        ("q2_0", 128, "bonsai-4b-q2_0-g128", "--format q2_0 --group 128"),
        ("q8_0", None, "bonsai-4b-q8_0", "--format q8_0"),
    ],
)
def test_names_and_provenance(weight_format: str, group: int | None, name: str, command: str) -> None:
    chosen, text = initialise.from_preset("bonsai-4b", weight_format, group)
    assert chosen == name
    first, second, *_ = text.splitlines()
    assert first == "# SPDX-License-Identifier: MIT"
    assert second == f"# Made by: wgslgen init --preset bonsai-4b {command}"
    file = parse(text, "t.toml")
    assert file.name == name
    assert file.model == presets.get("bonsai-4b").model_dump()


def test_a_name_of_ones_own() -> None:
    chosen, text = initialise.from_preset("bonsai-8b", "q1_0", name="mine")
    assert chosen == parse(text, "t.toml").name == "mine"
    assert "--format q1_0 --group 128 --name mine\n" in text
    with pytest.raises(UsageProblem, match=r'--name "My/Own"; expected') as caught:
        initialise.from_preset("bonsai-8b", "q1_0", name="My/Own")
    assert caught.value.hint == "--name my-own"


def test_formats_that_are_refused() -> None:
    with pytest.raises(UsageProblem, match="no --format; expected one of: f32, ") as caught:
        initialise.from_preset("bonsai-8b", None)
    assert caught.value.hint == "wgslgen init --preset bonsai-8b --format q2_0"
    with pytest.raises(UsageProblem, match="--format q8; expected one of") as caught:
        initialise.from_preset("bonsai-8b", "q8")
    assert caught.value.hint == "wgslgen init --preset bonsai-8b --format q8_0"
    with pytest.raises(UsageProblem, match="q2_0 has no group 32") as caught:
        initialise.from_preset("bonsai-8b", "q2_0", 32)
    assert caught.value.hint == "wgslgen init --preset bonsai-8b --format q2_0 --group 64"
