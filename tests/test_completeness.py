"""The proof that selection has no hole: none in what ships, one named for each fallback that is taken away.

And the proof's word against what `select` does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from wgslgen import completeness, profile, selection
from wgslgen.bundlefile import parse
from wgslgen.cli import main
from wgslgen.errors import UsageProblem
from wgslgen.provable import Provable

GENERATED = Path(__file__).parents[1] / "generated"
BUNDLES = sorted(path.stem for path in GENERATED.glob("*.toml"))
PROFILES = [*profile.profiles()]
SIZE_LIMITS = ("maxStorageBufferBindingSize", "maxBufferSize")
HEAD = 'name = "one"\n[[kernel]]\nkernel = "rms_norm"\n'


def manifest_of(bundle: str) -> dict[str, Any]:
    """Return the manifest that ships."""
    found: dict[str, Any] = json.loads((GENERATED / bundle / "manifest.json").read_text())
    return found


def without(manifest: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a manifest without these variants, and without the plans that need them."""
    return {
        **manifest,
        "variants": [variant for variant in manifest["variants"] if variant["name"] not in names],
        "plans": [p for p in manifest["plans"] if not {step["variant"] for step in p["passes"]} & {*names}],
    }


def able(device: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a device that can run everything, with the limits of `device` for buffers."""
    needs = [variant["requirements"] for variant in manifest["variants"]]
    raised = {name: max(need["limits"].get(name, 0) for need in needs) for name in device["limits"]}
    return {
        **device,
        "features": sorted({name for need in needs for name in need["features"]}),
        "languageFeatures": sorted({name for need in needs for name in need["language_features"]}),
        "limits": {name: max(value, raised[name]) for name, value in device["limits"].items()},
        "subgroups": None,
        "subgroupMatrices": [need["subgroup_matrix"] for need in needs if need["subgroup_matrix"]],
    }


@pytest.mark.parametrize("bundle", BUNDLES)
def test_no_shipped_bundle_has_a_hole(bundle: str) -> None:
    """On no profile of all, and the manifest names them."""
    manifest = manifest_of(bundle)
    assert manifest["profiles"] == PROFILES
    assert [*completeness.holes(selection.kit_of(manifest), PROFILES)] == []


@pytest.mark.parametrize(
    ("bundle", "variant", "op", "where"),
    [
        ("bonsai-1.7b-q2_0", "argmax_merge__wg128", "linear_argmax", "compat"),
        ("bonsai-1.7b-q2_0", "rms_norm_xf32_d2048__v4_wg128", "decode_layer", "compat"),
        ("smollm2-135m", "matmul_q8_0_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1", "linear", "compat"),
        (
            "building-blocks",
            "attention_prefill_q16_kv8_hd128_repeat_cf32_xf32__wg64_rows8",
            "attention_prefill",
            "core",
        ),
        ("bonsai-8b-q1_0", "rms_norm_xf32__v1_wg64", "norm", "core"),
    ],
)
def test_a_fallback_that_is_missing_is_named(bundle: str, variant: str, op: str, where: str) -> None:
    """By op, shape and profile; and `select` finds nothing for that shape there either."""
    manifest = manifest_of(bundle)
    assert variant in {each["name"] for each in manifest["variants"]}
    kit = selection.kit_of(without(manifest, variant))
    found = [hole for hole in completeness.holes(kit, [where]) if hole.op == op]
    assert found
    for hole in found:
        assert hole.sizes is not None
        plan = Provable(kit, next(p for p in selection.candidates(kit, op) if p["name"] == hole.plan))
        asked = selection.select(kit, op, hole.sizes, profile.get(where).data(), want_of(kit, op, plan))
        assert asked.plan is None
    with pytest.raises(UsageProblem) as problem:
        completeness.check("b.toml", without(manifest, variant), [where])
    first = found[0]
    at = ", ".join(f"{name} = {value}" for name, value in (first.sizes or {}).items())
    said = f"{op} of {at} has no plan on {where}: {first.plan} is for it, but "
    assert said in "".join(hole.line() for hole in found)
    assert "b.toml: selection has holes" in problem.value.message


def want_of(kit: dict[str, Any], op: str, plan: Provable) -> dict[str, Any]:
    """Return what a page asks for that wants what `plan` computes: constants that every candidate of the op has."""
    known = [selection.facts(kit, each) for each in selection.candidates(kit, op)]
    shared = {name: v for name, v in plan.meaning.items() if v is not None and all(name in each for each in known)}
    return {**shared, "rounding": selection.ROUNDINGS[plan.rounding]}


@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_proof_says_of_every_device_what_select_does(bundle: str) -> None:
    """With a third of the variants taken away at random: a hole is one for `select`, and there are no others.

    Shapes are drawn from what a plan takes. Those that a device with every feature has a plan for, the device must
    have a plan for, or a hole is known. `select` is asked for what that plan computes.
    """
    random = Random(f"holes of {bundle}")
    whole = manifest_of(bundle)
    met = filled = 0
    for _ in range(4):
        names = [variant["name"] for variant in whole["variants"]]
        manifest = without(whole, *random.sample(names, len(names) // 3))
        kit = selection.kit_of(manifest)
        plans = [(op, Provable(kit, p)) for op in selection.ops(kit) for p in selection.candidates(kit, op)]
        for name in random.sample(PROFILES, 4):
            device = profile.get(name).data()
            gaps = {hole.plan: hole.sizes for hole in completeness.holes(kit, [name])}
            known = [each for each in plans if each[1].name in gaps]
            for op, plan in known[:5] + random.sample(plans, min(25, len(plans))):
                if plan.holds_f16 and "shader-f16" not in device["features"]:
                    continue
                want = want_of(kit, op, plan)
                drawn = {each: s.step * (s.least + random.choice([0, 1, 7, 1000])) for each, s in plan.sizes.items()}
                sizes = gaps.get(plan.name) or {**plan.values, **drawn}
                anywhere = {each.name for each in selection.select(kit, op, sizes, able(device, manifest), want).ranked}
                if plan.name not in anywhere:
                    assert plan.name not in gaps
                    continue
                there = selection.select(kit, op, sizes, device, want)
                assert (there.plan is None) == (plan.name in gaps), (op, sizes, name, plan.name)
                met += plan.name in gaps
                filled += plan.name not in gaps
    assert met > 10
    assert filled > 50


FALLBACK = "rms_norm_xf32__v1_wg64"
NARROWER: dict[str, tuple[Callable[[dict[str, Any]], object], dict[str, int] | None]] = {
    "a rule more": (
        lambda variant: variant["rules"].append({"condition": ["eq", ["mod", "D", 8], 0], "why": "of eight"}),
        {"M": 1, "D": 4},
    ),
    "a limit of a size": (
        lambda variant: variant["rules"].append({"condition": ["le", "D", 1000], "why": "it is long"}),
        {"M": 1, "D": 1024},
    ),
    "a buffer of sixteen times": (
        lambda variant: variant["bindings"][0].update(length=["mul", ["mul", "M", "D"], 16]),
        {"M": 1, "D": 2**22},
    ),
    "a buffer that may be empty": (
        lambda variant: variant["bindings"][0].update(length=["div", "D", 8]),
        {"M": 1, "D": 4},
    ),
    "another name for a buffer": (lambda variant: variant["bindings"][0].update(name="rows"), {"M": 1, "D": 4}),
    "workgroups without end": (
        lambda variant: variant.update(workgroups=["mul", ["mul", "M", "D"], ["mul", "M", "D"]]),
        None,
    ),
}


@pytest.mark.parametrize("narrower", NARROWER.values(), ids=[*NARROWER])
def test_a_fallback_that_takes_less_is_none(
    narrower: tuple[Callable[[dict[str, Any]], object], dict[str, int] | None],
) -> None:
    """Each condition of standing in for another, broken alone, opens a hole, at the shape where it first matters."""
    change, sizes = narrower
    manifest = manifest_of("bonsai-8b-q1_0")
    manifest = without(manifest, "rms_norm_xf32__v4_wg64", "rms_norm_xf32__v4_wg256")
    assert [*completeness.holes(selection.kit_of(manifest), ["core"])] == []
    change(next(variant for variant in manifest["variants"] if variant["name"] == FALLBACK))
    found = [*completeness.holes(selection.kit_of(manifest), ["core"])]
    assert "rms_norm_xf32__v4_wg64_sg" in {hole.plan for hole in found}
    assert {tuple((hole.sizes or {}).items()) for hole in found if hole.plan == "rms_norm_xf32__v4_wg64_sg"} == {
        tuple((sizes or {}).items())
    }


def test_f16_data_is_for_devices_that_have_f16() -> None:
    """A norm of f16 has no plan on a core device, and that is no hole; one of f32 without a plan is."""
    manifest = manifest_of("bonsai-1.7b-q2_0")
    halves = [
        v["name"] for v in manifest["variants"] if v["kernel"] == "rms_norm" and v["name"].startswith("rms_norm_xf16")
    ]
    assert halves
    kit = selection.kit_of(without(manifest, *halves))
    assert [*completeness.holes(kit, ["core"])] == []
    assert selection.select(selection.kit_of(manifest), "norm", {"M": 1, "D": 64}, profile.get("core").data()).plan


def test_a_render_refuses_holes_and_its_hint_is_a_way_out(tmp_path: Path) -> None:
    """Nothing is written; the devices that the hint names have every plan; an empty list asks for no proof."""
    file = tmp_path / "one.toml"
    file.write_text(HEAD + "subgroups = true\n")
    ran = CliRunner().invoke(main, ["render", str(file)])
    assert ran.exit_code == 2
    assert "norm of M = 1, D = 4 has no plan on core: rms_norm_xf32__v4_wg64_sg is for it, but " in ran.output
    assert not (tmp_path / "one").exists()
    hint = ran.output[ran.output.index("profiles = [") :].splitlines()[0]
    assert '"core"' not in hint
    assert '"chrome-apple"' in hint
    for line in (hint, "profiles = []"):
        file.write_text(f"{line}\n{HEAD}subgroups = true\n")
        ran = CliRunner().invoke(main, ["render", str(file)])
        assert ran.exit_code == 0, ran.output
    assert CliRunner().invoke(main, ["render", "--check", str(file)]).exit_code == 0
    file.write_text(HEAD + "subgroups = true\n")
    assert CliRunner().invoke(main, ["render", "--check", str(file)]).exit_code == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('profiles = "core"', "expected a list of device classes"),
        ("profiles = [1]", "expected a list of device classes"),
        ('profiles = ["cor"]', 'hint: write "core"'),
        ('profiles = [""]', "is not among"),
    ],
)
def test_a_list_of_devices_that_is_none_is_refused(line: str, said: str) -> None:
    """With what was expected."""
    with pytest.raises(UsageProblem) as problem:
        parse(f"{line}\n{HEAD}", "one.toml")
    assert said in f"{problem.value.message}\nhint: {problem.value.hint}"


def test_a_bundle_is_for_all_devices_unless_it_says_so() -> None:
    """And names each of them once."""
    assert parse(HEAD, "one.toml").profiles == tuple(PROFILES)
    assert parse(f'profiles = ["core", "core"]\n{HEAD}', "one.toml").profiles == ("core",)
