"""Bytes that repeat themselves, written shortly: literal bytes, and copies of what came before.

The code is a run of (literal count, literals, copy count, distance), the three numbers seven bits a byte, the lowest
first, with 128 added where more follow. `runtime/answers.js` reads it. A packer of the standard library would do, were
its output the same in all its versions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

LEAST = 6
"""Bytes from which a copy is shorter than what it says."""
TRIED = 16
"""Earlier places that are tried for a copy, the latest first."""
LONG = 128
"""Bytes of a copy that is taken at once; the bytes behind them in it are not copied from again."""


class TooLong(Exception):
    """The code is longer than wanted."""


def encode(data: bytes, most: int | None = None) -> bytes:
    """Return the code of `data`; raise TooLong where it has more than `most` bytes."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    far: dict[bytes, int] = {}
    found = bytearray()
    start = at = 0
    while at < len(data):
        known = far.get(data[at : at + LONG])
        earlier, length = _longest(data, places[data[at : at + LEAST]] if known is None else [known], at)
        if length:
            found += _number(at - start) + data[start:at] + _number(length) + _number(at - earlier)
        for place in range(at, at + min(max(length, 1), LONG)):
            places[data[place : place + LEAST]].append(place)
            far[data[place : place + LONG]] = place
        at += max(length, 1)
        start = at if length else start
        if most is not None and len(found) + at - start > most:
            raise TooLong
    if start < at:
        found += _number(at - start) + data[start:at] + _number(0) + _number(0)
    return bytes(found)


def decode(code: bytes) -> bytes:
    """Return the bytes that `encode` wrote down."""
    numbers = iter(code)
    found = bytearray()
    for first in numbers:
        literals = _read(first, numbers)
        found += bytes(islice(numbers, literals))
        length, distance = (_read(next(numbers), numbers) for _ in range(2))
        while length > 0:  # a copy may run into itself, and then goes on with what it wrote
            piece = found[-distance:][:length]
            found += piece
            length -= len(piece)
    return bytes(found)


def _longest(data: bytes, places: list[int], at: int) -> tuple[int, int]:
    """Return the place of those from which most bytes are those from `at` on, and how many; 0: fewer than LEAST."""
    best, most = 0, 0
    for earlier in places[: -TRIED - 1 : -1]:
        if data[earlier + most : earlier + most + 1] == data[at + most : at + most + 1]:
            length = _equal(data, earlier, at)
            if length > most:
                best, most = earlier, length
    return (best, most) if most >= LEAST else (0, 0)


def _equal(data: bytes, earlier: int, at: int) -> int:
    """Return how many bytes from `earlier` on are those from `at` on: in growing steps, then in shrinking ones."""
    count, step, growing = 0, 16, True
    while step:
        left = min(step, len(data) - at - count)
        if left and data[earlier + count : earlier + count + left] == data[at + count : at + count + left]:
            count += left
            step *= 2 if growing else 1
        else:
            growing = False
            step //= 2
    return count


def _number(value: int) -> bytes:
    found = bytearray()
    while value >= 128:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _read(byte: int, rest: Iterator[int]) -> int:
    value, shift = byte & 127, 7
    while byte >= 128:
        byte = next(rest)
        value |= (byte & 127) << shift
        shift += 7
    return value
