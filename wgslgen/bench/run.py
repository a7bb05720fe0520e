"""Runs of the bench: on one backend after the other, what was asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from wgslgen import formats, presets
from wgslgen.bench import decoding, grid, modelrun, results, suite
from wgslgen.bench.clock import Pace, software
from wgslgen.bench.jobs import Job, Refused, jobs, plans_of
from wgslgen.bench.machine import Machine
from wgslgen.bench.modelrun import ModelTime
from wgslgen.bench.results import Result, time_job
from wgslgen.bench.roof import Roof, higher, measure_roof
from wgslgen.bench.suite import Context, Pair, Row, Timing
from wgslgen.errors import ShaderRejected, ToolMissing, UsageProblem
from wgslgen.formats import Format
from wgslgen.model import Model

Say = Callable[[str], None]
TARGET_MODEL = "bonsai-1.7b"
TARGET_KEYS, TARGET_TOKENS = 512, 512


@dataclass
class Run:
    """What one backend did."""

    machine: Machine
    pace: Pace
    roofs: list[Roof]
    """At the start, and at the end."""
    results: list[Result] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    models: list[ModelTime] = field(default_factory=list)
    context: Context | None = None
    """Where the targets were asked for."""

    @property
    def roof(self) -> Roof:
        """What the device reached at best."""
        return reduce(higher, self.roofs)

    @property
    def label(self) -> str:
        """The backend's name."""
        return self.machine.backend.label


def start(machine: Machine, rounds: int, say: Say) -> Run:
    """Measure the roof of a machine."""
    say(f"{machine.backend.label}: bandwidths and rates")
    pace = software(rounds) if machine.software else Pace(rounds=rounds)
    return Run(machine, pace, [measure_roof(machine, pace)])


def end(run: Run, say: Say) -> None:
    """Measure the roof once more: a device that changed meanwhile shows."""
    say(f"{run.label}: bandwidths and rates once more")
    run.roofs.append(measure_roof(run.machine, run.pace))
    if run.context is not None:
        run.context = replace(run.context, roof=run.roof)


def time_jobs(run: Run, todo: Iterable[Job], say: Say, per_pass: bool = True) -> list[Result]:
    """Time jobs on a run's machine, add to its results and refusals, and return the new results."""
    new: list[Result] = []
    every = list(todo)
    say(f"{run.label}: {len(every)} plans")
    run.machine.compile_all([variant for job in every for variant in job.plan.variants])
    for job in every:
        say(f"{run.label}: {job.plan.name}")
        outcome = time_job(run.machine, job, run.pace, per_pass)
        if isinstance(outcome, Refused):
            run.refused.append(outcome)
        else:
            new.append(outcome)
    run.results += new
    run.machine.forget()
    return new


def time_model(
    run: Run,
    name: str,
    model: Model,
    stored: Format,
    keys: int,
    tokens: int,
    say: Say,
    by_kind: bool = True,
) -> None:
    """Time a token and a prompt of a model, and add them to the run, or to its refusals why not."""
    shape = {"keys": keys, "tokens": tokens}
    makers = (decoding.token, decoding.prompt)
    for make, count in zip(makers, (keys, tokens), strict=True):
        try:
            choice = decoding.choice_for(run.machine, model, stored)
            work = make(run.machine, model, choice, count)
            run.models.append(modelrun.time_work(run.machine, name, str(stored), work, run.pace, by_kind, say))
        except (ToolMissing, UsageProblem, ShaderRejected, run.machine.gpu.module.GPUError) as problem:
            run.refused.append(Refused(f"{name}, {make.__name__}", shape, str(problem)))
    run.machine.forget()


def time_targets(run: Run, say: Say) -> None:
    """Time everything that the targets of the run's machine need."""
    rows = suite.rows_for(run.machine.software)
    timings = dict.fromkeys(timing for row in rows for timing in row.needs)
    found: dict[Timing, Sequence[Result]] = {}
    for timing in timings:
        todo, refused = wanted_jobs(timing)
        run.refused += refused
        found[timing] = time_jobs(run, todo, say, per_pass=False)
    if any(row.tokens for row in rows):
        stored = formats.get("q2_0", 64)
        model = presets.get(TARGET_MODEL)
        time_model(run, TARGET_MODEL, model, stored, TARGET_KEYS, TARGET_TOKENS, say)
    run.context = Context(run.roof, found, {timed.work.tokens: timed for timed in run.models})
    for row in rows:
        pair = row.pair and row.pair(run.context)
        if pair:
            say(f"{run.label}: {row.work}")
            again = time_pair(run, pair)
            if again is not None:
                run.context.pairs[row.work] = again
    run.machine.forget()


def time_pair(run: Run, pair: Pair) -> Pair | None:
    """Return both times of a ratio, taken once more and one right after the other; None where one of them fails."""
    run.machine.compile_all([variant for each in pair for variant in each.job.plan.variants])
    result, other = (time_job(run.machine, each.job, run.pace, per_pass=False) for each in pair)
    return None if isinstance(result, Refused) or isinstance(other, Refused) else Pair(result, other)


def wanted_jobs(timing: Timing) -> tuple[list[Job], list[Refused]]:
    """Return the jobs of a timing, and what its shape refuses."""
    shape = dict(timing.shape)
    found = plans_of(grid.variants(timing.op, timing.stored, shape))
    of_op = (plan for plan in found if plan.op == timing.op)
    fitting = [plan for plan in of_op if suite.fits(plan.passes[plan.principal].variant, timing.want)]
    return jobs(fitting, timing.op, shape)


def require_any(runs: Sequence[Run]) -> None:
    """Raise ToolMissing where nothing was timed on any backend, with the first reason."""
    if any(run.results or run.models for run in runs):
        return
    reasons = [f"{run.label}: {refused.reason}" for run in runs for refused in run.refused]
    raise ToolMissing(
        f"nothing was timed; {reasons[0] if reasons else 'there was nothing to time'}",
        hint="name another adapter with --adapter, other sizes with --shape, or other variants",
    )


def verdicts(run: Run, other: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the targets of the run's kind of machine: figures of every run of that kind, judged where it counts."""
    rows = suite.rows_for(run.machine.software)
    return [_verdict(row, [run, *other]) for row in rows]


def _verdict(row: Row, runs: Sequence[Run]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    judged: dict[str, Any] | None = None
    for run in runs:
        value = None if run.context is None else row.value(run.context)
        if value is None:
            figures[run.label] = None
            continue
        figure = {
            "value": value.value,
            "said": row.said(value.value),
            "by": value.by,
            "passes": value.passes,
            "limit": value.limit,
            "reached": row.reached(value.value),
            "short_by": row.short(value.value),
        }
        figures[run.label] = figure
        counts = row.where == "software" or (row.where == "unchecked") == run.machine.backend.unchecked
        if counts and judged is None:
            judged = {"backend": run.label, **figure}
    return {
        "work": row.work,
        "target": row.wanted,
        "where": row.where,
        "judged": judged,
        "figures": figures,
    }


def data(runs: Sequence[Run]) -> dict[str, Any]:
    """Return everything that was measured as JSON holds it."""
    return {
        "backends": [
            {
                "label": run.label,
                "adapter": run.machine.backend.adapter,
                "unchecked": run.machine.backend.unchecked,
                "device": run.machine.gpu.info["device"],
                "driver": run.machine.gpu.info["description"],
                "library": f"{run.machine.gpu.kind.module} {run.machine.gpu.module.__version__}",
                "subgroup_size": run.machine.gpu.subgroup_size,
                "clock": "timestamps" if run.machine.timestamps else "wall clock, slope over two numbers of dispatches",
                "references": [
                    {
                        "name": each.name,
                        "value": each.value,
                        "unit": each.unit,
                        "start": first.value,
                        "end": last.value,
                        "seconds": each.sample.seconds,
                        "spread": each.sample.spread,
                    }
                    for each, first, last in zip(
                        run.roof.references, run.roofs[0].references, run.roofs[-1].references, strict=True
                    )
                ],
                "results": [results.data(each, run.results, run.roof) for each in run.results],
                "refused": [results.refusal_data(each) for each in run.refused],
                "models": [modelrun.data(each, run.roof) for each in run.models],
            }
            for run in runs
        ],
        "targets": _all_verdicts(runs),
    }


def _all_verdicts(runs: Sequence[Run]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for in_software in (False, True):
        kind = [run for run in runs if run.context is not None and run.machine.software == in_software]
        if kind:
            found += verdicts(kind[0], kind[1:])
    return found
