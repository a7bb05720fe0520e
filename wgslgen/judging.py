"""Run one variant or one plan on one adapter, and judge the results: by the oracle, and by the plainest variant.

A plan runs as one command buffer on one device; its oracle knows nothing of the passes between.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from wgslgen import wgsltypes
from wgslgen.adapters import Gpu
from wgslgen.compare import Rounded, Verdict
from wgslgen.errors import OracleMismatch, WgslgenError
from wgslgen.harness import Runner
from wgslgen.naming import variant_name
from wgslgen.oracles import problem_maker
from wgslgen.oracles.problem import Problem
from wgslgen.plan import Plan
from wgslgen.render import render
from wgslgen.session import Session
from wgslgen.spec import Case, Frozen, Kernel, Tolerance

Subject = Kernel | Plan
"""What can be proven: a variant, or a plan of several."""
SHAPES = "subgroup matrices of"
"""How `Outcome.lacking` begins where a device multiplies subgroup matrices of other shapes."""
SOURCE = "verify"
"""What texts name as their bundle file while they are verified; it is a comment and changes no result."""


class Outcome(Frozen):
    """What became of one variant, or plan, on one adapter; `kernel` is "plan" and the op for a plan.

    `lacking` names the feature without which the adapter cannot run it. `runs` counts dispatches that were
    judged; `nmse` and `element` are the worst errors seen, and `result` is the element type of what came out.
    `tensor` names the real weights, where the weights were real.
    """

    variant: str
    kernel: str
    adapter: str
    result: str
    tensor: str | None = None
    status: Literal["passed", "failed", "lacking"]
    lacking: str | None = None
    problem: str | None = None
    runs: int = 0
    nmse: float = 0.0
    element: float = 0.0


def verify_on(gpu: Gpu, subject: Subject, cases: Iterable[Case] | None = None) -> Outcome:
    """Run a variant or a plan on one adapter over its shape classes."""
    return judge(gpu, subject, ((case, _problem(subject, case)) for case in cases or subject.cases()))


def judge(gpu: Gpu, subject: Subject, problems: Iterable[tuple[Case, Problem]], twin: bool = True) -> Outcome:
    """Run `subject` on the given problems and compare with the oracle, and a variant with its plain twin if `twin`."""
    what = f"plan {subject.op}" if isinstance(subject, Plan) else subject.NAME
    base: dict[str, Any] = {"variant": subject_name(subject), "kernel": what, "adapter": gpu.name}
    base["result"] = _result_type(subject)
    if lacking := _lacking(gpu, subject):
        return Outcome(**base, status="lacking", lacking=lacking)
    runs, nmse, element, where = 0, 0.0, 0.0, ""
    try:
        run = _plan_runner(gpu, subject) if isinstance(subject, Plan) else _variant_runner(gpu, subject)
        for case, problem in problems:
            where = f"{case.name} {case.sizes}, "
            verdicts = _verdicts(gpu, subject, run(case, problem), case, problem, twin)
            runs += 1
            for said, verdict in verdicts:
                nmse, element = max(nmse, verdict.nmse), max(element, verdict.element)
                if verdict.problem:
                    found = f"{where}{said}: {verdict.problem}"
                    return Outcome(**base, status="failed", problem=found, runs=runs, nmse=nmse, element=element)
    except WgslgenError as problem_found:
        return Outcome(**base, status="failed", problem=f"{where}{problem_found}", runs=runs)
    return Outcome(**base, status="passed", runs=runs, nmse=nmse, element=element)


def subject_name(subject: Subject) -> str:
    """Return the name of a variant or a plan."""
    return subject.name if isinstance(subject, Plan) else variant_name(subject)


def _result_type(subject: Subject) -> str:
    """Return the scalar type of the last output."""
    if isinstance(subject, Plan):
        written = [b for step, b in subject.uses() if step.buffer(b) == subject.outputs[-1] and b.access != "read"]
    else:
        written = [b for b in subject.bindings() if b.access != "read"]
    return wgsltypes.scalar_of(written[-1].element)


def _lacking(gpu: Gpu, subject: Subject) -> str | None:
    """Return the feature, or the subgroup size, for want of which the adapter cannot run `subject`."""
    for variant in subject.variants if isinstance(subject, Plan) else (subject,):
        wanted = variant.requirements
        missing = [feature for feature in wanted.features if feature not in gpu.features]
        if missing:
            return missing[0]
        if wanted.subgroup_matrix and wanted.subgroup_matrix not in gpu.matrices:
            return f"{SHAPES} {wanted.subgroup_matrix}"
        if wanted.subgroups and (lacks := wanted.subgroups.lacks(gpu.subgroup_size)):
            return lacks
    return None


# ---- running ------------------------------------------------------------------------------------

Run = Callable[[Case, Problem], dict[str, bytes]]


def _variant_runner(gpu: Gpu, variant: Kernel) -> Run:
    runner = Runner(gpu, variant, render(variant, SOURCE))
    return lambda case, problem: runner.run(problem.inputs, case.sizes, problem.parameters)


def _plan_runner(gpu: Gpu, plan: Plan) -> Run:
    session = Session(gpu, plan.variants)

    def run(case: Case, problem: Problem) -> dict[str, bytes]:
        session.clear()
        session.hold_inputs(plan, case.sizes, problem.inputs)
        session.add(plan, case.sizes, problem.parameters)
        session.submit()
        return session.outputs(plan)

    return run


def _verdicts(
    gpu: Gpu, subject: Subject, outputs: dict[str, bytes], case: Case, problem: Problem, twin: bool
) -> Iterator[tuple[str, Verdict]]:
    if outputs.keys() != problem.expected.keys():
        raise OracleMismatch(f"the oracle judges {sorted(problem.expected)}; written was {sorted(outputs)}")
    tolerance = subject.tolerance()
    for name, expected in problem.expected.items():
        yield f"{name} against the oracle", expected.judge(outputs[name], tolerance)
    if isinstance(subject, Plan) or not twin or (plain := subject.plain()) == subject:
        return
    reference = _plain_outputs(gpu, plain, case)
    twice = Tolerance(
        nmse=4 * tolerance.nmse,
        element=2 * tolerance.element,
        rounding=2 * tolerance.rounding,
        row=None if tolerance.row is None else 4 * tolerance.row,
        derivation="two results, each within one",
    )
    for name, expected in problem.expected.items():
        if not isinstance(expected, Rounded):
            yield f"{name} against {variant_name(plain)}", expected.like(reference[name]).judge(outputs[name], twice)


def _problem(subject: Subject, case: Case) -> Problem:
    """Make the problem. The seed depends on kernel, or op, and sizes alone, so that twins get the same data."""
    name = f"plan_{subject.op}" if isinstance(subject, Plan) else subject.NAME
    seed = zlib.crc32(f"{name} {sorted(case.sizes.items())}".encode())
    constants = (
        {step.variant.NAME: step.variant.model_dump() for step in reversed(subject.passes)}
        if isinstance(subject, Plan)
        else subject.model_dump()
    )
    return problem_maker(name)(constants, case.sizes, np.random.default_rng(seed))


@lru_cache(maxsize=1)
def _plain_runner(gpu: Gpu, plain: Kernel, text: str) -> Runner:
    """Compile a plain twin once for all cases and for the variants that share it, which come one behind the other."""
    return Runner(gpu, plain, text)


_PLAIN: dict[tuple[str, Kernel, str], dict[str, bytes]] = {}


def _plain_outputs(gpu: Gpu, plain: Kernel, case: Case) -> dict[str, bytes]:
    key = (gpu.name, plain, json.dumps(case.sizes, sort_keys=True))
    if key not in _PLAIN:
        problem = _problem(plain, case)
        runner = _plain_runner(gpu, plain, render(plain, SOURCE))
        _PLAIN[key] = runner.run(problem.inputs, case.sizes, problem.parameters)
    return _PLAIN[key]
