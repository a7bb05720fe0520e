"""Oracle of `get_rows`: the rows of the weights by their ids, from the file's bytes; zeros for ids from N on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Nearest
from wgslgen.oracles.problem import ELEMENTS, Problem

F16_MAX = 65504.0
FAR = (2**32 - 1, 2**32 - 2, 2**31)
"""Ids that are out of range for every table: -1 and -2 as u32, and one that is negative as i32."""


def rows(weights: NDArray[np.float64], ids: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return rows `ids` of weights [N, K] as [R, K]."""
    known = ids < len(weights)
    found: NDArray[np.float64] = np.where(known[:, None], weights[np.where(known, ids, 0)], 0.0)
    return found


def mixed_ids(n: int, count: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return `count` ids: the last row, the first id out of range, the first row, then all kinds mixed."""
    edges = [n - 1, n, 0, FAR[0], n - 1, FAR[1], FAR[2]]
    others = rng.permutation(np.arange(max(count, n)) % n)
    return np.concatenate([edges, others]).astype(np.uint32)[:count]


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` N, K and R; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: format, group, layout and output are read.
    """
    n, k = sizes["N"], sizes["K"]
    fmt = formats.get(constants["format"], constants["group"])
    data = fmt.random_blocks(n, k, rng) if weights is None else weights
    ids = mixed_ids(n, sizes["R"], rng)
    values = rows(fmt.unpack(fmt.rows(data, n, k)), ids)
    if constants["output"] == "f16":
        values = values.clip(-F16_MAX, F16_MAX)
    inputs: dict[str, NDArray[Any]] = {**layouts.pack(fmt, constants["layout"], data, n, k), "ids": ids}
    return Problem(inputs=inputs, expected={"y": Nearest(values, ELEMENTS[constants["output"]])})
