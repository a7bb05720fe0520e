"""nvfp4: four scales of 8 bits (E4M3, unsigned) for 16 codes of 4 bits each. 36 bytes for 64 weights.

weight = scale / 2 * value, with the values of E2M1 doubled. A scale byte of 0 or 127 is 0; the top bit says nothing.
The low halves of a group's 8 bytes are its first 8 codes, the high halves the others.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Bytes
from wgslgen.formats.mxfp4 import VALUES
from wgslgen.formats.stepped import Parts, SixteenValues, spread


class NVFP4(SixteenValues):
    """Four groups of 16 in a block."""

    name: ClassVar[str] = "nvfp4"
    gguf_type: ClassVar[int] = 40
    groups: ClassVar[tuple[int, ...]] = (64,)
    step: ClassVar[int | None] = 16
    code_offset: ClassVar[int] = 4
    stored_codes: ClassVar[int] = 32
    stored_rest: ClassVar[int] = 4
    halves: ClassVar[tuple[int, ...]] = ()
    values: ClassVar[tuple[int, ...]] = VALUES

    group: int = 64

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return the table's values and half of the scales."""
        count = blocks.shape[:2]
        codes = self.look_up(spread(blocks[..., 4:].reshape(*count, 4, 8), 4)).reshape(*count, 64)
        exponents = (blocks[..., :4] >> 3 & 15).astype(np.float64)
        mantissas = (blocks[..., :4] & 7).astype(np.float64)
        normal = (8 + mantissas) * np.exp2(exponents - 11)
        scales = np.where(exponents == 0, mantissas * 2.0**-10, normal)
        return Parts(codes, np.where(blocks[..., :4] == 127, 0.0, scales))
