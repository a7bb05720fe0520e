"""How many copies of the weights take turns, so that none is still in a cache when its turn comes again."""

from __future__ import annotations

MOST_COPIES = 64
LEAST = 1 << 16
"""Bytes under which a buffer is not worth a copy: beside the weights it is read in no time."""
ROTATED = 256 << 20
"""Bytes that the copies have together on a GPU: four times the last-level cache of an H200."""
ROTATED_SOFTWARE = 16 << 20
"""The same where a CPU runs the kernels, which is bound by its arithmetic."""


def copies(one: int, wanted: int, most: int) -> int:
    """Return the copies of `one` bytes that have `wanted` bytes together, or as many as fit into `most` bytes."""
    if one <= 0:
        return 1
    return max(1, min(-(-wanted // one), most // one, MOST_COPIES))
