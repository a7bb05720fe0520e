"""Oracle of `softmax`: exp(s - max(s)) over its sum in float64, with s = x * SCALE or x * SCALE + mask.

Elements whose x or mask is -inf or f32's lowest number are left out. A magnitude says how many of its ulps an
element may be off: what float exponentials lose in it and in the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]

SCALE = 0.125
LOWEST = float(np.finfo(np.float32).min)


def scores(x: NDArray[Any], mask: NDArray[np.float32] | None, scale: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the scores, 0 where an element is excluded, and which elements are."""
    wide = x.astype(np.float64)
    left_out = (wide <= LOWEST) if mask is None else (wide <= LOWEST) | (mask <= LOWEST)
    found = np.where(left_out, 0.0, wide) * np.float64(np.float32(scale))
    if mask is not None:
        found = found + np.where(left_out, 0.0, mask.astype(np.float64))
    return found, left_out


def softmax(x: NDArray[Any], mask: NDArray[np.float32] | None, scale: float) -> tuple[Floats, Floats]:
    """Return results and magnitudes [M, D] for x [M, D] and a mask [M, D] or None."""
    found, left_out = scores(x, mask, scale)
    largest = np.where(left_out, -np.inf, found).max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    distance = np.where(left_out, 0.0, largest - found)
    with np.errstate(under="ignore"):
        powers = np.where(left_out, 0.0, np.exp(-distance))
        total = powers.sum(axis=-1, keepdims=True)
        values = powers / np.where(total == 0.0, 1.0, total)
        lost = 3.0 + 3.0 * distance
        if mask is not None:
            lost = lost + (np.abs(found) + np.abs(largest)) / 2.0
        in_sum = (values * lost).sum(axis=-1, keepdims=True)
        return values, values * (64.0 + lost + in_sum)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and D; activation and masked are read from `constants`."""
    dtype = ELEMENTS[constants["activation"]]
    shape = (sizes["M"], sizes["D"])
    x = np.stack([row(index, sizes["D"], dtype, rng) for index in range(sizes["M"])])
    mask = mixed_mask(shape, rng) if constants["masked"] else None
    values, magnitudes = softmax(x, mask, SCALE)
    return Problem(
        inputs={"x": x} if mask is None else {"x": x, "mask": mask},
        expected={"y": Close(values, magnitudes, dtype)},
        parameters={"SCALE": SCALE},
    )


def row(index: int, d: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return x [D] of row `index`.

    The kinds take turns: ordinary, all equal and large, one far above all, both ends of the range, zeros, with
    excluded elements, with everything excluded, equal but for the last, and of all magnitudes.
    """
    largest = 65504.0 if dtype == np.float16 else 8e37
    normal = rng.standard_normal(d) * 16.0
    kinds: tuple[Floats, ...] = (
        normal,
        np.full(d, largest),
        np.where(np.arange(d) == d // 2, 800.0, normal),
        np.copysign(largest, normal),
        np.zeros(d),
        np.where(rng.random(d) < 0.3, -np.inf, normal),
        np.full(d, -np.inf if dtype == np.float16 else LOWEST),
        np.where(np.arange(d) == d - 1, -largest, -largest / 2.0),
        normal * np.exp2(rng.uniform(-12.0, 6.0, d)),
    )
    with np.errstate(under="ignore"):
        return kinds[index % len(kinds)].astype(dtype)


def mixed_mask(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a mask [M, D]: zeros, small numbers, -inf, f32's lowest number; every fifth row excludes everything."""
    mask = rng.choice([0.0, 0.0, 0.0, -1.5, 4.0, -np.inf, LOWEST, -1e4], shape)
    mask[3::5] = rng.choice([-np.inf, LOWEST], mask[3::5].shape)
    return mask.astype(np.float32)
