"""Oracle of `add`: a + b in float64, which is exact for f16 and rounds far below f32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Nearest
from wgslgen.oracles.problem import ELEMENTS, Problem

F16_MAX = 65504.0


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of COUNT elements; activation and in_place are read from `constants`."""
    dtype = ELEMENTS[constants["activation"]]
    a, b = (summands(sizes["COUNT"], dtype, rng) for _ in range(2))
    opposite = rng.random(a.shape) < 0.1
    b[opposite] = -a[opposite]
    values = a.astype(np.float64) + b.astype(np.float64)
    if constants["activation"] == "f16":
        values = values.clip(-F16_MAX, F16_MAX)
    inputs = {"y": a, "b": b} if constants["in_place"] else {"a": a, "b": b}
    return Problem(inputs=inputs, expected={"y": Nearest(values, dtype)})


def summands(count: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return elements [1, COUNT]: ordinary, of all magnitudes, at the end of the range, zeros; none is subnormal."""
    half = dtype == np.float16
    largest, smallest = (65504.0, 2.0**-13) if half else (1.7e38, 2.0**-120)
    kinds = (
        rng.standard_normal(count),
        rng.standard_normal(count) * np.exp2(rng.uniform(-12.0, 12.0, count)),
        rng.choice([-1.0, 1.0], count) * largest,
        rng.uniform(-1.0, 1.0, count) * largest,
        rng.choice([-1.0, 1.0], count) * smallest,
        np.zeros(count),
    )
    chosen = np.choose(rng.integers(0, len(kinds), count), kinds)
    elements = np.where(np.abs(chosen) < smallest, 0.0, chosen)
    return elements.astype(dtype)[None]
