"""iq2_xxs: 256 weights in 66 bytes, eight signed entries of a table to an index of 8 bits, a scale of 4 bits for 32.

Bytes: f16 d, then for each 32 weights four indices and a word with four times 7 sign bits (the eighth makes the minus
signs even in number) below the scale. weight = d * (2 scale + 1) / 8 * entry.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, even_signs, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half


class IQ2_XXS(SteppedFormat):
    """Eight groups of 32 in a block; the table has 256 entries."""

    name: ClassVar[str] = "iq2_xxs"
    gguf_type: ClassVar[int] = 16
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 64
    stored_rest: ClassVar[int] = 2
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: two words an entry."""
        return as_words(grid(self.name))

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return signed entries and d * (2 scale + 1) / 8."""
        pairs = np.ascontiguousarray(blocks[..., 2:]).view("<u4").reshape(*blocks.shape[:2], 8, 2)
        entries = grid(self.name)[blocks[..., 2:].reshape(*blocks.shape[:2], 8, 8)[..., :4]]
        signs = even_signs(pairs[..., 1:] >> np.array([0, 7, 14, 21], dtype=np.uint32) & 127)
        scales = half(blocks, 0)[..., None] * (2 * (pairs[..., 1] >> 28) + 1) / 8
        return Parts((entries * signs).reshape(*blocks.shape[:2], 256), scales)
