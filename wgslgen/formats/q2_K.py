"""q2_K: 256 weights in 84 bytes, a scale and a minimum of 4 bits each for 16 codes of 2 bits.

Bytes: 16 of scales (low half) and minima (high half), 64 of codes, f16 d, f16 m. weight = d * scale * code - m *
minimum. A run of 32 bytes of codes holds 128 weights: the lowest two bits of all its bytes first, then the next two.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class Q2_K(SteppedFormat):
    """Sixteen groups of 16 in a block."""

    name: ClassVar[str] = "q2_K"
    gguf_type: ClassVar[int] = 10
    step: ClassVar[int | None] = 16
    code_offset: ClassVar[int] = 16
    stored_codes: ClassVar[int] = 64
    stored_rest: ClassVar[int] = 20
    halves: ClassVar[tuple[int, ...]] = (80, 82)
    minimum: ClassVar[bool] = True

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes 0 to 3, d * scale and -m * minimum."""
        count = blocks.shape[:2]
        codes = spread(blocks[..., 16:80].reshape(*count, 2, 32), 2).reshape(*count, 256)
        scales = half(blocks, 80)[..., None] * (blocks[..., :16] & 15)
        return Parts(codes.view(np.int8), scales, -half(blocks, 82)[..., None] * (blocks[..., :16] >> 4))
