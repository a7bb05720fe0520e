"""How weights lie on the GPU: each layout packs a file's bytes into u32 planes, and unpacks them exactly.

A plane is what one storage binding holds. Nothing here converts a number: planes are the file's bytes in
another order, padded with zeros to whole u32 words, so NaN patterns and signed zeros survive.

- `ggml`: one plane "weights", the file's bytes untouched. Blocks may straddle words.
- `planar`: a plane "codes" with the code bytes of all blocks in order, row-major, and a plane "scales" with
  the header bytes of all blocks in order: f16 scales in pairs, low half first, or for formats with a
  minimum one word a block, scale low and minimum high.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Bytes, Format

Words = NDArray[np.uint32]

# Each layout's planes, in the order in which bindings name them.
PLANES: dict[str, tuple[str, ...]] = {
    "ggml": ("weights",),
    "planar": ("codes", "scales"),
}


class PlaneSize(NamedTuple):
    """A plane's size: the bytes that mean something, and the u32 words of its buffer."""

    content_bytes: int
    words: int


def plane_sizes(fmt: Format, layout: str, n: int, k: int) -> dict[str, PlaneSize]:
    """Return the size of each plane for `n` rows of `k` columns; refuse what the layout cannot hold."""
    _require(fmt, layout)
    blocks = n * (fmt.row_bytes(k) // fmt.block_bytes)
    content = {
        "weights": blocks * fmt.block_bytes,
        "codes": blocks * fmt.code_bytes,
        "scales": blocks * fmt.header_bytes,
    }
    return {plane: PlaneSize(content[plane], -(-content[plane] // 4)) for plane in PLANES[layout]}


def pack(fmt: Format, layout: str, data: NDArray[Any], n: int, k: int) -> dict[str, Words]:
    """Return the planes of `n` rows of `k` columns: each a flat uint32 array, padded with zeros.

    `data` is the file's bytes in any shape; UsageProblem where their number does not fit the format.
    """
    _require(fmt, layout)
    rows = fmt.rows(data, n, k)
    if layout == "ggml":
        return {"weights": _to_words(rows)}
    blocks = rows.reshape(-1, fmt.block_bytes)
    is_code = _code_mask(fmt)
    return {"codes": _to_words(blocks[:, is_code]), "scales": _to_words(blocks[:, ~is_code])}


def unpack(fmt: Format, layout: str, planes: Mapping[str, Words], n: int, k: int) -> Bytes:
    """Return the file's bytes, uint8 [N, row_bytes]: the exact inverse of `pack`.

    Raises UsageProblem for a missing or unknown plane, and for one of another size than `pack` makes.
    """
    sizes = plane_sizes(fmt, layout, n, k)
    if planes.keys() != sizes.keys():
        raise UsageProblem(
            f"layout {layout} has the planes {', '.join(sizes)}; got {', '.join(sorted(planes)) or 'none'}"
        )
    parts = {plane: _to_bytes(fmt, layout, plane, planes[plane], size) for plane, size in sizes.items()}
    if layout == "ggml":
        return fmt.rows(parts["weights"], n, k)
    is_code = _code_mask(fmt)
    blocks = np.empty((n * (fmt.row_bytes(k) // fmt.block_bytes), fmt.block_bytes), dtype=np.uint8)
    blocks[:, is_code] = parts["codes"].reshape(-1, fmt.code_bytes)
    blocks[:, ~is_code] = parts["scales"].reshape(-1, fmt.header_bytes)
    return fmt.rows(blocks, n, k)


def _require(fmt: Format, layout: str) -> None:
    if layout not in PLANES:
        raise UsageProblem(f"there is no layout {layout!r}", hint=f"choose a layout from: {', '.join(PLANES)}")
    if layout == "planar" and not fmt.quantised:
        raise UsageProblem(f"{fmt.name} has no scales to put in a plane of their own", hint='set layout = "ggml"')


def _code_mask(fmt: Format) -> NDArray[np.bool_]:
    """Return which bytes of a block are codes: [block_bytes]."""
    index = np.arange(fmt.block_bytes)
    return (index >= fmt.code_offset) & (index < fmt.code_offset + fmt.code_bytes)


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
