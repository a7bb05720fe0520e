"""`get_rows`: embedding look-up. Row r of y [R, K] is row ids[r] of a table [ROWS, K], as f32 or f16.

A workgroup makes one row; its threads walk along K in steps, each of which is one load of codes.

A weight is the block's scale times a whole number, which is exact in f32: an f16 scale and a number of at most 8
bits make 19 bits. A format with a minimum rounds once, when the minimum is added. So results equal the oracle's,
but for that rounding and the one to f16.

A table above the limit of a binding is bound in chunks of its rows (`rowchunks.row_chunks`), one dispatch each, all
of them into the same y: the weights are the N rows from FIRST_ROW on. A dispatch writes row r of y where ids[r] is
among its own rows, so it may come before or behind the others; the other rows of y stay. Without chunks FIRST_ROW is
0 and ROWS is N.

At the edges: an id at or above ROWS, which is what a negative id is as u32, gives a row of zeros, which the chunk
with FIRST_ROW = 0 alone writes; nothing is read for it. `launch.check_values` is the same test on the host, as a
clear error. Ids may repeat. f16 results past +-65504 stay there. R = 0 is no dispatch. K is whole blocks; a step
never reaches over a block's end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen import wgsltypes
from wgslgen.kernels.weighted import LAYOUT, Weighted
from wgslgen.spec import F16_MAX, Alone, Binding, Case, Const, Constant, Rule, Tolerance, UniformField


class GetRows(Weighted):
    """Constants of `get_rows`."""

    NAME = "get_rows"
    SUMMARY = "rows of a weight matrix by their ids; zeros for an id out of range"
    SIZES = ("N", "K", "R", "FIRST_ROW", "ROWS")

    layout: Annotated[Literal["ggml", "planar"], LAYOUT] = "planar"
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    k: Annotated[int | None, Constant("columns, baked in; else a uniform", "what", "k{}", "K")] = None
    workgroup_size: Annotated[
        Literal[32, 64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        if self.k is not None and (self.k <= 0 or self.k % self.block_size):
            yield f"k {self.k} is not a positive multiple of {self.block_size}"

    def consts(self) -> Iterator[Const]:
        """Yield geometry, and where f16 ends."""
        yield from super().consts()
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, ids and result."""
        ids = Binding(
            name="ids",
            access="read",
            element="u32",
            length="R",
            doc="ids of the rows; from ROWS on: zeros",
            below="ROWS",
        )
        rows = Binding(
            name="y", access="read_write", element=f"vec4<{self.output}>", length="R * K // 4", doc="rows [R][K]"
        )
        return (*self.weight_bindings(), ids, rows)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked, and where the chunk stands; N never is, so no id reads past it."""
        k = UniformField(name="k", type="u32", value="K", doc="columns")
        return (
            UniformField(name="n", type="u32", value="N", doc="rows of this chunk"),
            UniformField(name="r", type="u32", value="R", doc="number of ids"),
            *((k,) if self.k is None else ()),
            UniformField(name="first_row", type="u32", value="FIRST_ROW", doc="row of the chunk's first"),
            UniformField(name="rows", type="u32", value="ROWS", doc="rows of the table"),
        )

    @property
    def chunk_rows(self) -> int:
        """Rows that a chunk has a multiple of: any number."""
        return self.row_tile

    def chunk_start(self, first_row: int) -> dict[str, int]:
        """Return what a chunk adds to the sizes: its first row."""
        return {"FIRST_ROW": first_row}

    def alone(self) -> Alone | None:
        """Return that it looks embeddings up, of a table in one piece."""
        return Alone(op="embedding", sizes=("N", "K", "R"), given={"FIRST_ROW": "0", "ROWS": "N"})

    def workgroups(self) -> str:
        """Return one workgroup for each id."""
        return "R"

    def tolerance(self) -> Tolerance:
        """Return the bound of one rounding; results are judged by what that rounding may give."""
        if self.output == "f16":
            return Tolerance(nmse=1e-6, element=2.0**-10, derivation="the rounding to f16: either neighbour")
        return Tolerance(
            nmse=1e-14,
            element=2.0**-23,
            derivation="weights are exact in f32; a minimum is added with one rounding: either neighbour",
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        baked = (Rule(expression=f"K == {self.k}", why="K is baked in"),) if self.k is not None else ()
        within = Rule(expression="FIRST_ROW + N <= ROWS", why="the chunk's rows are among the table's")
        return (*super().rules(), *baked, within)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: K in blocks and walks of the whole workgroup, R in ids; and chunks of a table."""
        block = self.block_size
        walk = wgsltypes.round_up(self.step_elements * self.workgroup_size, block)
        shapes = {
            "one row, one block": (1, block, 1, 0, 1),
            "less than a walk": (5, 3 * block, 3, 0, 5),
            "one walk": (9, walk, 12, 0, 9),
            "a multiple of a walk": (8, 2 * walk, 5, 0, 8),
            "primes, many blocks": (37, max(walk + block, 11 * block), 41, 0, 37),
            "the first chunk": (5, 3 * block, 23, 0, 19),
            "a chunk in the middle": (5, 3 * block, 29, 7, 19),
        }
        return tuple(
            Case(name=name, sizes={"N": n, "K": self.k or k, "R": r, "FIRST_ROW": first, "ROWS": rows})
            for name, (n, k, r, first, rows) in shapes.items()
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(**self.plain_weights(), workgroup_size=64, k=None)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of a step and the types of the result."""
        types = {"narrow_type": f"vec4<{self.output}>", "wide_type": "vec4<f32>"}
        return {**super().template_values(), **types}
