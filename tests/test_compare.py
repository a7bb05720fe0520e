"""The judge of results, judged: what it must let pass, and what it must not."""

from __future__ import annotations

import numpy as np
import pytest

from wgslgen.compare import SAMPLE, Close, Equal, Floats, Nearest, Rounded, Verdict, compare
from wgslgen.spec import Tolerance

F32 = Tolerance(nmse=1e-12, element=2.0**-20, derivation="as matvec has it")
F16 = Tolerance(nmse=1e-6, element=2.0**-20, rounding=2.0**-10, derivation="as matvec has it for f16 results")


@pytest.fixture
def product(rng: np.random.Generator) -> Close:
    """Return an expectation of 2000 rows: sums of 3072 random terms."""
    terms = rng.standard_normal((2000, 3072))
    return Close(terms.sum(axis=1)[None], np.abs(terms).sum(axis=1)[None], np.dtype(np.float32))


def verdict(actual: Floats, expected: Close, tolerance: Tolerance = F32) -> Verdict:
    return compare(actual, expected.values, expected.magnitudes, tolerance)


def test_a_result_with_rounding_errors_passes(product: Close, rng: np.random.Generator) -> None:
    off = product.values + 2.0**-26 * product.magnitudes * rng.uniform(-1.0, 1.0, product.values.shape)
    seen = verdict(off, product)
    assert seen.problem is None
    assert 0.0 < seen.element < 2.0**-26
    assert 0.0 < seen.nmse < 1e-12


@pytest.mark.parametrize("tolerance", [F32, F16])
def test_c05_another_order_or_scale_does_not_pass(tolerance: Tolerance, product: Close) -> None:
    neighbours = product.values.copy()
    neighbours[0, [7, 8]] = neighbours[0, [8, 7]]
    for wrong in (1.02 * product.values, 0.98 * product.values, product.values[:, ::-1], neighbours, -product.values):
        assert verdict(wrong, product, tolerance).problem is not None


@pytest.mark.parametrize("tolerance", [F32, F16])
def test_one_wrong_element_of_many_does_not_pass(tolerance: Tolerance, product: Close) -> None:
    """Neither a row of zeros nor 5 %: less than an average over 2000 elements would show."""
    for factor in (0.0, 0.95):
        wrong = product.values.copy()
        wrong[0, 123] *= factor
        seen = verdict(wrong, product, tolerance)
        assert seen.problem is not None
        assert seen.problem.startswith("element [0, 123]: got ")


ROW = Tolerance(nmse=1e-7, row=2.5e-7, element=2.0**-10, derivation="as matmul has it for f16 operands")


def cancelling(rng: np.random.Generator) -> tuple[Floats, Floats, Close]:
    """Return W, x and what is expected of x W^T, whose first row cancels: weights are 1 and little, x has sum 0."""
    weights = 1.0 + 0.01 * rng.standard_normal((64, 256))
    x = rng.standard_normal((4, 256))
    x[0] -= x[0].mean()
    sums, added = x @ weights.T, np.abs(x) @ np.abs(weights).T
    return weights, x, Close(sums, added, np.dtype(np.float64), np.sqrt(x**2 @ weights.T**2))


def test_rows_that_cancel_are_measured_by_their_products(rng: np.random.Generator) -> None:
    weights, x, expected = cancelling(rng)
    rounded = (x @ weights.astype(np.float16).astype(np.float64).T).tobytes()
    assert expected.judge(rounded, ROW).problem is None
    alone = Close(expected.values, expected.magnitudes, expected.dtype)
    assert "NMSE of a row" in (alone.judge(rounded, ROW).problem or "")
    assert expected.like(rounded).judge(expected.values.tobytes(), ROW).problem is None


def test_c05_rows_measured_so_keep_their_order_and_scale(rng: np.random.Generator) -> None:
    _, _, expected = cancelling(rng)
    for wrong in (1.02 * expected.values, 0.98 * expected.values, expected.values[::-1], expected.values[:, ::-1]):
        assert expected.judge(np.ascontiguousarray(wrong).tobytes(), ROW).problem is not None
    for row in range(4):
        one = expected.values.copy()
        one[row] *= 1.02 if row else 1.2  # of a row that cancels to a hundredth, 2 % is less than f16 operands round
        assert expected.judge(one.tobytes(), ROW).problem is not None


def test_f16_results_may_round_either_way(product: Close) -> None:
    nearest = product.values.astype(np.float16)
    beyond = np.abs(nearest.astype(np.float64)) > np.abs(product.values)
    cut = np.where(beyond, np.nextafter(nearest, np.float16(0.0)), nearest)
    for rounded in (nearest, cut):
        assert verdict(rounded.astype(np.float64), product, F16).problem is None
    twice = product.values * (1 + 2.0**-9)
    assert verdict(twice, product, F16).problem is not None


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_c09_nan_or_infinity_on_one_side_is_a_failure(odd: float) -> None:
    ones, bad = np.ones((1, 4)), np.array([[1.0, 1.0, odd, 1.0]])
    for actual, expected in ((bad, ones), (ones, bad)):
        seen = compare(actual, expected, ones, F32)
        assert seen.problem is not None
        assert "1 of 4 elements are finite on one side only; first at [0, 2]" in seen.problem
    assert compare(bad, bad, ones, F32).problem is None
    assert compare(-bad, bad, ones, F32).problem is not None


def test_nan_and_infinity_are_not_the_same() -> None:
    ones = np.ones((1, 1))
    assert compare(np.array([[np.nan]]), np.array([[np.inf]]), ones, F32).problem == "infinities or NaNs differ"


def test_shapes_must_be_equal() -> None:
    problem = compare(np.ones((1, 3)), np.ones((3, 1)), np.ones((3, 1)), F32).problem
    assert problem == "shape (1, 3), expected (3, 1)"


def test_a_magnitude_of_zero_expects_the_value_exactly() -> None:
    zeros = np.zeros((1, 2))
    exact = Close(zeros, zeros, np.dtype(np.float32))
    assert exact.judge(np.zeros(2, np.float32).tobytes(), F32).problem is None
    assert exact.judge(np.array([0.0, 1e-30], np.float32).tobytes(), F32).problem is not None


def test_only_what_a_device_may_flush_is_forgiven() -> None:
    tiny = float(np.finfo(np.float32).tiny)
    for value, right in ((0.5 * tiny, True), (tiny, True), (4.0 * tiny, False)):
        expected = Close(np.array([[value]]), np.array([[value]]), np.dtype(np.float32))
        assert (expected.judge(bytes(4), F32).problem is None) == right


def test_nmse_is_judged_beside_the_elements_where_there_are_enough(rng: np.random.Generator) -> None:
    loose = Tolerance(nmse=1e-12, element=1.0, derivation="so that the other bound shows")
    for count, right in ((SAMPLE, False), (SAMPLE - 1, True)):
        values = rng.uniform(1.0, 2.0, (1, count))
        seen = compare(values * (1 + 1e-5), values, values, loose)
        assert (seen.problem is None) == right
        assert right or (seen.problem is not None and seen.problem.startswith("NMSE 1e-10, allowed 1e-12"))


def test_huge_and_tiny_values_do_not_overflow_the_judge() -> None:
    for scale in (3e38, 1e-38):
        values = scale * np.linspace(0.1, 1.0, SAMPLE)[None]
        assert compare(values, values, values, F32).problem is None
        assert compare(1.02 * values, values, values, F32).problem is not None


def test_values_at_the_end_of_float64_do_not_underflow_in_the_judge() -> None:
    """Tests make NumPy raise, and an expectation of 1e-307 is the exact value of what a device flushes to 0."""
    tiny = Close(np.array([[1e-307]]), np.array([[1e300]]), np.dtype(np.float32))
    assert compare(np.array([[0.0]]), tiny.values, tiny.magnitudes, F16).problem is None


def test_integers_round_half_to_even_and_either_way_next_to_a_tie() -> None:
    reals = np.array([[0.5, 1.5, -2.5, 63.5, 1.2, np.nextafter(2.5, 3.0)]])
    expected = Rounded(reals, np.arange(6), np.dtype(np.int8))
    for integers, right in (
        ([0, 2, -2, 64, 1, 3], True),
        ([0, 2, -2, 64, 1, 2], True),
        ([1, 2, -2, 64, 1, 3], False),
        ([0, 2, -3, 64, 1, 3], False),
        ([0, 2, -2, 64, 2, 3], False),
    ):
        seen = expected.judge(np.array(integers, np.int8).tobytes(), F32)
        assert (seen.problem is None) == right, integers
    assert seen.problem == "1 of 6 integers wrong; first at 4: got 2, real value 1.200000"


def test_integers_are_judged_in_the_order_of_the_output() -> None:
    expected = Rounded(np.array([[1.0, 2.0, 3.0]]), np.array([2, 0, 1]), np.dtype(np.int8))
    assert expected.judge(bytes([3, 1, 2]), F32).problem is None
    assert expected.judge(bytes([1, 2, 3]), F32).problem is not None


def test_integers_of_four_bits_lie_sixteen_low_then_sixteen_high() -> None:
    reals = np.concatenate([np.arange(16.0), np.arange(15.0, -1.0, -1.0)])[None]
    expected = Rounded(reals, np.arange(32), np.dtype(np.int8), nibbles=True)
    right = bytes(low | (15 - low) << 4 for low in range(16))
    assert expected.judge(right, F32).problem is None
    for wrong in (bytes(15 - low | low << 4 for low in range(16)), right[::-1]):
        assert "32 of 32 integers wrong" in str(expected.judge(wrong, F32).problem)


def test_one_rounding_is_one_of_two_neighbours() -> None:
    third = 1.0 / 3.0
    expected = Nearest(np.array([[third, 0.25, 1e-40]]), np.dtype(np.float32))
    near = np.float32(third)
    below = np.nextafter(near, np.float32(0.0))
    for row, right in (
        ([near, 0.25, 1e-40], True),
        ([below, 0.25, 0.0], True),
        ([np.nextafter(near, np.float32(1.0)), 0.25, 0.0], False),
        ([near, np.nextafter(np.float32(0.25), np.float32(1.0)), 0.0], False),
        ([near, 0.25, 1e-38], False),
        ([np.nan, 0.25, 0.0], False),
    ):
        with np.errstate(under="ignore"):
            raw = np.array(row, np.float32).tobytes()
        assert (expected.judge(raw, F32).problem is None) == right, row


def test_a_row_is_judged_by_itself_however_large_another_is(rng: np.random.Generator) -> None:
    """Errors of 1e-5 in a row of ones vanish in the whole's NMSE beside a row of 1e6, and within `element`."""
    expected = np.stack([np.full(64, 1e6), np.ones(64)])
    actual = expected.copy()
    actual[1] += 1e-5 * rng.choice([-1.0, 1.0], 64)
    magnitudes = 100.0 * expected
    loose = Tolerance(nmse=1e-12, element=1e-6, derivation="test")
    assert compare(expected, expected, magnitudes, loose).problem is None
    problem = compare(actual, expected, magnitudes, loose).problem
    assert problem is not None
    assert "NMSE of a row 1e-10" in problem


EXACT = Tolerance(nmse=0.0, element=0.0, derivation="equal is equal")


class TestEqual:
    def test_indices_must_be_the_same(self) -> None:
        expected = Equal(np.array([[3, 5], [7, 9]], np.uint32))
        assert expected.judge(np.array([3, 5, 7, 9], np.uint32).tobytes(), EXACT).problem is None
        problem = expected.judge(np.array([3, 5, 9, 7], np.uint32).tobytes(), EXACT).problem
        assert problem == "2 of 4 elements differ; first [1, 0]: got 9, expected 7"

    def test_floats_are_compared_by_their_bits(self) -> None:
        nan = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)
        assert Equal(nan).judge(nan.tobytes(), EXACT).problem is None
        assert Equal(nan).judge(nan[::-1].tobytes(), EXACT).problem is not None
        assert Equal(np.array([0.0], np.float32)).judge(np.array([-0.0], np.float32).tobytes(), EXACT).problem

    def test_another_result_becomes_the_expectation(self) -> None:
        expected = Equal(np.array([1, 2], np.uint32)).like(np.array([4, 5], np.uint32).tobytes())
        assert expected.values.tolist() == [4, 5]
