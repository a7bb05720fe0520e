"""`planar`: a plane "codes" and a plane "scales", both row-major.

Codes are the code bytes of all blocks in order. Scales are the header bytes of all blocks in order: f16 scales in
pairs, low half first, or for formats with a minimum one word a block, scale low and minimum high.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from wgslgen.formats.base import Bytes, Format
from wgslgen.layouts.base import Layout, part, reunite


class Planar(Layout):
    """Codes apart from scales, so that loads of codes are aligned."""

    name: ClassVar[str] = "planar"
    planes: ClassVar[tuple[str, ...]] = ("codes", "scales")

    def content_bytes(self, fmt: Format, n: int, blocks: int) -> dict[str, int]:  # noqa: ARG002  # blocks say it all
        """Return the bytes of codes and of what is not."""
        return {"codes": blocks * fmt.code_bytes, "scales": blocks * fmt.header_bytes}

    def split(self, fmt: Format, rows: Bytes) -> dict[str, Bytes]:
        """Return code bytes and header bytes in the order of the blocks."""
        codes, headers = part(fmt, rows)
        return {"codes": codes, "scales": headers}

    def join(self, fmt: Format, parts: Mapping[str, Bytes], n: int, count: int) -> Bytes:
        """Return the blocks."""
        return reunite(fmt, parts["codes"], parts["scales"].reshape(n * count, fmt.header_bytes))
