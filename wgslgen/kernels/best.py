"""What kernels share that find the largest of many numbers, and where it stands.

The partials reduce_best_subgroup and reduce_best_workgroup hold the same functions for both forms; what they
use of the spec is made here. They fold pairs (key, index), where order_key makes the key of a number: the higher
key wins, and of equal keys the lower index, so the order of a fold changes nothing. A thread that has nothing to
give gives (0, NO_INDEX), which loses to everything, NaN included.

A kernel that calls reduce_best again must place a barrier between the last total_best and that call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wgslgen.kernels.reduction import LEAST_SUBGROUP
from wgslgen.spec import Const, WorkgroupVariable

NO_INDEX = 2**32 - 1
"""The index of nothing: above the index of every element."""


@dataclass(frozen=True)
class BestReduction:
    """Each thread of a workgroup gives a pair; the best of them is found."""

    threads: int
    subgroups: bool

    @property
    def count(self) -> int:
        """Slots: one a thread, or one for every subgroup that the workgroup may have."""
        return self.threads // LEAST_SUBGROUP if self.subgroups else self.threads

    def consts(self) -> Iterator[Const]:
        """Yield the numbers that the partials name."""
        yield Const(name="BEST_SLOTS", type="u32", value=self.count)
        yield Const(name="NO_INDEX", type="u32", value=NO_INDEX)

    def slots(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots."""
        return (WorkgroupVariable(name="best_slots", element="vec2<u32>", length="BEST_SLOTS", count=self.count),)
