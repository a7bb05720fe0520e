"""Every format on every kernel, route and layout that takes it: judged by both compilers, and run.

Nothing is listed here: `served` asks the kernels. lavapipe runs every variant; SwiftShader and Dawn, which compile
longer, run every sixth each, so that each format meets both.
"""

from __future__ import annotations

from functools import cache

import pytest
from shares import FIRST, share

from wgslgen import formats
from wgslgen.adapters import MATRICES
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.served import Served, routes, served, weighted_kernels
from wgslgen.validate import validate
from wgslgen.verify import for_gpus, missing_runs, verify

PARTS = 4
SHARE = 6
"""Of the variants that SwiftShader and Dawn run one each: few, and each format is among them."""


@cache
def everything() -> tuple[Served, ...]:
    return tuple(served())


def test_no_format_and_no_route_is_left_out() -> None:
    found = everything()
    assert len({variant_name(one.variant) for one in found}) == len(found)
    for kernel in weighted_kernels():
        mine = [one for one in found if one.kernel == kernel.NAME]
        assert {one.route for one in mine} == {*routes(kernel)}
        general = {one.format.name for one in mine if one.route in (None, "float", "tile")}
        assert general == {*formats.names()}, kernel.NAME
        if "int8" in routes(kernel):
            quantised = {kind.name for kind in formats.FORMATS if kind.quantised}
            assert {one.format.name for one in mine if one.route == "int8"} == quantised
        both = {(one.format.name, one.layout) for one in mine if one.route in (None, "float", "tile")}
        assert both >= {(kind.name, "planar") for kind in formats.FORMATS if kind.quantised}
        assert both >= {(name, "ggml") for name in formats.names()}


@pytest.mark.parametrize("part", range(PARTS))
def test_both_compilers_take_every_variant(part: int) -> None:
    """Texts with subgroup matrices, which naga does not know, are for Tint alone."""
    texts = {variant_name(one.variant): render(one.variant, "tests") for one in everything()[part::PARTS]}
    report = validate(texts, require=("naga", "tint"))
    assert not report.rejected, "\n".join(report.describe(name) for name in report.rejected)
    unknown = {item.text for item in report.not_judged}
    assert unknown == {name for name, text in texts.items() if "enable chromium_experimental" in text}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_variant_gives_the_oracles_result(part: int) -> None:
    variants = [one.variant for one in everything()[part::PARTS]]
    outcomes = verify(variants, ["lavapipe"])
    failed = [f"{o.variant}: {o.problem}" for o in outcomes if o.status == "failed"]
    assert not failed, "\n".join(failed[:20])
    assert missing_runs(outcomes) == []
    matrices = [variant_name(v) for v in variants if MATRICES in v.requirements.features]
    assert for_gpus(outcomes) == sorted(matrices)


def test_each_format_meets_both_of_the_other_adapters() -> None:
    for adapter in FIRST:
        assert {one.format.name for one in share(everything(), adapter, SHARE)} == {*formats.names()}


@pytest.mark.parametrize("adapter", FIRST)
def test_other_adapters_give_it_too(adapter: str) -> None:
    variants = [one.variant for one in share(everything(), adapter, SHARE) if not one.variant.subgroup_matrix]
    outcomes = verify(variants, [adapter])
    failed = [f"{o.variant}: {o.problem}" for o in outcomes if o.status == "failed"]
    assert not failed, "\n".join(failed[:20])
    assert {outcome.lacking for outcome in outcomes} <= {None, "shader-f16"}
