"""q6_K: 256 weights in 210 bytes, a signed scale of 8 bits for 16 codes of 6 bits; weight = d * scale * (code - 32).

Bytes: 128 of the codes' low halves, 64 of their high pairs, 16 scales, f16 d. A run of 64 bytes of halves holds 128
weights: the low halves of all its bytes first, then the high ones; a run of 32 bytes of pairs is the same 128: the
lowest pairs of all its bytes first. An f16, 7 bits and 5 bits make 23, so a weight is exact in f32.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class Q6_K(SteppedFormat):
    """Sixteen groups of 16 in a block."""

    name: ClassVar[str] = "q6_K"
    gguf_type: ClassVar[int] = 14
    step: ClassVar[int | None] = 16
    zero: ClassVar[int] = -32
    code_offset: ClassVar[int] = 0
    stored_codes: ClassVar[int] = 192
    stored_rest: ClassVar[int] = 18
    halves: ClassVar[tuple[int, ...]] = (208,)

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes 0 to 63 and d * scale."""
        count = blocks.shape[:2]
        low = spread(blocks[..., :128].reshape(*count, 2, 64), 4).reshape(*count, 256)
        high = spread(blocks[..., 128:192].reshape(*count, 2, 32), 2).reshape(*count, 256)
        scales = blocks[..., 192:208].view(np.int8).astype(np.float64)
        return Parts((low | high << 4).view(np.int8), half(blocks, 208)[..., None] * scales)
