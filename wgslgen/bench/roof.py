"""The roof over a backend: its bandwidths and rates, measured in this run, and which of them a time is closest to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wgslgen.bench.clock import Pace, Sample
from wgslgen.bench.counts import Count
from wgslgen.bench.machine import Machine
from wgslgen.bench.prepared import Prepared, Step
from wgslgen.bench.references import CopyAll, Dot4Rate, FmaRate, MatrixRate, ReadAll, Reference
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.plan import Pass, Plan

READ, COPY = "read", "copy"
WORK = {READ: 1 << 30, COPY: 1 << 29}
"""Bytes that the kernels of bandwidth read on a GPU, far more than its caches hold."""
WORK_SOFTWARE = {READ: 1 << 25, COPY: 1 << 24}
GROUPS, GROUPS_SOFTWARE = 8448, 4
"""Workgroups of the kernels of rate: 64 for each of an H200's processors; a few where a CPU runs them."""
NEAR = 0.5
"""The share of a roof from which on it counts as the limit."""


class Measured(NamedTuple):
    """What a reference kernel reached: bytes or operations a second."""

    name: str
    value: float
    unit: str
    sample: Sample


def higher(first: Roof, last: Roof) -> Roof:
    """Return the better of two measurements of each reference."""
    return Roof(
        tuple(max(pair, key=lambda each: each.value) for pair in zip(first.references, last.references, strict=True))
    )


@dataclass(frozen=True)
class Roof:
    """The measured references by name: read, copy, and the rates by unit."""

    references: tuple[Measured, ...]

    def get(self, name: str | None) -> float | None:
        """Return bytes or operations a second; None for what the device does not have."""
        return next((each.value for each in self.references if each.name == name), None)

    def read_share(self, count: Count, seconds: float) -> float:
        """Return the bytes moved a second, of the read bandwidth."""
        return count.moved / seconds / (self.get(READ) or 1.0)

    def copy_share(self, count: Count, seconds: float) -> float:
        """Return the bytes moved a second, of the copy bandwidth."""
        return count.moved / seconds / (self.get(COPY) or 1.0)

    def rate_share(self, count: Count, seconds: float) -> float | None:
        """Return the operations a second, of the rate of their unit; None where there is none."""
        rate = self.get(count.unit)
        return None if rate is None else count.operations / seconds / rate

    def limit(self, count: Count, seconds: float) -> str:
        """Say which unit is the limit by count, or that none is: then instructions or waiting are."""
        writes = count.written > count.read
        memory = self.copy_share(count, seconds) if writes else self.read_share(count, seconds)
        shares = {f"memory ({'copy' if writes else 'read'})": memory}
        rate = self.rate_share(count, seconds)
        if rate is not None:
            shares[f"{count.unit} units"] = rate
        name, share = max(shares.items(), key=lambda item: item[1])
        if share >= NEAR:
            return f"{name} {share:.0%}"
        said = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        return f"neither by count ({said}): instructions or waiting"


def kernels(machine: Machine) -> Iterator[tuple[str, Reference, int]]:
    """Yield name, kernel and workgroups of each reference."""
    for name, kernel in ((READ, ReadAll()), (COPY, CopyAll())):
        wanted = min((WORK_SOFTWARE if machine.software else WORK)[name], machine.most_binding)
        each = kernel.workgroup_size * kernel.const_values["LOADS"] * 16
        yield name, kernel, max(wanted // each, 1)
    groups = GROUPS_SOFTWARE if machine.software else GROUPS
    yield "f32", FmaRate(), groups
    yield "dot4", Dot4Rate(), groups
    yield "matrix", MatrixRate(), groups


def work(kernel: Reference, groups: int) -> int:
    """Return the bytes that a kernel of bandwidth moves, or the operations of a kernel of rate."""
    if isinstance(kernel, FmaRate | Dot4Rate):
        return 2 * kernel.products * groups * kernel.workgroup_size
    if isinstance(kernel, MatrixRate):
        return 2 * kernel.products * groups
    read = groups * kernel.workgroup_size * kernel.const_values["LOADS"] * 16
    return 2 * read if isinstance(kernel, CopyAll) else read


def plan_of(kernel: Reference) -> Plan:
    """Return the plan of the one pass."""
    return Plan(
        name=kernel.NAME,
        op="reference",
        doc=kernel.SUMMARY,
        sizes=kernel.SIZES,
        outputs=("y",),
        passes=(Pass(variant=kernel),),
    )


def measure_roof(machine: Machine, pace: Pace) -> Roof:
    """Return what the references reach; those that the device may not run are left out."""
    found = []
    for name, kernel, groups in kernels(machine):
        try:
            machine.check(kernel)
        except (ToolMissing, UsageProblem):
            continue
        prepared = Prepared(machine, [Step(plan_of(kernel), {"GROUPS": groups})], rotated=0)
        try:
            sample = prepared.time(pace)
        finally:
            prepared.close()
        unit = "B/s" if name in (READ, COPY) else "op/s"
        found.append(Measured(name, work(kernel, groups) / sample.seconds, unit, sample))
    return Roof(tuple(found))
