"""Layouts row4 and planes: hand-written bytes, and what fits neither."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Bytes
from wgslgen.formats.q1_0 import Q1_0
from wgslgen.formats.q2_0 import Q2_0

Q2 = formats.get("q2_0", 64)


def rows(*blocks: list[bytes]) -> Bytes:
    return np.frombuffer(b"".join(b"".join(row) for row in blocks), dtype=np.uint8)


def numbered(count: int, header: int, words: int) -> Bytes:
    """Return 4 rows of `count` blocks: header byte i of row r, block b is 16 i + 4 b + r, code words count up.

    Word w of row r, block b is 0x01010101 * (64 r + 16 b + w).
    """

    def block(row: int, at: int) -> bytes:
        head = bytes(16 * i + 4 * at + row for i in range(header))
        return head + b"".join(bytes([64 * row + 16 * at + word] * 4) for word in range(words))

    return rows(*[[block(row, at) for at in range(count)] for row in range(4)])


# ---- row4 ------------------------------------------------------------------------------------------


def test_row4_has_a_word_of_four_rows_side_by_side() -> None:
    """q1_0: vec4 g * 4 + w holds word w of the four rows; scales of rows 0 and 1 share a word, then 2 and 3."""
    planes = layouts.pack(formats.get("q1_0"), "row4", numbered(2, 2, 4), 4, 256)
    codes = planes["codes"].reshape(2, 4, 4)  # [g, w, row]
    for g in range(2):
        for w in range(4):
            assert codes[g, w].tolist() == [0x01010101 * (64 * row + 16 * g + w) for row in range(4)]
    assert planes["scales"].tolist() == [0x11011000, 0x13031202, 0x15051404, 0x17071606]


def test_row4_tiles_follow_each_other() -> None:
    """Rows 4 to 7 lie behind all column blocks of rows 0 to 3: g = tile * (K / group) + column block."""
    tile = numbered(2, 2, 4).reshape(4, -1)
    second = tile ^ np.uint8(0x80)
    fmt = formats.get("q1_0")
    both = layouts.pack(fmt, "row4", np.concatenate([tile, second]), 8, 256)
    for plane, words in layouts.pack(fmt, "row4", tile, 4, 256).items():
        assert both[plane].tolist() == [*words.tolist(), *(words ^ np.uint32(0x80808080)).tolist()]


def test_row4_of_a_format_with_a_minimum_has_a_word_a_row() -> None:
    """q4_1: scale in the low half, minimum in the high one; four words of codes a block."""
    planes = layouts.pack(formats.get("q4_1"), "row4", numbered(1, 4, 4), 4, 32)
    assert planes["scales"].tolist() == [0x30201000, 0x31211101, 0x32221202, 0x33231303]
    assert planes["codes"][:4].tolist() == [0, 0x40404040, 0x80808080, 0xC0C0C0C0]


def test_row4_of_eight_words_a_block() -> None:
    """q8_0: word 7 of row 3 is the last component of the eighth vec4."""
    planes = layouts.pack(formats.get("q8_0"), "row4", numbered(1, 2, 8), 4, 32)
    assert planes["codes"][28:].tolist() == [0x07070707, 0x47474747, 0x87878787, 0xC7C7C7C7]


@pytest.mark.parametrize("n", [1, 5, 151669])
def test_row4_needs_whole_tiles(n: int) -> None:
    fmt = formats.get("q1_0")
    with pytest.raises(
        UsageProblem, match=f"^q1_0 with group 128: layout row4 stores 4 rows together, and N = {n} "
    ) as e:
        layouts.plane_sizes(fmt, "row4", n, 128)
    assert e.value.hint == 'set layout = "planar"'


class Short(Q1_0):
    """Blocks that are not words."""

    name: ClassVar[str] = "short"
    groups: ClassVar[tuple[int, ...]] = (16,)

    group: int = 16


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
        ("row4", "a block of short has 2 bytes of codes, not whole words"),
        ("planes", "short is not made of words of 32 weights -d, 0 and +d"),
    ],
)
def test_blocks_of_part_words_are_refused(layout: str, problem: str) -> None:
    with pytest.raises(UsageProblem, match=f"^{re.escape(problem)}") as caught:
        layouts.pack(Short(), layout, np.zeros(16, dtype=np.uint8), 4, 16)
    assert caught.value.hint == 'set layout = "planar"'


# ---- planes ----------------------------------------------------------------------------------------


def test_planes_of_q2_0_by_hand() -> None:
    """Codes 0, 1, 2 are -d, 0, +d; the first weight is the lowest bit. 0b00100110 is the codes 2, 1, 2, 0."""
    block = b"\x00\x3c" + b"\x26" + b"\x55" * 7 + b"\xaa" * 4 + b"\x00" * 4
    planes = layouts.pack(Q2, "planes", rows([block, b"\x01\xbc" + b"\x55" * 16]), 1, 128)
    assert planes["plus"].tolist() == [0b0101, 0x0000FFFF, 0, 0]
    assert planes["minus"].tolist() == [0b1000, 0xFFFF0000, 0, 0]
    assert planes["scales"].tolist() == [0xBC013C00]


def test_planes_of_q1_0_by_hand() -> None:
    """Bit 1 is +d and 0 is -d: a plane is the other one turned around."""
    fmt = formats.get("q1_0", 32)
    planes = layouts.pack(fmt, "planes", rows([b"\x00\x3c" + b"\x0f\x00\x00\x81"], [b"\x00\x40" + b"\xff" * 4]), 2, 32)
    assert planes["plus"].tolist() == [0x8100000F, 0xFFFFFFFF]
    assert planes["minus"].tolist() == [0x7EFFFFF0, 0]
    assert planes["scales"].tolist() == [0x40003C00]


@pytest.mark.parametrize("group", [64, 128])
def test_planes_name_the_first_weight_that_they_cannot_hold(group: int) -> None:
    fmt = formats.get("q2_0", group)
    data = np.full((3, fmt.row_bytes(256)), 0x55, dtype=np.uint8)
    data[2, fmt.block_bytes + 2 + 3] = 0b01110101  # third of four codes, in byte 3 of the second block
    data[2, -1] = 0xFF
    said = f"^q2_0 with group {group}: row 2, column {group + 14} has code 3 \\(\\+2d\\), and layout planes holds"
    with pytest.raises(UsageProblem, match=said) as caught:
        layouts.pack(fmt, "planes", data, 3, 256)
    assert caught.value.hint == 'set layout = "planar"'


@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0"])
def test_planes_of_formats_with_more_codes_are_refused(name: str) -> None:
    with pytest.raises(UsageProblem, match=f"^{name} is not made of words of 32 weights") as caught:
        layouts.plane_sizes(formats.get(name), "planes", 1, 32)
    assert caught.value.hint == 'set layout = "planar"'


def bits(*words: int) -> NDArray[Any]:
    return np.array(words, dtype=np.uint32)


def test_unpack_refuses_bits_that_no_weight_has() -> None:
    scales = bits(0x3C00)
    with pytest.raises(UsageProblem, match=r"^q2_0 with group 64: row 0, column 33 is set in both plus and minus"):
        layouts.unpack(Q2, "planes", {"plus": bits(1, 6), "minus": bits(2, 2), "scales": scales}, 1, 64)
    fmt = formats.get("q1_0", 32)
    with pytest.raises(UsageProblem, match="row 0, column 4 is in neither plane, and q1_0 has no zero"):
        layouts.unpack(fmt, "planes", {"plus": bits(0xF), "minus": bits(0xFFFFFFE0), "scales": scales}, 1, 32)


def test_planes_hold_what_q2_0_quantises(rng: np.random.Generator) -> None:
    """`fit` takes the largest magnitude as the scale, so quantised weights are ternary."""
    data = Q2_0(group=64).quantise(rng.standard_normal((5, 192)).astype(np.float32))
    planes = layouts.pack(Q2, "planes", data, 5, 192)
    assert layouts.unpack(Q2, "planes", planes, 5, 192).tobytes() == data.tobytes()
