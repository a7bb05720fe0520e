"""What formats with several scales in a block share: geometry, unpacking and random blocks.

A block is `group` weights in bytes of codes, which stand together, and bytes that are not: f16 numbers, and small
scales that multiply them. `step` weights, in element order, lie under one scale (and one minimum). NumPy code takes
a block apart into `Parts`; WGSL does the same a step at a time. Sources of the byte layouts: ggml's block structures.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Bytes, Floats, Format
from wgslgen.formats.halves import random_halves


class Parts(NamedTuple):
    """Blocks taken apart: weight = scale * (code + zero) + minimum.

    codes: [N, blocks, group], whole numbers that fit signed bytes.
    scales: float64 [N, blocks, group / step].
    mins: the same shape, or None where the format has no minimum.
    """

    codes: NDArray[np.int8]
    scales: Floats
    mins: Floats | None = None


class SteppedFormat(Format):
    """Base of the formats whose blocks have several scales, or codes that are no plain numbers."""

    bits: ClassVar[int] = 8
    stored_codes: ClassVar[int]
    """Bytes of codes in a block."""
    stored_rest: ClassVar[int]
    """Bytes of a block that are not codes."""
    halves: ClassVar[tuple[int, ...]]
    """Where in the block the f16 numbers stand, in bytes: the scale first, then what the minima are multiples of."""
    minimum: ClassVar[bool] = False
    step: ClassVar[int | None] = 32
    groups: ClassVar[tuple[int, ...]] = (256,)

    group: int = 256

    @property
    def code_bytes(self) -> int:
        """Bytes of codes in a block."""
        return self.stored_codes

    @property
    def header_bytes(self) -> int:
        """Bytes of a block that are not codes."""
        return self.stored_rest

    @property
    def has_minimum(self) -> bool:
        """Whether something is added to a weight behind its scale."""
        return self.minimum

    @abstractmethod
    def take_apart(self, blocks: Bytes) -> Parts:
        """Return codes, scales and minima of uint8 [N, blocks, block_bytes]."""

    def unpack(self, data: Bytes) -> Floats:
        """Return scale * (code + zero) + minimum, float64 [N, K].

        Scales are products of an f16 and a small number, so nothing rounds but where a minimum is added to a weight
        that is more than 2^29 times larger or smaller.
        """
        blocks = self._blocks(data)
        parts = self.take_apart(blocks)
        values = parts.codes.reshape(*parts.scales.shape, self.scale_group).astype(np.float64) + self.zero
        values *= parts.scales[..., None]
        if parts.mins is not None:
            values += parts.mins[..., None]
        return values.reshape(len(data), blocks.shape[1] * self.group)

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:  # noqa: ARG002  # whatever they are
        """Refuse: ggml's quantisers of such formats search, and none is defined as the reference."""
        raise UsageProblem(
            f"{self}: no reference quantiser is defined for this format", hint="take the tensor from a GGUF file"
        )

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return random bytes with f16 numbers from `random_halves` among them: uint8 [N, row_bytes]."""
        data = rng.integers(0, 256, (n, self.row_bytes(k)), dtype=np.uint8)
        blocks = data.reshape(n, k // self.group, self.block_bytes)
        for turn, offset in enumerate(self.halves):
            words = random_halves(n, k // self.group, rng, first=3 * turn)
            blocks[..., offset : offset + 2] = words.view(np.uint8).reshape(n, k // self.group, 2)
        return data


def half(blocks: Bytes, offset: int) -> Floats:
    """Return the f16 at byte `offset` of each block, float64 [N, blocks]."""
    return np.ascontiguousarray(blocks[..., offset : offset + 2]).view("<f2")[..., 0].astype(np.float64)


def spread(data: Bytes, bits: int) -> NDArray[np.uint8]:
    """Return the fields of `bits` bits of bytes [..., B] as [..., 8 / bits, B], the lowest first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    return (data[..., None, :] >> shifts) & np.uint8((1 << bits) - 1)


class SixteenValues(SteppedFormat):
    """Base of the formats whose codes of 4 bits point into a table of sixteen values."""

    values: ClassVar[tuple[int, ...]]

    def table(self) -> list[str]:
        """Return the values as signed bytes, four a word, as WGSL spells them."""
        words = np.array(self.values, dtype=np.int8).view("<u4")
        return [f"0x{int(word):08x}u" for word in words]

    def look_up(self, codes: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return the values of codes."""
        found: NDArray[np.int8] = np.array(self.values, dtype=np.int8)[codes]
        return found
