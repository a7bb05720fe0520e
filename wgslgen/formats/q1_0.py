"""q1_0: an f16 scale d and one sign bit a weight; bit 1 is +d, bit 0 is -d. 18 bytes for 128 weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Floats, ScaledFormat


class Q1_0(ScaledFormat):
    """Sign bits in element order, lowest bit first; early files have groups of 32 or 64."""

    name: ClassVar[str] = "q1_0"
    gguf_type: ClassVar[int] = 41
    groups: ClassVar[tuple[int, ...]] = (32, 64, 128)
    bits: ClassVar[int] = 1
    code_offset: ClassVar[int] = 2
    code_scale: ClassVar[int] = 2
    zero: ClassVar[int] = -1
    int8_stride: ClassVar[int | None] = 8  # (word >> i) & 0x01010101 picks every eighth bit

    group: int = 128

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The mean magnitude is the scale with the least squared error for given signs."""
        return np.abs(blocks).mean(axis=-1), None

    def encode(self, blocks: Floats, scales: Floats, mins: Floats | None) -> NDArray[np.integer[Any]]:
        """A bit is the sign, whatever the scale: 1 for w >= 0."""
        del scales, mins
        return (blocks >= 0).astype(np.uint8)
