"""Oracle of `matmul`: Y = X·Wᵀ in float64, from the file's bytes, and what its epilogues make of that.

For route int8 it quantises the activations as well, as the oracle of `matvec` does. Where K is summed in parts, what
is expected of each part is the sum over its columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.formats import Format
from wgslgen.oracles.matvec import (
    Floats,
    activations,
    as_held,
    as_read,
    finished,
    product,
    random_weights,
    rows_of,
    spread,
)
from wgslgen.oracles.problem import Problem

F16_MAX = 65504.0
DRAWS = 200
SPREAD = 4.0
"""How many times the largest weight of a row may be that of the middle row, or a fraction of it, for f16 operands."""


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` M, N, K and X_STRIDE; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: format, group, layout, activation, output, route, activation_group, epilogue,
    operand, tile_k and num_splits are read. Between the rows of x lie NaNs. For f16 operands x has f16
    numbers only: how far their rounding takes a result from the exact one is `narrow_distance`.
    """
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    fmt = formats.get(constants["format"], constants["group"])
    rows = rows_of(constants, n)
    data = weights_for(constants, fmt, rows, k, rng) if weights is None else weights
    unpacked = fmt.unpack(fmt.rows(data, rows, k))
    x = narrowed(constants, activations(rng, {**constants, "columns": m}, unpacked))
    read, exact = as_read(constants, fmt, x)
    inputs = {**layouts.pack(fmt, constants["layout"], data, rows, k), **read}
    if "x" in inputs:
        inputs["x"] = apart(inputs["x"], sizes["X_STRIDE"])
    if constants["num_splits"] > 1:
        parts = [(unpacked[:, part], exact[:, part]) for part in parts_of(constants, k)]
        spreads = np.concatenate([spread(*part) for part in parts]) if constants["operand"] == "f16" else None
        expected = Close(*split_products(constants, unpacked, exact), np.dtype(np.float32), spreads)
        return Problem(inputs=inputs, expected={"partials": expected})
    return finished(constants, rng, inputs, *product(unpacked, exact), narrow_spread(constants, unpacked, exact))


def weights_for(
    constants: Mapping[str, Any], fmt: Format, rows: int, k: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return raw random blocks [rows, row_bytes] that the layout and the operands hold."""
    if constants["operand"] == "f16":
        return as_held(constants, fmt, within_f16(fmt, rows, k, rng))
    return random_weights(constants, fmt, rows, k, rng)


def narrowed(constants: Mapping[str, Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return x, or for f16 operands the f16 numbers next to it, in the type of x."""
    if constants["operand"] != "f16":
        return x
    with np.errstate(under="ignore"):
        return x.astype(np.float16).astype(x.dtype)


def within_f16(fmt: Format, rows: int, k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return raw random rows [rows, row_bytes] of one order of magnitude that f16 holds without its subnormals.

    Others would be judged by what f16 does not have, or all together by the largest of them alone.
    """
    drawn = fmt.random_blocks(4 * rows + 8, k, rng)
    middle = np.median(np.abs(fmt.unpack(drawn[1::4])).max(axis=1))
    kept: list[NDArray[np.uint8]] = []
    for _ in range(DRAWS):
        if sum(map(len, kept)) >= rows:
            break
        largest = np.abs(fmt.unpack(drawn)).max(axis=1)
        kept.append(drawn[(largest < min(F16_MAX, SPREAD * middle)) & (largest > middle / SPREAD)])
        drawn = fmt.random_blocks(4 * rows + 8, k, rng)
    held: NDArray[np.uint8] = np.concatenate(kept)[:rows]
    if len(held) < rows:
        raise ValueError(f"random blocks of {fmt} have no {rows} rows of one order of magnitude that f16 holds")
    return held


def narrow_distance(weights: Floats, x: NDArray[Any]) -> float:
    """Return the NMSE between the product with x [M, K] rounded to f16 and the exact one."""
    exact, _ = product(weights, x.astype(np.float64))
    rounded, _ = product(weights, narrowed({"operand": "f16"}, x).astype(np.float64))
    return float(np.square(rounded - exact).sum() / np.square(exact).sum())


def apart(x: NDArray[Any], stride: int) -> NDArray[Any]:
    """Return x [M, K] as a flat array whose rows start `stride` elements apart, with NaN between them."""
    m, k = x.shape
    spread = np.full((m, stride), np.nan, dtype=x.dtype)
    spread[:, :k] = x
    return spread.reshape(-1)[: (m - 1) * stride + k]


def split_products(constants: Mapping[str, Any], weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return the products [splits * M, N] of each part of K, and the same of the absolute values."""
    parts = [product(weights[:, part], x[:, part]) for part in parts_of(constants, x.shape[1])]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def parts_of(constants: Mapping[str, Any], k: int) -> list[slice]:
    """Return the columns of each part of K.

    Part s of S has the tiles of K from s T / S up to (s + 1) T / S, rounded down, of T.
    """
    splits, tile_k = constants["num_splits"], constants["tile_k"]
    tiles = -(-k // tile_k)
    ends = [split * tiles // splits * tile_k for split in range(splits + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


def narrow_spread(constants: Mapping[str, Any], weights: Floats, x: Floats) -> Floats | None:
    """Return the `spread` [M, N] of products with f16 operands, whose errors grow with it; None for others."""
    return spread(weights, x) if constants["operand"] == "f16" else None
