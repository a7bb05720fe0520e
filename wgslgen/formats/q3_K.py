"""q3_K: 256 weights in 110 bytes, a scale of 6 bits for 16 codes of 3 bits; weight = d * (scale - 32) * (code - 4).

Bytes: 32 of the codes' high bits, 64 of their low pairs, 12 of scales, f16 d. A run of 32 bytes of pairs holds 128
weights: the lowest two bits of all its bytes first, then the next two. Bit b of byte j of the high bits is that of
weight 32 b + j. The low halves of bytes 0 to 7 are the low 4 bits of scales 0 to 7, their high halves those of scales
8 to 15; of scale i the upper 2 bits are pair i / 4 of byte 8 + i % 4.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class Q3_K(SteppedFormat):
    """Sixteen groups of 16 in a block."""

    name: ClassVar[str] = "q3_K"
    gguf_type: ClassVar[int] = 11
    step: ClassVar[int | None] = 16
    zero: ClassVar[int] = -4
    code_offset: ClassVar[int] = 0
    stored_codes: ClassVar[int] = 96
    stored_rest: ClassVar[int] = 14
    halves: ClassVar[tuple[int, ...]] = (108,)

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes 0 to 7 and d * (scale - 32)."""
        count = blocks.shape[:2]
        low = spread(blocks[..., 32:96].reshape(*count, 2, 32), 2).reshape(*count, 256)
        high = spread(blocks[..., :32], 1).reshape(*count, 256)
        fours = spread(blocks[..., 96:104], 4).reshape(*count, 16)
        pairs = spread(blocks[..., 104:108], 2).reshape(*count, 16)
        scales = (fours | pairs << 4).astype(np.float64) - 32
        return Parts((low | high << 2).view(np.int8), half(blocks, 108)[..., None] * scales)
