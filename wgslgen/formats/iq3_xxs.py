"""iq3_xxs: 256 weights in 98 bytes, four signed entries of a table to an index of 8 bits, a scale of 4 bits for 32.

Bytes: f16 d, 64 indices, then for each 32 weights a word with four times 7 sign bits (the eighth makes the minus signs
of 8 weights even in number) below the scale. weight = d * (2 scale + 1) / 4 * entry.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, even_signs, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half


class IQ3_XXS(SteppedFormat):
    """Eight groups of 32 in a block; the table has 256 entries."""

    name: ClassVar[str] = "iq3_xxs"
    gguf_type: ClassVar[int] = 18
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 96
    stored_rest: ClassVar[int] = 2
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: a word an entry."""
        return as_words(grid(self.name))

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return signed entries and d * (2 scale + 1) / 4."""
        count = blocks.shape[:2]
        words = np.ascontiguousarray(blocks[..., 66:]).view("<u4")
        signs = even_signs(words[..., None] >> np.array([0, 7, 14, 21], dtype=np.uint32) & 127)
        codes = grid(self.name)[blocks[..., 2:66]].reshape(*count, 256) * signs.reshape(*count, 256)
        return Parts(codes, half(blocks, 0)[..., None] * (2 * (words >> 28) + 1) / 4)
