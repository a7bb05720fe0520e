"""Oracle of `copy_strided`: element by element through NumPy's own index arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Equal, Expected, Nearest
from wgslgen.oracles.problem import ELEMENTS, Problem

F16_MAX = 65504.0


def places(sizes: Mapping[str, int], strides: str, offset: str) -> NDArray[np.int64]:
    """Return the places in a buffer that the shape [S0, S1, S2, S3] means; `strides` is the letter A or D."""
    shape = [sizes[f"S{axis}"] for axis in range(4)]
    steps = np.array([sizes[f"{strides}{axis}"] for axis in range(4)], dtype=np.int64)
    found: NDArray[np.int64] = np.tensordot(steps, np.indices(shape), axes=1) + sizes[offset]
    return found


def moved(x: NDArray[Any], y: NDArray[Any], sizes: Mapping[str, int]) -> NDArray[Any]:
    """Return y, in float64 unless it is of whole numbers, with the elements of x in the places that the sizes name."""
    result = y.copy() if y.dtype == np.uint32 else y.astype(np.float64)
    result[places(sizes, "D", "DST_OFFSET")] = x[places(sizes, "A", "SRC_OFFSET")]
    return result


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of these sizes; source and destination are read from `constants`.

    Elements of x that are not meant are NaN, and of all ones in u32.
    """
    source, destination = constants["source"], constants["destination"]
    x, y = elements(source, sizes["SRC_LENGTH"], rng), elements(destination, sizes["DST_LENGTH"], rng)
    gaps = np.ones(x.shape, dtype=np.bool_)
    gaps[places(sizes, "A", "SRC_OFFSET")] = False
    x[gaps] = np.uint32(0xFFFFFFFF) if source == "u32" else np.nan
    values = moved(x, y, sizes)
    expected: Expected
    if (source, destination) == ("f32", "f16"):
        expected = Nearest(values.clip(-F16_MAX, F16_MAX)[None], ELEMENTS[destination])
    else:
        expected = Equal(values.astype(y.dtype))
    return Problem(inputs={"x": x, "y": y}, expected={"y": expected})


def elements(kind: str, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return elements [count]: any bits in u32; floats of all magnitudes, both signs and zeros, none subnormal."""
    if kind == "u32":
        return rng.integers(0, 2**32, count, dtype=np.uint32)
    top = 15.9 if kind == "f16" else 40.0
    magnitudes = np.exp2(rng.uniform(-13.0, top, count))
    signs = rng.choice([-1.0, 1.0, 1.0, 0.0], count)
    made: NDArray[Any] = (magnitudes * signs).astype(ELEMENTS[kind])
    return made
