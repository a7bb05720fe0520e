"""Oracle of `rms_norm`: x * weight / sqrt(mean(x * x) + EPS) in float64, with EPS as f32 holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]

EPS = 1e-6
F16_MAX = 65504.0


def normalised(x: NDArray[Any], weight: NDArray[np.float32], eps: float) -> Floats:
    """Return the result [M, D] for x [M, D] and weight [D]."""
    wide = x.astype(np.float64)
    mean_square = np.square(wide).mean(axis=-1, keepdims=True)
    result: Floats = wide * weight.astype(np.float64) / np.sqrt(mean_square + np.float64(np.float32(eps)))
    return result


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and D; activation is read from `constants`."""
    dtype = ELEMENTS[constants["activation"]]
    x = np.stack([row(index, sizes["D"], dtype, rng) for index in range(sizes["M"])])
    weight = (rng.standard_normal(sizes["D"]) * rng.choice([1.0, 1.0, 8.0, 0.0], sizes["D"])).astype(np.float32)
    values = normalised(x, weight, EPS)
    if constants["activation"] == "f16":
        values = values.clip(-F16_MAX, F16_MAX)
    return Problem(
        inputs={"x": x, "weight": weight},
        expected={"y": Close(values, np.abs(values), dtype)},
        parameters={"EPS": EPS},
    )


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
