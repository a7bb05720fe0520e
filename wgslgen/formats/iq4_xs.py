"""iq4_xs: 256 weights in 136 bytes, a scale of 6 bits for 32 codes that point into the table of iq4_nl.

Bytes: f16 d, 2 of the scales' upper pairs, 4 of their low halves, 128 of codes, 16 for each scale as in iq4_nl. weight
= d * (scale - 32) * value. An f16, 6 bits and 7 bits make 24, so a weight is exact in f32.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.iq4_nl import VALUES
from wgslgen.formats.stepped import Parts, SixteenValues, half, spread


class IQ4_XS(SixteenValues):
    """Eight groups of 32 in a block."""

    name: ClassVar[str] = "iq4_xs"
    gguf_type: ClassVar[int] = 23
    code_offset: ClassVar[int] = 8
    stored_codes: ClassVar[int] = 128
    stored_rest: ClassVar[int] = 8
    halves: ClassVar[tuple[int, ...]] = (0,)
    values: ClassVar[tuple[int, ...]] = VALUES

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return the table's values and d * (scale - 32)."""
        count = blocks.shape[:2]
        codes = self.look_up(spread(blocks[..., 8:].reshape(*count, 8, 16), 4)).reshape(*count, 256)
        low = spread(blocks[..., 4:8], 4).swapaxes(-1, -2).reshape(*count, 8)
        high = spread(blocks[..., 2:4], 2).swapaxes(-1, -2).reshape(*count, 8)
        return Parts(codes, half(blocks, 0)[..., None] * ((low | high << 4).astype(np.float64) - 32))
