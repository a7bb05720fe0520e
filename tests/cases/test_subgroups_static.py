"""What texts with subgroups must not assume, over all variants that are shipped or in a grid: C12, C13 and C18."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from wgsl_examples import kernel

from cases.support import SOURCE
from wgslgen import bundlefile
from wgslgen.kernels import KERNELS
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.spec import Kernel, SubgroupRange
from wgslgen.textrules import RULES, check
from wgslgen.textrules.text import Text
from wgslgen.validate import validate

TESTS = Path(__file__).parents[1]
FILES = sorted([*TESTS.glob("grids/*.toml"), *(TESTS.parent / "generated").glob("*.toml")])
SLOTS = re.compile(r"^const (\w*SLOTS): u32 = (\d+)u;$", re.MULTILINE)
"""The length of an array that has a slot for each subgroup."""


@cache
def texts() -> dict[Kernel, Text]:
    """Return every variant with subgroups, and its text as the rules read it."""
    every = (variant for path in FILES for variant in bundlefile.expand(bundlefile.load(path)).variants)
    return {variant: Text(render(variant, SOURCE)) for variant in every if variant.uses_subgroups}


def fired(text: Text, case: str) -> list[str]:
    """Return what the rules of a case find."""
    return [problem.message for rule in RULES if case in rule.cases for problem in rule.check(text)]


def lanes(body: str, before: str = "", size: str = "64") -> list[str]:
    """Return what all rules find in a text with subgroups."""
    return [finding.message for finding in check(kernel(body, before, size, enable="subgroups"))]


@pytest.mark.parametrize("case", ["C12", "C13", "C18"])
def test_no_variant_breaks_a_rule_of_subgroups(case: str) -> None:
    assert len(texts()) > 100
    assert {variant.NAME for variant in texts()} >= {k.NAME for k in KERNELS if "subgroups" in k.model_fields}
    found = {variant_name(variant): problems for variant, text in texts().items() if (problems := fired(text, case))}
    assert not found


# ---- C12 -------------------------------------------------------------------------------------------


def test_c12_one_slot_less_than_there_may_be_subgroups_is_caught_in_every_kernel() -> None:
    """So the rule does see what the texts index, through structs, functions and all."""
    seen: set[tuple[str, str]] = set()
    for variant, text in texts().items():
        source = text.source
        for const in SLOTS.finditer(source):
            if (variant.NAME, const[0]) in seen:
                continue
            seen.add((variant.NAME, const[0]))
            start, end = const.span(2)
            problems = fired(Text(f"{source[:start]}{int(const[2]) - 1}{source[end:]}"), "C12")
            assert problems, f"{variant_name(variant)}: {const[0]}"
            assert "is indexed by lanes or subgroups up to" in problems[0]
    by_lanes = {variant.NAME for variant, text in texts().items() if SLOTS.search(text.source)}
    assert {name for name, _ in seen} == by_lanes
    assert by_lanes == {variant.NAME for variant in texts()} - {"matmul", "matmul_id"}  # matrix units, not lanes


@pytest.mark.parametrize(
    ("body", "least", "most"),
    [
        ("tile[lane] = 1.0f;", 127, 128),
        ("tile[lane * 2u + 1u] = 1.0f;", 255, 256),
        ("tile[3u * input[0u] + subgroup] = 1.0f;", 15, 16),
        ("tile[subgroups] = 1.0f;", 16, 17),
        ("tile[lanes - 1u] = 1.0f;", 127, 128),
        ("let at = lane; tile[at + 4u] = 1.0f;", 131, 132),
        ("var at = 0u; at = lane / 2u; tile[at] = 1.0f;", 63, 64),
        ("tile[lane % 48u] = 1.0f;", 47, 48),
        ("tile[lane & 31u] = 1.0f;", 31, 32),
        ("tile[max(lane >> 1u, 20u)] = 1.0f;", 63, 64),
        ("tile[min(lane, 15u)] = 1.0f;", 1, 1),
        ("tile[select(lane, 0u, lane > 15u)] = 1.0f;", 127, 128),
        ("if (lane < 16u) { tile[lane + 1u] = 1.0f; }", 16, 17),
        ("if (group.x == 0u && lane <= 16u) { tile[lane] = 1.0f; }", 16, 17),
        ("if (lane < 16u) { tile[0u] = 1.0f; } else { tile[lane] = 1.0f; }", 127, 128),
        ("if (lane == 0u) { tile[subgroup] = 1.0f; }", 15, 16),
        ("if (lane < input[0u]) { tile[lane] = 1.0f; }", 1, 1),
        ("for (var i = lane; i < 40u; i += lanes) { tile[i] = 1.0f; }", 1, 1),
        ("for (var i = 0u; i < subgroups; i++) { tile[i] = 1.0f; }", 15, 16),
        ("for (var i = lane; i < input[0u]; i += lanes) { tile[i] = 1.0f; }", 1, 1),
        ("while (lane < 4u) { tile[lane] = 1.0f; }", 3, 4),
        ("switch group.x { case 0u: { tile[lane] = 1.0f; } default: {} }", 127, 128),
        ("put(lane);", 127, 128),
        ("let thread = Thread(index, lane); tile[thread.lane] = 1.0f;", 127, 128),
        ("give(Thread(lane, index));", 127, 128),
    ],
)
def test_c12_how_far_an_index_reaches(body: str, least: int, most: int) -> None:
    """An array of `least` elements is too short, one of `most` is not; where a guard is there, one is enough."""
    before = """
var<workgroup> tile: array<f32, LENGTH>;
struct Thread { index: u32, lane: u32 }
fn put(at: u32) { tile[at] = 1.0f; }
fn give(thread: Thread) { put(thread.index); }
"""
    if least < most:
        said = f"lane-indices: an array of {least} is indexed by lanes or subgroups up to {least}"
        assert any(problem.startswith(said) for problem in lanes(body, f"const LENGTH: u32 = {least}u;{before}"))
    assert lanes(body, f"const LENGTH: u32 = {most}u;{before}") == []


def test_c12_a_range_that_a_text_states_is_taken() -> None:
    """The report's own case: sizes from 8 to 64, and a tile of 16 rows."""
    stated = "const SUBGROUP_MIN: u32 = 8u;\nconst SUBGROUP_MAX: u32 = 64u;\nvar<workgroup> tile: array<f32, %d>;"
    assert lanes("tile[lane] = 1.0f;", stated % 64) == []
    assert lanes("tile[subgroup] = 1.0f;", stated % 8) == []
    for body, length in (("tile[lane] = 1.0f;", 16), ("tile[lane] = 1.0f;", 8), ("tile[subgroup] = 1.0f;", 7)):
        assert len(lanes(body, stated % length)) == 1
    assert lanes("if (lane < 16u) { tile[lane] = 1.0f; }", stated % 16) == []


def test_c12_a_variant_states_its_range_where_it_is_not_every_size() -> None:
    for variant, text in texts().items():
        stated = {
            name: const.value
            for const in variant.all_consts
            if (name := const.name) in ("SUBGROUP_MIN", "SUBGROUP_MAX")
        }
        sizes = variant.subgroup_range()
        wanted = {} if sizes == SubgroupRange() else {"SUBGROUP_MIN": sizes.min, "SUBGROUP_MAX": sizes.max}
        assert stated.items() <= wanted.items(), variant_name(variant)
        assert all(bool(text.declared("const", name)) == (name in stated) for name in wanted)


@pytest.mark.parametrize(
    "array",
    [
        "var<private> tile: array<f32, 8>;",
        "alias Tile = array<f32, 4u + 4u>;\nvar<workgroup> tile: Tile;",
        "const N = 2;\nvar<workgroup> tile: array<f32, N * 4>;",
    ],
)
def test_c12_lengths_are_found_in_whatever_way_they_are_written(array: str) -> None:
    assert any("an array of 8 is" in problem for problem in lanes("tile[lane] = 1.0f;", array))


def test_c12_arrays_in_arrays_and_in_structs() -> None:
    nested = "var<workgroup> tile: array<array<f32, 16>, 128>;"
    assert lanes("tile[lane][subgroup] = 1.0f;", nested) == []
    assert any("an array of 16 is" in problem for problem in lanes("tile[subgroup][lane] = 1.0f;", nested))
    held = "struct Tile { rows: array<f32, 16> }\nvar<workgroup> tile: Tile;"
    assert lanes("tile.rows[subgroup] = 1.0f;", held) == []
    assert any("an array of 16 is" in problem for problem in lanes("tile.rows[lane] = 1.0f;", held))


# ---- C13 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel_class", [k for k in KERNELS if {"workgroup_size", "subgroups"} <= {*k.model_fields}])
def test_c13_a_spec_has_workgroups_of_one_dimension_only(kernel_class: type[Kernel]) -> None:
    constants: dict[str, Any] = {"workgroup_size": (8, 8, 1), "subgroups": True}
    with pytest.raises(ValidationError, match=r"workgroup_size = \(8, 8, 1\) is of type tuple"):
        kernel_class.model_validate(constants)


@pytest.mark.parametrize("size", ["8, 8, 1", "8, 8", "1, 64", "EIGHT, EIGHT, 1"])
def test_c13_a_text_with_subgroups_has_workgroups_of_one_dimension_only(size: str) -> None:
    message = "flat-subgroups: a text with subgroups has a workgroup of more than one dimension"
    assert lanes("", "const EIGHT: u32 = 8u;", size) == [message]
    assert lanes("", "const EIGHT: u32 = 8u;", "64, 1, 1") == []


@pytest.mark.parametrize("lane", ["index % 32u", "index & 31u", "index / 64u", "index >> 5u", "(index % 32u) + 1u"])
def test_c13_a_lane_is_not_made_from_a_local_id(lane: str) -> None:
    assert [problem.partition(":")[0] for problem in lanes(f"output[index] = f32({lane});")] == ["no-fixed-lanes"]


# ---- C18 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "if (lane < 2u) { output[index] = subgroupAdd(1.0f); }",
        "if (lane > 9u) { return; } output[index] = subgroupMax(1.0f);",
        "for (var i = lane; i < 64u; i += lanes) { output[i] = subgroupMin(1.0f); }",
        "for (var i = 0u; i < 4u; i++) { if (i > lane) { break; } output[i] = subgroupAdd(1.0f); }",
        "if (group.x * 4u + subgroup >= 3u) { return; } output[index] = subgroupAdd(1.0f);",
    ],
)
def test_c18_a_subgroup_operation_behind_what_depends_on_lanes_is_refused(body: str) -> None:
    assert [problem.partition(":")[0] for problem in lanes(body)] == ["uniform-subgroups"]


@pytest.mark.parametrize("value", ["lane", "subgroup", "lanes", "index", "group.x", "lane * 4u + 1u"])
def test_c18_no_builtin_is_stored_in_a_private_variable(value: str) -> None:
    assert [p.partition(":")[0] for p in lanes(f"own = {value};", "var<private> own: u32;")] == ["no-private-builtins"]


def test_c18_rows_that_no_workgroup_has_all_of_are_accepted_by_all_judges() -> None:
    """N baked in and no multiple of the rows of a workgroup: surplus rows are clamped, nothing returns early."""
    variants = [
        Matvec.model_validate(
            {"format": "q4_0", "route": route, "activation_group": group, "n": n, "tile_rows": 4, "subgroups": True}
        )
        for route, group in (("float", None), ("int8", 32))
        for n in (1, 3, 5, 1537)
    ]
    report = validate({variant_name(v): render(v, SOURCE) for v in variants}, require=("naga", "tint"))
    assert not report.rejected, {name: report.findings[name] for name in report.rejected}
    assert not report.not_judged
