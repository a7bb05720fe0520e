"""Oracle of `matmul_id`: for each pair of token and expert the product with the expert's matrix, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.oracles.expert_rows import Ids, random_ids, rows_of
from wgslgen.oracles.matmul import narrowed, weights_for
from wgslgen.oracles.matvec import Floats, activations, as_read, product, spread, swiglu
from wgslgen.oracles.matvec import rows_of as matrix_rows
from wgslgen.oracles.problem import ELEMENTS, Problem


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` T, USED, EXPERTS, N and K; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: what `matmul` reads, and x_of and tile_m.
    """
    t, used, experts, n, k = (sizes[name] for name in ("T", "USED", "EXPERTS", "N", "K"))
    fmt = formats.get(constants["format"], constants["group"])
    rows = experts * matrix_rows(constants, n)
    data = weights_for(constants, fmt, rows, k, rng) if weights is None else weights
    ids = random_ids(sizes, rng)
    pairs, tiles = rows_of(ids, experts, constants["tile_m"])
    unpacked = fmt.unpack(fmt.rows(data, rows, k))
    count = t if constants["x_of"] == "token" else t * used
    x = narrowed(constants, activations(rng, {**constants, "columns": count}, unpacked))
    read, exact = as_read(constants, fmt, x)
    per_pair = exact.repeat(used, axis=0) if constants["x_of"] == "token" else exact
    sums = pair_products(constants, unpacked, per_pair, ids, experts)
    spreads = (
        pair_spread(unpacked, per_pair, ids, experts)
        if constants["operand"] == "f16" and constants["epilogue"] == "store"
        else None
    )
    inputs = {**layouts.pack(fmt, constants["layout"], data, rows, k), **read, "pairs": pairs, "tiles": tiles}
    return Problem(inputs=inputs, expected={"y": Close(*sums, ELEMENTS[constants["output"]], spreads)})


def pair_products(
    constants: Mapping[str, Any], weights: Floats, x: Floats, ids: Ids, experts: int
) -> tuple[Floats, Floats]:
    """Return results [T * USED, N] for x [T * USED, K] and the magnitudes added up; zeros where there is no expert."""
    by_expert = weights.reshape(experts, -1, weights.shape[1])
    n = by_expert.shape[1] // (2 if constants["epilogue"] == "swiglu" else 1)
    values, magnitudes = np.zeros((len(x), n)), np.zeros((len(x), n))
    for pair, expert in enumerate(ids.reshape(-1)):
        if expert < experts:
            sums, added = product(by_expert[expert], x[pair : pair + 1])
            if constants["epilogue"] == "swiglu":
                sums, added = swiglu(sums[:, :n], sums[:, n:], added[:, :n], added[:, n:])
            values[pair], magnitudes[pair] = sums[0], added[0]
    return values, magnitudes


def pair_spread(weights: Floats, x: Floats, ids: Ids, experts: int) -> Floats:
    """Return the `spread` [T * USED, N] of the products of x [T * USED, K]; zeros where there is no expert."""
    by_expert = weights.reshape(experts, -1, weights.shape[1])
    spreads = np.zeros((len(x), by_expert.shape[1]))
    for pair, expert in enumerate(ids.reshape(-1)):
        if expert < experts:
            spreads[pair] = spread(by_expert[expert], x[pair : pair + 1])[0]
    return spreads
