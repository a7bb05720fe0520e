"""Whether a result is the oracle's.

Each error is measured against the sum of the magnitudes that were added up for that element (its condition),
so a row of small weights is judged as sharply as a row of large ones, and cancellation excuses nothing more
than rounding does. A result in another order, or scaled by 1.02, is far outside. The only absolute slack is
the smallest normal number of the output's type, because WGSL lets a device flush subnormals to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.spec import Frozen, Tolerance

Floats = NDArray[np.float64]
TIE_ULPS = 1.0
SAMPLE = 32
"""Least elements for which NMSE is judged. Of a few sums one may cancel out, and then its error over its value
measures luck; the bound on each element, relative to what was summed, always holds."""
MANY = 1024
"""Elements from which an output is bounded as a whole where its rows have a bound of their own."""


class Verdict(Frozen):
    """Outcome of one comparison: `problem` is None where the result is right.

    `nmse` and `element` are the worst that was seen; `nmse` is of the whole output or of one of its rows, and
    0 for fewer than SAMPLE elements, where it is not judged.
    """

    nmse: float
    element: float
    problem: str | None


@dataclass(frozen=True)
class Close:
    """Expected numbers: `values` and `magnitudes` in float64, both of the output's shape [rows, columns].

    `dtype` is how the output's bytes are read. A magnitude of 0 expects the value exactly. `spread`, of the same shape,
    is the root of the sum of the squares of what is added up for an element: what the value would be about, had its
    terms random signs. Where values cancel below it, rows are judged by it.
    """

    values: Floats
    magnitudes: Floats
    dtype: np.dtype[Any]
    spread: Floats | None = None

    def judge(self, raw: bytes, tolerance: Tolerance) -> Verdict:
        """Compare the bytes of an output buffer with the expectation."""
        actual = np.frombuffer(raw, self.dtype, count=self.values.size).reshape(self.values.shape)
        floor = float(np.finfo(self.dtype).tiny)
        return compare(actual.astype(np.float64), self.values, self.magnitudes, tolerance, floor, self.spread)

    def like(self, raw: bytes) -> Close:
        """Return the expectation that another result of the same problem sets."""
        values = np.frombuffer(raw, self.dtype, count=self.values.size).astype(np.float64)
        return Close(values.reshape(self.values.shape), self.magnitudes, self.dtype, self.spread)


@dataclass(frozen=True)
class Rounded:
    """Expected integers, given as the reals `values` that they are the roundings of, half to even.

    A real on a tie must go to the even neighbour; either is right within TIE_ULPS ulp (of f32) of a tie.
    `order` maps the position in the output to the element. With `nibbles` the output has two elements a byte, sixteen
    in the low halves of sixteen bytes and sixteen in the high ones.
    """

    values: Floats
    order: NDArray[np.int64]
    dtype: np.dtype[Any]
    nibbles: bool = False

    def judge(self, raw: bytes, tolerance: Tolerance) -> Verdict:  # noqa: ARG002  # the rule is the tolerance
        """Compare the bytes of an output buffer with the expectation."""
        if self.nibbles:
            blocks = np.frombuffer(raw, np.uint8, count=self.values.size // 2).reshape(-1, 16)
            actual = np.concatenate([blocks & 15, blocks >> 4], axis=1).reshape(-1).astype(np.float64)
        else:
            actual = np.frombuffer(raw, self.dtype, count=self.values.size).astype(np.float64)
        reals = np.ravel(self.values)[self.order]
        with np.errstate(under="ignore"):  # a real of almost nothing has the spacing of 0
            ulp = TIE_ULPS * np.spacing(np.abs(reals).astype(np.float32)).astype(np.float64)
        to_tie = np.abs(np.abs(reals) % 1.0 - 0.5)
        near = (to_tie > 0.0) & (to_tie <= ulp)
        wrong = np.where(near, np.abs(actual - reals) > 0.5 + ulp, actual != np.rint(reals))
        if not wrong.any():
            return Verdict(nmse=0.0, element=0.0, problem=None)
        at = int(np.argmax(wrong))
        off = float(np.abs(actual - np.rint(reals)).max())
        said = (
            f"{int(wrong.sum())} of {wrong.size} integers wrong; first at {at}: got {actual[at]:.0f}, "
            f"real value {reals[at]:.6f}"
        )
        return Verdict(nmse=float("inf"), element=off, problem=said)


@dataclass(frozen=True)
class Nearest:
    """Expected numbers of one rounding: `values` in float64 [rows, columns], to be met as well as `dtype` can.

    What `dtype` holds must be equal; else either neighbour is right, and zero where the value is subnormal.
    """

    values: Floats
    dtype: np.dtype[Any]

    def judge(self, raw: bytes, tolerance: Tolerance) -> Verdict:  # noqa: ARG002  # the rule is the tolerance
        """Compare the bytes of an output buffer with the expectation."""
        actual = np.frombuffer(raw, self.dtype, count=self.values.size).reshape(self.values.shape)
        limits = np.finfo(self.dtype)
        with np.errstate(under="ignore"):
            nearest = self.values.astype(self.dtype)
            beyond = np.nextafter(nearest, np.where(self.values > nearest, limits.max, limits.min))
            other = np.where(nearest == self.values, nearest, beyond)
        flushed = (np.abs(self.values) < limits.tiny) & (actual == 0)
        wrong = ~((actual == nearest) | (actual == other) | flushed)
        if wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            said = (
                f"{int(wrong.sum())} of {wrong.size} elements are not their value's rounding; first {_at(at)}: got "
                f"{actual[at]}, expected {nearest[at]} or {other[at]}"
            )
            return _failed(said)
        error = np.where(flushed, 0.0, actual.astype(np.float64) - self.values)
        relative = np.divide(np.abs(error), np.abs(self.values), out=np.zeros_like(error), where=error != 0.0)
        return Verdict(nmse=_nmse(error, self.values), element=float(relative.max(initial=0.0)), problem=None)

    def like(self, raw: bytes) -> Close:
        """Return the expectation that another result of the same problem sets: within a rounding of it."""
        return Close(self.values, np.abs(self.values), self.dtype).like(raw)


@dataclass(frozen=True)
class Equal:
    """Expected elements, bit for bit: indices, and what must come through unchanged."""

    values: NDArray[Any]

    def judge(self, raw: bytes, tolerance: Tolerance) -> Verdict:  # noqa: ARG002  # equal is equal
        """Compare the bytes of an output buffer with the expectation."""
        dtype = self.values.dtype
        actual = np.frombuffer(raw, dtype, count=self.values.size).reshape(self.values.shape)
        bits = np.dtype(f"u{dtype.itemsize}")
        wrong = actual.view(bits) != np.ascontiguousarray(self.values).view(bits)
        if not wrong.any():
            return Verdict(nmse=0.0, element=0.0, problem=None)
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        return _failed(
            f"{int(wrong.sum())} of {wrong.size} elements differ; first {_at(at)}: got {actual[at]}, "
            f"expected {self.values[at]}"
        )

    def like(self, raw: bytes) -> Equal:
        """Return the expectation that another result of the same problem sets."""
        return Equal(np.frombuffer(raw, self.values.dtype, count=self.values.size).reshape(self.values.shape))


Expected = Close | Nearest | Rounded | Equal


def compare(
    actual: Floats,
    expected: Floats,
    magnitudes: Floats,
    tolerance: Tolerance,
    floor: float = 0.0,
    spread: Floats | None = None,
) -> Verdict:
    """Compare arrays of equal shape; NaN or infinity on one side only is a mismatch.

    Errors up to `floor` do not count: the smallest normal number of the output's type. `element` of the verdict
    is the largest error behind the rounding that the tolerance grants. `spread` is that of `Close`: no row is
    measured by less.
    """
    if actual.shape != expected.shape:
        return _failed(f"shape {actual.shape}, expected {expected.shape}")
    if not np.array_equal(np.isfinite(actual), np.isfinite(expected)):
        odd = np.isfinite(actual) != np.isfinite(expected)
        at = np.unravel_index(int(np.argmax(odd)), odd.shape)
        return _failed(
            f"{int(odd.sum())} of {odd.size} elements are finite on one side only; first at {_at(at)}: "
            f"got {actual[at]}, expected {expected[at]}"
        )
    if not np.array_equal(actual[~np.isfinite(actual)], expected[~np.isfinite(expected)], equal_nan=True):
        return _failed("infinities or NaNs differ")
    finite = np.isfinite(expected)
    error = np.subtract(actual, expected, out=np.zeros_like(expected), where=finite)
    reference, scale = np.where(finite, expected, 0.0), np.where(finite, magnitudes, 0.0)
    error = np.where(np.abs(error) <= floor, 0.0, error)
    with np.errstate(under="ignore"):
        rounding = tolerance.rounding * np.abs(reference)
        beyond = np.maximum(np.abs(error) - rounding, 0.0)
        relative = np.divide(beyond, scale, out=np.where(beyond == 0.0, 0.0, np.inf), where=scale > 0)
    worst = float(relative.max(initial=0.0))
    measure = reference if spread is None else np.maximum(np.abs(reference), np.where(finite, spread, 0.0))
    rows = zip(np.atleast_2d(error), np.atleast_2d(measure), strict=True)
    whole = _nmse(error, reference) if error.size >= SAMPLE else 0.0
    nmse = max([whole, *(_nmse(*row) for row in rows if row[0].size >= SAMPLE)])
    most = tolerance.nmse if tolerance.row is None else tolerance.row
    if worst > tolerance.element:
        at = np.unravel_index(int(np.argmax(relative)), relative.shape)
        return Verdict(
            nmse=nmse,
            element=worst,
            problem=(
                f"element {_at(at)}: got {actual[at]!r}, expected {expected[at]!r}; error {worst:.3g} of the summed "
                f"magnitude, allowed {tolerance.element:.3g}"
            ),
        )
    if (tolerance.row is None or error.size >= MANY) and whole > tolerance.nmse:
        return Verdict(nmse=nmse, element=worst, problem=f"NMSE {whole:.3g}, allowed {tolerance.nmse:.3g}")
    if nmse > most:
        return Verdict(nmse=nmse, element=worst, problem=f"NMSE of a row {nmse:.3g}, allowed {most:.3g}")
    return Verdict(nmse=nmse, element=worst, problem=None)


def _nmse(error: Floats, reference: Floats) -> float:
    """Return squared error over squared reference, scaled so that huge values do not overflow."""
    peak = float(np.abs(reference).max(initial=0.0))
    if peak == 0.0:
        return 0.0 if not error.any() else float("inf")
    with np.errstate(under="ignore"):
        return float(np.square(error / peak).sum() / np.square(reference / peak).sum())


def _failed(problem: str) -> Verdict:
    return Verdict(nmse=float("inf"), element=float("inf"), problem=problem)


def _at(index: tuple[Any, ...]) -> str:
    return "[" + ", ".join(str(int(part)) for part in index) + "]"
