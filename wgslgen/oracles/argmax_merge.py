"""Oracle of `argmax_merge`: the best of a row's slots in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen.compare import Equal
from wgslgen.oracles.argmax import row, widened, winner
from wgslgen.oracles.problem import Problem

VOCABULARY = 250000


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and SLOTS, whose indices stand in no order; value is read from `constants`."""
    m, slots = sizes["M"], sizes["SLOTS"]
    values = np.stack([row(index, slots, np.dtype(np.float32), rng) for index in range(m)])
    indices = np.stack([rng.choice(VOCABULARY, slots, replace=False) for _ in range(m)]).astype(np.uint32)
    wide = widened(values)
    best = [winner(wide[at], indices[at]) for at in range(m)]
    expected = {"token": Equal(indices[np.arange(m), best])}
    if constants["value"]:
        expected["value"] = Equal(values.view(np.uint32)[np.arange(m), best])
    return Problem(inputs={"best_value": values.view(np.uint32), "best_index": indices}, expected=expected)
