"""q5_K: 256 weights in 176 bytes, eight scales and minima of 6 bits each for 32 codes of 5 bits.

Bytes: f16 d, f16 m, 12 bytes of scales and minima, 32 of the codes' high bits, 128 of their low halves, which lie as
in q4_K. Bit b of byte j of the high bits is that of weight 32 b + j. weight = d * scale * code - m * minimum.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.q4_K import scales_and_minima
from wgslgen.formats.stepped import Parts, SteppedFormat, spread


class Q5_K(SteppedFormat):
    """Eight groups of 32 in a block."""

    name: ClassVar[str] = "q5_K"
    gguf_type: ClassVar[int] = 13
    code_offset: ClassVar[int] = 16
    stored_codes: ClassVar[int] = 160
    stored_rest: ClassVar[int] = 16
    halves: ClassVar[tuple[int, ...]] = (0, 2)
    minimum: ClassVar[bool] = True

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes 0 to 31, d * scale and -m * minimum."""
        count = blocks.shape[:2]
        low = spread(blocks[..., 48:].reshape(*count, 4, 32), 4).reshape(*count, 256)
        high = spread(blocks[..., 16:48], 1).reshape(*count, 256)
        return Parts((low | high << 4).view(np.int8), *scales_and_minima(blocks))
