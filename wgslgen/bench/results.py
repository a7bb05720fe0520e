"""What was timed: plans with their samples, what they move and multiply, and what that is beside the roof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wgslgen.bench.clock import Pace, Sample
from wgslgen.bench.counts import Count
from wgslgen.bench.jobs import Job, Refused
from wgslgen.bench.machine import Machine
from wgslgen.bench.prepared import Prepared, Step
from wgslgen.bench.roof import Roof
from wgslgen.errors import ShaderRejected, ToolMissing, UsageProblem
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel

BASELINES = {"matvec": "block", "matmul": "tile"}
"""The route that the others of a kernel are measured against."""


@dataclass(frozen=True)
class PassTime:
    """A pass of a plan: its variant, its counts, and its time where it was taken by itself."""

    variant: Kernel
    count: Count
    sample: Sample | None


@dataclass(frozen=True)
class Result:
    """A plan at a shape: the time of all its passes, and of each where there are several."""

    job: Job
    sample: Sample
    passes: tuple[PassTime, ...]
    copies: int
    compile_seconds: float
    """Of all its pipelines together; those that were there already count with the time that they took."""
    text_bytes: int
    """Of the largest text."""

    @property
    def principal(self) -> Kernel:
        """The variant that the plan is for."""
        return self.job.plan.passes[self.job.plan.principal].variant

    @property
    def route(self) -> str:
        """The route of the principal variant; its kernel's name where it has none."""
        return str(getattr(self.principal, "route", self.principal.NAME))

    @property
    def seconds(self) -> float:
        """The median time."""
        return self.sample.seconds

    @property
    def count(self) -> Count:
        """What the passes move and multiply together; the unit is the principal pass's."""
        return total(each.count for each in self.passes)

    @property
    def weights(self) -> str:
        """The format of the weights; empty without."""
        fields = self.principal.model_dump()
        group = f" g{fields['group']}" if fields.get("group") else ""
        return f"{fields['format']}{group}" if "format" in fields else ""


def total(counts: Iterable[Count]) -> Count:
    """Return the sum of counts, on the unit that does the most of it."""
    every = [*counts]
    most = max(every, key=lambda each: each.operations)
    return Count(
        sum(each.read for each in every),
        sum(each.written for each in every),
        sum(each.operations for each in every),
        most.unit,
    )


def time_job(machine: Machine, job: Job, pace: Pace, per_pass: bool = True) -> Result | Refused:
    """Return the times of a job, or why the machine does not run it."""
    try:
        prepared = Prepared(machine, [Step(job.plan, job.sizes)])
    except (ToolMissing, UsageProblem, ShaderRejected) as problem:
        return Refused(job.plan.name, job.shape, problem.message)
    try:
        whole = prepared.time(pace)
        several = per_pass and len(prepared.passes) > 1
        passes = tuple(
            PassTime(each.variant, counted, prepared.time(pace, [at]) if several else None)
            for at, ((each, _), counted) in enumerate(zip(prepared.passes, prepared.counts(), strict=True))
        )
        compiled = [machine.compiled(variant) for variant in job.plan.variants]
        return Result(
            job,
            whole,
            passes,
            prepared.copies,
            sum(each.seconds for each in compiled),
            max(each.text_bytes for each in compiled),
        )
    except machine.gpu.module.GPUError as problem:
        return Refused(job.plan.name, job.shape, f"{machine.backend.label} refuses to run it: {problem}")
    finally:
        prepared.close()


def baseline(result: Result, results: Sequence[Result]) -> Result | None:
    """Return the fastest plain design for the same computation: route block of matvec, or tile of matmul."""
    route = BASELINES.get(result.principal.NAME)
    same = [
        other
        for other in results
        if other.principal.NAME == result.principal.NAME
        and other.route == route
        and other.job.shape == result.job.shape
        and other.weights == result.weights
        and other.count.operations == result.count.operations  # gate and up are two matrices
    ]
    return min(same, key=lambda other: other.seconds, default=None)


def data(result: Result, results: Sequence[Result], roof: Roof) -> dict[str, Any]:
    """Return a result as JSON holds it."""
    plain = baseline(result, results)
    counted = result.count
    return {
        "name": result.job.plan.name,
        "op": result.job.plan.op,
        "shape": dict(result.job.shape),
        "kernel": result.principal.NAME,
        "route": result.route,
        "constants": result.principal.model_dump(mode="json"),
        **_figures(result.sample, counted, roof),
        "over_baseline": plain and plain.seconds / result.seconds,
        "limit": roof.limit(counted, result.seconds),
        "copies": result.copies,
        "compile_seconds": result.compile_seconds,
        "text_bytes": result.text_bytes,
        "passes": [
            {
                "variant": variant_name(each.variant),
                "kernel": each.variant.NAME,
                **(_counted(each.count) if each.sample is None else _figures(each.sample, each.count, roof)),
            }
            for each in result.passes
        ],
    }


def _counted(counted: Count) -> dict[str, Any]:
    return {
        "bytes_read": counted.read,
        "bytes_written": counted.written,
        "operations": counted.operations,
        "unit": counted.unit,
    }


def _figures(sample: Sample, counted: Count, roof: Roof) -> dict[str, Any]:
    return {
        "seconds": sample.seconds,
        "spread": sample.spread,
        "rounds": [*sample.rounds],
        "repetitions": sample.repetitions,
        "warmed": sample.warmed,
        "steady": sample.steady,
        **_counted(counted),
        "of_read_bandwidth": roof.read_share(counted, sample.seconds),
        "of_copy_bandwidth": roof.copy_share(counted, sample.seconds),
        "of_rate": roof.rate_share(counted, sample.seconds),
    }


def refusal_data(refused: Refused) -> dict[str, Any]:
    """Return a refusal as JSON holds it."""
    return {"name": refused.plan, "shape": dict(refused.shape), "reason": refused.reason}
