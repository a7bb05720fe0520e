"""The tables that the codes of iq2, iq3 and iq1 point into, from the package `gguf`."""

from __future__ import annotations

from functools import cache

import gguf.quants
import numpy as np
from numpy.typing import NDArray


@cache
def grid(name: str) -> NDArray[np.int8]:
    """Return the entries of the table of format `name`: int8 [entries, 8], or [entries, 4] for iq3."""
    kind = getattr(gguf.quants, name.upper())
    kind.init_grid()
    entries: NDArray[np.int8] = np.asarray(kind.grid).astype(np.int8).reshape(kind.grid_shape)
    entries.setflags(write=False)
    return entries


def as_words(entries: NDArray[np.int8]) -> NDArray[np.uint32]:
    """Return the entries as u32 words, four bytes each."""
    return np.ascontiguousarray(entries).view("<u4").reshape(-1)


def even_signs(sevens: NDArray[np.integer]) -> NDArray[np.int8]:
    """Return +1 and -1, [..., 8], of seven sign bits each; the eighth makes the number of minus signs even."""
    bits = sevens[..., None] >> np.arange(7) & 1
    eight = np.concatenate([bits, bits.sum(axis=-1, keepdims=True) & 1], axis=-1)
    return (1 - 2 * eight).astype(np.int8)


def byte_signs(data: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return +1 and -1, [..., 8], of the bits of each byte, the lowest first."""
    return (1 - 2 * (data[..., None] >> np.arange(8) & 1)).astype(np.int8)
