"""Oracle of the plan `linear_argmax`: the row of W that makes the largest product with x, in float64.

The data have one clear winner, or several rows of the same weights, of which the first is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close, Equal, Expected
from wgslgen.oracles.lm_head_argmax import decided, near_best
from wgslgen.oracles.matvec import as_read, product, random_weights
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import clear_of_ties, dequantised, quantise


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` N and K."""
    head, n, k = constants["lm_head_argmax"], sizes["N"], sizes["K"]
    fmt = formats.get(head["format"], head["group"])
    x: NDArray[Any] = rng.standard_normal((head["columns"], k)).astype(ELEMENTS[head["activation"]])
    exact = x.astype(np.float64)
    if head["route"] == "int8":
        group = head["activation_group"]
        x = np.stack([clear_of_ties(part, group) for part in x.reshape(-1, group)]).reshape(x.shape)
        exact = dequantised(quantise(x, group))
    elif head["route"] == "popcount":
        exact = as_read(head, fmt, x)[1]
    data = decided(fmt, random_weights(head, fmt, n, k, rng), exact, n)
    values, magnitudes = product(fmt.unpack(data), exact)
    rows = [int(near_best(logits, scales)[0]) for logits, scales in zip(values, magnitudes, strict=True)]
    expected: dict[str, Expected] = {"token": Equal(np.array(rows, np.uint32))}
    if constants["argmax_merge"]["value"]:
        best, off = (part[np.arange(len(rows)), rows][:, None] for part in (values, magnitudes))
        expected["value"] = Close(best, off, np.dtype(np.float32))
    return Problem(inputs={**layouts.pack(fmt, head["layout"], data, n, k), "x": x}, expected=expected)
