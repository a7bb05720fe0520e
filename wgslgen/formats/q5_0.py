"""q5_0: an f16 scale d and 32 codes of 5 bits; weight = (code - 16) * d. 22 bytes for 32 weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes, Floats, ScaledFormat


class Fives(ScaledFormat):
    """The codes of q5_0 and q5_1: four bytes of high bits, element 0 lowest, then the low halves as in q4_0."""

    groups: ClassVar[tuple[int, ...]] = (32,)
    bits: ClassVar[int] = 5
    step: ClassVar[int | None] = 32

    group: int = 32

    def unpack_codes(self, data: Bytes) -> NDArray[np.integer[Any]]:
        """Return code bytes [..., 20] as codes [..., 32] in element order."""
        high = np.unpackbits(data[..., :4], axis=-1, bitorder="little")
        low = np.concatenate([data[..., 4:] & 15, data[..., 4:] >> 4], axis=-1)
        codes: NDArray[np.uint8] = low | high << 4
        return codes

    def pack_codes(self, codes: NDArray[np.integer[Any]]) -> Bytes:
        """Return codes [..., 32] as code bytes [..., 20]; the inverse of `unpack_codes`."""
        high = np.packbits((codes >> 4).astype(np.uint8), axis=-1, bitorder="little")
        low = codes.astype(np.uint8) & 15
        return np.concatenate([high, low[..., :16] | low[..., 16:] << 4], axis=-1)


class Q5_0(Fives):
    """Symmetric around zero, with one more step below than above."""

    name: ClassVar[str] = "q5_0"
    gguf_type: ClassVar[int] = 6
    code_offset: ClassVar[int] = 2
    zero: ClassVar[int] = -16

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The weight of largest magnitude becomes code 0, so the scale carries the opposite sign."""
        peak = np.abs(blocks).argmax(axis=-1)[..., None]
        return np.take_along_axis(blocks, peak, axis=-1)[..., 0] / -16.0, None
