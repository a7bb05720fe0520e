"""Oracle of the plan `linear`: y = x·Wᵀ in float64 with x rounded to int8 as `quantize_q8` does, and its epilogues.

x is kept clear of rounding ties, so that one rounding is right on every device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen import formats, layouts
from wgslgen.oracles.matvec import finished, product, rows_of
from wgslgen.oracles.problem import Problem
from wgslgen.oracles.quantize_q8 import clear_of_ties, dequantised, quantise


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` N and K; `constants` are those of each pass by its kernel's name."""
    matvec, n, k = constants["matvec"], sizes["N"], sizes["K"]
    fmt = formats.get(matvec["format"], matvec["group"])
    group = matvec["activation_group"]
    rows = rows_of(matvec, n)
    data = fmt.random_blocks(rows, k, rng)
    groups = rng.standard_normal((matvec["columns"] * k // group, group)).astype(np.float32)
    x = np.stack([clear_of_ties(row, group) for row in groups]).reshape(matvec["columns"], k)
    sums = product(fmt.unpack(fmt.rows(data, rows, k)), dequantised(quantise(x, group)))
    return finished(matvec, rng, {**layouts.pack(fmt, matvec["layout"], data, rows, k), "x": x}, *sums)
