"""Oracle of `matvec`: y = x·Wᵀ in float64, from the file's bytes.

For route int8 it quantises the activations as well (round half to even, one scale per group), so that what
is compared is the product; how far that lies from the exact product is `int8_distance`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import dequantised, packed, quantise

Floats = NDArray[np.float64]
F16_ROOM = 32768.0
"""Half of f16's range: what test data for f16 results may reach."""


def product(weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return x [M, K] · weights [N, K]ᵀ as [M, N], and the same of the absolute values."""
    return x @ weights.T, np.abs(x) @ np.abs(weights).T


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` N and K; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: format, group, layout, columns, activation, output, route and
    activation_group are read.
    """
    n, k = sizes["N"], sizes["K"]
    fmt = formats.get(constants["format"], constants["group"])
    data = fmt.random_blocks(n, k, rng) if weights is None else weights
    unpacked = fmt.unpack(fmt.rows(data, n, k))
    x = activations(rng, constants, unpacked)
    inputs: dict[str, NDArray[Any]] = dict(layouts.pack(fmt, constants["layout"], data, n, k))
    if constants["route"] == "int8":
        quantised = quantise(x, constants["activation_group"])
        x8, x_scale = packed(quantised, fmt.int8_stride or 1)
        inputs |= {"x8": x8, "x_scale": x_scale}
        exact = dequantised(quantised)
    else:
        inputs["x"] = x
        exact = x.astype(np.float64)
    values, magnitudes = product(unpacked, exact)
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, ELEMENTS[constants["output"]])})


def activations(rng: np.random.Generator, constants: Mapping[str, Any], weights: Floats) -> NDArray[Any]:
    """Return random x [columns, K]; for f16 results so small that no row of W·x leaves f16's range."""
    x = rng.standard_normal((constants["columns"], weights.shape[1]))
    if constants["output"] == "f16":
        largest = np.abs(product(weights, x)[0]).max(initial=0.0)
        x *= 2.0 ** -max(0, np.ceil(np.log2(max(largest, 1.0) / F16_ROOM)))
    with np.errstate(under="ignore"):
        return x.astype(ELEMENTS[constants["activation"]])


def int8_distance(weights: Floats, x: NDArray[Any], group: int) -> float:
    """Return the NMSE between the product with int8 activations and the exact one."""
    exact, _ = product(weights, x.astype(np.float64))
    rounded, _ = product(weights, dequantised(quantise(x, group)))
    return float(np.square(rounded - exact).sum() / np.square(exact).sum())
