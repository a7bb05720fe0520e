"""Oracle of the plan `linear`: y = x·Wᵀ in float64 with x rounded as the first pass does, and its epilogues.

For int8 x is kept clear of rounding ties, so that one rounding is right on every device. Signs have no ties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.formats import Format
from wgslgen.oracles.matmul import narrow_spread, narrowed, weights_for
from wgslgen.oracles.matvec import (
    activations,
    as_read,
    finished,
    product,
    random_weights,
    rows_of,
    word_product,
)
from wgslgen.oracles.problem import Problem
from wgslgen.oracles.quantize_q8 import clear_of_ties, dequantised, quantise


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` N and K, and M for matmul; `constants` are those of each pass by its kernel."""
    if "matmul" in constants:
        return many(constants, sizes, rng)
    matvec, n, k = constants["matvec"], sizes["N"], sizes["K"]
    fmt = formats.get(matvec["format"], matvec["group"])
    group = matvec["activation_group"]
    rows = rows_of(matvec, n)
    data = random_weights(matvec, fmt, rows, k, rng)
    x = apart_from_ties(rng.standard_normal((matvec["columns"], k)).astype(np.float32), group)
    weights = fmt.unpack(fmt.rows(data, rows, k))
    if matvec["route"] == "popcount":
        values, magnitudes = word_product(weights, as_read(matvec, fmt, x)[1])
        # The first pass may be off by as much as the second: its scales are sums, too.
        sums = values, 2 * magnitudes
    else:
        sums = product(weights, dequantised(quantise(x, group)))
    return finished(matvec, rng, _inputs(fmt, matvec["layout"], data, rows, x), *sums)


def many(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M, N and K for `matmul`, whose epilogue and output are those of the last pass."""
    matmul, n, k = constants["matmul"], sizes["N"], sizes["K"]
    last = {**matmul, **constants.get("sum_splits", {}), "columns": sizes["M"]}
    fmt = formats.get(matmul["format"], matmul["group"])
    rows = rows_of(last, n)
    data = weights_for(matmul, fmt, rows, k, rng)
    weights = fmt.unpack(fmt.rows(data, rows, k))
    x = narrowed(matmul, activations(rng, last, weights))
    if matmul["route"] == "int8":
        x = apart_from_ties(x, matmul["activation_group"])
        exact = dequantised(quantise(x, matmul["activation_group"]))
    else:
        exact = x.astype(np.float64)
    inputs = _inputs(fmt, matmul["layout"], data, rows, x)
    return finished(last, rng, inputs, *product(weights, exact), narrow_spread(matmul, weights, exact))


def apart_from_ties(x: NDArray[Any], group: int) -> NDArray[Any]:
    """Return x [M, K] with its elements moved clear of rounding ties, in groups of `group`."""
    return np.stack([clear_of_ties(part, group) for part in x.reshape(-1, group)]).reshape(x.shape)


def _inputs(fmt: Format, layout: str, data: NDArray[np.uint8], rows: int, x: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {**layouts.pack(fmt, layout, data, rows, x.shape[1]), "x": x}
