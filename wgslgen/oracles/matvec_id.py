"""Oracle of `matvec_id`: for each pair of token and expert the product with the expert's matrix, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.oracles.expert_rows import random_ids
from wgslgen.oracles.matmul_id import pair_products
from wgslgen.oracles.matvec import activations, as_read, random_weights, rows_of
from wgslgen.oracles.problem import ELEMENTS, Problem


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` T, USED, EXPERTS, N and K; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: what `matvec` reads, and x_of.
    """
    t, used, experts, n, k = (sizes[name] for name in ("T", "USED", "EXPERTS", "N", "K"))
    fmt = formats.get(constants["format"], constants["group"])
    rows = experts * rows_of(constants, n)
    data = random_weights(constants, fmt, rows, k, rng) if weights is None else weights
    ids = random_ids(sizes, rng)
    unpacked = fmt.unpack(fmt.rows(data, rows, k))
    count = t if constants["x_of"] == "token" else t * used
    read, exact = as_read(constants, fmt, activations(rng, {**constants, "columns": count}, unpacked))
    per_pair = exact.repeat(used, axis=0) if constants["x_of"] == "token" else exact
    values, magnitudes = pair_products(constants, unpacked, per_pair, ids, experts)
    inputs = {**layouts.pack(fmt, constants["layout"], data, rows, k), **read, "ids": ids}
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, ELEMENTS[constants["output"]])})
