"""Oracle of `expert_rows`: pairs sorted by expert, and the tiles that they make; and the ids that the tests use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Equal
from wgslgen.oracles.problem import Problem

Ids = NDArray[np.uint32]


def random_ids(sizes: Mapping[str, int], rng: np.random.Generator, beyond: bool = True) -> Ids:
    """Return ids [T, USED]: experts at random, some of them named twice by a token, some by none.

    Some are out of range, unless `beyond` says that none is.
    """
    t, used, experts = sizes["T"], sizes["USED"], sizes["EXPERTS"]
    named = rng.permutation(experts)[: max(1, experts - experts // 4)]
    ids = named[rng.integers(0, len(named), (t, used))].astype(np.uint32)
    out = rng.random((t, used)) < 0.1
    if ids.size > 4 and beyond:
        ids = np.where(out, rng.choice(np.array([experts, 2**32 - 1, 2**31], dtype=np.uint32), (t, used)), ids)
    ids[0] = ids[0, 0]
    return ids


def rows_of(ids: Ids, experts: int, tile_m: int) -> tuple[Ids, Ids]:
    """Return pairs [T * USED] sorted by expert, and tiles [places, 4]."""
    expert = np.minimum(ids.reshape(-1), experts)
    pairs = np.argsort(expert, kind="stable").astype(np.uint32)
    tiles = []
    for one in range(experts + 1):
        (places,) = np.nonzero(expert[pairs] == one)
        tiles += [[one, first, min(tile_m, places[-1] + 1 - first), 0] for first in places[::tile_m]]
    missing = -(-len(pairs) // tile_m) + experts + 1 - len(tiles)
    tiles += [[experts, 0, 0, 0]] * missing
    return pairs, np.array(tiles, dtype=np.uint32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` T, USED and EXPERTS; of the `constants` tile_m is read."""
    ids = random_ids(sizes, rng)
    pairs, tiles = rows_of(ids, sizes["EXPERTS"], constants["tile_m"])
    return Problem(inputs={"ids": ids}, expected={"pairs": Equal(pairs), "tiles": Equal(tiles)})
