"""iq1_m: 256 weights in 56 bytes, eight entries -1, 0 or +1 to an index of 11 bits, a scale of 3 bits for 16.

Bytes: 32 with the low 8 bits of the indices, 16 with two times their upper 3 bits and the sign of a shift by 1/8, 4
words of 16 bits with four scales each below 4 bits of an f16 d, the lowest first. weight = d * (2 scale + 1) * (entry
+- 1/8), as in iq1_s.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.halves import random_halves
from wgslgen.formats.iq1_s import SHIFTED, shifted_codes, shifted_table
from wgslgen.formats.stepped import Parts, SteppedFormat, spread

FOURS = np.array([0, 4, 8, 12], dtype=np.uint16)


class IQ1_M(SteppedFormat):
    """Sixteen groups of 16 in a block; the table is that of iq1_s."""

    name: ClassVar[str] = "iq1_m"
    gguf_type: ClassVar[int] = 29
    step: ClassVar[int | None] = 16
    zero: ClassVar[int] = -SHIFTED
    code_offset: ClassVar[int] = 0
    stored_codes: ClassVar[int] = 48
    stored_rest: ClassVar[int] = 8
    halves: ClassVar[tuple[int, ...]] = ()

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: two words an entry."""
        return shifted_table()

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return shifted entries and d * (2 scale + 1) / 8."""
        count = blocks.shape[:2]
        upper = spread(blocks[..., 32:48], 4).swapaxes(-1, -2).reshape(*count, 32).astype(np.uint16)
        codes = shifted_codes(blocks[..., :32] | (upper & 7) << 8, (upper >> 3).astype(np.bool_))
        words = np.ascontiguousarray(blocks[..., 48:]).view("<u2")
        bits = np.bitwise_or.reduce(words >> 12 << FOURS, axis=-1).astype("<u2")
        scales = (words[..., None] >> np.array([0, 3, 6, 9], dtype=np.uint16) & 7).reshape(*count, 16)
        d = bits.view("<f2").astype(np.float64)
        return Parts(codes.reshape(*count, 256), d[..., None] * (2.0 * scales + 1) / 8)

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return random bytes with f16 numbers from `random_halves` spread among them: uint8 [N, row_bytes]."""
        data = super().random_blocks(n, k, rng)
        words = data.reshape(n, k // self.group, self.block_bytes)[..., 48:].view("<u2")
        bits = random_halves(n, k // self.group, rng).view("<u2")
        words[...] = words & 0x0FFF | bits[..., None] >> FOURS << 12
        return data
