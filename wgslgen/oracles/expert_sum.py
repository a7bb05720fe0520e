"""Oracle of `expert_sum`: weighted sums of rows, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.matvec import residuals
from wgslgen.oracles.problem import ELEMENTS, Problem


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` T, USED and N; activation, output and residual of the `constants` are read."""
    t, used, n = sizes["T"], sizes["USED"], sizes["N"]
    x = residuals(rng, (t, used, n)) / 8
    with np.errstate(under="ignore"):
        x = x.astype(ELEMENTS[constants["activation"]])
    gates = rng.random((t, used)).astype(np.float32)
    gates[0, 0] = 0.0
    terms = gates.astype(np.float64)[..., None] * x.astype(np.float64)
    values, magnitudes = terms.sum(axis=1), np.abs(terms).sum(axis=1)
    inputs: dict[str, NDArray[Any]] = {"x": x, "gates": gates}
    if constants["residual"]:
        with np.errstate(under="ignore"):
            y = residuals(rng, (t, n)).astype(ELEMENTS[constants["output"]])
        inputs["y"] = y
        values, magnitudes = values + y, magnitudes + np.abs(y)
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, ELEMENTS[constants["output"]])})
