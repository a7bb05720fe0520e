"""Oracle of `get_rows`: the rows of a table by their ids, from the file's bytes; zeros for ids from ROWS on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Nearest
from wgslgen.oracles.problem import ELEMENTS, Problem

Floats = NDArray[np.float64]

F16_MAX = 65504.0
FAR = (2**32 - 1, 2**32 - 2, 2**31)
"""Ids that are out of range for every table: -1 and -2 as u32, and one that is negative as i32."""


def rows(
    weights: Floats, ids: NDArray[np.uint32], before: Floats, first_row: int = 0, total: int | None = None
) -> Floats:
    """Return y [R, K], which was `before`, after a look-up of `ids` in the rows of weights [N, K].

    They are those from `first_row` on of a table of `total` rows, or all of it: what another chunk has stays as it
    was, and the first one gives zeros for what none has.
    """
    at = ids.astype(np.int64) - first_row
    here = (at >= 0) & (at < len(weights))
    absent = (ids >= (len(weights) if total is None else total)) & (first_row == 0)
    found: Floats = np.where(here[:, None], weights[np.where(here, at, 0)], before)
    return np.where(absent[:, None], 0.0, found)


def mixed_ids(
    n: int, count: int, rng: np.random.Generator, first_row: int = 0, total: int | None = None
) -> NDArray[np.uint32]:
    """Return `count` ids for a chunk of `n` rows from `first_row` on of a table of `total` rows, or all of it.

    The chunk's last row, the first id out of range, the chunk's first row, others out of range, the rows before and
    behind the chunk, then all kinds mixed.
    """
    total, last = n if total is None else total, first_row + n - 1
    edges = [last, total, first_row, FAR[0], last, FAR[1], FAR[2], (first_row - 1) % total, (last + 1) % total]
    others = rng.permutation(np.arange(max(count, total)) % total)
    return np.concatenate([edges, others]).astype(np.uint32)[:count]


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` N, K, R, FIRST_ROW and ROWS; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: format, group, layout and output are read. Where there are other chunks y holds
    something before, and must hold it afterwards in their rows.
    """
    n, k, chunk, element = sizes["N"], sizes["K"], (sizes["FIRST_ROW"], sizes["ROWS"]), ELEMENTS[constants["output"]]
    fmt = formats.get(constants["format"], constants["group"])
    data = fmt.random_blocks(n, k, rng) if weights is None else weights
    ids = mixed_ids(n, sizes["R"], rng, *chunk)
    # Exact in either type, and never the zero of an id that is absent.
    before = (rng.integers(1, 64, (len(ids), k)) / 8).astype(element)
    values = rows(fmt.unpack(fmt.rows(data, n, k)), ids, before.astype(np.float64), *chunk)
    if constants["output"] == "f16":
        values = values.clip(-F16_MAX, F16_MAX)
    inputs: dict[str, NDArray[Any]] = {**layouts.pack(fmt, constants["layout"], data, n, k), "ids": ids}
    inputs |= {"y": before} if n < sizes["ROWS"] else {}
    return Problem(inputs=inputs, expected={"y": Nearest(values, element)})
