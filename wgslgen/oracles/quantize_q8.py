"""Oracle of `quantize_q8`: int8 activations with one f32 scale a group, rounding half to even.

The scale is the largest magnitude times f32(1 / 127), rounded to f32 once. A group whose largest magnitude is
below `SMALLEST` gets scale 0 and zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close, Rounded
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]

SMALLEST = 127.0 * 2.0**-126
"""Below this magnitude the scale would be subnormal in f32, where devices may flush to zero."""
CLEAR_OF_TIES = 1e-4
"""Test data lie on a tie or this far from it (in integers), so that one expectation is right, and its sum."""
TIES = (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 63.5, 64.5, -63.5, -64.5, 125.5, 126.5, -125.5, -126.5)
"""Under a scale of 1 these round to 0, 2, 2, 0, -2, -2, 64, 64, -64, -64, 126, 126, -126, -126."""


@dataclass(frozen=True)
class Quantised:
    """x [M, K] as integers, in units of the scales: `reals` before rounding, `scales` f32 [M, K / group]."""

    reals: NDArray[np.float64]
    scales: NDArray[np.float32]

    @property
    def integers(self) -> NDArray[np.int8]:
        """The rounded values [M, K]."""
        return np.rint(self.reals).astype(np.int8)

    @property
    def group(self) -> int:
        """Elements under one scale."""
        return int(self.reals.shape[1] // self.scales.shape[1])

    @property
    def sums(self) -> NDArray[np.float32]:
        """The sum of the integers of each group, [M, K / group]; exact in f32."""
        grouped = self.integers.reshape(*self.scales.shape, self.group)
        sums: NDArray[np.int64] = grouped.sum(axis=-1, dtype=np.int64)
        return sums.astype(np.float32)


def quantise(x: NDArray[Any], group: int) -> Quantised:
    """Quantise finite x [M, K] in groups of `group`."""
    grouped = x.astype(np.float64).reshape(x.shape[0], -1, group)
    largest = np.abs(grouped).max(axis=-1)
    scales = np.where(largest < SMALLEST, 0.0, largest * np.float64(np.float32(1.0 / 127.0))).astype(np.float32)
    units = scales.astype(np.float64)[..., None]
    reals = np.divide(grouped, units, out=np.zeros_like(grouped), where=units > 0)
    return Quantised(reals.reshape(x.shape[0], -1), scales)


def dequantised(quantised: Quantised) -> NDArray[np.float64]:
    """Return the values [M, K] that the integers and scales stand for."""
    integers = quantised.integers.astype(np.float64)
    return integers * np.repeat(quantised.scales.astype(np.float64), quantised.group, axis=-1)


def order(columns: int, k: int, stride: int) -> NDArray[np.int64]:
    """Return, for each byte of the packed integers of [columns, K], the element that stands there.

    Within every 4 * stride elements, word i holds elements i, stride + i, 2 * stride + i and 3 * stride + i.
    """
    elements = np.arange(columns * k, dtype=np.int64)
    return elements.reshape(-1, 4, stride).transpose(0, 2, 1).reshape(-1)


def packed(quantised: Quantised, stride: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """Return the buffers x8 (u32 words) and x_scale ([groups, 2]: scale and sum)."""
    columns, k = quantised.reals.shape
    flat = quantised.integers.reshape(-1)[order(columns, k, stride)]
    x_scale = np.stack([quantised.scales, quantised.sums], axis=-1).reshape(-1, 2)
    return flat.view(np.uint32), np.ascontiguousarray(x_scale, dtype=np.float32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and K; activation, group and stride are read from `constants`.

    A scale may be either f32 neighbour of the exact product; the integers and their sums must be equal.
    """
    m, k, group = sizes["M"], sizes["K"], constants["group"]
    dtype = ELEMENTS[constants["activation"]]
    x = np.stack([pattern(index, group, dtype, rng) for index in range(m * k // group)]).reshape(m, k)
    quantised = quantise(x, group)
    _, x_scale = packed(quantised, constants["stride"])
    values = x_scale.astype(np.float64)
    magnitudes = np.stack([values[:, 0], np.zeros(len(values))], axis=-1)
    integers = Rounded(quantised.reals, order(m, k, constants["stride"]), np.dtype(np.int8))
    return Problem(
        inputs={"x": x},
        expected={"x8": integers, "x_scale": Close(values, magnitudes, np.dtype(np.float32))},
    )


def pattern(index: int, group: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return the activations [group] of group `index`, shuffled, and either on a tie or clear of it.

    The kinds take turns: ties under a scale of 1, ordinary, zeros of both signs, subnormals of the type, huge, one
    element above all, the smallest group with a scale (in f32 with subnormals, ties among them), and the largest
    without one (f16 has none and shows its largest numbers).
    """
    single = dtype == np.float32
    normal, uniform = rng.standard_normal(group), rng.uniform(-1.0, 1.0, group)
    whole = rng.integers(-126, 127, group)
    below = float(np.nextafter(np.float32(SMALLEST), np.float32(0))) if single else 65504.0
    small = (127.0, 0.25, 0.5, 0.75, -0.25, -0.5, -0.75, -1.0, 1.5)
    kinds = (
        np.concatenate([[127.0], TIES, whole[1 + len(TIES) :]]),
        normal * np.exp2(rng.uniform(-6.0, 6.0)),
        np.copysign(0.0, normal),
        whole * float(np.finfo(dtype).smallest_subnormal),
        uniform * (1e30 if single else 65504.0),
        np.concatenate([[-1000.0], 10.0 * uniform[1:]]),
        np.concatenate([small, 127.0 * uniform[len(small) :]]) * (2.0**-126 if single else 2.0**-24),
        np.concatenate([[below], below * uniform[1:]]),
    )
    with np.errstate(under="ignore"):
        return clear_of_ties(rng.permutation(kinds[index % len(kinds)].astype(dtype)), group)


def clear_of_ties(x: NDArray[Any], group: int) -> NDArray[Any]:
    """Move elements of x [group] that are near a tie, yet not on it, towards zero until they are clear of it."""
    while (near := near_tie(quantise(x[None], group).reals[0])).any():
        x = np.where(near, np.nextafter(x, x.dtype.type(0)), x)
    return x


def near_tie(reals: Floats) -> NDArray[np.bool_]:
    """Return which reals lie closer to a tie than CLEAR_OF_TIES, and not on it."""
    distance = np.abs(np.abs(reals) % 1.0 - 0.5)
    near: NDArray[np.bool_] = (distance > 0.0) & (distance < CLEAR_OF_TIES)
    return near
