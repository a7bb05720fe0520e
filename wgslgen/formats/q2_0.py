"""q2_0: an f16 scale d and 2-bit codes; codes 0, 1, 2, 3 are -d, 0, +d, +2d.

64 weights take 18 bytes, 128 weights 34. Files of both groups carry the same GGUF type id, so the group
has no default: the caller states it, and buffer lengths are checked against it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Floats, ScaledFormat


class Q2_0(ScaledFormat):
    """Codes in element order, lowest bits first; 16 codes a u32 word."""

    name: ClassVar[str] = "q2_0"
    gguf_type: ClassVar[int] = 42
    groups: ClassVar[tuple[int, ...]] = (64, 128)
    bits: ClassVar[int] = 2
    code_offset: ClassVar[int] = 2
    zero: ClassVar[int] = -1
    int8_stride: ClassVar[int | None] = 4  # (word >> 2 * i) & 0x03030303 picks every fourth code

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The largest magnitude is the scale, so weights become -d, 0 and +d: codes 0, 1 and 2."""
        return np.abs(blocks).max(axis=-1), None
