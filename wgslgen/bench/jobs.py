"""What is timed: plans of an op at certain sizes. A variant that does its op alone is a plan of one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from wgslgen import launch, plans
from wgslgen.errors import UsageProblem
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel

USUAL = {"B": 1, "LAYERS": 1, "LAYER": 0}
"""Sizes that may be left out: one sequence, and the only layer of its cache."""


class Job(NamedTuple):
    """A plan, and the sizes to time it at: those that were asked for, and the plan's own among them."""

    plan: Plan
    shape: Mapping[str, int]
    sizes: Mapping[str, int]


class Refused(NamedTuple):
    """A plan that is not timed at a shape, and why."""

    plan: str
    shape: Mapping[str, int]
    reason: str


def alone_plan(variant: Kernel) -> Plan | None:
    """Return the plan of the one pass in which `variant` does its op; None where it is a part of others."""
    alone = variant.alone()
    if alone is None:
        return None
    return Plan(
        name=variant_name(variant),
        op=alone.op,
        doc=variant.SUMMARY,
        sizes=alone.sizes,
        outputs=tuple(binding.name for binding in variant.bindings() if binding.access == "read_write"),
        passes=(Pass(variant=variant, sizes=alone.given),),
        fixed=alone.fixed,
    )


def plans_of(variants: Sequence[Kernel], model: Model | None = None) -> tuple[Plan, ...]:
    """Return every plan that the variants can do, those of one pass first."""
    single = (plan for plan in map(alone_plan, variants) if plan is not None)
    return tuple(dict.fromkeys((*single, *plans.derive(variants, model))))


def jobs(
    found: Iterable[Plan], op: str, shape: Mapping[str, int], pattern: str = "*"
) -> tuple[list[Job], list[Refused]]:
    """Return what of `found` does `op` at `shape` and has a name that fits the pattern, and what refuses the shape.

    Raises UsageProblem where no plan does the op, none has such a name, and for a size that none of them has.
    """
    every = list(found)
    of_op = [plan for plan in every if plan.op == op]
    if not of_op:
        known = ", ".join(sorted({plan.op for plan in every})) or "none"
        raise UsageProblem(f"nothing here does op {op!r}; there are {known}", hint="--op linear")
    known_sizes = {size for plan in of_op for size in (*plan.sizes, *plan.fixed)}
    if unknown := sorted(shape.keys() - known_sizes):
        raise UsageProblem(
            f"--shape: op {op} has no size {unknown[0]}; it has {', '.join(sorted(known_sizes))}",
            hint="--shape " + ",".join(f"{size}=…" for size in sorted(known_sizes)),
        )
    named = [plan for plan in of_op if fnmatchcase(plan.name, pattern)]
    if not named:
        raise UsageProblem(
            f"--variants {pattern}: no name of the {len(of_op)} variants and plans of op {op} fits",
            hint=f"--variants '*{of_op[0].passes[of_op[0].principal].variant.NAME}*'",
        )
    taken: list[Job] = []
    refused: list[Refused] = []
    for plan in named:
        try:
            taken.append(Job(plan, shape, _sizes(plan, shape)))
        except UsageProblem as problem:
            refused.append(Refused(plan.name, shape, problem.message))
    return taken, refused


def _sizes(plan: Plan, shape: Mapping[str, int]) -> dict[str, int]:
    """Return the plan's sizes; raise UsageProblem where it does not take them."""
    for name, value in plan.fixed.items():
        if shape.get(name, value) != value:
            raise UsageProblem(f"it is for {name} = {value}")
    given = {**USUAL, **shape}
    for name in plan.sizes:
        if name not in given:
            raise UsageProblem(f"it needs the size {name}")
    sizes = {name: given[name] for name in plan.sizes}
    plan.check_sizes(sizes)
    for step in plan.passes:
        launch.check_sizes(step.variant, step.given(sizes))
    return sizes
