"""mxfp4: a scale that is a power of two and 32 codes of 4 bits (sign, 2 bits of exponent, 1 of mantissa). 17 bytes.

weight = 2^(e - 128) * value, with the values of E2M1 doubled. Source: OCP Microscaling Formats, and gguf. e = 0 and 1
make a scale that is subnormal in f32, which a device may take for 0; from e = 252 on the largest weights leave f32. No
model comes near either end, and random blocks keep 40 binary orders of magnitude around 1.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes
from wgslgen.formats.stepped import Parts, SixteenValues, spread

VALUES = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
"""E2M1, doubled."""
LEAST, MOST = 107, 140
"""Exponents of random blocks, biased by 127: 2^-20 to 2^12."""


class MXFP4(SixteenValues):
    """Byte j of the codes holds element j in its low and j + 16 in its high half."""

    name: ClassVar[str] = "mxfp4"
    gguf_type: ClassVar[int] = 39
    groups: ClassVar[tuple[int, ...]] = (32,)
    code_offset: ClassVar[int] = 1
    stored_codes: ClassVar[int] = 16
    stored_rest: ClassVar[int] = 1
    halves: ClassVar[tuple[int, ...]] = ()
    values: ClassVar[tuple[int, ...]] = VALUES

    group: int = 32

    def take_apart(self, blocks: Bytes) -> Parts:
        """Return the table's values and 2^(e - 128)."""
        codes = self.look_up(spread(blocks[..., 1:], 4)).reshape(*blocks.shape[:2], 32)
        return Parts(codes, np.exp2(blocks[..., :1].astype(np.float64) - 128))

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return the nearest values under the scale that brings the largest magnitude to between 4 and 8, of 12."""
        blocks = self._finite(weights)
        largest = np.abs(blocks).max(axis=-1)
        exponents = np.floor(np.log2(largest, out=np.full_like(largest, -127.0), where=largest > 0)) + 125
        scales = np.where(largest > 0, exponents, 0).clip(0, 255).astype(np.uint8)
        each = np.exp2(scales.astype(np.float64) - 128)[..., None, None]
        errors = np.abs(each * np.array(VALUES, dtype=np.float64) - blocks[..., None])
        codes = errors.argmin(axis=-1).astype(np.uint8)
        packed = codes[..., :16] | codes[..., 16:] << 4
        return np.concatenate([scales[..., None], packed], axis=-1).reshape(len(weights), -1)

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return random codes under scales of 2^-20 to 2^12, so that f16 holds the weights: uint8 [N, row_bytes]."""
        data = super().random_blocks(n, k, rng)
        blocks = data.reshape(n, k // self.group, self.block_bytes)
        blocks[..., 0] = rng.integers(LEAST, MOST, blocks.shape[:2])
        return data
