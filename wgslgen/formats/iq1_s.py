"""iq1_s: 256 weights in 50 bytes, eight entries -1, 0 or +1 to an index of 11 bits, a scale of 3 bits for 32.

Bytes: f16 d, 32 with the low 8 bits of the indices, 8 words of 16 bits with four times their upper 3 bits, the scale,
and the sign of a shift by 1/8. weight = d * (2 scale + 1) * (entry +- 1/8): as whole numbers 8 entry +- 1 under an
eighth of the scale.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.grids import as_words, grid
from wgslgen.formats.stepped import Parts, SteppedFormat, half

SHIFTED = 9
"""What is added to 8 times an entry, so that a byte of the table can be shifted by one either way without a carry."""


def shifted_table() -> NDArray[np.uint32]:
    """Return the table of iq1: bytes 8 entry + 9, two words an entry."""
    return as_words(8 * grid("iq1_s") + np.int8(SHIFTED))


def shifted_codes(indices: NDArray[np.integer[Any]], negative: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return 8 entry + 9 + 1, or - 1 where `negative`: int8 [..., 8]."""
    shifts = np.where(negative, SHIFTED - 1, SHIFTED + 1).astype(np.int8)
    codes: NDArray[np.int8] = 8 * grid("iq1_s")[indices] + shifts[..., None]
    return codes


class IQ1_S(SteppedFormat):
    """Eight groups of 32 in a block; the table has 2048 entries."""

    name: ClassVar[str] = "iq1_s"
    gguf_type: ClassVar[int] = 19
    zero: ClassVar[int] = -SHIFTED
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 48
    stored_rest: ClassVar[int] = 2
    halves: ClassVar[tuple[int, ...]] = (0,)

    def grid(self) -> NDArray[np.uint32]:
        """Return the table: two words an entry."""
        return shifted_table()

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return shifted entries and d * (2 scale + 1) / 8."""
        count = blocks.shape[:2]
        words = np.ascontiguousarray(blocks[..., 34:]).view("<u2")
        high = words[..., None] >> np.array([0, 3, 6, 9], dtype=np.uint16) & 7
        indices = blocks[..., 2:34].reshape(*count, 8, 4) | high << 8
        codes = shifted_codes(indices, (words >> 15).astype(np.bool_)[..., None].repeat(4, axis=-1))
        return Parts(codes.reshape(*count, 256), half(blocks, 0)[..., None] * (2.0 * (words >> 12 & 7) + 1) / 8)
