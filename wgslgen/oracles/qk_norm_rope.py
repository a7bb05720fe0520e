"""Oracle of `qk_norm_rope`: heads normalised and rotated in float64; what stands nowhere stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.rope_cache_kv import (
    EPS,
    expected,
    heads,
    positions,
    some_heads,
    some_lengths,
    some_turns,
    some_weight,
)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` B, M and TABLE_ROWS.

    `constants` are those of a variant: heads, head_dim, rotary_dim, pairing and activation are read.
    """
    b, m, rows = sizes["B"], sizes["M"], sizes["TABLE_ROWS"]
    head_dim, dtype = constants["head_dim"], ELEMENTS[constants["activation"]]
    lengths = some_lengths(b, m, rows, rng)
    table = some_turns(rows, (constants["rotary_dim"] or head_dim) // 2, rng)
    weight = some_weight(head_dim, rng)
    place = positions(lengths, m)
    present = (place >= 0) & (place < rows)
    turns = table.astype(np.float64)[np.where(present, place, 0)]
    q = some_heads((b, m, constants["q_heads"], head_dim), dtype, rng)
    k = some_heads((b, m, constants["kv_heads"], head_dim), dtype, rng)
    results: dict[str, Close] = {}
    for name, x, own in (("q", q, weight[0]), ("k", k, weight[1])):
        values, magnitudes = heads(x, own, turns, constants["pairing"])
        values = np.where(present[..., None, None], values, x.astype(np.float64))
        results[name] = expected(values, np.where(present[..., None, None], magnitudes, 0.0), dtype)
    return Problem(
        inputs={"q": q, "k": k, "rope_table": table, "lengths": lengths, "norm_weight": weight},
        expected=results,
        parameters={"EPS": EPS},
    )
