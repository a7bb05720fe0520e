"""Weights bit by bit: where each element's bits stand in a block, in Python integers and fractions.

A second opinion on what formats unpack, which shares no code with them nor with gguf's; only the tables are gguf's
data, read here in another way. Where gguf and a format's `take_apart` went wrong together, these would not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import gguf.quants
import numpy as np
from numpy.typing import NDArray

from wgslgen import formats
from wgslgen.formats.stepped import SteppedFormat

Bytes = NDArray[np.uint8]
EIGHTH = Fraction(1, 8)
NARROW_STEPS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


class Block:
    """A block as one number, the first byte's lowest bit first."""

    def __init__(self, raw: bytes) -> None:
        self.number = int.from_bytes(raw, "little")

    def bits(self, byte: int, low: int, width: int) -> int:
        """Return `width` bits from bit `low` of `byte` on, over the byte's end where it comes to that."""
        return self.number >> (8 * byte + low) & ((1 << width) - 1)

    def half(self, byte: int) -> Fraction:
        """Return the f16 at `byte`."""
        return half(self.bits(byte, 0, 16))


def half(word: int) -> Fraction:
    exponent, mantissa = word >> 10 & 31, word & 1023
    assert exponent < 31, "no block here has an infinite scale"
    size = Fraction(mantissa, 2**24) if exponent == 0 else Fraction(1024 + mantissa, 1024) * power(exponent - 15)
    return -size if word >> 15 else size


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def e2m1(code: int) -> Fraction:
    exponent, mantissa = code >> 1 & 3, code & 1
    size = Fraction(mantissa, 2) if exponent == 0 else Fraction(2 + mantissa, 2) * power(exponent - 1)
    return -size if code >> 3 else size


def entry(name: str, index: int, at: int, values: int, width: int) -> int:
    """Return value `at` of entry `index`.

    gguf keeps tables as numbers that index `grid_map`, each in `width` bits; of 4 bits the top one is none of it.
    """
    kind = getattr(gguf.quants, name.upper())
    place = (index * values + at) * width
    return int(kind.grid_map[table_bytes(name)[place // 8] >> (place % 8) & ((1 << min(width, 3)) - 1)])


@cache
def table_bytes(name: str) -> bytes:
    return bytes.fromhex(getattr(gguf.quants, name.upper()).grid_hex.decode())


def even_sign(seven: int, at: int) -> int:
    """Return -1 where bit `at` is set; bit 7 is what makes their number even."""
    eight = seven + 128 * (seven.bit_count() % 2)
    return -1 if eight >> at & 1 else 1


# ---- weight of element e, one function a format ------------------------------------------------------


def q4_k(b: Block, e: int) -> Fraction:
    part, low = e // 32, e // 32 - 4
    code = b.bits(16 + 32 * (e // 64) + e % 32, 4 * (part % 2), 4)
    if part < 4:
        scale, minimum = b.bits(4 + part, 0, 6), b.bits(8 + part, 0, 6)
    else:
        scale = b.bits(12 + low, 0, 4) + 16 * b.bits(4 + low, 6, 2)
        minimum = b.bits(12 + low, 4, 4) + 16 * b.bits(8 + low, 6, 2)
    return b.half(0) * scale * code - b.half(2) * minimum


def iq4_nl(b: Block, e: int) -> Fraction:
    return b.half(0) * NARROW_STEPS[b.bits(2 + e % 16, 4 * (e // 16), 4)]


def iq4_xs(b: Block, e: int) -> Fraction:
    part = e // 32
    scale = b.bits(4 + part // 2, 4 * (part % 2), 4) + 16 * b.bits(2 + part // 4, 2 * (part % 4), 2) - 32
    return b.half(0) * scale * NARROW_STEPS[b.bits(8 + 16 * part + e % 16, 4 * (e % 32 // 16), 4)]


def mxfp4(b: Block, e: int) -> Fraction:
    return power(b.bits(0, 0, 8) - 127) * e2m1(b.bits(1 + e % 16, 4 * (e // 16), 4))


def nvfp4(b: Block, e: int) -> Fraction:
    part = e // 16
    exponent, mantissa = b.bits(part, 3, 4), b.bits(part, 0, 3)
    scale = Fraction(mantissa, 8) * power(-6) if exponent == 0 else Fraction(8 + mantissa, 8) * power(exponent - 7)
    if b.bits(part, 0, 8) == 127:
        scale = Fraction(0)
    return scale * e2m1(b.bits(4 + 8 * part + e % 8, 4 * (e % 16 // 8), 4))


def iq2_xxs(b: Block, e: int) -> Fraction:
    part, at = e // 32, e % 32 // 8
    value = entry("iq2_xxs", b.bits(2 + 8 * part + at, 0, 8), e % 8, 8, 2)
    scale = b.bits(2 + 8 * part + 7, 4, 4)
    return b.half(0) * (2 * scale + 1) * EIGHTH * value * even_sign(b.bits(6 + 8 * part, 7 * at, 7), e % 8)


def iq2_xs(b: Block, e: int) -> Fraction:
    at = e // 8
    value = entry("iq2_xs", b.bits(2 + 2 * at, 0, 9), e % 8, 8, 2)
    scale = b.bits(66 + e // 32, 4 * (e // 16 % 2), 4)
    return b.half(0) * (2 * scale + 1) * EIGHTH * value * even_sign(b.bits(2 + 2 * at, 9, 7), e % 8)


def iq2_s(b: Block, e: int) -> Fraction:
    at = e // 8
    index = b.bits(2 + at, 0, 8) + 256 * b.bits(66 + at // 4, 2 * (at % 4), 2)
    scale = b.bits(74 + e // 32, 4 * (e // 16 % 2), 4)
    sign = -1 if b.bits(34 + at, e % 8, 1) else 1
    return b.half(0) * (2 * scale + 1) * EIGHTH * entry("iq2_s", index, e % 8, 8, 2) * sign


def iq3_xxs(b: Block, e: int) -> Fraction:
    part = e // 32
    value = entry("iq3_xxs", b.bits(2 + e // 4, 0, 8), e % 4, 4, 4)
    scale = b.bits(66 + 4 * part + 3, 4, 4)
    sign = even_sign(b.bits(66 + 4 * part, 7 * (e % 32 // 8), 7), e % 8)
    return b.half(0) * (2 * scale + 1) / 4 * value * sign


def iq3_s(b: Block, e: int) -> Fraction:
    at = e // 4
    index = b.bits(2 + at, 0, 8) + 256 * b.bits(66 + at // 8, at % 8, 1)
    scale = b.bits(106 + e // 64, 4 * (e // 32 % 2), 4)
    sign = -1 if b.bits(74 + e // 8, e % 8, 1) else 1
    return b.half(0) * (2 * scale + 1) * entry("iq3_s", index, e % 4, 4, 4) * sign


def iq1_s(b: Block, e: int) -> Fraction:
    at, word = e // 8, 34 + 2 * (e // 32)
    index = b.bits(2 + at, 0, 8) + 256 * b.bits(word, 3 * (at % 4), 3)
    shift = -EIGHTH if b.bits(word, 15, 1) else EIGHTH
    return b.half(0) * (2 * b.bits(word, 12, 3) + 1) * (entry("iq1_s", index, e % 8, 8, 2) + shift)


def iq1_m(b: Block, e: int) -> Fraction:
    at = e // 8
    index = b.bits(at, 0, 8) + 256 * b.bits(32 + at // 2, 4 * (at % 2), 3)
    shift = -EIGHTH if b.bits(32 + at // 2, 4 * (at % 2) + 3, 1) else EIGHTH
    scale = b.bits(48 + 2 * (e // 64), 3 * (e // 16 % 4), 3)
    d = half(sum(b.bits(49 + 2 * word, 4, 4) << (4 * word) for word in range(4)))
    return d * (2 * scale + 1) * (entry("iq1_s", index, e % 8, 8, 2) + shift)


DECODERS: dict[str, Callable[[Block, int], Fraction]] = {
    "q4_K": q4_k,
    "iq4_nl": iq4_nl,
    "iq4_xs": iq4_xs,
    "mxfp4": mxfp4,
    "nvfp4": nvfp4,
    "iq2_xxs": iq2_xxs,
    "iq2_xs": iq2_xs,
    "iq2_s": iq2_s,
    "iq3_xxs": iq3_xxs,
    "iq3_s": iq3_s,
    "iq1_s": iq1_s,
    "iq1_m": iq1_m,
}


def stepped(name: str) -> SteppedFormat:
    fmt = formats.get(name)
    assert isinstance(fmt, SteppedFormat)
    return fmt


def weights(name: str, data: Bytes) -> list[list[Fraction]]:
    """Return the weights of rows of bytes."""
    fmt, decode = stepped(name), DECODERS[name]
    blocks = data.reshape(len(data), -1, fmt.block_bytes)
    return [[decode(Block(raw.tobytes()), e) for raw in row for e in range(fmt.group)] for row in blocks]
