"""`argmax_merge`: the token of each of M rows, from value and index of the best of its SLOTS parts.

The second pass of `argmax` and of `lm_head_argmax`, by the same order: the higher number wins, of equal ones
(-0 and +0 among them) the lowest index in whatever slot it stands, NaN never against a number; nothing but NaN
gives the lowest index. A workgroup makes one row, however many slots it has. Every slot must hold the index of an
element: there is no mark for an empty one. M = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.argmax import KINDS
from wgslgen.kernels.best import BestReduction
from wgslgen.spec import Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField, WorkgroupVariable

SLOTS_A_ROUND = 8
"""Slots that a thread reads before it compares any: a lone workgroup would wait for each load in turn."""


class ArgmaxMerge(Kernel):
    """Constants of `argmax_merge`."""

    NAME = "argmax_merge"
    SUMMARY = "the index of the best of a row's slots, lowest index first, NaN last"
    SIZES = ("M", "SLOTS")

    value: Annotated[bool, Constant("write the winner's value, too", "what", "value")] = False
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    @property
    def reduction(self) -> BestReduction:
        """The best of a row."""
        return BestReduction(self.workgroup_size, self.subgroups)

    def consts(self) -> Iterator[Const]:
        """Yield the numbers of the reduction, and the slots that a thread reads at once."""
        yield from self.reduction.consts()
        yield Const(name="SLOTS_A_ROUND", type="u32", value=SLOTS_A_ROUND)

    def bindings(self) -> tuple[Binding, ...]:
        """Return value and index of each slot, and the token, if wanted with its value."""
        slots = "M * SLOTS"
        value = Binding(
            name="value", access="read_write", element="u32", length="M", doc="f32 bits of the token's value [M]"
        )
        return (
            Binding(
                name="best_value", access="read", element="u32", length=slots, doc="f32 bits of the best [M][SLOTS]"
            ),
            Binding(
                name="best_index", access="read", element="u32", length=slots, doc="its index in its row [M][SLOTS]"
            ),
            Binding(name="token", access="read_write", element="u32", length="M", doc="index of the best of all [M]"),
            *((value,) if self.value else ()),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows"),
            UniformField(name="slots", type="u32", value="SLOTS", doc="slots of a row"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each row."""
        return "M"

    def tolerance(self) -> Tolerance:
        """Return that results are exact."""
        return Tolerance(nmse=0.0, element=0.0, derivation="bits are compared and copied, nothing is computed")

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (Rule(expression="SLOTS > 0", why="a row without slots has no best"),)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one slot for every thread."""
        shapes = {
            "one slot": (3, 1),
            "less than a tile": (KINDS, 37),
            "one tile": (KINDS, self.workgroup_size),
            "a prime above a tile": (KINDS + 1, 263),
            "a round and a slot": (KINDS, SLOTS_A_ROUND * self.workgroup_size + 1),
            "a vocabulary without chunks": (2, 40000),
        }
        return tuple(Case(name=name, sizes={"M": m, "SLOTS": slots}) for name, (m, slots) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64, subgroups=False)

    def template_values(self) -> dict[str, Any]:
        """Return how many slots a round is written out for."""
        return {"slots_a_round": SLOTS_A_ROUND}
