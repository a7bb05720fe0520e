"""Formats with several scales in a block against decoders that go bit by bit, and hand-written blocks."""

from __future__ import annotations

import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cases.support import opened, runner, widest
from dull_decoders import DECODERS, Bytes, entry, stepped, weights
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.adapters import SOFTWARE
from wgslgen.kernels.get_rows import GetRows

every = pytest.mark.parametrize("name", DECODERS)


def plain_block(name: str, filled: int = 0) -> Bytes:
    """Return a block of bytes `filled` under f16 scales of 1."""
    fmt = stepped(name)
    made = np.full(fmt.block_bytes, filled, dtype=np.uint8)
    for at in fmt.halves:
        made[at : at + 2] = 0x00, 0x3C
    if name == "iq1_m":
        made[[49, 51, 53, 55]] = made[[49, 51, 53, 55]] & 0x0F | np.array([0x00, 0x00, 0xC0, 0x30], dtype=np.uint8)
    return made


# ---- blocks written by hand --------------------------------------------------------------------------

Changes = dict[int, int]
"""Bytes of a block that differ from those of `plain_block`."""
Found = dict[range, float]
"""Weights of elements; later ranges win."""


def one(element: int) -> range:
    return range(element, element + 1)


ALL = range(256)
BY_HAND: dict[str, tuple[Changes, Found]] = {
    # Scale 0 and minimum 1; scale 4 of 32 + 3 from two places, minimum 4 of 5; codes of elements 2 and 130.
    "q4_K": (
        {4: 0x80 | 2, 8: 1, 12: 0x53, 18: 0x0B, 82: 0x07},
        {ALL: 0, range(32): -1, one(2): 21, range(128, 160): -5, one(130): 35 * 7 - 5},
    ),
    "iq4_nl": ({2: 0x0F, 17: 0x80}, {range(32): -127, one(0): 113, one(31): 1}),
    # Scale 0 is 1 - 32 and scale 7 is 3 * 16 + 2 - 32.
    "iq4_xs": (
        {3: 0xC0, 4: 0x01, 7: 0x20, 8 + 16 * 6 + 3: 0xF0},
        {ALL: 32 * 127, range(32): 31 * 127, range(224, 256): -18 * 127, one(211): -32 * 113},
    ),
    "mxfp4": ({0: 128, 6: 0x97}, {range(32): 0, one(5): 12, one(21): -1}),
    # Scales of 1, of the least number, of none and of 448 under a top bit that says nothing.
    "nvfp4": (
        {0: 0x38, 1: 0x01, 2: 0x7F, 3: 0xFE, **dict.fromkeys(range(4, 36), 0x77), 4: 0x97},
        {range(16): 6, one(8): -0.5, range(16, 32): 6 / 512, range(32, 48): 0, range(48, 64): 6 * 448},
    ),
    # Entry 0 is eight times 8; a single minus brings one more at the end of the eight, two bring none.
    "iq2_xxs": (
        {6: 0x01, 6 + 8: 0x80, 7 + 8: 0x41, 9 + 8: 0xF0},
        {
            ALL: 1,
            one(0): -1,
            one(7): -1,
            range(32, 64): 31,
            range(40, 42): -31,
            one(48): -31,
            one(55): -31,
        },
    ),
    "iq2_xs": (
        {3: 0x02, 65: 0x06, 66: 0x20, 73: 0x01},
        {ALL: 1, one(0): -1, one(7): -1, range(16, 32): 5, range(224, 240): 3, one(248): -1, one(249): -1},
    ),
    "iq2_s": (
        {34: 0x80, 65: 0x01, 74: 0x20, 81: 0x01},
        {ALL: 1, one(7): -1, range(16, 32): 5, range(224, 240): 3, one(248): -1},
    ),
    "iq3_xxs": (
        {66: 0x01, 97: 0xF0},
        {ALL: 1, one(0): -1, one(7): -1, range(224, 256): 31},
    ),
    "iq3_s": (
        {74: 0x80, 105: 0x01, 106: 0x20, 109: 0x01},
        {ALL: 1, one(7): -1, range(32, 64): 5, range(192, 224): 3, one(248): -1},
    ),
    # Entry 0 is eight times -1.
    "iq1_s": (
        {35: 0x80, 49: 0x70},
        {ALL: -0.875, range(32): -1.125, range(224, 256): -0.875 * 15},
    ),
    "iq1_m": (
        {32: 0x08, 47: 0x80, 48: 0x08, 55: 0x30 | 0x0E},
        {
            ALL: -0.875,
            range(8): -1.125,
            range(16, 32): -0.875 * 3,
            range(240, 256): -0.875 * 15,
            range(248, 256): -1.125 * 15,
        },
    ),
}


@every
def test_blocks_by_hand(name: str) -> None:
    changes, found = BY_HAND[name]
    block = plain_block(name)
    for at, byte in changes.items():
        block[at] = byte
    expected = np.full(stepped(name).group, np.nan)
    for elements, weight in found.items():
        expected[elements.start : elements.stop] = weight
    np.testing.assert_array_equal(stepped(name).unpack(block[None]), expected[None])
    assert weights(name, block[None]) == [[Fraction(weight) for weight in expected.tolist()]]


# ---- random blocks -----------------------------------------------------------------------------------


@every
def test_random_blocks(name: str, rng: np.random.Generator) -> None:
    """Weights are float64 without rounding, but for the one where a minimum is added."""
    fmt = stepped(name)
    random = fmt.random_blocks(8, 2 * fmt.group, rng)
    filled = np.stack([np.tile(plain_block(name, byte), 2) for byte in (0x00, 0xFF, 0x55, 0xAA, 0x0F)])
    data = np.concatenate([random, filled])
    ours, dull = fmt.unpack(data).tolist(), weights(name, data)
    assert ours == [[float(weight) for weight in row] for row in dull]
    if not fmt.has_minimum:
        assert [[Fraction(weight) for weight in row] for row in ours] == dull


@every
def test_every_bit_of_a_block_says_something(name: str, rng: np.random.Generator) -> None:
    """But the top bits of nvfp4's scales: flip each, and look at which elements change."""
    fmt = stepped(name)
    block = rng.integers(0, 256, fmt.block_bytes, dtype=np.uint8)
    # No f16 is a bit away from infinity, and no scale or code is 0, which has no sign.
    for at in fmt.halves:
        block[at : at + 2] = 0x55, 0x35
    if name == "iq1_m":
        block[[49, 51, 53, 55]] = block[[49, 51, 53, 55]] & 0x0F | np.array([0x50, 0x50, 0x50, 0x30], dtype=np.uint8)
    elif name == "q4_K":
        block[4:16] |= 0x11
    elif name in ("mxfp4", "nvfp4"):
        block |= 0x11
        block[: fmt.stored_rest] = 0x35
    flipped = np.repeat(block[None], 8 * block.size, axis=0)
    places = np.arange(8 * block.size)
    flipped[places, places // 8] ^= (1 << places % 8).astype(np.uint8)
    changed = (fmt.unpack(flipped) != fmt.unpack(block[None])).any(axis=1)
    silent = np.flatnonzero(~changed).tolist()
    assert silent == ([7, 15, 23, 31] if name == "nvfp4" else [])


# ---- tables ------------------------------------------------------------------------------------------

TABLES = {
    # entries, values of each, bits that gguf keeps a value in, checksum of the words that kernels bind
    "iq2_xxs": (256, 8, 2, 0x9924FF02),
    "iq2_xs": (512, 8, 2, 0xFA1E1BFD),
    "iq2_s": (1024, 8, 2, 0x25AE5BF1),
    "iq3_xxs": (256, 4, 4, 0x07BA9ED0),
    "iq3_s": (512, 4, 4, 0xF576E4F3),
    "iq1_s": (2048, 8, 2, 0x7FAB8F48),
    "iq1_m": (2048, 8, 2, 0x7FAB8F48),
}


def test_every_format_with_a_table_is_here() -> None:
    assert {kind.name for kind in formats.FORMATS if formats.get(kind.name, kind.groups[0]).grid() is not None} == {
        *TABLES
    }


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str) -> None:
    """A byte a value, the first lowest; of iq1 8 times the value, and 9. Checksums show where gguf changes one."""
    entries, values, width, checksum = TABLES[name]
    stored = "iq1_s" if name == "iq1_m" else name
    held = [entry(stored, index, at, values, width) for index in range(entries) for at in range(values)]
    grid = formats.get(name).grid()
    assert grid is not None
    assert grid.dtype == np.uint32
    raw = grid.astype("<u4").tobytes()
    assert list(raw) == ([8 * value + 9 for value in held] if stored == "iq1_s" else held)
    assert zlib.crc32(raw) == checksum


# ---- on devices --------------------------------------------------------------------------------------


def looked_up(name: str, adapter: str, layout: str, data: Bytes) -> NDArray[np.float32]:
    """Return the weights of the rows of `data`, as `get_rows` makes them."""
    variant = widest(GetRows, format=name, layout=layout)
    fmt, n = variant.weight_format, len(data)
    k = data.shape[1] // fmt.block_bytes * fmt.group
    inputs: dict[str, NDArray[Any]] = dict(layouts.pack(fmt, layout, data, n, k))
    inputs["ids"] = np.arange(n, dtype=np.uint32)
    raw = runner(opened(adapter), variant).run(inputs, {"N": n, "K": k, "R": n, "FIRST_ROW": 0, "ROWS": n})["y"]
    return np.frombuffer(raw, np.float32, count=n * k).reshape(n, k)


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize("layout", ["planar", "ggml"])
@pytest.mark.parametrize("name", ["mxfp4", "nvfp4"])
def test_every_scale_of_a_byte(name: str, layout: str, adapter: str) -> None:
    """Of mxfp4 those whose weights are normal numbers in f32, or 0."""
    fmt = stepped(name)
    codes = np.arange(16, dtype=np.uint8)
    scales = np.arange(2, 252, dtype=np.uint8) if name == "mxfp4" else np.arange(256, dtype=np.uint8)
    data = np.zeros((scales.size, fmt.block_bytes), dtype=np.uint8)
    data[:, : fmt.stored_rest] = scales[:, None]
    data[:, fmt.stored_rest :] = np.tile(codes | codes[::-1] << 4, fmt.stored_codes // 16)
    expected = np.array([[float(weight) for weight in row] for row in weights(name, data)])
    np.testing.assert_array_equal(looked_up(name, adapter, layout, data).astype(np.float64), expected)


@pytest.mark.parametrize("layout", ["planar", "ggml"])
def test_scales_of_mxfp4_that_f32_has_as_subnormals_are_right_or_flushed(layout: str) -> None:
    data = np.full((2, 17), 0x77, dtype=np.uint8)
    data[:, 0] = 0, 1
    found = looked_up("mxfp4", "lavapipe", layout, data)
    for row, expected in zip(found.tolist(), (12 * 2.0**-128, 12 * 2.0**-127), strict=True):
        assert set(row) <= {0.0, expected}


@every
def test_blocks_by_hand_on_a_device(name: str) -> None:
    """All of them in one row: bits of a block's neighbour would show."""
    block = plain_block(name)
    for at, byte in BY_HAND[name][0].items():
        block[at] = byte
    row = np.concatenate([block, plain_block(name), block, plain_block(name, 0xAA), block])[None]
    if name in ("mxfp4", "nvfp4"):
        row = np.tile(block, 5)[None]
    expected = np.array([[float(weight) for weight in one_row] for one_row in weights(name, row)])
    for layout in ("planar", "ggml"):
        np.testing.assert_array_equal(looked_up(name, "lavapipe", layout, row).astype(np.float64), expected)
