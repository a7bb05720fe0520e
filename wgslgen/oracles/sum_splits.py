"""Oracle of `sum_splits`: the sums of the parts of K in float64, and what its epilogues make of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen.oracles.matvec import Floats, finished
from wgslgen.oracles.problem import Problem


def sums(partials: Floats) -> tuple[Floats, Floats]:
    """Return the sums [M, N] of partials [splits, M, N], and those of their magnitudes."""
    return partials.sum(axis=0), np.abs(partials).sum(axis=0)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and N; num_splits, epilogue and output are read from `constants`.

    Parts are of many magnitudes and both signs, and some are zero, as those past the end of K are.
    """
    rows = 2 * sizes["N"] if constants["epilogue"] == "swiglu" else sizes["N"]
    shape = (constants["num_splits"], sizes["M"], rows)
    spread = rng.standard_normal(shape) * np.exp2(rng.uniform(-8.0, 4.0, shape))
    partials = np.where(rng.random(shape) < 0.1, 0.0, spread).astype(np.float32)
    return finished(constants, rng, {"partials": partials}, *sums(partials.astype(np.float64)))
