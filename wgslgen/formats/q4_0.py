"""q4_0: an f16 scale d and 32 codes of 4 bits; weight = (code - 8) * d. 18 bytes for 32 weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Floats, ScaledFormat


class Nibbles(ScaledFormat):
    """The code order that q4_0 and q4_1 share: byte j holds element j (low) and element j + 16 (high)."""

    groups: ClassVar[tuple[int, ...]] = (32,)
    bits: ClassVar[int] = 4

    group: int = 32

    def slot_elements(self) -> NDArray[np.intp]:
        """Slots 2j and 2j + 1 are the nibbles of byte j."""
        return np.arange(self.group, dtype=np.intp).reshape(2, -1).T.reshape(-1)

    def unit_offset(self, unit: int, four: int) -> int:
        """Four bytes hold four elements of the lower half and the same four of the upper half."""
        return 4 * unit + self.group // 2 * four


class Q4_0(Nibbles):
    """Symmetric around zero, with one more step below than above."""

    name: ClassVar[str] = "q4_0"
    gguf_type: ClassVar[int] = 2
    code_offset: ClassVar[int] = 2
    zero: ClassVar[int] = -8

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The weight of largest magnitude becomes code 0, so the scale carries the opposite sign."""
        peak = np.abs(blocks).argmax(axis=-1)[..., None]
        return np.take_along_axis(blocks, peak, axis=-1)[..., 0] / -8.0, None
