"""Oracle of `attention_split`: for every part of the keys its maximum score, sum of weights and weighted values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.attention import attend, caches, key_head, queries, ragged, seen
from wgslgen.oracles.problem import Problem


def parts(keys: slice, count: int) -> list[slice]:
    """Return `count` neighbouring parts of `keys`; the first ones have one key more where they cannot be equal."""
    return [slice(int(part[0]), int(part[-1]) + 1) if part.size else slice(0, 0) for part in _split(keys, count)]


def _split(keys: slice, count: int) -> list[NDArray[np.int64]]:
    return np.array_split(np.arange(keys.start, keys.stop), count)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` B, CAPACITY, LAYERS and LAYER."""
    b, heads, dim, count = sizes["B"], constants["q_heads"], constants["head_dim"], constants["num_splits"]
    lengths = ragged(b, sizes["CAPACITY"], 1)
    q = queries(constants, b, 1, rng)
    k, v, buffers = caches(constants, sizes, lengths, rng)
    scale = float(np.float32(dim**-0.5))
    keys, values = (k[sizes["LAYER"]], v[sizes["LAYER"]])
    sums = [
        attend(q[row, 0, head], keys[row, part, kv_head], values[row, part, kv_head], scale)
        for row in range(b)
        for head, kv_head in enumerate(key_head(head, constants) for head in range(heads))
        for part in parts(seen(int(lengths[row]), constants["window"]), count)
    ]
    single = np.dtype(np.float32)
    stats = [[part.maximum, part.total] for part in sums]
    magnitudes = [[part.maximum_magnitude, part.total_magnitude] for part in sums]
    return Problem(
        inputs={"q": q, **buffers, "lengths": lengths},
        expected={
            "partials": Close(
                np.array([part.values for part in sums]), np.array([part.value_magnitudes for part in sums]), single
            ),
            "stats": Close(np.array(stats), np.array(magnitudes), single),
        },
        parameters={"SCALE": scale},
    )
