"""Oracle of `rms_norm`: s * weight / sqrt(mean(s * s) + EPS) in float64, with EPS as f32 holds it.

s is x, or the running sum with x added to it, as f32 holds it: one addition, which is correctly rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close, Expected, Nearest, Rounded
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import CLEAR_OF_TIES, order, packed, quantise

Floats = NDArray[np.float64]

EPS = 1e-6
F16_MAX = 65504.0
STEP = 1.0 - 2.0**-10
"""What takes an element off a rounding tie of int8: at least 2 * CLEAR_OF_TIES, and less than to the next one."""


def summed(x: NDArray[Any], residual: NDArray[Any]) -> NDArray[np.float32]:
    """Return the running sum of equal shape."""
    total: NDArray[np.float32] = residual.astype(np.float32) + x.astype(np.float32)
    return total


def normalised(x: NDArray[Any], weight: NDArray[np.float32], eps: float) -> Floats:
    """Return the result [M, D] for x [M, D] and weight [D]."""
    wide = x.astype(np.float64)
    mean_square = np.square(wide).mean(axis=-1, keepdims=True)
    result: Floats = wide * weight.astype(np.float64) / np.sqrt(mean_square + np.float64(np.float32(eps)))
    return result


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and D; activation, residual, q8_group and q8_stride are read from `constants`.

    Both addends of residual must be right to one rounding. Of int8 results the scales are as close as y is, and the
    integers and their sums must be equal: data are kept off the rounding ties.
    """
    dtype, group = ELEMENTS[constants["activation"]], constants["q8_group"]
    x = np.stack([row(index, sizes["D"], dtype, rng) for index in range(sizes["M"])])
    weight = (rng.standard_normal(sizes["D"]) * rng.choice([1.0, 1.0, 8.0, 0.0], sizes["D"])).astype(np.float32)
    residual = np.zeros_like(x)
    if constants["residual"]:
        residual = np.stack([addend(index, x[index], rng) for index in range(sizes["M"])])
    if group is not None:
        x, residual = clear_of_ties(x, residual, weight, group)
    sums = summed(x, residual)
    values = normalised(sums, weight, EPS)
    expected: dict[str, Expected] = {}
    inputs = {"x": x, "weight": weight}
    if constants["residual"]:
        inputs["residual"] = residual
        expected["residual"] = Nearest(_held(sums.astype(np.float64), dtype), dtype)
    if group is None:
        values = _held(values, dtype)
        expected["y"] = Close(values, np.abs(values), dtype)
    else:
        expected |= as_int8(values, group, constants["q8_stride"])
    return Problem(inputs=inputs, expected=expected, parameters={"EPS": EPS})


def as_int8(values: Floats, group: int, stride: int) -> dict[str, Expected]:
    """Return what x8 and x_scale must be for the results `values` [M, D], none of which lies near a tie.

    Scales are judged by their own magnitude, sums exactly.
    """
    quantised = quantise(values, group)
    x_scale = packed(quantised, stride)[1].astype(np.float64)
    magnitudes = x_scale * [1.0, 0.0]
    return {
        "x8": Rounded(quantised.reals, order(values.shape[0], values.shape[1], stride), np.dtype(np.int8)),
        "x_scale": Close(x_scale, magnitudes, np.dtype(np.float32)),
    }


def _held(values: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return values that stay at the end of f16's range where the output is f16."""
    return values.clip(-F16_MAX, F16_MAX) if dtype == np.float16 else values


# ---- data ---------------------------------------------------------------------------------------


def row(index: int, d: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return x [D] of row `index`.

    The kinds take turns: ordinary, squares past f16's range, one element above all, a mean square as small as EPS,
    zeros, as large as may be, tiny, and of all magnitudes.
    """
    kind = index % 8
    normal = rng.standard_normal(d)
    largest = 60000.0 if dtype == np.float16 else 1e17
    kinds: tuple[Floats, ...] = (
        normal,
        np.copysign(300.0, normal),
        np.where(np.arange(d) == d // 2, 800.0, 1.0),
        normal * np.sqrt(EPS),
        np.zeros(d),
        rng.uniform(-1.0, 1.0, d) * largest,
        normal * (1e-6 if dtype == np.float16 else 1e-25),
        normal * np.exp2(rng.uniform(-12.0, 12.0, d)),
    )
    with np.errstate(under="ignore"):
        return kinds[kind].astype(dtype)


def addend(index: int, x: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return the running sum [D] that row `index`, x [D], is added to.

    The kinds take turns as those of `row`: ordinary, what nearly cancels x out, zeros, as small as x, zeros beside
    zeros, x once more (which f16 cannot hold), as tiny as x, and ordinary beside all magnitudes.
    """
    kind, wide = index % 8, x.astype(np.float64)
    normal = rng.standard_normal(x.size)
    kinds: tuple[Floats, ...] = (
        normal,
        normal / 8.0 - wide,
        np.zeros(x.size),
        rng.permutation(wide),
        np.zeros(x.size),
        wide,
        rng.permutation(wide),
        normal,
    )
    with np.errstate(under="ignore"):
        return kinds[kind].astype(x.dtype)


def clear_of_ties(
    x: NDArray[Any], residual: NDArray[Any], weight: NDArray[np.float32], group: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return x and residual [M, D] with elements moved until no result lies near a tie of int8.

    An integer is a result over the largest one of its group, so that the root cancels out: five roundings, of two
    products each and of the scale, move it by 127 * 5 * 2^-24 = 3.8e-5 at most, which CLEAR_OF_TIES (1e-4) exceeds.
    The larger of both addends is moved towards zero, and with it their sum.
    """
    while (near := near_tie(normalised(summed(x, residual), weight, EPS), group)).any():
        in_x = np.abs(x) >= np.abs(residual)
        x, residual = _towards_zero(x, near & in_x), _towards_zero(residual, near & ~in_x)
    return x, residual


def near_tie(values: Floats, group: int) -> NDArray[np.bool_]:
    """Return which of the results [M, D] lie closer to a tie than CLEAR_OF_TIES, or on it."""
    near: NDArray[np.bool_] = np.abs(np.abs(quantise(values, group).reals) % 1.0 - 0.5) < CLEAR_OF_TIES
    return near


def _towards_zero(data: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[Any]:
    """Return data with the elements `where` made smaller by a share of 2^-10, or by a unit of their type."""
    with np.errstate(under="ignore"):
        moved = (data.astype(np.float64) * STEP).astype(data.dtype)
        moved = np.where(moved == data, np.nextafter(data, data.dtype.type(0)), moved)
    return np.where(where, moved, data)
