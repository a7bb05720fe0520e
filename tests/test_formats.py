"""Formats: hand-written bytes, PyPI's gguf and a dull bit-by-bit decoder judge the NumPy code."""

from __future__ import annotations

import math
from typing import ClassVar

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats
from wgslgen.formats.base import Blocks, Bytes, Floats, Format, ScaledFormat, SplitFormat

ALL = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups]
SPLIT = [fmt for fmt in ALL if isinstance(fmt, SplitFormat)]
QUANTISED = [fmt for fmt in ALL if isinstance(fmt, ScaledFormat)]
ONE = b"\x00\x3c"  # f16 1.0, little-endian
HALF = b"\x00\x38"
QUARTER = b"\x00\x34"


def scaled(name: str, group: int | None = None) -> ScaledFormat:
    fmt = formats.get(name, group)
    assert isinstance(fmt, ScaledFormat)
    return fmt


def ids(fmt: Format) -> str:
    return f"{fmt.name}-{fmt.group}"


every = pytest.mark.parametrize("fmt", ALL, ids=ids)
every_split = pytest.mark.parametrize("fmt", SPLIT, ids=ids)
every_quantised = pytest.mark.parametrize("fmt", QUANTISED, ids=ids)


def row(*parts: bytes) -> Bytes:
    return np.frombuffer(b"".join(parts), dtype=np.uint8)[None, :]


def weights(fmt: Format, *parts: bytes) -> list[float]:
    values: list[float] = fmt.unpack(row(*parts))[0].tolist()
    return values


# A decoder that shares nothing with wgslgen.formats: Python integers, one bit at a time.


def dull_half(word: int) -> float:
    sign = -1.0 if word >> 15 else 1.0
    exponent, mantissa = word >> 10 & 31, word & 1023
    assert exponent != 31
    if exponent == 0:
        return sign * math.ldexp(mantissa, -24)
    return sign * math.ldexp(1024 + mantissa, exponent - 25)


def dull_bits(data: bytes, first_bit: int, count: int) -> int:
    value = 0
    for i in range(count):
        bit = first_bit + i
        value += (data[bit // 8] >> bit % 8 & 1) << i
    return value


def dull_weight(name: str, group: int, data: bytes, index: int) -> float:
    sizes = {"q1_0": 2 + group // 8, "q2_0": 2 + group // 4, "q4_0": 18, "q4_1": 20, "q8_0": 34}
    sizes |= {"q5_0": 22, "q5_1": 24, "tq2_0": 66}
    start, element = index // group * sizes[name] * 8, index % group
    if name == "tq2_0":
        place = 8 * (element // 128 * 32 + element % 32) + 2 * (element % 128 // 32)
        return (dull_bits(data, start + place, 2) - 1) * dull_half(dull_bits(data, start + 512, 16))
    d = dull_half(dull_bits(data, start, 16))
    if name in ("q5_0", "q5_1"):
        codes = start + (16 if name == "q5_0" else 32)
        low = dull_bits(data, codes + 32 + 8 * (element % 16) + 4 * (element // 16), 4)
        code = low + 16 * dull_bits(data, codes + element, 1)
        return (code - 16) * d if name == "q5_0" else code * d + dull_half(dull_bits(data, start + 16, 16))
    if name == "q1_0":
        return d if dull_bits(data, start + 16 + element, 1) else -d
    if name == "q2_0":
        return (dull_bits(data, start + 16 + 2 * element, 2) - 1) * d
    if name == "q4_0":
        return (dull_bits(data, start + 16 + 8 * (element % 16) + 4 * (element // 16), 4) - 8) * d
    if name == "q4_1":
        m = dull_half(dull_bits(data, start + 16, 16))
        return dull_bits(data, start + 32 + 8 * (element % 16) + 4 * (element // 16), 4) * d + m
    code = dull_bits(data, start + 16 + 8 * element, 8)
    return (code - 256 if code > 127 else code) * d


# Bytes written by hand.


def test_q1_0_by_hand() -> None:
    fmt = formats.get("q1_0")
    assert (fmt.group, fmt.block_bytes) == (128, 18)
    expected = [-0.5] * 128
    for element in (0, 9, 127):  # bit 0 of byte 0, bit 1 of byte 1, bit 7 of byte 15
        expected[element] = 0.5
    assert weights(fmt, HALF, b"\x01\x02" + bytes(13) + b"\x80") == expected


@pytest.mark.parametrize(("group", "size"), [(32, 6), (64, 10)])
def test_q1_0_small_groups_by_hand(group: int, size: int) -> None:
    fmt = formats.get("q1_0", group)
    assert fmt.block_bytes == size
    second = b"\x00\xc0"  # -2.0: its own scale for the second block
    data = (ONE, b"\x0f" + bytes(group // 8 - 1), second, b"\xff" * (group // 8))
    assert weights(fmt, *data) == [1.0] * 4 + [-1.0] * (group - 4) + [-2.0] * group


@pytest.mark.parametrize(("group", "size"), [(64, 18), (128, 34)])
def test_q2_0_by_hand_with_code_3(group: int, size: int) -> None:
    fmt = formats.get("q2_0", group)
    assert fmt.block_bytes == size
    # 0xe4 = 11 10 01 00: codes 0, 1, 2, 3 from the lowest bits up.
    codes = b"\xe4" + b"\x55" * (group // 4 - 2) + b"\xc0"
    expected = [-0.5, 0.0, 0.5, 1.0] + [0.0] * (group - 8) + [-0.5, -0.5, -0.5, 1.0]
    assert weights(fmt, HALF, codes) == expected


def test_q2_0_scale_signs_and_second_block() -> None:
    fmt = formats.get("q2_0", 64)
    data = (b"\x00\xbc", b"\xff" * 16, ONE, b"\x00" * 16)  # d = -1 with code 3, then d = 1 with code 0
    assert weights(fmt, *data) == [-2.0] * 64 + [-1.0] * 64


def test_c30_zero_points_are_subtracted_as_signed_numbers() -> None:
    x = np.ones(32)
    assert formats.get("q4_0").unpack(row(QUARTER, bytes(16)))[0] @ x == -64.0
    assert formats.get("q2_0", 64).unpack(row(HALF, bytes(16)))[0].sum() == -32.0


def test_c30_q4_0_nibble_order() -> None:
    values = weights(formats.get("q4_0"), ONE, b"\x88\x3c" + b"\x88" * 14)
    assert values[1] == 4.0  # low nibble 0xc of byte 1
    assert values[17] == -5.0  # high nibble 0x3 of byte 1
    assert [v for i, v in enumerate(values) if i not in (1, 17)] == [0.0] * 30


def test_q4_1_by_hand() -> None:
    values = weights(formats.get("q4_1"), HALF, b"\x00\xc2", b"\xf1" + bytes(15))  # d = 0.5, m = -3
    assert values == [-2.5] + [-3.0] * 15 + [4.5] + [-3.0] * 15


def test_q8_0_by_hand() -> None:
    values = weights(formats.get("q8_0"), HALF, b"\x80\xff\x7f" + bytes(29))
    assert values == [-64.0, -0.5, 63.5] + [0.0] * 29


def test_plain_by_hand() -> None:
    assert weights(formats.get("f16"), ONE, b"\x01\x00", b"\xff\xfb") == [1.0, 2.0**-24, -65504.0]
    assert weights(formats.get("f32"), b"\x00\x00\xc0\x3f", b"\x01\x00\x00\x00") == [1.5, 2.0**-149]


def test_c28_blocks_on_two_byte_boundaries() -> None:
    fmt = scaled("q4_0")
    assert fmt.row_bytes(96) == 54
    scales = np.array([[(r + 1) * (b + 1) / 8 for b in range(3)] for r in range(3)], dtype=np.float16)
    data = fmt.join(Blocks(np.full((3, 96), 9, dtype=np.uint8), scales))
    assert data.shape == (3, 54)
    assert fmt.unpack(data).sum(axis=1).tolist() == [24.0, 48.0, 72.0]


@pytest.mark.parametrize(("name", "k", "size", "code"), [("q8_0", 32, 34, 1), ("q1_0", 128, 18, 1)])
def test_c28_other_formats(name: str, k: int, size: int, code: int) -> None:
    fmt = scaled(name)
    assert fmt.row_bytes(k) == size
    scales = (np.arange(1, 6) / 8).astype(np.float16)[:, None]
    codes = np.full((5, k), code, dtype=np.int8 if name == "q8_0" else np.uint8)
    sums = fmt.unpack(fmt.join(Blocks(codes, scales))).sum(axis=1)
    assert sums.tolist() == [k * r / 8 for r in range(1, 6)]


# Case C31: the order of the codes is part of the format.


class Interleaved(ScaledFormat):
    """I2_S's order with a block scale: byte g holds elements g, 32+g, 64+g, 96+g from the high bits down."""

    name: ClassVar[str] = "interleaved"
    groups: ClassVar[tuple[int, ...]] = (128,)
    bits: ClassVar[int] = 2
    scale_offset: ClassVar[int | None] = 32
    code_offset: ClassVar[int] = 0
    zero: ClassVar[int] = -1

    group: int = 128

    def slot_elements(self) -> NDArray[np.intp]:
        return np.arange(128).reshape(4, 32)[::-1].T.reshape(-1)

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        return np.abs(blocks).max(axis=-1), None


def test_c31_an_interleaved_order_is_a_table_of_slots() -> None:
    fmt = Interleaved()
    codes = np.ones((1, 128), dtype=np.uint8)
    codes[0, 32] = 2
    data = fmt.join(Blocks(codes, np.array([[0.5]], dtype=np.float16)))
    assert data[0].tobytes() == b"\x65" + b"\x55" * 31 + HALF
    values = fmt.unpack(data)[0]
    assert values[32] == 0.5
    assert values[2] == 0.0
    assert np.count_nonzero(values) == 1


@every_quantised
def test_c31_each_element_has_one_place(fmt: ScaledFormat) -> None:
    """One differing code must change the one weight it stands for, in every place of the block."""
    codes = np.zeros((fmt.group, fmt.group), dtype=np.int8 if fmt.signed else np.uint8)
    np.fill_diagonal(codes, 1)
    scales = np.ones((fmt.group, 1), dtype=np.float16)
    mins = None if fmt.min_offset is None else np.zeros((fmt.group, 1), dtype=np.float16)
    data = fmt.join(Blocks(codes, scales, mins))
    assert (fmt.unpack(data) == fmt.code_scale * np.eye(fmt.group) + fmt.zero).all()
    for element in range(fmt.group):
        value = dull_weight(fmt.name, fmt.group, data[element].tobytes(), element)
        assert value == fmt.code_scale + fmt.zero


# Second oracles.


@every_quantised
@pytest.mark.parametrize("blocks", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", ["0x7bff", "random"])
def test_c32_two_decoders_agree(fmt: ScaledFormat, blocks: int, scale: str, rng: np.random.Generator) -> None:
    k = blocks * fmt.group
    data = fmt.random_blocks(9, k, rng)
    if scale == "0x7bff":
        parts = fmt.split(data)
        data = fmt.join(Blocks(parts.codes, np.full_like(parts.scales, 65504.0), parts.mins))
        at = fmt.scale_offset or 0
        assert data[0, at : at + 2].tobytes() == b"\xff\x7b"
    dull = [[dull_weight(fmt.name, fmt.group, line.tobytes(), i) for i in range(k)] for line in data]
    assert fmt.unpack(data).tolist() == dull


@every_split
@pytest.mark.parametrize("blocks", [1, 2, 3, 5])
def test_c32_quantise_pack_unpack(fmt: SplitFormat, blocks: int, rng: np.random.Generator) -> None:
    """Weights that a format can hold come back exactly, from bytes that split and join leave alone."""
    k = blocks * fmt.group
    data = fmt.random_blocks(5, k, rng)
    assert fmt.join(fmt.split(data)).tobytes() == data.tobytes()
    source = rng.standard_normal((5, k), dtype=np.float32)
    held = fmt.unpack(fmt.quantise(source)).astype(np.float32)
    assert held.shape == source.shape
    if fmt.name in ("f32", "f16", "q1_0", "q2_0", "q8_0"):
        assert np.allclose(fmt.unpack(fmt.quantise(held)), held, rtol=2e-3, atol=0)


GGUF_TYPES = ["F32", "F16", "Q4_0", "Q4_1", "Q8_0"]


@pytest.mark.parametrize("name", GGUF_TYPES)
def test_gguf_decodes_random_blocks_alike(name: str, rng: np.random.Generator) -> None:
    fmt = formats.get(name.lower())
    data = fmt.random_blocks(33, 5 * fmt.group, rng)
    theirs = gguf.quants.dequantize(data, gguf.GGMLQuantizationType[name])
    # Both are exact: nothing is rounded in float64, and float32 rounds the one sum of q4_1 once.
    assert theirs.dtype == np.float32
    assert (fmt.unpack(data).astype(np.float32) == theirs).all()


@pytest.mark.parametrize("name", GGUF_TYPES)
def test_gguf_quantises_alike(name: str, rng: np.random.Generator) -> None:
    fmt = formats.get(name.lower())
    source = rng.standard_normal((7, 3 * fmt.group), dtype=np.float32)
    theirs = gguf.quants.quantize(source, gguf.GGMLQuantizationType[name])
    assert fmt.quantise(source).tobytes() == theirs.tobytes()


@pytest.mark.parametrize("kind", formats.FORMATS, ids=lambda kind: kind.name)
def test_gguf_type_ids_lead_back(kind: type[Format]) -> None:
    if kind.name == "q2_0":  # newer than the package: llama.cpp gives it the next id, for both groups
        assert kind.gguf_type == gguf.GGMLQuantizationType.Q1_0 + 1
    assert formats.by_gguf_type(kind.gguf_type) is kind


def test_unknown_gguf_type() -> None:
    assert formats.by_gguf_type(gguf.GGMLQuantizationType.Q8_1) is None
