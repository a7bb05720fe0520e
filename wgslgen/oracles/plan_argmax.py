"""Oracle of the plan `argmax`: the best logit of each row, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen.compare import Equal
from wgslgen.oracles.argmax import f32_bits, row, widened, winner, words
from wgslgen.oracles.problem import ELEMENTS, Problem


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and N."""
    m, n = sizes["M"], sizes["N"]
    x = np.stack([row(index, n, ELEMENTS[constants["argmax"]["activation"]], rng) for index in range(m)])
    best = [winner(values, np.arange(n)) for values in widened(x)]
    expected = {"token": Equal(np.array(best, np.uint32))}
    if constants["argmax_merge"]["value"]:
        expected["value"] = Equal(f32_bits(x)[np.arange(m), best])
    return Problem(inputs={"logits": words(x)}, expected=expected)
