"""The arithmetic of targets, of the roof, and of the copies that take turns; shapes on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wgslgen import formats
from wgslgen.bench import record, rotate, suite
from wgslgen.bench.clock import Pace, Sample
from wgslgen.bench.counts import Count
from wgslgen.bench.jobs import Job, alone_plan
from wgslgen.bench.machine import Backend
from wgslgen.bench.results import PassTime, Result, baseline
from wgslgen.bench.roof import Measured, Roof, higher
from wgslgen.bench.run import Run, verdicts
from wgslgen.bench.shapes import shapes
from wgslgen.bench.suite import Context, Pair, Row, Value
from wgslgen.errors import UsageProblem
from wgslgen.kernels.matvec import Matvec

ONCE = Sample((1.0,), 1, True)
ROOF = Roof(
    (
        Measured("read", 4e12, "B/s", ONCE),
        Measured("copy", 2e12, "B/s", ONCE),
        Measured("f32", 50e12, "op/s", ONCE),
        Measured("dot4", 200e12, "op/s", ONCE),
    )
)
SHAPE = {"M": 1, "N": 4096, "K": 4096}


def result(route: str, seconds: float, rows: int = 4) -> Result:
    layout = {"layout": "ggml", "step_words": 1} if route == "block" else {}
    variant = Matvec.model_validate({"format": "q2_0", "group": 64, "route": route, "tile_rows": rows, **layout})
    plan = alone_plan(variant)
    assert plan is not None
    counted = Count(4_000_000, 1_000_000, 10**7, "f32")
    sample = Sample((seconds,), 1, True)
    return Result(Job(plan, SHAPE, SHAPE), sample, (PassTime(variant, counted, None),), 1, 0.5, 1000)


def test_shares_are_of_what_was_measured() -> None:
    counted = Count(3_000_000, 1_000_000, 10**9, "dot4")
    assert ROOF.read_share(counted, 2e-6) == pytest.approx(0.5)
    assert ROOF.copy_share(counted, 4e-6) == pytest.approx(0.5)
    assert ROOF.rate_share(counted, 1e-5) == pytest.approx(0.5)
    assert ROOF.rate_share(Count(1, 1, 10, "matrix"), 1.0) is None
    assert ROOF.rate_share(Count(1, 1, 0, None), 1.0) is None


def test_the_roof_is_the_better_of_both_ends() -> None:
    lower = Roof(
        tuple(each._replace(value=each.value * (2 if each.name == "dot4" else 0.5)) for each in ROOF.references)
    )
    best = higher(ROOF, lower)
    assert {each.name: best.get(each.name) for each in best.references} == {
        "read": 4e12,
        "copy": 2e12,
        "f32": 50e12,
        "dot4": 400e12,
    }


def test_the_limit_is_the_unit_that_is_closest_or_none() -> None:
    assert ROOF.limit(Count(3_000_000, 1_000_000, 10**6, "f32"), 1.25e-6) == "memory (read) 80%"
    assert ROOF.limit(Count(1_000_000, 3_000_000, 0, None), 2.5e-6) == "memory (copy) 80%"
    assert ROOF.limit(Count(1_000_000, 0, 10**9, "dot4"), 8e-6) == "dot4 units 62%"
    said = ROOF.limit(Count(1_000_000, 0, 10**9, "f32"), 1e-3)
    assert said == "neither by count (memory (read) 0%, f32 units 2%): instructions or waiting"


def test_figures_of_a_row() -> None:
    timing = suite.product(formats.get("q2_0", 64), 1, 4096, 4096, "matvec")
    fast, slow, block = result("float", 2e-6), result("float", 3e-6, 8), result("block", 9e-6)
    context = Context(ROOF, {timing: [slow, block, fast]})
    share = suite.share(timing, "read", route=("float",))(context)
    assert share == Value(pytest.approx(5e6 / 2e-6 / 4e12), fast.job.plan.name, 1, "memory (read) 62%")  # type: ignore[arg-type]
    ratio = Row("faster", 4.0, "x", pair=suite.over(timing, suite.BLOCK))
    over = ratio.value(context)
    assert over is not None
    assert over.value == pytest.approx(4.5)
    context.pairs["faster"] = Pair(result("float", 2e-6), result("block", 5e-6))
    again = ratio.value(context)
    assert again is not None
    assert again.value == pytest.approx(2.5), "what was timed side by side counts"
    rate = suite.rate(timing, route=("block",))(context)
    assert rate is not None
    assert rate.value == pytest.approx(1e7 / 9e-6 / 1e12)
    two = timing._replace(shape=(("M", 2),))
    both = Context(ROOF, {timing: [fast], two: [slow]})
    slower = Row("slower", 4.0, "x", pair=suite.beside(two, timing), least=False).value(both)
    assert slower is not None
    assert slower.value == pytest.approx(1.5)
    assert slower.passes == 1
    assert suite.share(timing, "read", route=("int8",))(context) is None
    assert suite.over(timing, {"route": ("int8",)})(context) is None
    assert Row("none", 4.0, "x", pair=suite.over(timing, {"route": ("int8",)})).value(context) is None
    assert suite.tokens_per_second(1)(context) is None
    largest = suite.largest(lambda each: each.seconds)(context)
    assert largest == Value(9e-6, block.job.plan.name, 1)


def test_a_result_is_compared_with_the_plain_design_at_its_own_shape() -> None:
    block, other = result("block", 9e-6), result("float", 3e-6)
    far = Result(Job(block.job.plan, {**SHAPE, "N": 64}, SHAPE), Sample((1e-6,), 1, True), block.passes, 1, 0.5, 1)
    both = tuple(replace(each, count=replace(each.count, operations=2 * 10**7)) for each in block.passes)
    gated = Result(block.job, Sample((1e-6,), 1, True), both, 1, 0.5, 1)
    assert baseline(other, [far, gated, other, block]) is block
    assert baseline(other, [far, other]) is None


@pytest.mark.parametrize(
    ("least", "value", "reached", "short"),
    [(True, 0.8, True, 0.0), (True, 0.75, True, 0.0), (True, 0.6, False, 0.2), (False, 0.9, False, 0.2)],
)
def test_a_target_is_reached_or_short_of(least: bool, value: float, reached: bool, short: float) -> None:
    row = Row("work", 0.75, "%", lambda _: None, least=least)
    assert row.reached(value) is reached
    assert row.short(value) == pytest.approx(short)
    assert row.wanted == (">= 75.0%" if least else "<= 75.0%")


def test_the_table_has_the_targets_of_both_kinds_of_machines() -> None:
    gpu, software = suite.rows_for(software=False), suite.rows_for(software=True)
    assert len({row.work for row in gpu}) == len(gpu) == 26
    assert [row.where for row in gpu].count("unchecked") == 2
    assert {row.where for row in software} == {"software"}
    assert all(row.needs or row.tokens for row in gpu)


def test_the_page_shows_every_target_of_a_gpu() -> None:
    page = (Path(__file__).parent.parent / "docs" / "performance.md").read_text()
    for row in suite.rows_for(software=False):
        assert f"| {row.work} | {row.wanted} |" in page


@pytest.mark.parametrize(
    ("one", "wanted", "most", "expected"),
    [(4_700_000, 256 << 20, 12 << 30, 58), (1 << 30, 256 << 20, 12 << 30, 1), (1000, 10**6, 10**9, 64), (0, 1, 1, 1)],
)
def test_copies_pass_the_cache_and_fit_the_memory(one: int, wanted: int, most: int, expected: int) -> None:
    assert rotate.copies(one, wanted, most) == expected


def test_copies_are_no_more_than_fit() -> None:
    assert rotate.copies(100, 1000, 350) == 3
    assert rotate.copies(100, 1000, 50) == 1


def test_shapes_multiply() -> None:
    assert shapes("linear", ["M=1:8,N=4,K=2", "M=3,N=5,K=6"]) == [
        {"M": 1, "N": 4, "K": 2},
        {"M": 8, "N": 4, "K": 2},
        {"M": 3, "N": 5, "K": 6},
    ]
    assert shapes("linear", []) == [{"M": 1, "N": 4096, "K": 4096}]


@pytest.mark.parametrize("text", ["M", "M=", "M=x", "M=1:", "M=1,M=2", "=1", "M=-1", "M=1.5", ""])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem, match="--shape") as caught:
        shapes("linear", [text])
    assert caught.value.hint is not None


def test_an_op_without_a_usual_shape_asks_for_one() -> None:
    with pytest.raises(UsageProblem, match="no usual shape"):
        shapes("top_k", [])


def ran(backend: Backend, seconds: float) -> Run:
    """Return a run of one timing, as if on a GPU: the f32 route on 151936 x 4096 weights of q2_0."""
    machine: Any = SimpleNamespace(backend=backend, software=False)
    timing = suite.product(suite.Q2, 1, suite.VOCAB, 4096, "matvec")
    return Run(machine, Pace(), [ROOF], context=Context(ROOF, {timing: [result("float", seconds)]}))


def test_a_target_is_judged_where_it_counts_and_other_columns_stand_beside_it() -> None:
    checked, unchecked = Backend("dawn-gpu"), Backend("dawn-gpu", unchecked=True)
    rows = verdicts(ran(unchecked, 2.5e-6), [ran(checked, 1e-5)])
    assert [row["work"] for row in rows] == [row.work for row in suite.rows_for(software=False)]
    measured = [row for row in rows if row["judged"] is not None]
    (row,) = measured
    assert row["work"] == "decode 151936 x 4096 q2_0, f32 activations, of read"
    assert row["target"] == ">= 25.0%"
    assert row["judged"]["backend"] == "dawn-gpu"
    assert row["judged"]["value"] == pytest.approx(5e6 / 1e-5 / 4e12)
    assert row["judged"]["reached"] is False
    assert row["judged"]["short_by"] == pytest.approx(0.5)
    assert row["figures"]["dawn-gpu, unchecked"]["reached"] is True
    lines = [*record.markdown({"backends": [], "targets": rows})]
    assert lines[1] == "| work | target | dawn-gpu, unchecked | dawn-gpu | verdict | passes | limit by count |"
    assert "| >= 25.0% | 50.0% | 12.5% | short by 50% | 1 | neither by count (memory (read) 12%" in lines[4]
    assert lines[3].endswith("| >= 75.0% | – | – | not measured | – | – |")
