"""What every weight format is made of: geometry, exact NumPy packing, and seeded random blocks.

A format says how weights lie in a file: rows of blocks, each block `group` weights long. `ScaledFormat`
covers the formats with one f16 scale a block (and perhaps one f16 minimum), `plain.py` the unquantised ones,
`stepped.py` those with several scales in a block. Layouts only ask which bytes of a block are codes and which are not.

Sources of the byte layouts: ggml's block structures; all integers are little-endian, and "slot" means a
code's place in the code bytes, counted from the lowest bits of the first byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator

from wgslgen.errors import UsageProblem
from wgslgen.formats.halves import random_halves, to_half
from wgslgen.frozen import Frozen

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Blocks:
    """Rows of blocks taken apart; `join` puts them together again without losing a bit.

    codes: [N, K] uint8, or int8 for signed codes; for plain formats the bit patterns, uint16 or uint32.
    scales: [N, K / group] float16; [N, 0] for plain formats.
    mins: [N, K / group] float16 where the format has a minimum, else None.
    """

    codes: NDArray[np.integer[Any]]
    scales: NDArray[np.float16]
    mins: NDArray[np.float16] | None = None


class Format(Frozen, ABC):
    """A weight format with its group fixed: geometry for the templates, NumPy code for the oracles."""

    name: ClassVar[str]
    gguf_type: ClassVar[int]  # the type id of such tensors in a GGUF file
    groups: ClassVar[tuple[int, ...]]
    default_group: ClassVar[int | None] = None
    quantised: ClassVar[bool] = True
    bits: ClassVar[int]
    scale_offset: ClassVar[int | None] = 0
    min_offset: ClassVar[int | None] = None
    code_offset: ClassVar[int]
    signed: ClassVar[bool] = False
    # weight / d = code_scale * code + zero; where there is a minimum, it is added after the scale.
    code_scale: ClassVar[int] = 1
    zero: ClassVar[int] = 0
    # Weights that the format's own WGSL `load_step` gives at once, in element order, as signed bytes under one scale;
    # None: the layout loads words of codes, and the format's WGSL takes them apart.
    step: ClassVar[int | None] = None
    # Within every 4 * s activations, int8 word i holds elements i, s+i, 2s+i, 3s+i; None: no int8 route.
    int8_stride: ClassVar[int | None] = 1

    group: int

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Take `default_group` from the field's default, so that the number stands once."""
        super().__pydantic_init_subclass__(**kwargs)
        field = cls.model_fields["group"]
        cls.default_group = None if field.is_required() else field.default

    @field_validator("group")
    @classmethod
    def _legal_group(cls, group: int) -> int:
        if group not in cls.groups:
            raise ValueError(f"{cls.name} has no group {group}; expected one of {_listed(cls.groups)}")
        return group

    # Geometry, all in bytes, u32 words or elements of one block.

    @property
    def code_bytes(self) -> int:
        """Bytes of codes in a block."""
        return self.group * self.bits // 8

    @property
    def code_words(self) -> int:
        """Whole u32 words of codes in a block (0 where a block is shorter than a word)."""
        return self.code_bytes // 4

    @property
    def header_bytes(self) -> int:
        """Bytes of a block that are not codes: scales and minima, before or after the codes."""
        return sum(2 for offset in (self.scale_offset, self.min_offset) if offset is not None)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block as it lies in the file."""
        return self.header_bytes + self.code_bytes

    @property
    def scale_group(self) -> int:
        """Weights under one scale."""
        return self.step or self.group

    @property
    def has_minimum(self) -> bool:
        """Whether something is added to a weight behind its scale."""
        return self.min_offset is not None

    @property
    def exact_in_f16(self) -> bool:
        """Whether every weight is an f16 without rounding, unless it is above 65504."""
        return False

    def grid(self) -> NDArray[np.uint32] | None:
        """Return the table that codes point into, as words that stand beside the weights; None: codes need none."""
        return None

    @property
    def unit_words(self) -> int:
        """Words that one call of the WGSL decode takes."""
        return max(1, self.bits // 8)

    @property
    def unit_groups(self) -> int:
        """Groups of four elements that one call of the WGSL decode gives."""
        return self.unit_words * 8 // self.bits

    def unit_offset(self, unit: int, four: int) -> int:
        """Return where in the block group `four` of unit `unit` starts, in elements."""
        return 4 * (unit * self.unit_groups + four)

    def row_bytes(self, k: int) -> int:
        """Return the bytes of a row of `k` columns; refuse a `k` that is not whole blocks."""
        if k <= 0 or k % self.group:
            others = [group for group in self.groups if k > 0 and k % group == 0]
            raise UsageProblem(
                f"{self}: K = {k} is not a positive multiple of the block of {self.group} weights",
                hint=f"K fits group {_listed(others)}: set group = {others[0]}"
                if others
                else f"choose K as a multiple of {self.group}, or a format with a smaller block",
            )
        return k // self.group * self.block_bytes

    def check(self, data_len: int, n: int, k: int) -> None:
        """Raise UsageProblem unless `data_len` bytes are exactly `n` rows of `k` columns."""
        if n < 0:
            raise UsageProblem(f"{self}: N = {n} is negative; expected a number of rows")
        expected = n * self.row_bytes(k)
        if data_len == expected:
            return
        fits = [
            group for group in self.groups if k % group == 0 and n * type(self)(group=group).row_bytes(k) == data_len
        ]
        if fits:
            hint = f"the length fits group {_listed(fits)}: set group = {fits[0]}"
        else:
            hint = f"no group of {self.name} fits this length: check N, K and the format of the tensor"
        raise UsageProblem(f"{self}: {n} rows of {k} columns are {expected} bytes, got {data_len}", hint=hint)

    def rows(self, data: NDArray[Any], n: int, k: int) -> Bytes:
        """View any contiguous buffer as uint8 [N, row_bytes] after checking its length."""
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        self.check(flat.size, n, k)
        return flat.reshape(n, self.row_bytes(k))

    def __str__(self) -> str:
        return f"{self.name} with group {self.group}" if len(self.groups) > 1 else self.name

    # NumPy code; data is always uint8 [N, row_bytes].

    @abstractmethod
    def unpack(self, data: Bytes) -> Floats:
        """Return the weights as float64 [N, K], without rounding."""

    @abstractmethod
    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return float32 [N, K] weights in this format; refuse weights that are not finite."""

    @abstractmethod
    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return raw random rows, uint8 [N, row_bytes]: all codes, and finite scales as `random_halves`."""

    def _blocks(self, data: Bytes) -> Bytes:
        """View rows as [N, blocks, block_bytes]; refuse other types, ranks and lengths."""
        if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] % self.block_bytes:
            raise UsageProblem(
                f"{self}: expected uint8 rows [N, blocks * {self.block_bytes}], got {data.dtype} {list(data.shape)}",
                hint="bring a flat buffer into rows with Format.rows(data, n, k), which checks its length",
            )
        return data.reshape(data.shape[0], data.shape[1] // self.block_bytes, self.block_bytes)

    def _finite(self, weights: NDArray[np.float32]) -> Floats:
        """Return weights as float64 [N, blocks, group]; refuse inf, NaN and part blocks."""
        n, k = weights.shape
        self.row_bytes(k)
        if not np.isfinite(weights).all():
            raise UsageProblem(f"{self}: cannot quantise weights that are inf or NaN")
        return weights.astype(np.float64).reshape(n, k // self.group, self.group)


class SplitFormat(Format):
    """Formats that come apart into one code a weight and at most one scale and one minimum a block, and go back."""

    @abstractmethod
    def split(self, data: Bytes) -> Blocks:
        """Take rows of blocks apart."""

    @abstractmethod
    def join(self, blocks: Blocks) -> Bytes:
        """Return the bytes that `split` took apart; the exact inverse."""


class ScaledFormat(SplitFormat):
    """Blocks of an f16 scale, perhaps an f16 minimum, and `group` codes of 1 to 8 bits."""

    @property
    def exact_in_f16(self) -> bool:
        """Whether a code makes no more of the scale than 0, 1 or 2 of it."""
        times = range(self.zero, self.code_scale * ((1 << self.bits) - 1) + self.zero + 1, self.code_scale)
        return not self.has_minimum and not self.signed and all(abs(factor) <= 2 for factor in times)

    def slot_elements(self) -> NDArray[np.intp]:
        """Return which element of the block each slot of the code bytes holds: [group]."""
        return np.arange(self.group, dtype=np.intp)

    @abstractmethod
    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """Return scale and minimum (or None) for float64 [N, blocks, group]: each [N, blocks]."""

    def encode(self, blocks: Floats, scales: Floats, mins: Floats | None) -> NDArray[np.integer[Any]]:
        """Return the nearest codes [N, blocks, group], ties away from zero; a zero scale gives w = 0."""
        inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales != 0)[..., None]
        shifted = blocks if mins is None else blocks - mins[..., None]
        ideal = (shifted * inverse - self.zero) / self.code_scale
        limits = np.iinfo(np.int8) if self.signed else np.iinfo(np.uint8)
        low, high = (limits.min, limits.max) if self.signed else (0, (1 << self.bits) - 1)
        nearest = np.copysign(np.floor(np.abs(ideal) + 0.5), ideal)
        return nearest.clip(low, high).astype(limits.dtype)

    def unpack_codes(self, data: Bytes) -> NDArray[np.integer[Any]]:
        """Return code bytes [..., code_bytes] as codes [..., group] in element order."""
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        slots = (data[..., None] >> shifts) & np.uint8((1 << self.bits) - 1)
        codes = np.empty((*data.shape[:-1], self.group), dtype=np.uint8)
        codes[..., self.slot_elements()] = slots.reshape(codes.shape)
        return codes.view(np.int8) if self.signed else codes

    def pack_codes(self, codes: NDArray[np.integer[Any]]) -> Bytes:
        """Return codes [..., group] as code bytes [..., code_bytes]; the inverse of `unpack_codes`."""
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        slots = codes.view(np.uint8)[..., self.slot_elements()]
        spread = slots.reshape(*codes.shape[:-1], self.code_bytes, shifts.size) << shifts
        packed: Bytes = np.bitwise_or.reduce(spread, axis=-1)
        return packed

    def split(self, data: Bytes) -> Blocks:
        """Take rows of blocks apart; scale bits are moved, never converted."""
        blocks = self._blocks(data)
        codes = self.unpack_codes(blocks[..., self._code_range])
        mins = None if self.min_offset is None else self._half(blocks, self.min_offset)
        return Blocks(
            codes.reshape(len(data), blocks.shape[1] * self.group),
            self._half(blocks, self.scale_offset or 0),
            mins,
        )

    def join(self, blocks: Blocks) -> Bytes:
        """Return the bytes that `split` took apart."""
        n, count = blocks.scales.shape
        data = np.empty((n, count, self.block_bytes), dtype=np.uint8)
        data[..., self._code_range] = self.pack_codes(blocks.codes.reshape(n, count, self.group))
        for offset, halves in ((self.scale_offset, blocks.scales), (self.min_offset, blocks.mins)):
            if offset is not None and halves is not None:
                words = np.ascontiguousarray(halves, dtype="<f2")
                data[..., offset : offset + 2] = words.view(np.uint8).reshape(n, count, 2)
        return data.reshape(n, count * self.block_bytes)

    def unpack(self, data: Bytes) -> Floats:
        """Return (code_scale * code + zero) * d, plus the minimum where there is one: float64 [N, K].

        Nothing rounds: products and sums are multiples of 2^-24 below 2^24, which 53 bits hold.
        """
        blocks = self.split(data)
        per_scale = self.code_scale * blocks.codes.astype(np.float64) + self.zero
        weights = per_scale * blocks.scales.astype(np.float64).repeat(self.group, axis=1)
        if blocks.mins is not None:
            weights += blocks.mins.astype(np.float64).repeat(self.group, axis=1)
        return weights

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        """Return weights in this format: `fit` chooses scale and minimum, `encode` the codes."""
        blocks = self._finite(weights)
        scales, mins = self.fit(blocks)
        codes = self.encode(blocks, scales, mins).reshape(weights.shape)
        return self.join(Blocks(codes, to_half(scales), None if mins is None else to_half(mins)))

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        """Return random code bytes under scales (and minima) from `random_halves`: uint8 [N, row_bytes]."""
        row_bytes = self.row_bytes(k)
        blocks = self.split(rng.integers(0, 256, (n, row_bytes), dtype=np.uint8))
        scales = random_halves(n, k // self.group, rng)
        mins = None if self.min_offset is None else random_halves(n, k // self.group, rng, first=3)
        return self.join(Blocks(blocks.codes, scales, mins))

    @property
    def _code_range(self) -> slice:
        return slice(self.code_offset, self.code_offset + self.code_bytes)

    @staticmethod
    def _half(blocks: Bytes, offset: int) -> NDArray[np.float16]:
        return np.ascontiguousarray(blocks[..., offset : offset + 2]).view("<f2")[..., 0]


def _listed(values: tuple[int, ...] | list[int]) -> str:
    return ", ".join(str(value) for value in values)
