"""f16 scales: rounding to them, and random ones that catch bad decodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# f16 words that catch bad decodes: the largest, the smallest subnormal, zero, their negatives, the largest
# subnormal and the smallest normal. The first is not zero, so that a single block still tests something.
EDGE_WORDS = (0x7BFF, 0x0001, 0x0000, 0xFBFF, 0x03FF, 0x8000, 0x8001, 0x0400)
SMALL_WORDS = (0x03FF, 0x8001, 0x0000, 0x0155, 0x8000, 0x0001, 0x83FF, 0x0400)
HUGE_WORDS = (0x7BFF, 0xFBFF)
F16_MAX = 65504.0


def to_half(values: NDArray[np.float64]) -> NDArray[np.float16]:
    """Round float64 to float16, saturating at 65504; what underflows becomes subnormal or zero."""
    with np.errstate(under="ignore"):
        return values.clip(-F16_MAX, F16_MAX).astype("<f2")


def random_halves(n: int, count: int, rng: np.random.Generator, first: int = 0) -> NDArray[np.float16]:
    """Return finite f16 scales [n, count] that hide no bad decode behind a huge neighbour.

    Rows cycle through four patterns: edges in the first blocks and ordinary scales after them; ordinary
    only; zero and subnormals only, so that a flush to zero shows; the largest scales first. A cycle
    starts with the edges that the one before had no blocks for, so that short rows meet all edges too;
    `first` shifts the start.
    """
    magnitude = np.exp2(rng.uniform(-6.0, 1.0, (n, count)))
    words = to_half(np.where(rng.random((n, count)) < 0.5, -magnitude, magnitude)).view("<u2")
    step = count if count < len(EDGE_WORDS) else 1
    for pattern, edges, width in (
        (0, EDGE_WORDS, len(EDGE_WORDS)),
        (2, SMALL_WORDS, count),
        (3, HUGE_WORDS, 2),
    ):
        chosen = words[pattern::4, :width]
        turn = first + step * np.arange(chosen.shape[0])
        places = turn[:, None] + np.arange(chosen.shape[1])
        chosen[:] = np.array(edges, dtype=np.uint16)[places % len(edges)]
    return words.view("<f2")
