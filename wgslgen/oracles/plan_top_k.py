"""Oracle of the plan `top_k`: each row sorted as a whole, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen.compare import Equal
from wgslgen.oracles.argmax import row, words
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.top_k import best


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and N; the first stage's constants say what the logits are."""
    m, n, stage = sizes["M"], sizes["N"], constants["top_k"]
    x = np.stack([row(index, n, ELEMENTS[stage["activation"]], rng) for index in range(m)])
    found = [best(values, np.arange(n, dtype=np.uint32), stage["k_top"]) for values in x]
    value, index = (np.array([part[which] for part in found], np.uint32) for which in (0, 1))
    return Problem(inputs={"logits": words(x)}, expected={"values": Equal(value), "indices": Equal(index)})
