"""Oracle of `argmax`: the best of each chunk of a row in float64; and the rows that it and its kin are tried on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Equal
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]
Words = NDArray[np.uint32]


def winner(values: Floats, indices: NDArray[np.integer[Any]]) -> int:
    """Return the position of the best of values [N] that stand for elements `indices` [N].

    The highest number; of equal ones that of the lowest index; NaN, by the lowest index, only where all are NaN.
    """
    numbers = np.flatnonzero(~np.isnan(values))
    best = numbers[values[numbers] == values[numbers].max()] if numbers.size else np.arange(values.size)
    return int(best[np.argmin(indices[best])])


def widened(x: NDArray[Any]) -> Floats:
    """Return x as float64; of a NaN the bits may change."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return x.astype(np.float64)


def f32_bits(x: NDArray[Any]) -> Words:
    """Return the bits of x, f32 or f16, as f32; a NaN keeps sign and payload."""
    if x.dtype == np.float32:
        return x.view(np.uint32)
    half = x.view(np.uint16).astype(np.uint32)
    nan = (half & 0x8000) << 16 | 0x7F800000 | (half & 0x03FF) << 13
    numbers = np.where(np.isnan(x), np.float16(0.0), x).astype(np.float32)
    return np.where(np.isnan(x), nan, numbers.view(np.uint32)).astype(np.uint32)


def words(x: NDArray[Any]) -> Words:
    """Return x, f32 or f16, as the words that are bound; the last half of an odd number is 0."""
    raw = np.ascontiguousarray(x).tobytes()
    return np.frombuffer(raw + bytes(-len(raw) % 4), np.uint32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and N; activation and chunk are read from `constants`."""
    m, n, chunk = sizes["M"], sizes["N"], constants["chunk"]
    x = np.stack([row(index, n, ELEMENTS[constants["activation"]], rng) for index in range(m)])
    starts = range(0, n, chunk)
    index = np.zeros((m, len(starts)), np.uint32)
    for at, first in enumerate(starts):
        part = widened(x[:, first : first + chunk])
        index[:, at] = [first + winner(values, np.arange(values.size)) for values in part]
    value = np.take_along_axis(f32_bits(x), index.astype(np.int64), axis=1)
    return Problem(inputs={"logits": words(x)}, expected={"best_value": Equal(value), "best_index": Equal(index)})


def row(kind: int, n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return logits [n] of one of twelve kinds; the hard ones hold NaN with all kinds of bits.

    The kinds take turns: ordinary, ties of many, all NaN, all -infinity, zeros of both signs, tiny
    numbers of both signs down to the last bit, numbers between NaN, infinities of both signs, NaN and -infinity,
    the largest in the last place, the lowest number between infinities, and -0 before +0 above negative numbers.
    """
    limits = np.finfo(dtype)
    normal = rng.standard_normal(n)
    few = np.rint(normal).clip(-1.0, 1.0)
    chance = rng.random(n)
    nan, inf = np.nan, np.inf
    kinds: tuple[Floats, ...] = (
        normal * 8.0,
        few,
        np.full(n, nan),
        np.full(n, -inf),
        np.where(chance < 0.5, -0.0, 0.0),
        np.rint(normal * 4.0) * float(limits.smallest_subnormal),
        np.where(chance < 0.5, nan, few),
        np.where(chance < 0.1, inf, np.where(chance < 0.3, -inf, normal)),
        np.where(chance < 0.5, nan, -inf),
        np.where(np.arange(n) == n - 1, 9.0, np.minimum(normal, 5.0)),
        np.where(chance < 0.1, float(limits.min), -inf),
        np.where(chance < 0.1, -0.0, np.where(chance < 0.2, 0.0, -np.abs(normal) - 1.0)),
    )
    with np.errstate(under="ignore"):
        x = kinds[kind % len(kinds)].astype(dtype)
    bits = x.view(f"u{dtype.itemsize}")
    mantissa = (1 << limits.nmant) - 1
    exponent = (1 << (8 * dtype.itemsize - 1)) - 1 - mantissa
    payload = rng.integers(1, mantissa, n, endpoint=True) | (rng.integers(2, size=n) << (8 * dtype.itemsize - 1))
    bits[np.isnan(x)] = (exponent | payload)[np.isnan(x)].astype(bits.dtype)
    return x
