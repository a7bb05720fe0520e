"""`attention_split`: the first pass of decode attention, for one query token of each of B sequences.

The keys that the token sees are divided into NUM_SPLITS parts, whose sizes differ by one at most. For each part
and query head it writes, with s = SCALE * q.k,

- stats: the maximum m of the scores, and the sum of exp(s - m);
- partials: the sum of exp(s - m) * v.

`attention_merge` makes the attention of them. The token sits at position lengths[b] - 1 and sees every key to
there, or the last WINDOW of them. A part without keys has maximum F32_LOWEST, sum 0 and partials 0, so it weighs
nothing; lengths[b] = 0 leaves all parts without. B = 0 is no dispatch. A workgroup makes one part for the heads of
a group, or for `tile_rows` of them where more do not fit its memory; then each key is read once by each tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from wgslgen.kernels.attention import MOST_ROWS, SOFTMAX_DERIVATION, SOFTMAX_NMSE, Attention
from wgslgen.spec import Binding, Case, Const, Constant, Tolerance

MOST_SPLITS = 32


def split_refusals(num_splits: int) -> Iterator[str]:
    """Yield why the keys cannot be divided into so many parts."""
    if not 1 <= num_splits <= MOST_SPLITS:
        yield f"num_splits {num_splits} is outside 1 to {MOST_SPLITS}, which attention_merge handles"


Splits = Annotated[int, Constant("parts of the keys, 1 to 32", "what", "splits{}", "NUM_SPLITS")]


def split_bindings(q_heads: int, head_dim: int, access: Any) -> tuple[Binding, Binding]:
    """Return what one pass hands to the other."""
    return (
        Binding(
            name="partials",
            access=access,
            element="vec4<f32>",
            length=f"B * NUM_SPLITS * {q_heads * head_dim // 4}",
            doc=f"weighted sums of values [B][{q_heads}][num_splits][{head_dim}]",
        ),
        Binding(
            name="stats",
            access=access,
            element="vec2<f32>",
            length=f"B * NUM_SPLITS * {q_heads}",
            doc=f"maximum score and sum of weights [B][{q_heads}][num_splits]",
        ),
    )


class AttentionSplit(Attention):
    """Constants of `attention_split`."""

    NAME = "attention_split"
    SUMMARY = "maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence"
    SIZES = ("B", "CAPACITY", "LAYERS", "LAYER")

    num_splits: Splits
    tile_rows: Annotated[
        int | None, Constant("query heads of a workgroup, 1 to 16; else the whole group", "how", "rows{}")
    ] = None

    def shape_refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().shape_refusals()
        yield from split_refusals(self.num_splits)
        if self.tile_rows is not None and not 1 <= self.tile_rows <= MOST_ROWS:
            yield f"tile_rows {self.tile_rows} is outside 1 to {MOST_ROWS}"
        elif self.kv_heads > 0 and self.rows > MOST_ROWS:
            yield (
                f"q_heads {self.q_heads}, kv_heads {self.kv_heads}: a group of {self.group_heads} heads needs "
                f"tile_rows, at most {MOST_ROWS}"
            )

    @property
    def rows(self) -> int:
        """Query heads of a workgroup."""
        return self.tile_rows or self.group_heads

    @property
    def row_tiles(self) -> int:
        """Workgroups that share the heads of a group."""
        return -(-self.group_heads // self.rows)

    def consts(self) -> Iterator[Const]:
        """Yield the geometry."""
        yield from super().consts()
        yield Const(name="ROW_TILES", type="u32", value=self.row_tiles)

    def bindings(self) -> tuple[Binding, ...]:
        """Return queries, cache, lengths, and what the merge reads."""
        return (*self.input_bindings("1"), *split_bindings(self.q_heads, self.head_dim, "read_write"))

    def workgroups(self) -> str:
        """Return one workgroup for each sequence, key head, tile of its query heads, and part of the keys."""
        return "B * KV_HEADS * ROW_TILES * NUM_SPLITS"

    def tolerance(self) -> Tolerance:
        """Return the bound of an online softmax in f32."""
        return Tolerance(nmse=SOFTMAX_NMSE, element=2.0**-17, derivation=SOFTMAX_DERIVATION)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is the keys that a workgroup takes at once."""
        tile = self.workgroup_size
        shapes = {
            "one key": (1, 1, 1, 0),
            "fewer keys than splits": (3, 7, 1, 0),
            "one tile a split": (1, tile * min(self.num_splits, 4), 1, 0),
            "ragged lengths, the second layer": (6, 2 * tile + 9, 2, 1),
        }
        return tuple(Case(name=n, sizes=dict(zip(self.SIZES, values, strict=True))) for n, values in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(tile_rows=1, workgroup_size=64 if self.head_dim <= 256 else 128, subgroups=False)
