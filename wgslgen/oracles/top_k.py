"""Oracle of `top_k`: each chunk of a row sorted in float64, and what is missing filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Equal
from wgslgen.oracles.argmax import Floats, Words, f32_bits, row, widened, words
from wgslgen.oracles.problem import ELEMENTS, Problem

NO_INDEX = 2**32 - 1
LOWEST = np.float32(-3.4028234e38)


def order(values: Floats) -> NDArray[np.int64]:
    """Return the positions of values [N] from the largest on, equal ones in their own order, NaN last."""
    nan = np.isnan(values)
    ranked: NDArray[np.int64] = np.lexsort((-np.where(nan, 0.0, values), nan))
    return ranked


def best(x: NDArray[Any], ids: Words, k_top: int) -> tuple[Words, Words]:
    """Return f32 bits and ids of the best of x [N], K_TOP each; an id of NO_INDEX stands for no element."""
    known = ids != NO_INDEX
    at = np.flatnonzero(known)[order(widened(x[known]))][:k_top]
    missing = k_top - at.size
    value = np.concatenate([f32_bits(x)[at], np.full(missing, LOWEST.view(np.uint32))])
    return value, np.concatenate([ids[at], np.full(missing, NO_INDEX, np.uint32)])


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` M and N; activation, k_top, chunk and indexed are read from `constants`."""
    m, n = sizes["M"], sizes["N"]
    x = np.stack([row(index, n, ELEMENTS[constants["activation"]], rng) for index in range(m)])
    ids = np.tile(np.arange(n, dtype=np.uint32), (m, 1))
    inputs = {"logits": words(x)}
    if constants["indexed"]:
        ids = inputs["ids"] = np.stack([sparse_ids(n, rng) for _ in range(m)])
    parts = range(0, n, constants["chunk"])
    found = [
        [best(of[at : at + constants["chunk"]], by[at : at + constants["chunk"]], constants["k_top"]) for at in parts]
        for of, by in zip(x, ids, strict=True)
    ]
    value, index = (np.array([[part[which] for part in parts] for parts in found], np.uint32) for which in (0, 1))
    return Problem(inputs=inputs, expected={"values": Equal(value), "indices": Equal(index)})


def sparse_ids(n: int, rng: np.random.Generator) -> Words:
    """Return ids [n] that ascend with gaps, one in eight of them replaced by that of no element."""
    ids = np.cumsum(rng.integers(1, 9, n)).astype(np.uint32)
    return np.where(rng.random(n) < 0.125, np.uint32(NO_INDEX), ids)
