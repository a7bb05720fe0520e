"""Oracle of the plan `attention`: softmax(SCALE q.k) v of one token of each sequence, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.attention import attend, caches, key_head, queries, ragged, seen
from wgslgen.oracles.attention_merge import gated, gates
from wgslgen.oracles.problem import ELEMENTS, Problem


def problem(constants: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` B, CAPACITY, LAYERS and LAYER; the merge stores floats."""
    split, merge = constants["attention_split"], constants["attention_merge"]
    b, heads, dim = sizes["B"], split["q_heads"], split["head_dim"]
    lengths = ragged(b, sizes["CAPACITY"], 1)
    q = queries(split, b, 1, rng)
    k, v, buffers = caches(split, sizes, lengths, rng)
    scale = float(np.float32(dim**-0.5))
    keys, values = k[sizes["LAYER"]], v[sizes["LAYER"]]
    sums = [
        attend(q[row, 0, head], keys[row, visible, kv_head], values[row, visible, kv_head], scale)
        for row in range(b)
        for visible in (seen(int(lengths[row]), split["window"]),)
        for head, kv_head in enumerate(key_head(head, split) for head in range(heads))
    ]
    inputs: dict[str, NDArray[Any]] = {"q": q, **buffers, "lengths": lengths}
    gate = gates((b * heads, dim), rng) if merge["gate"] else None
    if gate is not None:
        inputs["gate"] = gate
    result, magnitudes = (np.array([getattr(part, name) for part in sums]) for name in ("result", "result_magnitudes"))
    result, magnitudes = (part.reshape(b, heads * dim) for part in gated(result, magnitudes, gate))
    return Problem(
        inputs=inputs,
        expected={"y": Close(result, magnitudes, ELEMENTS[merge["activation"]])},
        parameters={"SCALE": scale},
    )
