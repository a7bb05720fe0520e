"""Oracle of `attention_prefill`: softmax(SCALE q.k + mask) v of M tokens, each over the keys to its own position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.attention import LOWEST, Numbers, attend, caches, key_head, queries, ragged, seen
from wgslgen.oracles.attention_merge import gated, gates
from wgslgen.oracles.problem import ELEMENTS, Problem


def masks(ends: NDArray[np.int64], capacity: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a mask [B, M, capacity]: ordinary numbers, both kinds of exclusion, and NaN from each token's end on.

    Of every five tokens one has all keys excluded, one sees but its own key, and one is not masked at all.
    """
    shape = (*ends.shape, capacity)
    mask = 2.0 * rng.standard_normal(shape)
    lowest = rng.choice([-np.inf, LOWEST], shape)
    mask = np.where(rng.random(shape) < 0.25, lowest, mask)
    keys, kind = np.arange(capacity), np.arange(ends.size).reshape(ends.shape)[..., None] % 5
    own = keys == ends[..., None] - 1
    mask = np.where((kind == 1) | ((kind == 2) & ~own), lowest, mask)
    mask = np.where((kind == 3) | ((kind == 2) & own), 0.0, mask)
    return np.where(keys >= ends[..., None], np.nan, mask).astype(np.float32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` B, M, CAPACITY, LAYERS and LAYER."""
    b, m, heads, dim = sizes["B"], sizes["M"], constants["q_heads"], constants["head_dim"]
    lengths = ragged(b, sizes["CAPACITY"], m)
    q = queries(constants, b, m, rng)
    k, v, buffers = caches(constants, sizes, lengths, rng)
    scale = float(np.float32(dim**-0.5))
    ends = lengths[:, None].astype(np.int64) - m + np.arange(1, m + 1)
    inputs: dict[str, Numbers] = {"q": q, **buffers, "lengths": lengths}
    if constants["mask"]:
        inputs["mask"] = masks(ends, sizes["CAPACITY"], rng)
    if constants["gate"]:
        inputs["gate"] = gates((b, m, heads, dim), rng)
    keys, values = k[sizes["LAYER"]], v[sizes["LAYER"]]
    sums = []
    for row, token in np.ndindex(b, m):
        visible = np.arange(sizes["CAPACITY"])[seen(int(ends[row, token]), constants["window"])]
        bias = inputs["mask"][row, token].astype(np.float64) if constants["mask"] else np.zeros(sizes["CAPACITY"])
        visible = visible[bias[visible] > LOWEST]
        for head in range(heads):
            chosen = (row, visible, key_head(head, constants))
            sums.append(attend(q[row, token, head], keys[chosen], values[chosen], scale, bias[visible]))
    result, magnitudes = (np.array([getattr(one, name) for one in sums]) for name in ("result", "result_magnitudes"))
    result, magnitudes = gated(result, magnitudes, inputs.get("gate"))
    return Problem(
        inputs=inputs,
        expected={"y": Close(result, magnitudes, ELEMENTS[constants["activation"]])},
        parameters={"SCALE": scale},
    )
