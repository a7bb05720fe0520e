"""`row4`: codes and scales apart, as in `planar`, with four rows side by side; N is a multiple of 4.

Group g = tile * (K / group) + column block holds one block of each of the rows 4 * tile to 4 * tile + 3. A block
has W words of codes, and word w of row 4 * tile + r is component r of the vec4<u32> at g * W + w. The header of
that row's block stands at g * 4 + r: so a group's f16 scales are two words, the pair of rows 0 and 1 first, or
four for formats with a minimum, scale low and minimum high.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from wgslgen.formats.base import Bytes, Format
from wgslgen.layouts.base import Layout, Refusal, part, reunite


class Row4(Layout):
    """Tiles of four rows: one load brings the same word of each."""

    name: ClassVar[str] = "row4"
    planes: ClassVar[tuple[str, ...]] = ("codes", "scales")
    row_tile: ClassVar[int] = 4

    def refusal(self, fmt: Format) -> Refusal | None:
        """Refuse blocks that are not whole words, because a vec4's component could not hold a row's own codes."""
        if fmt.step is not None:
            return Refusal(f"{fmt.name} is loaded in steps of its own, not in words", "planar")
        if fmt.quantised and fmt.code_bytes % 4:
            return Refusal(f"a block of {fmt.name} has {fmt.code_bytes} bytes of codes, not whole words", "planar")
        return super().refusal(fmt)

    def content_bytes(self, fmt: Format, n: int, blocks: int) -> dict[str, int]:  # noqa: ARG002  # blocks say it all
        """Return the bytes of codes and of what is not."""
        return {"codes": blocks * fmt.code_bytes, "scales": blocks * fmt.header_bytes}

    def split(self, fmt: Format, rows: Bytes) -> dict[str, Bytes]:
        """Return code bytes [tiles, blocks, W, 4 rows, 4 bytes] and headers [tiles, blocks, 4 rows, header_bytes]."""
        codes, headers = part(fmt, rows)
        tiles, count = len(rows) // 4, codes.shape[1]
        by_row = codes.reshape(tiles, 4, count, fmt.code_words, 4)
        heads = headers.reshape(tiles, 4, count, fmt.header_bytes)
        return {"codes": by_row.transpose(0, 2, 3, 1, 4), "scales": heads.transpose(0, 2, 1, 3)}

    def join(self, fmt: Format, parts: Mapping[str, Bytes], n: int, count: int) -> Bytes:
        """Return the blocks, row by row."""
        by_word = parts["codes"].reshape(n // 4, count, fmt.code_words, 4, 4)
        heads = parts["scales"].reshape(n // 4, count, 4, fmt.header_bytes)
        return reunite(fmt, by_word.transpose(0, 3, 1, 2, 4), heads.transpose(0, 2, 1, 3))
