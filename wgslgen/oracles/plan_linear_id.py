"""Oracle of the plan `linear_id`: the product of each pair of token and expert, from ids and x alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.oracles.expert_rows import random_ids
from wgslgen.oracles.matmul import narrowed, weights_for
from wgslgen.oracles.matmul_id import pair_products
from wgslgen.oracles.matvec import activations, rows_of
from wgslgen.oracles.plan_linear import apart_from_ties
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import dequantised, quantise


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` T, USED, EXPERTS, N and K; `constants` are those of each pass by its kernel."""
    own = {"operand": None, **constants.get("matmul_id", constants.get("matvec_id", {}))}
    t, used, experts, n, k = (sizes[name] for name in ("T", "USED", "EXPERTS", "N", "K"))
    fmt = formats.get(own["format"], own["group"])
    rows = experts * rows_of(own, n)
    data = weights_for(own, fmt, rows, k, rng)
    weights = fmt.unpack(fmt.rows(data, rows, k))
    ids = random_ids(sizes, rng, beyond=False)  # a caller that knows its ids is told of those out of range
    count = t if own["x_of"] == "token" else t * used
    x = narrowed(own, activations(rng, {**own, "columns": count}, weights))
    if own["route"] == "int8":
        x = apart_from_ties(x, own["activation_group"])
        exact = dequantised(quantise(x, own["activation_group"]))
    else:
        exact = x.astype(np.float64)
    per_pair = exact.repeat(used, axis=0) if own["x_of"] == "token" else exact
    values, magnitudes = pair_products(own, weights, per_pair, ids, experts)
    inputs = {**layouts.pack(fmt, own["layout"], data, rows, k), "x": x, "ids": ids}
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, ELEMENTS[own["output"]])})
