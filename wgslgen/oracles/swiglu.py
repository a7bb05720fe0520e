"""Oracle of `swiglu`: silu(gate) * up in float64, or the tanh form of GELU in the place of SiLU.

A magnitude says how many of its ulps an element may be off: what a float exponential loses in front of it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]

F16_MAX = 65504.0
SMALLEST = 2.0**-126
"""Below this a device may flush a sigmoid to zero."""
ULP = 2.0**-23
EDGES = (0.0, -0.0, 12.0, -12.0, 88.0, -88.0, 89.0, -89.0, -13.24, 200.0, -200.0, 1e-3, -1e-3, 44.0, -100.0)
"""Gates at which a naive exponential, or a naive tanh, has overflowed somewhere."""


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow."""
    with np.errstate(under="ignore"):
        falling = np.exp(-np.abs(x))
        return np.where(x >= 0.0, 1.0, falling) / (1.0 + falling)


def slope(gate: Floats, gelu_tanh: bool) -> Floats:
    """Return the argument of the sigmoid that the gate is multiplied with."""
    if not gelu_tanh:
        return gate
    near = gate.clip(-1e4, 1e4)  # so that the cube stays a number; the sigmoid is 0 or 1 from 16 on
    result: Floats = 2.0 * np.sqrt(2.0 / np.pi) * (near + 0.044715 * near**3)
    return result


def activated(gate: NDArray[Any], up: NDArray[Any], gelu_tanh: bool = False) -> tuple[Floats, Floats]:
    """Return results and magnitudes, both of the inputs' shape."""
    wide, factor = gate.astype(np.float64), up.astype(np.float64)
    argument = slope(wide, gelu_tanh)
    with np.errstate(under="ignore"):
        values = wide * sigmoid(argument) * factor
        inherited = (3.0 + (6.0 if gelu_tanh else 2.0) * np.abs(argument)) * sigmoid(-argument)
        magnitudes = np.abs(values) * (5.0 + inherited)
        flushed = np.where(sigmoid(argument) < 2.0 * SMALLEST, np.abs(wide * factor) * 2.0 * SMALLEST / ULP, 0.0)
    return values, magnitudes + flushed


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and D; activation, packed and gelu_tanh are read from `constants`."""
    dtype = ELEMENTS[constants["activation"]]
    shape = (sizes["M"], sizes["D"])
    gate = gates(shape, dtype, rng)
    up = without_subnormals(rng.standard_normal(shape) * rng.choice([1.0, 1.0, 100.0, 1e-2, 0.0], shape), dtype)
    values, magnitudes = activated(gate, up, constants["gelu_tanh"])
    if constants["activation"] == "f16":
        values = values.clip(-F16_MAX, F16_MAX)
    inputs = {"gate_up": np.concatenate([gate, up], axis=1)} if constants["packed"] else {"gate": gate, "up": up}
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, dtype)})


def gates(shape: tuple[int, int], dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return gates: ordinary, up to where the exponential underflows, as large as may be, and the edges among them."""
    largest = 60000.0 if dtype == np.float16 else 1e34
    scale = rng.choice([1.0, 1.0, 1.0, 10.0, 60.0, largest / 8.0], shape)
    gate: Floats = rng.standard_normal(shape).clip(-8.0, 8.0) * scale
    edges = rng.random(shape) < 0.2
    gate[edges] = rng.choice(EDGES, int(edges.sum()))
    return without_subnormals(gate, dtype)


def without_subnormals(values: Floats, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values as `dtype`, zeros where they would be subnormal: a device may read those as 0."""
    made: NDArray[Any] = np.where(np.abs(values) < 2.0 * np.finfo(dtype).tiny, 0.0, values).astype(dtype)
    return made
