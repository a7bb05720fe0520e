"""Grids that are too wide to ship: rendered to memory, judged by both compilers, run on every adapter.

lavapipe runs every variant; SwiftShader and Dawn, which compile longer, a third each. All of a grid on all of them is
`wgslgen verify tests/grids/NAME.toml`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from shares import share

from wgslgen import bundlefile
from wgslgen.adapters import MATRICES, SOFTWARE
from wgslgen.naming import variant_name
from wgslgen.oracles import problem_maker
from wgslgen.render import render
from wgslgen.spec import Kernel
from wgslgen.validate import validate
from wgslgen.verify import for_gpus, missing_runs, verify

GRIDS = sorted(path.stem for path in Path(__file__).parent.glob("grids/*.toml"))
MOST = 1500
"""Variants of all grids together, so that they run in minutes."""


@cache
def variants(grid: str) -> tuple[Kernel, ...]:
    """Return the variants of tests/grids/`grid`.toml."""
    return bundlefile.expand(bundlefile.load(Path(__file__).parent / "grids" / f"{grid}.toml")).variants


def test_grids_are_wide_and_names_differ() -> None:
    every = [variant for grid in GRIDS for variant in variants(grid)]
    assert 400 < len(every) <= MOST
    assert len({variant_name(variant) for variant in every}) == len({*every})
    assert {variant.NAME for variant in every} >= {"matvec", "get_rows", "rms_norm", "quantize_q8"}


@pytest.mark.parametrize("grid", GRIDS)
def test_what_a_variant_keeps_is_what_its_oracle_gives_it_to_start_with(grid: str) -> None:
    """The oracle knows which outputs are inputs, too; the spec has to say the same, because plans rely on it."""
    for variant in variants(grid):
        case = variant.cases()[0]
        made = problem_maker(variant.NAME)(variant.model_dump(), case.sizes, np.random.default_rng(0))
        written = {binding.name for binding in variant.bindings() if binding.access == "read_write"}
        kept = {binding.name for binding in variant.bindings() if binding.kept}
        started = written & made.inputs.keys()
        # What takes row chunks leaves the others' results alone, and all chunks together fill the buffer.
        assert kept == (set() if "FIRST_ROW" in variant.SIZES else started), variant_name(variant)


@pytest.mark.parametrize("grid", GRIDS)
def test_all_judges_accept_every_variant(grid: str) -> None:
    texts = {variant_name(variant): render(variant, grid) for variant in variants(grid)}
    report = validate(texts, require=("naga", "tint"))
    assert not report.rejected, {name: report.findings[name] for name in report.rejected}
    matrices = {variant_name(variant) for variant in variants(grid) if variant.subgroup_matrix}
    assert {(item.judge, item.text) for item in report.not_judged} == {("naga", name) for name in matrices}


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize("grid", GRIDS)
def test_every_variant_gives_the_oracles_result(grid: str, adapter: str) -> None:
    """What an adapter lacks is f16 on SwiftShader, and subgroup matrices; lavapipe runs all that has none."""
    outcomes = verify(share(variants(grid), adapter), [adapter])
    failed = [f"{o.variant}: {o.problem}" for o in outcomes if o.status == "failed"]
    assert not failed, "\n".join(failed[:20])
    matrices = {variant_name(variant) for variant in variants(grid) if variant.subgroup_matrix}
    assert {o.lacking for o in outcomes if o.variant not in matrices} <= {None, "shader-f16"}
    assert {o.lacking for o in outcomes if o.variant in matrices} <= {MATRICES, "shader-f16"}
    if adapter == "lavapipe":
        assert missing_runs(outcomes) == []
        assert {*for_gpus(outcomes)} == matrices
