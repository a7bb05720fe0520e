"""Oracle of the plan `linear`: y = x·Wᵀ in float64 with x rounded as the first pass does, and its epilogues.

For int8 x is kept clear of rounding ties, so that one rounding is right on every device. Signs have no ties.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen import formats, layouts
from wgslgen.oracles.matvec import as_read, finished, product, random_weights, rows_of, word_product
from wgslgen.oracles.problem import Problem
from wgslgen.oracles.quantize_q8 import clear_of_ties, dequantised, quantise


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` N and K; `constants` are those of each pass by its kernel's name."""
    matvec, n, k = constants["matvec"], sizes["N"], sizes["K"]
    fmt = formats.get(matvec["format"], matvec["group"])
    group = matvec["activation_group"]
    rows = rows_of(matvec, n)
    data = random_weights(matvec, fmt, rows, k, rng)
    groups = rng.standard_normal((matvec["columns"] * k // group, group)).astype(np.float32)
    x = np.stack([clear_of_ties(row, group) for row in groups]).reshape(matvec["columns"], k)
    weights = fmt.unpack(fmt.rows(data, rows, k))
    if matvec["route"] == "popcount":
        values, magnitudes = word_product(weights, as_read(matvec, fmt, x)[1])
        # The first pass may be off by as much as the second: its scales are sums, too.
        sums = values, 2 * magnitudes
    else:
        sums = product(weights, dequantised(quantise(x, group)))
    return finished(matvec, rng, {**layouts.pack(fmt, matvec["layout"], data, rows, k), "x": x}, *sums)
