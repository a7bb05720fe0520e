"""tq2_0: ternary weights, an f16 scale d behind 256 codes of 2 bits; weight = (code - 1) * d. 66 bytes for 256 weights.

A run of 32 bytes holds 128 weights: the lowest two bits of all its bytes first, then the next two.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Floats, ScaledFormat


class TQ2_0(ScaledFormat):
    """Codes 0, 1 and 2 are -d, 0 and +d; a file has no code 3, which would be +2d."""

    name: ClassVar[str] = "tq2_0"
    gguf_type: ClassVar[int] = 35
    groups: ClassVar[tuple[int, ...]] = (256,)
    bits: ClassVar[int] = 2
    step: ClassVar[int | None] = 32
    scale_offset: ClassVar[int | None] = 64
    code_offset: ClassVar[int] = 0
    zero: ClassVar[int] = -1

    group: int = 256

    def slot_elements(self) -> NDArray[np.intp]:
        """Pair t of byte 32 r + j is element 128 r + 32 t + j."""
        return np.arange(self.group, dtype=np.intp).reshape(2, 4, 32).transpose(0, 2, 1).reshape(-1)

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The largest magnitude is the scale, so weights become -d, 0 and +d."""
        return np.abs(blocks).max(axis=-1), None
