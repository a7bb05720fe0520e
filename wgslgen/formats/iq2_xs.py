"""iq2_xs: 256 weights in 74 bytes, eight signed entries of a table to an index of 9 bits, a scale of 4 bits for 16.

Bytes: f16 d, 32 words of 16 bits with an index below 7 sign bits (the eighth makes the minus signs even in number), 8
of scales, the lower half first. weight = d * (2 scale + 1) / 8 * entry.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, even_signs, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half, spread


class IQ2_XS(SteppedFormat):
    """Sixteen groups of 16 in a block; the table has 512 entries."""

    name: ClassVar[str] = "iq2_xs"
    gguf_type: ClassVar[int] = 17
    step: ClassVar[int | None] = 16
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 64
    stored_rest: ClassVar[int] = 10
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: two words an entry."""
        return as_words(grid(self.name))

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return signed entries and d * (2 scale + 1) / 8."""
        words = np.ascontiguousarray(blocks[..., 2:66]).view("<u2")
        codes = grid(self.name)[words & 511] * even_signs(words >> 9)
        scales = spread(blocks[..., 66:], 4).swapaxes(-1, -2).reshape(*blocks.shape[:2], 16)
        return Parts(codes.reshape(*blocks.shape[:2], 256), half(blocks, 0)[..., None] * (2.0 * scales + 1) / 8)
