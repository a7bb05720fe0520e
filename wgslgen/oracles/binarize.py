"""Oracle of `binarize`: activations as signs, +1 from zero up, with the mean magnitude of a group as its scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close, Equal
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]
LARGEST = 2.0**126
"""What the kernel states: magnitudes lie under this."""


@dataclass(frozen=True)
class Binarised:
    """x [M, K] as `positive` [M, K], true for zero and above, and the exact mean magnitudes [M, K / group]."""

    positive: NDArray[np.bool_]
    means: Floats

    @property
    def scales(self) -> NDArray[np.float32]:
        """The means as f32 holds them."""
        with np.errstate(under="ignore"):
            return self.means.astype(np.float32)

    @property
    def signs(self) -> Floats:
        """+1 and -1, [M, K]."""
        signs: Floats = np.where(self.positive, 1.0, -1.0)
        return signs


def binarise(x: NDArray[Any], group: int) -> Binarised:
    """Binarise finite x [M, K] in groups of `group`."""
    wide = x.astype(np.float64)
    return Binarised(wide >= 0.0, np.abs(wide).reshape(x.shape[0], -1, group).mean(axis=-1))


def words(positive: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return flags [M, K] as u32 [M, K / 32], the first of 32 in the lowest bit."""
    weights = np.uint64(1) << np.arange(32, dtype=np.uint64)
    grouped = positive.reshape(positive.shape[0], -1, 32).astype(np.uint64)
    packed: NDArray[np.uint64] = (grouped * weights).sum(axis=-1, dtype=np.uint64)
    return packed.astype(np.uint32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and K; activation and group are read from `constants`.

    Signs must be equal; a mean may be off by what its sum rounds.
    """
    m, k, group = sizes["M"], sizes["K"], constants["group"]
    dtype = ELEMENTS[constants["activation"]]
    x = np.stack([pattern(index, group, dtype, rng) for index in range(m * k // group)]).reshape(m, k)
    binarised = binarise(x, group)
    return Problem(
        inputs={"x": x},
        expected={
            "x1": Equal(words(binarised.positive)),
            "x_scale": Close(binarised.means, binarised.means, np.dtype(np.float32)),
        },
    )


def pattern(index: int, group: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return the activations [group] of group `index`, shuffled.

    The kinds take turns: ordinary, zeros of both signs, one element above all, as large as may be,
    subnormals of both signs beside ordinary elements and zeros, subnormals alone, all below zero, and tiny.
    """
    single = dtype == np.float32
    normal, uniform = rng.standard_normal(group), rng.uniform(0.5, 1.0, group)
    smallest = float(np.finfo(dtype).smallest_subnormal) * np.copysign(rng.integers(1, 100, group), normal)
    kinds = (
        normal * np.exp2(rng.uniform(-6.0, 6.0)),
        np.copysign(0.0, normal),
        np.concatenate([[-1000.0], 0.01 * normal[1:]]),
        np.copysign(uniform, normal) * min(float(np.finfo(dtype).max), LARGEST),
        np.where(np.arange(group) % 3 == 0, normal, np.where(np.arange(group) % 3 == 1, smallest, -0.0)),
        smallest,
        -uniform,
        normal * (1e-30 if single else 1e-3),
    )
    with np.errstate(under="ignore"):
        return rng.permutation(kinds[index % len(kinds)].astype(dtype))
