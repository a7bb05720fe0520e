"""Numbers for stored answers: drawn as an oracle asks for them, few in each draw, and then over and over.

A stored answer travels with the bundle, so its inputs must be short to write down, and the same on every machine. A
`Repeating` stands in for NumPy's generator: each draw makes PERIOD numbers of its own and repeats them to the shape
that is wanted. PERIOD is an odd prime, so that rows, blocks and tiles, whose lengths are no multiples of it, differ
from their neighbours; `copies.encode` then finds the repeats. Floats have few bits, which keeps most sums of products
exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

PERIOD = 31
Shape = int | tuple[int, ...] | None


class Repeating:
    """What oracles ask of `numpy.random.Generator`, in numbers that repeat; the same `seed` gives the same."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def _words(self) -> Iterator[int]:
        """Yield 32 bits at a time: the upper half of a linear congruential generator (Knuth's MMIX)."""
        while True:
            self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
            yield self._state >> 32

    def _drawn(self, count: int) -> list[int]:
        return [word for word, _ in zip(self._words(), range(count), strict=False)]

    def _repeated(self, drawn: NDArray[Any], size: Shape) -> Any:
        return drawn[0] if size is None else np.resize(drawn, size)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Shape = None,
        dtype: type[np.integer[Any]] = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Return whole numbers from `low` to under `high`, with it at an `endpoint`; one bound alone is the upper."""
        least, most = (0, low) if high is None else (low, high)
        span = most - least + endpoint
        drawn = [least + (word * span >> 32) for word in self._drawn(PERIOD)]
        return self._repeated(np.array(drawn, dtype), size)

    def random(self, size: Shape = None) -> Any:
        """Return multiples of 1/256 from 0 to under 1."""
        return self._repeated(np.array(self._drawn(PERIOD), np.float64) // 2**24 / 256, size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Shape = None) -> Any:
        """Return numbers from `low` to under `high`, 256 steps apart."""
        return low + (high - low) * self.random(size)

    def standard_normal(self, size: Shape = None) -> Any:
        """Return multiples of 1/256 from -3 to 3, normal about as far as the sum of three dice is."""
        dice = np.array(self._drawn(3 * PERIOD), np.float64).reshape(3, PERIOD) // 2**24
        return self._repeated((dice.sum(axis=0) - 382.5) / 128, size)

    def choice(self, of: ArrayLike | int, size: Shape = None, replace: bool = True) -> Any:
        """Return some of the numbers, or of those under a whole number; different ones where not to `replace`."""
        if not replace:
            return np.resize(self.permutation(of)[: int(np.prod(size or 1))], size or ())
        numbers = np.arange(of) if isinstance(of, int) else np.asarray(of)
        return self._repeated(numbers[self.integers(0, len(numbers), PERIOD)], size)

    def permutation(self, of: ArrayLike | int) -> NDArray[Any]:
        """Return the numbers, or those under a whole number, in another order: each step leads over a few others."""
        count = of if isinstance(of, int) else len(np.asarray(of))
        step = next(step for step in (7, 11, 13, 17, 19, 23, 29, 31, 37, 1) if math.gcd(step, count) == 1)
        order = np.arange(count) * step % max(count, 1)
        return order if isinstance(of, int) else np.asarray(of)[order]
