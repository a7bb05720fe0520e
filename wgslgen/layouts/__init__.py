"""How weights lie on the GPU: each layout packs a file's bytes into u32 planes, and unpacks them exactly.

A plane is what one storage binding holds. Nothing here converts a number: scales are moved as bits, so NaN
patterns and signed zeros survive, and planes are padded with zeros to whole u32 words. One module and one line
in MODULES each.

Formats whose codes point into a table bring it along as one more plane, GRID, the same for all weights of the format
and whatever the layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Bytes, Format
from wgslgen.layouts.base import Layout, PlaneSize, Refusal
from wgslgen.listed import classes

__all__ = [
    "GRID",
    "LAYOUTS",
    "PLANES",
    "PlaneSize",
    "Refusal",
    "Words",
    "pack",
    "plane_sizes",
    "refusal",
    "row_tile",
    "unpack",
]

Words = NDArray[np.uint32]
GRID = "grid"
"""The plane that holds a format's table."""

MODULES = (
    "ggml",
    "planar",
    "row4",
    "planes",
)
LAYOUTS: dict[str, Layout] = {kind.name: kind() for kind in classes(__name__, MODULES, Layout)}

# Each layout's planes, in the order in which bindings name them.
PLANES: dict[str, tuple[str, ...]] = {name: layout.planes for name, layout in LAYOUTS.items()}


def refusal(fmt: Format, layout: str) -> Refusal | None:
    """Return why this layout cannot hold the format, or None; UsageProblem for an unknown layout."""
    return _get(layout).refusal(fmt)


def row_tile(layout: str) -> int:
    """Return the number of rows that the layout stores together: N must be a multiple of it."""
    return _get(layout).row_tile


def plane_sizes(fmt: Format, layout: str, n: int, k: int) -> dict[str, PlaneSize]:
    """Return the size of each plane of rows for `n` of them of `k` columns; refuse what the layout cannot hold."""
    chosen = _require(fmt, layout, n)
    content = chosen.content_bytes(fmt, n, n * (fmt.row_bytes(k) // fmt.block_bytes))
    return {plane: PlaneSize(content[plane], -(-content[plane] // 4)) for plane in chosen.planes}


def pack(fmt: Format, layout: str, data: NDArray[Any], n: int, k: int) -> dict[str, Words]:
    """Return the planes of `n` rows of `k` columns, and the table: each a flat uint32 array, padded with zeros.

    `data` is the file's bytes in any shape. Raises UsageProblem where their number does not fit the format,
    where `n` does not fit the layout, and for codes that the layout cannot hold.
    """
    parts = _require(fmt, layout, n).split(fmt, fmt.rows(data, n, k))
    grid = fmt.grid()
    return {plane: _to_words(part) for plane, part in parts.items()} | ({} if grid is None else {GRID: grid.copy()})


def unpack(fmt: Format, layout: str, planes: Mapping[str, Words], n: int, k: int) -> Bytes:
    """Return the file's bytes, uint8 [N, row_bytes]: the exact inverse of `pack`.

    The table may be left out. Raises UsageProblem for a missing or unknown plane, for one of another size than `pack`
    makes, for bits that `pack` never sets, and for another table than the format's.
    """
    sizes = plane_sizes(fmt, layout, n, k)
    grid = fmt.grid()
    if grid is not None and GRID in planes:
        if not np.array_equal(planes[GRID], grid):
            raise UsageProblem(f"{fmt}: plane {GRID} is not the table of this format")
        planes = {plane: words for plane, words in planes.items() if plane != GRID}
    if planes.keys() != sizes.keys():
        raise UsageProblem(
            f"layout {layout} has the planes {', '.join(sizes)}; got {', '.join(sorted(planes)) or 'none'}"
        )
    parts = {plane: _to_bytes(fmt, layout, plane, planes[plane], size) for plane, size in sizes.items()}
    return fmt.rows(_get(layout).join(fmt, parts, n, k // fmt.group), n, k)


def _get(layout: str) -> Layout:
    if layout not in LAYOUTS:
        raise UsageProblem(f"there is no layout {layout!r}", hint=f"choose a layout from: {', '.join(LAYOUTS)}")
    return LAYOUTS[layout]


def _require(fmt: Format, layout: str, n: int) -> Layout:
    chosen = _get(layout)
    if refused := chosen.refusal(fmt):
        raise UsageProblem(refused.problem, hint=f'set layout = "{refused.instead}"')
    if n % chosen.row_tile:
        raise UsageProblem(
            f"{fmt}: layout {layout} stores {chosen.row_tile} rows together, and N = {n} is not a multiple of that",
            hint='set layout = "planar"',
        )
    return chosen


def _to_words(data: Bytes) -> Words:
    flat = data.reshape(-1)
    words = np.zeros(-(-flat.size // 4), dtype="<u4")
    words.view(np.uint8)[: flat.size] = flat
    return words


def _to_bytes(fmt: Format, layout: str, plane: str, words: Words, size: PlaneSize) -> Bytes:
    if words.dtype != np.uint32 or words.size != size.words:
        raise UsageProblem(
            f"{fmt}, layout {layout}: plane {plane} is {size.words} uint32 words, got {words.size} of {words.dtype}"
        )
    return np.ascontiguousarray(words).reshape(-1).view(np.uint8)[: size.content_bytes]
