"""Proof that selection has no hole: what a bundle can do at all, it can do on every class of devices it is for.

For each plan and device class where the plan may not run, one that may must be known to stand in for it
(`wgslgen.provable`). So a shape whose buffers fit the limits of a class has a plan there if it has one anywhere. Plans
whose caller holds f16 data are for devices with `shader-f16` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from wgslgen import profile, selection
from wgslgen.errors import UsageProblem
from wgslgen.frozen import Frozen
from wgslgen.provable import Provable
from wgslgen.tomltext import toml

Entry = Mapping[str, Any]
MOST_SAID = 5
"""Holes that a message lists."""


class Hole(Frozen):
    """A plan that has no other in its place on a class of devices: `needs` says why it may not run there itself.

    `sizes` is a shape without a plan; None where none was met that a device could hold, and the proof fails all the
    same.
    """

    op: str
    sizes: dict[str, int] | None
    plan: str
    profile: str
    needs: str

    def line(self) -> str:
        """Return the hole in words."""
        at = ", ".join(f"{name} = {value}" for name, value in (self.sizes or {}).items()) or "some sizes"
        return f"{self.op} of {at} has no plan on {self.profile}: {self.plan} is for it, but {self.needs}"


def check(file: str, manifest: Entry, names: Sequence[str]) -> None:
    """Raise UsageProblem where the bundle of the file `file` has a hole on a device class of these names."""
    found = [*holes(selection.kit_of(manifest), names)]
    if found:
        left = sorted({*names} - {hole.profile for hole in found}, key=[*names].index)
        more = [f"and {len(found) - MOST_SAID} more"] if len(found) > MOST_SAID else []
        raise UsageProblem(
            "\n".join([f"{file}: selection has holes", *(hole.line() for hole in found[:MOST_SAID]), *more]),
            hint="ask for a variant without those needs beside each, as subgroups = [false, true], or name the "
            f"devices that the app is for: profiles = {toml(left)}",
        )


def holes(kit: Entry, names: Sequence[str]) -> Iterator[Hole]:
    """Yield the holes of a kit (of `selection.kit_of`) on the profiles of these names."""
    plans = [Provable(kit, plan) for op in selection.ops(kit) for plan in selection.candidates(kit, op)]
    for _, group in groupby(plans, key=lambda plan: plan.entry["op"]):
        alike = [*group]
        covered: dict[tuple[str, str], bool] = {}

        def covers(able: Provable, plan: Provable, known: dict[tuple[str, str], bool] = covered) -> bool:
            key = able.name, plan.name
            if key not in known:
                known[key] = able.stands_in_for(plan)
            return known[key]

        for name in names:
            device = profile.get(name).data()
            lacking = {plan.name: _lacking(plan, device) for plan in alike}
            able = [plan for plan in alike if not lacking[plan.name]]
            for plan in alike:
                if not lacking[plan.name] or (plan.holds_f16 and "shader-f16" not in device["features"]):
                    continue
                if not any(covers(each, plan) for each in able):
                    yield Hole(
                        op=plan.entry["op"],
                        sizes=_shape(plan, able, device["limits"]),
                        plan=plan.name,
                        profile=name,
                        needs=lacking[plan.name],
                    )


def _shape(plan: Provable, able: Sequence[Provable], limits: Mapping[str, int]) -> dict[str, int] | None:
    """Return a shape that `plan` takes and none of `able` that computes the same."""
    same = [each for each in able if each.computes(plan)]
    fitting = (shape for shape in plan.shapes() if plan.takes(shape, limits))
    return next((shape for shape in fitting if not any(each.takes(shape, limits) for each in same)), None)


def _lacking(plan: Provable, device: Entry) -> str:
    """Return why a device may not run the plan, or nothing."""
    found = ((variant["name"], selection.missing(variant, device)) for variant in plan.variants)
    return next((f"{name} {'; '.join(reasons)}" for name, reasons in found if reasons), "")
