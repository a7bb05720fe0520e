"""bf16: unquantised weights, row-major: the upper 16 bits of an f32 each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes, Floats
from wgslgen.formats.plain import PlainFormat


class BF16(PlainFormat):
    """The range of f32 with 8 bits of mantissa; the WGSL decode takes two words at a time."""

    name: ClassVar[str] = "bf16"
    gguf_type: ClassVar[int] = 30
    bits: ClassVar[int] = 16

    def unpack(self, data: Bytes) -> Floats:
        """Return the weights as float64 [N, K], exactly."""
        self._blocks(data)
        words = np.ascontiguousarray(data).view("<u2").astype("<u4") << 16
        return words.view("<f4").astype(np.float64)

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return weights rounded to nearest, ties to even; what is past the end of bf16 saturates there."""
        values = self._finite(weights).reshape(weights.shape).astype("<f4")
        bits = values.view("<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        past = rounded & 0x7FFF == 0x7F80
        words: NDArray[np.uint16] = (rounded - past).astype("<u2")
        return words.view(np.uint8)

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return weights of the magnitudes of `random_halves`, rounded to bf16: uint8 [N, row_bytes]."""
        wide: NDArray[Any] = super().random_blocks(n, k, rng).view("<f2").astype(np.float32)
        return self.quantise(wide)
