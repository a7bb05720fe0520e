"""`lm_head_argmax`: the largest of TILE_ROWS neighbours of the logits W·x, and its row; no logit reaches memory.

A workgroup makes the sums of TILE_ROWS rows as `matvec` does, and gives the best of them to its slot of each
column; `argmax_merge` makes a token of the slots. The order is that of `argmax`: the higher number wins, of equal
ones (-0 and +0 among them) the lowest row, NaN never against a number; where all are NaN the lowest row. Rows past
N never win, and every slot holds a row of W.

A weight above the limit of a binding is bound in chunks of its rows (`rowchunks.row_chunks`), one dispatch each, all
of them into the same slots: FIRST_ROW is the chunk's first row, which is added to what stands in best_index, and
FIRST_SLOT the chunk's first slot of SLOTS. A dispatch writes its own slots alone, so it may come before or behind
the others. Without chunks FIRST_ROW and FIRST_SLOT are 0 and SLOTS is ceil(N / TILE_ROWS).

f16 activations are converted where they are loaded. N = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from wgslgen.kernels.product import SUMS, Product
from wgslgen.spec import Binding, Case, Constant, Rule, Tolerance, UniformField


class LmHeadArgmax(Product):
    """Constants of `lm_head_argmax`."""

    NAME = "lm_head_argmax"
    SUMMARY = "the largest logit of each tile of rows and its row, lowest row first, NaN last"
    SIZES = ("N", "K", "SLOTS", "FIRST_ROW", "FIRST_SLOT")

    tile_rows: Annotated[
        Literal[1, 2, 4, 8], Constant("rows of a slot, which a workgroup makes", "what", "rows{}", "TILE_ROWS")
    ] = 4
    k: Annotated[int | None, Constant("columns of W, baked in; else a uniform", "what", "k{}", "K")] = None

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        yield from self.baked_refusals(None, self.k)

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations, and value and row of each slot's best."""
        value, index = (
            Binding(name=name, access="read_write", element="u32", length="COLUMNS * SLOTS", doc=doc)
            for name, doc in (
                ("best_value", "f32 bits of the best [columns][SLOTS]"),
                ("best_index", "its row [columns][SLOTS]"),
            )
        )
        return (*self.weight_bindings(), *self.activation_bindings(), value, index)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked, and where the chunk stands."""
        columns = UniformField(name="k", type="u32", value="K", doc="columns of W")
        return (
            UniformField(name="n", type="u32", value="N", doc="rows of this chunk"),
            *((columns,) if self.k is None else ()),
            UniformField(name="slots", type="u32", value="SLOTS", doc="slots of a column"),
            UniformField(name="first_row", type="u32", value="FIRST_ROW", doc="row of the chunk's first"),
            UniformField(name="first_slot", type="u32", value="FIRST_SLOT", doc="slot of the chunk's first"),
        )

    @property
    def chunk_rows(self) -> int:
        """Rows that a chunk has a multiple of: those of a slot, so that none spans two chunks."""
        return self.tile_rows

    def chunk_start(self, first_row: int) -> dict[str, int]:
        """Return what a chunk adds to the sizes: its first row and its first slot."""
        return {"FIRST_ROW": first_row, "FIRST_SLOT": first_row // self.tile_rows}

    def tolerance(self) -> Tolerance:
        """Return the bound of f32 sums; rows are equal."""
        return SUMS

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (
            *super().rules(),
            *self.baked_rules(None, self.k),
            Rule(
                expression="FIRST_SLOT + ceil_div(N, TILE_ROWS) <= SLOTS",
                why="the chunk has a slot for each TILE_ROWS rows, and none may lie past SLOTS",
            ),
            Rule(expression=f"FIRST_ROW + N <= {2**32}", why="a row is a u32"),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes, and a chunk with slots and rows before and behind it."""
        shapes = [(name, n, self.k or k, 0, 0) for name, (n, k) in self.shapes().items()]
        shapes.append(
            ("a chunk in the middle", 5 * self.tile_rows - self.row_tile, self.k or 3 * self.block_size, 100000, 3)
        )
        return tuple(
            Case(
                name=name,
                sizes={
                    "N": n,
                    "K": k,
                    "SLOTS": -(-n // self.tile_rows) + 2 * slot,
                    "FIRST_ROW": row,
                    "FIRST_SLOT": slot,
                },
            )
            for name, n, k, row, slot in shapes
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation; what a slot holds is part of it."""
        return self.changed(**self.plain_product(), k=None)
