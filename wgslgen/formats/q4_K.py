"""q4_K: 256 weights in 144 bytes, eight scales and minima of 6 bits each for 32 codes of 4 bits.

Bytes: f16 d, f16 m, 12 bytes of scales and minima, 128 bytes of codes. weight = d * scale * code - m * minimum. Byte j
of the codes' 32-byte run r holds element 64 r + j in its low and 64 r + 32 + j in its high half. Scales 0 to 3 are the
low 6 bits of bytes 0 to 3, minima 0 to 3 those of bytes 4 to 7; of number 4 + i the low 4 bits are the low (scale)
and high (minimum) half of byte 8 + i, and the upper 2 bits the top ones of byte i and byte 4 + i.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes, Floats
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class Q4_K(SteppedFormat):
    """Eight groups of 32 in a block."""

    name: ClassVar[str] = "q4_K"
    gguf_type: ClassVar[int] = 12
    code_offset: ClassVar[int] = 16
    stored_codes: ClassVar[int] = 128
    stored_rest: ClassVar[int] = 16
    halves: ClassVar[tuple[int, ...]] = (0, 2)
    minimum: ClassVar[bool] = True

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes 0 to 15, d * scale and -m * minimum."""
        runs = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 32)
        codes = spread(runs, 4).reshape(*blocks.shape[:2], 256)
        return Parts(codes.view(np.int8), *scales_and_minima(blocks))


def scales_and_minima(blocks: Bytes) -> tuple[Floats, Floats]:
    """Return d * scale and -m * minimum, float64 [N, blocks, 8], of blocks that start with d, m and 12 bytes."""
    first, second, both = (blocks[..., at : at + 4] for at in (4, 8, 12))
    scales = np.concatenate([first & 63, (both & 15) | (first >> 6 << 4)], axis=-1)
    minima = np.concatenate([second & 63, (both >> 4) | (second >> 6 << 4)], axis=-1)
    return half(blocks, 0)[..., None] * scales, -half(blocks, 2)[..., None] * minima
