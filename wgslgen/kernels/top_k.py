"""`top_k`: values and indices of the K_TOP largest logits of each of M rows of N, the largest first.

A workgroup makes the K_TOP best of one chunk: CHUNK neighbours of a row. Where a row has several chunks, their
candidates are the row of a next stage, a variant with `indexed`, which reads their indices from `ids`; stage by
stage, until a row is one chunk. `stages` counts them for a row's length, and `merging` makes the variant of the
later ones.

- Higher numbers first; of equal numbers, -0 and +0 among them, the one that stands first, which has the lower
  index: `ids` must ascend among equal values, as they do in what a stage writes.
- NaN behind all numbers, -infinity among them, by index.
- A chunk of less than K_TOP elements is filled up behind NaN: index 0xffffffff, value the lowest finite f32.
  `indexed` takes such an index for the same, whatever its value.
- Values have the bits of their logits, as f32.

Numbers are compared by their bits, as in `argmax`, so logits are words here, too. A chunk lies in workgroup memory
as pairs (key, position). Blocks of K_TOP, rounded up to a power of two, are sorted there; then always two of them
become one, the better of each element and its opposite in the other's reversed order, and are sorted again. There
is nothing to fold and so no form with subgroups. M = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field

from wgslgen.kernels.argmax import KINDS
from wgslgen.kernels.best import NO_INDEX
from wgslgen.spec import Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField, WorkgroupVariable

LOWEST_BITS = 0xFF7FFFFF
"""The lowest finite f32: the value where there is no element."""


class Stage(NamedTuple):
    """One stage of a top_k: the columns of its rows and the chunks that they are cut into."""

    columns: int
    chunks: int


class TopK(Kernel):
    """Constants of `top_k`."""

    NAME = "top_k"
    SUMMARY = "the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last"
    SIZES = ("M", "N")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of the logits", "what", "x{}")] = "f32"
    k_top: Annotated[int, Field(ge=1, le=64), Constant("results of a chunk", "what", "k{}", "K_TOP")] = 64
    chunk: Annotated[Literal[256, 1024, 2048], Constant("logits of a chunk", "what", "c{}", "CHUNK")] = 1024
    indexed: Annotated[bool, Constant("read the logits' indices from ids: a later stage", "what", "ids")] = False
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 128

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        if self.indexed and self.activation != "f32":
            yield f"activation {self.activation} with indexed: a later stage reads the f32 that the first one wrote"

    def consts(self) -> Iterator[Const]:
        """Yield the length of a sorted block, and what stands where no element is."""
        yield Const(name="BLOCK", type="u32", value=1 << (self.k_top - 1).bit_length())
        yield Const(name="NO_INDEX", type="u32", value=NO_INDEX)
        yield Const(name="LOWEST_BITS", type="u32", value=LOWEST_BITS)

    def bindings(self) -> tuple[Binding, ...]:
        """Return logits, their ids in a later stage, and the results."""
        words = "M * N" if self.activation == "f32" else "ceil_div(M * N, 2)"
        results = "M * ceil_div(N, CHUNK) * K_TOP"
        ids = Binding(
            name="ids", access="read", element="u32", length="M * N", doc="index of each logit [M][N]; 0xffffffff: none"
        )
        return (
            Binding(
                name="logits",
                access="read",
                element="u32",
                length=words,
                doc=f"words of logits [M][N], {self.activation}",
            ),
            *((ids,) if self.indexed else ()),
            Binding(
                name="values",
                access="read_write",
                element="u32",
                length=results,
                doc="f32 bits of the largest [M][chunks][K_TOP]",
            ),
            Binding(
                name="indices",
                access="read_write",
                element="u32",
                length=results,
                doc="their indices [M][chunks][K_TOP]",
            ),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows"),
            UniformField(name="n", type="u32", value="N", doc="logits of a row"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the pairs of a chunk."""
        return (WorkgroupVariable(name="pairs", element="vec2<u32>", length="CHUNK", count=self.chunk),)

    def workgroups(self) -> str:
        """Return one workgroup for each chunk."""
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
            "one chunk": (3, self.chunk),
            "a multiple of a chunk": (2, 3 * self.chunk),
            "one above a chunk": (KINDS, self.chunk + 1),
            "a prime above a chunk": (2, 2593),
        }
        return tuple(Case(name=name, sizes={"M": m, "N": n}) for name, (m, n) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64)

    def stages(self, columns: int) -> tuple[Stage, ...]:
        """Return the stages that make the K_TOP best of a row of `columns` logits; the last has one chunk."""
        found: list[Stage] = []
        while not found or found[-1].chunks > 1:
            found.append(Stage(columns, -(-columns // self.chunk)))
            columns = found[-1].chunks * self.k_top
        return tuple(found)

    def merging(self) -> Self:
        """Return the variant of the stages behind the first."""
        return self.changed(activation="f32", indexed=True)
