"""tq1_0: ternary weights, five to a byte, and an f16 scale d; weight = (trit - 1) * d. 54 bytes for 256 weights.

Bytes: 32 that hold trits n of weights 32 n + j in byte j, 16 that hold those of 160 + 16 n + j, 4 that hold trits 0 to
3 of 240 + 4 n + j, then d. A byte b is a fraction of 256, whose digits to base 3 are its trits, the first one first:
trit n = floor(3 (3^n b mod 256) / 256). Several bytes mean the same trits, so bytes do not follow from the weights.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.halves import to_half
from wgslgen.formats.stepped import Parts, SteppedFormat, half

RUNS = ((0, 32, 5), (32, 16, 5), (48, 4, 4))
"""Runs of bytes: where each starts, its bytes, and the trits in a byte."""


class TQ1_0(SteppedFormat):
    """Sixteen steps of 16 weights in a block, all under one scale."""

    name: ClassVar[str] = "tq1_0"
    gguf_type: ClassVar[int] = 34
    step: ClassVar[int | None] = 16
    zero: ClassVar[int] = -1
    code_offset: ClassVar[int] = 0
    stored_codes: ClassVar[int] = 52
    stored_rest: ClassVar[int] = 2
    halves: ClassVar[tuple[int, ...]] = (52,)

    @property
    def exact_in_f16(self) -> bool:
        """True: a weight is the scale, its negative or 0."""
        return True

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return trits 0 to 2, and d for each step."""
        trits = []
        for first, size, digits in RUNS:
            powers = 3 ** np.arange(digits, dtype=np.uint32)[:, None]
            fractions = blocks[..., None, first : first + size] * powers & 255
            trits.append((fractions * 3 >> 8).reshape(*blocks.shape[:2], digits * size))
        codes = np.concatenate(trits, axis=-1).astype(np.int8)
        return Parts(codes, half(blocks, 52)[..., None].repeat(16, axis=-1))

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return weights in this format: the largest magnitude is the scale; a byte is the least that has its trits."""
        blocks = self._finite(weights)
        scales = np.abs(blocks).max(axis=-1)
        inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales != 0)[..., None]
        ideal = blocks * inverse
        trits = (np.copysign(np.floor(np.abs(ideal) + 0.5), ideal) + 1).astype(np.uint32)
        data = np.empty((*scales.shape, self.block_bytes), dtype=np.uint8)
        at = 0
        for first, size, digits in RUNS:
            mine = trits[..., at : at + size * digits].reshape(*scales.shape, digits, size)
            whole = (mine * 3 ** np.arange(4, 4 - digits, -1, dtype=np.uint32)[:, None]).sum(axis=-2)
            data[..., first : first + size] = (whole * 256 + 242) // 243
            at += size * digits
        data[..., 52:] = to_half(scales)[..., None].view(np.uint8)
        return data.reshape(len(weights), -1)
