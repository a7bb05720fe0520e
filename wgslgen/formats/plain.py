"""What f32, f16 and bf16 share: blocks of one float, without scales."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Blocks, Bytes, Floats, SplitFormat
from wgslgen.formats.halves import random_halves, to_half


class PlainFormat(SplitFormat):
    """Unquantised weights: a block is one float, and nothing scales it."""

    quantised: ClassVar[bool] = False
    scale_offset: ClassVar[int | None] = None
    code_offset: ClassVar[int] = 0
    int8_stride: ClassVar[int | None] = None
    groups: ClassVar[tuple[int, ...]] = (1,)

    group: int = 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The float type of one weight as it lies in the file."""
        return np.dtype(f"<f{self.bits // 8}")

    def split(self, data: Bytes) -> Blocks:
        """Return the bit patterns as codes [N, K], and no scales: [N, 0]."""
        self._blocks(data)
        codes = np.ascontiguousarray(data).view(f"<u{self.bits // 8}")
        return Blocks(codes, np.empty((data.shape[0], 0), dtype=np.float16))

    def join(self, blocks: Blocks) -> Bytes:
        """Return the bytes of the bit patterns."""
        return np.ascontiguousarray(blocks.codes).view(np.uint8)

    def unpack(self, data: Bytes) -> Floats:
        """Return the weights as float64 [N, K], exactly."""
        self._blocks(data)
        return np.ascontiguousarray(data).view(self.dtype).astype(np.float64)

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return weights rounded to this type; past 65504 an f16 saturates."""
        values = self._finite(weights).reshape(weights.shape)
        narrow = to_half(values) if self.bits == 16 else values.astype("<f4")
        return narrow.view(np.uint8)

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return weights from `random_halves` (exact in f16 and f32): uint8 [N, row_bytes]."""
        self.row_bytes(k)
        return random_halves(n, k, rng).astype(self.dtype).view(np.uint8)
