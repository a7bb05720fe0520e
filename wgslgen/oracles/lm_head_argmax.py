"""Oracle of `lm_head_argmax`: the largest of each tile of logits in float64.

Test data have a clear winner in every tile, or ties of rows with the same weights: then the row is right on every
device, whatever rounding does to the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close, Equal
from wgslgen.formats import Format
from wgslgen.oracles.matvec import activations, as_read, product, random_weights
from wgslgen.oracles.problem import Problem

Floats = NDArray[np.float64]

CLEAR = 2.0**-19
"""Share of two sums' magnitudes by which they differ where rounding cannot change their order: twice what it may do."""


def near_best(values: Floats, magnitudes: Floats) -> NDArray[np.intp]:
    """Return which of a tile's logits [rows] rounding may make the largest, in order; those of equal rows are among."""
    top = int(np.argmax(values))
    return np.flatnonzero(values[top] - values <= CLEAR * (magnitudes[top] + magnitudes))


def tiles(values: Floats, tile_rows: int) -> Iterator[tuple[int, slice]]:
    """Yield column and rows of each slot of the logits [columns, N], column by column."""
    columns, n = values.shape
    for column in range(columns):
        yield from ((column, slice(first, min(first + tile_rows, n))) for first in range(0, n, tile_rows))


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` N, K, SLOTS, FIRST_ROW and FIRST_SLOT.

    `constants` are those of a variant: format, group, layout, columns, activation, route, activation_group and
    tile_rows are read. Slots of other chunks hold something before, and must hold it afterwards.
    """
    n, k, tile_rows, slots = sizes["N"], sizes["K"], constants["tile_rows"], sizes["SLOTS"]
    fmt = formats.get(constants["format"], constants["group"])
    data = random_weights(constants, fmt, n, k, rng)
    x = activations(rng, {**constants, "output": "f32"}, fmt.unpack(data))
    read, exact = as_read(constants, fmt, x)
    data = decided(fmt, data, exact, tile_rows)
    values, magnitudes = product(fmt.unpack(data), exact)
    before = rng.standard_normal((len(x), slots)).astype(np.float32)
    best, off = before.astype(np.float64), np.zeros(before.shape)
    index = rng.integers(0, 2**32, before.shape, dtype=np.uint32)
    held = {"best_value": before.view(np.uint32), "best_index": index.copy()} if -(-n // tile_rows) < slots else {}
    for column, rows in tiles(values, tile_rows):
        slot = sizes["FIRST_SLOT"] + rows.start // tile_rows
        row = rows.start + int(near_best(values[column, rows], magnitudes[column, rows])[0])
        best[column, slot], off[column, slot] = values[column, row], magnitudes[column, row]
        index[column, slot] = sizes["FIRST_ROW"] + row
    return Problem(
        inputs={**layouts.pack(fmt, constants["layout"], data, n, k), **read, **held},
        expected={"best_value": Close(best, off, np.dtype(np.float32)), "best_index": Equal(index)},
    )


def decided(fmt: Format, data: NDArray[np.uint8], x: Floats, tile_rows: int) -> NDArray[np.uint8]:
    """Return rows of weights [N, row_bytes] whose tiles have a clear winner for x [columns, K], or one of equal rows.

    A row that rounding could put on top becomes the same as the one that is there; so does, in every third tile, the
    row behind the winner, or the tile's first where the winner is its last.
    """
    data = data.copy()
    values, _ = product(fmt.unpack(data), x)
    for _, rows in [*tiles(values[:1], tile_rows)][::3]:
        top = int(np.argmax(values[0, rows]))
        data[rows.start + (top + 1) % (rows.stop - rows.start)] = data[rows.start + top]
    while True:
        weights = fmt.unpack(data)
        values, magnitudes = product(weights, x)
        doubtful = [
            (rows.start + int(at), rows.start + int(np.argmax(values[column, rows])))
            for column, rows in tiles(values, tile_rows)
            for at in near_best(values[column, rows], magnitudes[column, rows])
        ]
        doubtful = [(row, top) for row, top in doubtful if not np.array_equal(weights[row], weights[top])]
        if not doubtful:
            return data
        row, top = doubtful[0]
        data[row] = data[top]
