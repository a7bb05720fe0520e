"""Oracle of `quantize_q8`: int8 activations with one f32 scale a group, rounding half to even.

A group of zeros, or one whose largest magnitude is below `SMALLEST`, gets scale 0 and zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST = 127.0 * 2.0**-126
"""Below this magnitude the scale would be subnormal in f32, where devices may flush to zero."""


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
        return grouped.sum(axis=-1, dtype=np.int64).astype(np.float32)


def quantise(x: NDArray[Any], group: int) -> Quantised:
    """Quantise x [M, K] in groups of `group`: scale = largest magnitude / 127, rounded to f32."""
    grouped = x.astype(np.float64).reshape(x.shape[0], -1, group)
    largest = np.abs(grouped).max(axis=-1)
    scales = np.where(largest < SMALLEST, 0.0, largest / 127.0).astype(np.float32)
    units = scales.astype(np.float64)[..., None]
    reals = np.divide(grouped, units, out=np.zeros_like(grouped), where=units > 0)
    return Quantised(reals.reshape(x.shape[0], -1), scales)


def dequantised(quantised: Quantised) -> NDArray[np.float64]:
    """Return the values [M, K] that the integers and scales stand for."""
    return quantised.integers * np.repeat(quantised.scales.astype(np.float64), quantised.group, axis=-1)


def order(columns: int, k: int, stride: int) -> NDArray[np.int64]:
    """Return, for each byte of the packed integers of [columns, K], the element that stands there.

    Within every 4 * stride elements, word i holds elements i, stride + i, 2 * stride + i and 3 * stride + i.
    """
    elements = np.arange(columns * k, dtype=np.int64)
    return elements.reshape(-1, 4, stride).transpose(0, 2, 1).reshape(-1)


def packed(quantised: Quantised, stride: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """Return the buffers x8 (u32 words) and x_scale ([groups, 2]: scale and sum)."""
    integers = quantised.integers
    flat = integers.reshape(-1)[order(*integers.shape, stride)]
    x_scale = np.stack([quantised.scales, quantised.sums], axis=-1).reshape(-1, 2)
    return flat.view(np.uint32), np.ascontiguousarray(x_scale, dtype=np.float32)
