"""Formats whose codes point into a table: what their kernels bind, and what bundles and plans say of it."""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np
import pytest

from wgslgen import bundle, formats, initialise, layouts, plans
from wgslgen.bundlefile import BundleFile, Grid, expand, parse
from wgslgen.kernels.weighted import Weighted
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.manifest import MANIFEST
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.served import Served, served

WORDS = {"iq2_xxs": 512, "iq2_xs": 1024, "iq2_s": 2048, "iq3_xxs": 256, "iq3_s": 512, "iq1_s": 4096, "iq1_m": 4096}
every = pytest.mark.parametrize("name", WORDS)


@cache
def everything() -> tuple[Served, ...]:
    return tuple(served())


@cache
def model_bundle(name: str) -> tuple[BundleFile, Grid]:
    """Return what `wgslgen init` writes for a decoder in the format."""
    _, text = initialise.from_preset("bonsai-1.7b", name)
    file = parse(text, "t.toml")
    return file, expand(file)


def test_these_are_the_formats_with_a_table() -> None:
    found = {kind.name: formats.get(kind.name, kind.groups[0]).grid() for kind in formats.FORMATS}
    assert {name: grid.size for name, grid in found.items() if grid is not None} == WORDS


@every
def test_every_kernel_binds_the_table_and_no_more_buffers_than_any_device_has(name: str) -> None:
    mine = [one.variant for one in everything() if one.format.name == name]
    assert {v.NAME for v in mine} >= {"matvec", "matmul", "matvec_id", "matmul_id", "get_rows", "lm_head_argmax"}
    for variant in mine:
        bindings = variant.bindings()
        assert len(bindings) <= DEFAULT_LIMITS["maxStorageBuffersPerShaderStage"], variant_name(variant)
        [at] = [index for index, binding in enumerate(bindings) if binding.name == layouts.GRID]
        assert (bindings[at].access, bindings[at].element, bindings[at].length) == ("read", "u32", str(WORDS[name]))
        declared = rf"@group\(0\) @binding\({at}\)\s+var<storage, read> grid: array<u32>;"
        text = render(variant, "tests")
        assert re.search(declared, text), variant_name(variant)
        assert "grid[" in text


def test_no_other_format_binds_one() -> None:
    for one in everything():
        named = layouts.GRID in {binding.name for binding in one.variant.bindings()}
        assert named == (one.format.name in WORDS)


@every
def test_packed_weights_name_all_that_is_bound(name: str, rng: np.random.Generator) -> None:
    """A caller binds what `pack` gives, plane by plane, and no word more or less."""
    fmt = formats.get(name)
    for one in everything():
        if one.format.name != name or one.kernel != "get_rows":
            continue
        packed = layouts.pack(fmt, one.layout, fmt.random_blocks(3, 512, rng), 3, 512)
        known = {**one.variant.const_values, "N": 3, "K": 512}
        assert {b.name: b.byte_length(known) for b in one.variant.weight_bindings()} == {
            plane: words.nbytes for plane, words in packed.items()
        }


@every
def test_a_packed_table_is_the_callers_own(name: str, rng: np.random.Generator) -> None:
    """What a caller does with its words does not reach the next caller."""
    fmt = formats.get(name)
    data = fmt.random_blocks(1, 256, rng)
    first = layouts.pack(fmt, "planar", data, 1, 256)["grid"]
    first[:] = 0
    assert layouts.pack(fmt, "planar", data, 1, 256)["grid"].any()


@pytest.mark.parametrize("name", ["iq2_xs", "iq1_m"])
def test_a_bundle_for_a_decoder_has_the_table_in_manifest_and_plans(name: str) -> None:
    file, grid = model_bundle(name)
    weighted = [variant for variant in grid.variants if isinstance(variant, Weighted)]
    assert {variant.NAME for variant in weighted} >= {"matvec", "get_rows", "lm_head_argmax"}
    built = bundle.build(file.name, grid.variants, "t.toml", file.description, file.facts)
    manifest = json.loads(built.files[MANIFEST])
    entries = {entry["name"]: entry for entry in manifest["variants"]}
    for variant in weighted:
        [table] = [b for b in entries[variant_name(variant)]["bindings"] if b["name"] == layouts.GRID]
        assert table["length"] == WORDS[name]
        assert table["access"] == "read"
        assert table["doc"] == f"the table of {name}, the same for all weights"
    layers = [plan for plan in manifest["plans"] if plan["op"] == "decode_layer"]
    assert layers
    for plan in layers:
        tables = {b["name"]: (b["role"], b["bytes"]) for b in plan["buffers"] if b["name"].endswith("_grid")}
        roles = ("qkv", "attention_output", "gate_up", "down")
        assert tables == {f"{role}_grid": ("input", 4 * WORDS[name]) for role in roles}


def test_linear_plans_hand_the_table_to_the_product() -> None:
    file, grid = model_bundle("iq3_s")
    found = [plan for plan in plans.derive(grid.variants, file.facts) if plan.op == "linear"]
    assert found
    for plan in found:
        [table] = [buffer for buffer in plan.buffers if buffer.name == layouts.GRID]
        assert (table.role, table.bytes) == ("input", 4 * WORDS["iq3_s"])
