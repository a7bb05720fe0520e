"""`planes`: ternary weights as two bit planes and their scales, for the popcount route.

"plus" has a bit for each weight, 1 where it is +d, and "minus" the same for -d: [N][K / 32] u32 each, the first
weight in the lowest bit. "scales" holds the blocks' f16 scales in pairs, row-major, low half first. So a zero of
q2_0 has neither bit, and of a q1_0 weight exactly one is set. The fourth code of q2_0, +2d, fits no plane:
`split` refuses weights that use it. `join` is exact for all that `split` takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Blocks, Bytes, Format, ScaledFormat
from wgslgen.layouts.base import Layout, Refusal, part, reunite


class Planes(Layout):
    """A plane for +d and a plane for -d."""

    name: ClassVar[str] = "planes"
    planes: ClassVar[tuple[str, ...]] = ("plus", "minus", "scales")

    def refusal(self, fmt: Format) -> Refusal | None:
        """Refuse formats whose weights are not a scale times -1, 0 and +1 by design, and rows of part words."""
        ternary = isinstance(fmt, ScaledFormat) and fmt.bits <= 2 and fmt.header_bytes == 2 and fmt.group % 32 == 0
        if fmt.quantised and not ternary:
            return Refusal(f"{fmt.name} is not made of words of 32 weights -d, 0 and +d", "planar")
        return super().refusal(fmt)

    def content_bytes(self, fmt: Format, n: int, blocks: int) -> dict[str, int]:  # noqa: ARG002  # blocks say it all
        """Return the bytes of two bits a weight, and of the scales."""
        bits = blocks * fmt.group // 8
        return {"plus": bits, "minus": bits, "scales": blocks * fmt.header_bytes}

    def split(self, fmt: Format, rows: Bytes) -> dict[str, Bytes]:
        """Return the planes; raise UsageProblem for the first weight that is neither -d, 0 nor +d."""
        _, headers = part(fmt, rows)
        codes = _ternary(fmt).split(rows).codes
        times = _times(fmt)[codes]
        beyond = np.abs(times) > 1
        if beyond.any():
            row, column = _first(beyond)
            raise UsageProblem(
                f"{fmt}: row {row}, column {column} has code {codes[row, column]} ({times[row, column]:+d}d), and "
                "layout planes holds -d, 0 and +d alone",
                hint='set layout = "planar"',
            )
        return {"plus": _to_bits(times == 1), "minus": _to_bits(times == -1), "scales": headers}

    def join(self, fmt: Format, parts: Mapping[str, Bytes], n: int, count: int) -> Bytes:
        """Return the blocks; raise UsageProblem for a weight in both planes, or in none where none is zero."""
        plus, minus = (_to_flags(parts[plane], n, count * fmt.group) for plane in ("plus", "minus"))
        if (plus & minus).any():
            row, column = _first(plus & minus)
            raise UsageProblem(f"{fmt}: row {row}, column {column} is set in both plus and minus")
        times = plus.astype(np.int8) - minus
        known = np.isin(times, _times(fmt))
        if not known.all():
            row, column = _first(~known)
            raise UsageProblem(f"{fmt}: row {row}, column {column} is in neither plane, and {fmt.name} has no zero")
        codes = ((times - fmt.zero) // fmt.code_scale).astype(np.uint8)
        headers = parts["scales"].reshape(n, count, fmt.header_bytes)
        unscaled = _ternary(fmt).join(Blocks(codes, np.zeros((n, count), dtype=np.float16)))
        return reunite(fmt, part(fmt, unscaled)[0], headers)


def _ternary(fmt: Format) -> ScaledFormat:
    """Return the format, which `refusal` has let through."""
    if not isinstance(fmt, ScaledFormat):
        raise TypeError(f"{fmt} has no codes of one scale a block")
    return fmt


def _times(fmt: Format) -> NDArray[np.int8]:
    """Return how many d each code is: [codes]."""
    return (fmt.code_scale * np.arange(1 << fmt.bits) + fmt.zero).astype(np.int8)


def _to_bits(flags: NDArray[np.bool_]) -> Bytes:
    """Return flags [N, K] as bytes [N, K / 8]; in little-endian words, the first of 32 is the lowest bit."""
    return np.packbits(flags, axis=-1, bitorder="little")


def _to_flags(data: Bytes, n: int, k: int) -> NDArray[np.bool_]:
    """Return flags [N, K]; the inverse of `_to_bits`."""
    return np.unpackbits(data.reshape(n, k // 8), axis=-1, bitorder="little").view(np.bool_)


def _first(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Return row and column of the first that is set."""
    row, column = np.unravel_index(int(np.argmax(flags)), flags.shape)
    return int(row), int(column)
