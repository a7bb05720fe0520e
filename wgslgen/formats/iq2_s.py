"""iq2_s: 256 weights in 82 bytes, eight signed entries of a table to an index of 10 bits, a scale of 4 bits for 16.

Bytes: f16 d, 32 with the low 8 bits of the indices, 32 of sign bits, 8 with the indices' upper pairs, 8 of scales, the
lower half first. weight = d * (2 scale + 1) / 8 * entry.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, byte_signs, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class IQ2_S(SteppedFormat):
    """Sixteen groups of 16 in a block; the table has 1024 entries."""

    name: ClassVar[str] = "iq2_s"
    gguf_type: ClassVar[int] = 22
    step: ClassVar[int | None] = 16
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 72
    stored_rest: ClassVar[int] = 10
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: two words an entry."""
        return as_words(grid(self.name))

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return signed entries and d * (2 scale + 1) / 8."""
        count = blocks.shape[:2]
        high = spread(blocks[..., 66:74], 2).swapaxes(-1, -2).reshape(*count, 32).astype(np.uint16)
        codes = grid(self.name)[blocks[..., 2:34] | high << 8] * byte_signs(blocks[..., 34:66])
        scales = spread(blocks[..., 74:], 4).swapaxes(-1, -2).reshape(*count, 16)
        return Parts(codes.reshape(*count, 256), half(blocks, 0)[..., None] * (2.0 * scales + 1) / 8)
