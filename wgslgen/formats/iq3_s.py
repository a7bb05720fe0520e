"""iq3_s: 256 weights in 110 bytes, four signed entries of a table to an index of 9 bits, a scale of 4 bits for 32.

Bytes: f16 d, 64 with the low 8 bits of the indices, 8 with their upper bits, 32 of sign bits, 4 of scales, the lower
half first. weight = d * (2 scale + 1) * entry.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, byte_signs, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class IQ3_S(SteppedFormat):
    """Eight groups of 32 in a block; the table has 512 entries."""

    name: ClassVar[str] = "iq3_s"
    gguf_type: ClassVar[int] = 21
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 104
    stored_rest: ClassVar[int] = 6
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: a word an entry."""
        return as_words(grid(self.name))

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return signed entries and d * (2 scale + 1)."""
        count = blocks.shape[:2]
        high = spread(blocks[..., 66:74], 1).swapaxes(-1, -2).reshape(*count, 64).astype(np.uint16)
        signs = byte_signs(blocks[..., 74:106]).reshape(*count, 256)
        codes = grid(self.name)[blocks[..., 2:66] | high << 8].reshape(*count, 256) * signs
        scales = spread(blocks[..., 106:], 4).swapaxes(-1, -2).reshape(*count, 8)
        return Parts(codes, half(blocks, 0)[..., None] * (2.0 * scales + 1))
