"""Selection in Python and in the page: the same plans and the same words, and what they say."""

from __future__ import annotations

import hashlib
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from node import node

from wgslgen import costs, expr, profile, selection
from wgslgen.errors import UsageProblem
from wgslgen.kernels import KERNELS

GENERATED = Path(__file__).parent.parent / "generated"
BUNDLES = sorted(path.stem for path in GENERATED.glob("*.toml"))
POINTS = 17_000
"""Of each bundle, of which there are six: more than 100,000 in all."""
FAILING = "a device on which each third variant failed the self-test"
WANTS: tuple[dict[str, Any], ...] = (
    {},
    {"rounding": "int8"},
    {"rounding": "f16", "layout": "planar"},
    {"rounding": "signs", "layout": "ggml"},
    {"activation": "f16", "rounding": "f16"},
    {"output": "f16"},
    {"epilogue": "residual"},
    {"epilogue": "swiglu", "rounding": "int8"},
    {"format": "q4_0"},
    {"cache": "f16"},
    {"nonsense": 1},
)
VALUES = (
    0,
    1,
    2,
    3,
    4,
    7,
    16,
    17,
    64,
    96,
    128,
    256,
    576,
    1024,
    2048,
    4096,
    6144,
    12288,
    65536,
    151669,
    2**31,
    2**32 - 1,
)


@cache
def kit(name: str) -> dict[str, Any]:
    return selection.kit_of(json.loads((GENERATED / name / "manifest.json").read_text()))


def sizes_of(plan: Any) -> dict[str, int]:
    """Return sizes for a plan: such as its bundle was made for, with others among them."""
    sizes = {name: random.choice(VALUES) for name in plan["sizes"]}
    sizes |= {name: random.choice((64, 128, 2048, 4096, 6144)) for name in ("N", "K", "D") if name in sizes}
    sizes |= {name: random.choice((1, 1, 2, 5, 17, 512)) for name in ("M", "B", "R") if random.random() < 0.9}
    if random.random() < 0.05:
        sizes[random.choice([*sizes])] = random.choice((*VALUES, 2**32, -1))
    if random.random() < 0.02:
        del sizes[random.choice([*sizes])]
    return sizes


def points(name: str) -> list[tuple[str, dict[str, int], str, dict[str, Any]]]:
    found = {op: [*selection.candidates(kit(name), op)] for op in selection.ops(kit(name))}
    profiles = [*profile.profiles(), FAILING]
    drawn = []
    for _ in range(POINTS):
        op = random.choice([*found])
        drawn.append((op, sizes_of(random.choice(found[op])), random.choice(profiles), random.choice(WANTS)))
    return drawn


@pytest.mark.parametrize("name", BUNDLES)
def test_the_page_selects_as_python_does(name: str) -> None:
    """On POINTS of each bundle: the plan, the ranking with its costs, and each refusal with its words."""
    drawn = points(name)
    script = (
        f'const {{ kit, select }} = await import("{(GENERATED / name).as_uri()}/index.js");\n'
        'const { createHash } = await import("node:crypto");\n'
        "const result = given.points.map(([op, sizes, profile, want]) => {\n"
        "  const { plan, ranked, refused } = select(kit, op, sizes, given.profiles[profile], want);\n"
        "  const words = [ranked.map((one) => [one.name, one.ns]), refused.map((one) => [one.name, one.reason])];\n"
        "  return [plan && plan.name, createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16)];\n"
        "});"
    )
    known = {key: value.data() for key, value in profile.profiles().items()}
    known[FAILING] = {**known["chrome-apple"], "failed": [*kit(name)["variants"]][::3]}
    found = node(script, {"points": drawn, "profiles": known})
    chosen = 0
    for (op, sizes, who, want), (plan, digest) in zip(drawn, found, strict=True):
        ours = selection.select(kit(name), op, sizes, known[who], want)
        words = json.dumps([ours.ranked, ours.refused], separators=(",", ":"), ensure_ascii=False)
        assert plan == (ours.plan and ours.plan["name"]), (op, sizes, who, want)
        assert digest == hashlib.sha256(words.encode()).hexdigest()[:16], (op, sizes, who, want)
        chosen += plan is not None
    assert POINTS // 10 < chosen < POINTS


# ---- what it says -------------------------------------------------------------------------------------

ONE = {"M": 1, "N": 6144, "K": 2048}


def chosen(who: str, sizes: dict[str, int], op: str = "linear", **want: Any) -> selection.Selection:
    return selection.select(kit("bonsai-1.7b-q2_0"), op, sizes, profile.get(who).data(), want)


def reason(found: selection.Selection, words: str) -> str:
    """Return the reason of the first refused candidate whose name has these words."""
    return next(refused.reason for refused in found.refused if words in refused.name)


def test_operands_are_rounded_where_that_is_wanted_alone() -> None:
    kernels = [
        [step["variant"].split("_q2")[0].split("_xf")[0] for step in (chosen("core", ONE, **want).plan or {})["passes"]]
        for want in ({}, {"rounding": "f16"}, {"rounding": "int8"})
    ]
    assert kernels == [["matvec"], ["matvec"], ["quantize_q8", "matvec"]]
    said = reason(chosen("core", ONE), "linear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows1")
    assert said == "it rounds operands to int8, and none is the most that is wanted"


def test_a_device_gets_what_it_can_run() -> None:
    with_subgroups, without = (chosen(who, ONE).plan or {} for who in ("chrome-apple", "firefox-apple"))
    assert with_subgroups["name"] == f"{without['name']}_sg"
    assert "needs feature subgroups" in reason(chosen("firefox-apple", ONE), f"{without['name']}_sg")
    many = {**ONE, "M": 17}
    assert "needs maxComputeInvocationsPerWorkgroup 256, has 128" in reason(chosen("compat", many), "tile_m64")
    matrix = chosen("chrome-vulkan-nvidia", {**many, "K": 2048}, rounding="f16")
    lacking = "needs feature shader-f16; needs feature chromium-experimental-subgroup-matrix"
    assert lacking in reason(matrix, "subgroup_matrix_m128")


def test_a_variant_that_failed_the_self_test_is_refused_and_another_chosen() -> None:
    first = chosen("core", ONE).plan or {}
    failing = {**profile.get("core").data(), "failed": [first["name"]]}
    found = selection.select(kit("bonsai-1.7b-q2_0"), "linear", ONE, failing)
    assert found.plan is not None
    assert found.plan["name"] != first["name"]
    assert reason(found, first["name"]) == f"{first['name']} failed the self-test on this device"


def test_sizes_decide() -> None:
    few, many = (chosen("core", {**ONE, "M": m}, rounding="int8").plan or {} for m in (5, 512))
    assert "m16_n16" in few["name"]
    assert "m64_n64" in many["name"]
    found = chosen("core", {"M": 1, "N": 6144, "K": 2080})
    assert found.plan is None
    assert reason(found, "float_rows8").endswith("a row must be whole blocks of 64 weights")
    assert reason(chosen("core", {"N": 6144, "M": 1}), "float_rows8") == "it needs the size K"
    assert reason(chosen("core", {**ONE, "M": 2}), "float_rows8") == "it is for M = 1"
    assert reason(chosen("core", {**ONE, "N": -1}), "float_rows8") == "N is -1, which is no u32"
    assert reason(chosen("core", {**ONE, "N": 2**32 - 1, "K": 2**31}), "float_rows8") == "the sizes lead past 2^53"
    large = reason(chosen("core", {**ONE, "N": 2**22}), "float_rows8")
    assert large.endswith("binding codes has 2147483648 bytes, above maxStorageBufferBindingSize 134217728")


def test_what_is_wanted_must_be_what_is_computed() -> None:
    assert reason(chosen("core", ONE), "xf16_yf32__w1_float_rows8") == "activation is f16, not f32"
    assert reason(chosen("core", ONE, format="q1_0"), "float_rows8") == "format is q2_0, not q1_0"
    assert reason(chosen("core", ONE, cache="f16"), "float_rows8") == "it has no cache"
    residual = chosen("core", {"M": 1, "N": 2048, "K": 2048}, epilogue="residual").plan or {}
    assert "residual" in residual["name"]


def test_the_ranking_is_by_cost_and_names_every_candidate_once() -> None:
    found = chosen("chrome-apple", ONE, rounding="int8")
    assert [ranked.ns for ranked in found.ranked] == sorted(ranked.ns for ranked in found.ranked)
    assert found.plan is not None
    assert found.ranked[0].name == found.plan["name"]
    names = [*(ranked.name for ranked in found.ranked), *(refused.name for refused in found.refused)]
    assert len(names) == len({*names}) == len([*selection.candidates(kit("bonsai-1.7b-q2_0"), "linear")])


def test_a_driver_on_the_cpu_has_costs_of_its_own() -> None:
    """There a workgroup of 128 is dear, and int8 no gain; a kind without rows has the rows without a kind alone."""
    for name in ("swiftshader", "lavapipe"):
        assert profile.get(name).kind == "software"
        here = chosen(name, ONE, rounding="int8")
        assert here.plan is not None
        assert "wg32" in here.plan["name"]
        assert "_float_" in here.plan["name"]
    assert "_int8_" in (chosen("chrome-d3d12-nvidia", ONE, rounding="int8").plan or {})["name"]
    strange = {**profile.get("core").data(), "kind": "abacus"}
    found = selection.select(kit("bonsai-1.7b-q2_0"), "linear", ONE, strange)
    assert {each.ns for each in found.ranked} == {costs.ANY, 2 * costs.ANY}  # of one pass and of two


def test_other_costs_give_another_ranking() -> None:
    dear = [{"kernel": "matvec", "constants": {"tile_rows": 8}, "ns": 10**9}, *costs.cost_rows()]
    changed = {**kit("bonsai-1.7b-q2_0"), "costs": dear}
    found = selection.select(changed, "linear", ONE, profile.get("core").data())
    assert "rows8" not in (found.plan or {})["name"]


@pytest.mark.parametrize(("op", "want"), [("conv", {}), ("linear", {"rounding": "int4"})])
def test_what_there_is_not_is_said(op: str, want: dict[str, Any]) -> None:
    said = r"nothing does conv; there are attention, |rounding 'int4'; expected one of none, f16"
    with pytest.raises(UsageProblem, match=said):
        chosen("core", ONE, op, **want)


# ---- costs and profiles -------------------------------------------------------------------------------


def test_a_cost_names_constants_and_numbers_that_its_kernel_has() -> None:
    known = {kernel.NAME: kernel for kernel in KERNELS}
    for row in (*costs.DEFAULT, *costs.SOFTWARE):
        kernel = known[row.kernel]
        assert {*row.constants} <= {*kernel.model_fields}
        numbers = {name.upper() for name in kernel.model_fields} | {*kernel.SIZES}
        assert expr.names(expr.parse(row.ns)) <= numbers


def test_profiles_are_the_classes_that_are_known_and_say_where_from() -> None:
    assert len(profile.profiles()) == 19
    base = profile.get("core").limits
    for name, found in profile.profiles().items():
        assert found.name == name
        assert {*found.grades} == {*profile.GRADED}
        assert all(grade[:1] in "DSI" for grade in found.grades.values())
        assert found.limits.keys() == base.keys()
        smaller = {limit for limit, value in found.limits.items() if value < base[limit]}
        invocations = {f"maxComputeWorkgroupSize{axis}" for axis in "XY"} | {"maxComputeInvocationsPerWorkgroup"}
        assert smaller == (invocations if name == "compat" else set())
        assert ("subgroups" in found.features) == (found.subgroups is not None)
    with pytest.raises(UsageProblem, match="--profile chrome-aple; expected one of: chrome-android-adreno") as said:
        profile.get("chrome-aple")
    assert said.value.hint == "--profile chrome-apple"
