"""iq4_nl: an f16 scale d and 32 codes of 4 bits that point into a table; weight = value * d. 18 bytes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.stepped import Parts, SixteenValues, half, spread

VALUES = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
"""Steps that are narrow around zero and wide at the ends."""


class IQ4_NL(SixteenValues):
    """Byte j of the codes holds element j in its low and j + 16 in its high half."""

    name: ClassVar[str] = "iq4_nl"
    gguf_type: ClassVar[int] = 20
    groups: ClassVar[tuple[int, ...]] = (32,)
    code_offset: ClassVar[int] = 2
    stored_codes: ClassVar[int] = 16
    stored_rest: ClassVar[int] = 2
    halves: ClassVar[tuple[int, ...]] = (0,)
    values: ClassVar[tuple[int, ...]] = VALUES

    group: int = 32

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return the table's values and d."""
        codes = self.look_up(spread(blocks[..., 2:], 4)).reshape(*blocks.shape[:2], 32)
        return Parts(codes, half(blocks, 0)[..., None].astype(np.float64))
