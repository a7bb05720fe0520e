"""What kernels share that fold numbers of all their threads: how many, by which operations, in which slots.

The partials reduce_subgroup and reduce_workgroup hold the same functions for both forms; what they use of the
spec is made here. The order of a fold never changes, so that two runs give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wgslgen.spec import Const, WorkgroupVariable

LEAST_SUBGROUP = 4
"""The smallest subgroup of any device: slots are laid out for the most subgroups that a workgroup may have."""


@dataclass(frozen=True)
class Reduction:
    """Each thread of a workgroup gives `values` numbers, which are folded by each of `ops`.

    With `shared`, all operations use the same slots, to save workgroup memory; then a barrier must stand between
    the last read of one's result and the next fold by another, as it must between two folds by the same.
    """

    threads: int
    subgroups: bool
    values: int = 1
    ops: tuple[Literal["sum", "max"], ...] = ("sum",)
    shared: bool = False

    def consts(self) -> Iterator[Const]:
        """Yield the numbers that the partials name."""
        yield Const(name="REDUCE_VALUES", type="u32", value=self.values)
        if self.subgroups:
            yield Const(name="SUBGROUP_SLOTS", type="u32", value=self.threads // LEAST_SUBGROUP)

    def slots(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots: one a thread, or one a subgroup, for every value; of each operation, or shared."""
        length = "SUBGROUP_SLOTS" if self.subgroups else "WORKGROUP_SIZE"
        count = self.values * (self.threads // LEAST_SUBGROUP if self.subgroups else self.threads)
        return tuple(
            WorkgroupVariable(name=name, element="f32", length=f"REDUCE_VALUES * {length}", count=count)
            for name in dict.fromkeys(self._names().values())
        )

    def _names(self) -> dict[str, str]:
        """Return the name of the slots of each operation."""
        return {op: "slots" if self.shared else f"{op}_slots" for op in self.ops}

    def template_values(self) -> dict[str, Any]:
        """Return what the partials need to choose structure."""
        return {"reductions": self._names(), "reduce_values": self.values}
