"""`argmax`: the largest of each CHUNK of stored logits [M, N], and its index; `argmax_merge` makes a token of them.

A workgroup makes one slot: the best of CHUNK neighbours of a row. A row has SLOTS = ceil(N / CHUNK) slots.

- The higher number wins; of equal numbers, -0 and +0 among them, the one with the lowest index.
- NaN never wins against a number, not even against -infinity. Where there is nothing but NaN, the lowest index
  wins, so that an index is always inside the row. Infinities are numbers like others.
- best_value has the winner's own bits, as f32.

Numbers are compared by their bits, because compilers may take it that floats are never NaN. So logits are bound as
words, f16 two a word and from the low half on, and neither needs an optional feature. M = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from wgslgen.kernels.best import BestReduction
from wgslgen.spec import Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField, WorkgroupVariable

KINDS = 12
"""Rows of a case, so that each kind of row that the oracle makes is among them."""


class Argmax(Kernel):
    """Constants of `argmax`."""

    NAME = "argmax"
    SUMMARY = "the largest of each chunk of logits and its index, lowest index first, NaN last"
    SIZES = ("M", "N")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of the logits", "what", "x{}")] = "f32"
    chunk: Annotated[Literal[256, 1024, 4096], Constant("logits of a slot", "what", "c{}", "CHUNK")] = 1024
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    @property
    def reduction(self) -> BestReduction:
        """The best of a chunk."""
        return BestReduction(self.workgroup_size, self.subgroups)

    def consts(self) -> Iterator[Const]:
        """Yield the numbers of the reduction."""
        yield from self.reduction.consts()

    def bindings(self) -> tuple[Binding, ...]:
        """Return logits, and value and index of each slot's best."""
        words = "M * N" if self.activation == "f32" else "ceil_div(M * N, 2)"
        slots = "M * ceil_div(N, CHUNK)"
        return (
            Binding(
                name="logits",
                access="read",
                element="u32",
                length=words,
                doc=f"words of logits [M][N], {self.activation}",
            ),
            Binding(
                name="best_value",
                access="read_write",
                element="u32",
                length=slots,
                doc="f32 bits of the best [M][SLOTS]",
            ),
            Binding(
                name="best_index",
                access="read_write",
                element="u32",
                length=slots,
                doc="its index in its row [M][SLOTS]",
            ),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows"),
            UniformField(name="n", type="u32", value="N", doc="logits of a row"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each slot."""
        return "M * ceil_div(N, CHUNK)"

    def tolerance(self) -> Tolerance:
        """Return that results are exact."""
        return Tolerance(nmse=0.0, element=0.0, derivation="bits are compared and copied, nothing is computed")

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (Rule(expression="N > 0", why="a row without logits has no largest"),)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one chunk."""
        shapes = {
            "one logit": (1, 1),
            "less than a chunk": (KINDS, 37),
            "one chunk": (KINDS, self.chunk),
            "a multiple of a chunk": (KINDS, 3 * self.chunk),
            "one above a chunk": (KINDS, self.chunk + 1),
            "a prime above a chunk": (KINDS + 1, 4099 if self.chunk < 4096 else 8209),
        }
        return tuple(Case(name=name, sizes={"M": m, "N": n}) for name, (m, n) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64, subgroups=False)
