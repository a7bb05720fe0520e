from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.compare import Close, Nearest
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.naming import variant_name
from wgslgen.oracles.rms_norm import normalised, problem, summed
from wgslgen.render import render

D = 4096
ONES = np.ones(D, dtype=np.float32)


@pytest.fixture(scope="module")
def lavapipe() -> Gpu:
    return open_adapter("lavapipe")


def c02_rows() -> np.ndarray[Any, np.dtype[np.float16]]:
    """Return the two rows of C02 [2, 4096]: all 300, and 800 followed by ones."""
    x = np.ones((2, D), dtype=np.float16)
    x[0] = 300.0
    x[1, 0] = 800.0
    return x


def constants(**chosen: Any) -> dict[str, Any]:
    """Return the constants of a variant as its oracle takes them."""
    return RmsNorm(**chosen).model_dump()


class TestSpec:
    @pytest.mark.parametrize(
        ("chosen", "words"),
        [
            ({"d": 17}, "d 17 is not a positive multiple of vector 4"),
            ({"d": 0}, "d 0 is not a positive multiple of vector 4"),
            ({"vector": 2}, "vector"),
            ({"workgroup_size": 32}, "workgroup_size"),
            ({"eps": 1e-6}, "Extra inputs are not permitted"),
            ({"q8_group": 32}, "q8_group 32 and q8_stride None go together: give both, or neither"),
            ({"q8_stride": 4}, "q8_group None and q8_stride 4 go together: give both, or neither"),
            ({"q8_group": 48, "q8_stride": 4}, "q8_group"),
            ({"q8_group": 32, "q8_stride": 4, "vector": 1}, "use vector 4 with q8_group, not 1"),
            ({"q8_group": 128, "q8_stride": 4, "d": 320}, "d 320 is not a positive multiple of q8_group 128"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, chosen: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            RmsNorm(**chosen)

    def test_sizes_are_checked_against_vector_and_the_baked_size(self) -> None:
        eps = {"EPS": 1e-6}
        with pytest.raises(UsageProblem, match="a row must be whole loads of 4 elements"):
            launch.plan(RmsNorm(), {"M": 1, "D": 18}, eps)
        with pytest.raises(UsageProblem, match="D is baked in"):
            launch.plan(RmsNorm(d=16), {"M": 1, "D": 20}, eps)
        with pytest.raises(UsageProblem, match="a row without elements has no mean"):
            launch.plan(RmsNorm(vector=1), {"M": 1, "D": 0}, eps)
        assert launch.plan(RmsNorm(vector=1), {"M": 1, "D": 17}, eps).workgroups == (1, 1, 1)
        with pytest.raises(UsageProblem, match="a row must be whole groups of 64 elements"):
            launch.plan(RmsNorm(q8_group=64, q8_stride=1), {"M": 1, "D": 96}, eps)

    def test_eps_must_be_given_and_stands_behind_the_sizes(self) -> None:
        with pytest.raises(UsageProblem, match=r"no value for EPS \(uniform eps\)"):
            launch.plan(RmsNorm(), {"M": 1, "D": 16})
        packed = launch.plan(RmsNorm(), {"M": 3, "D": 16}, {"EPS": 1e-5}).uniform_bytes
        assert packed == struct.pack("<IIfI", 3, 16, 1e-5, 0)
        baked = launch.plan(RmsNorm(d=16), {"M": 3, "D": 16}, {"EPS": 1e-5}).uniform_bytes
        assert baked == struct.pack("<IfII", 3, 1e-5, 0, 0)

    def test_a_row_is_a_workgroup_and_c25_no_rows_are_no_dispatch(self) -> None:
        assert launch.plan(RmsNorm(), {"M": 65536, "D": 4}, {"EPS": 1e-6}).workgroups == (32768, 2, 1)
        assert launch.plan(RmsNorm(), {"M": 0, "D": 4}, {"EPS": 1e-6}).workgroups is None

    def test_c27_three_halves_are_a_buffer_of_eight_bytes(self) -> None:
        plan = launch.plan(RmsNorm(activation="f16", vector=1), {"M": 1, "D": 3}, {"EPS": 1e-6})
        assert plan.binding_bytes == {"x": 8, "weight": 12, "y": 8}

    def test_the_running_sum_is_input_and_output_and_int8_results_take_the_place_of_y(self) -> None:
        kept = {binding.name: binding.access for binding in RmsNorm(residual=True).bindings()}
        assert kept == {"x": "read", "residual": "read_write", "weight": "read", "y": "read_write"}
        both = RmsNorm(activation="f16", residual=True, q8_group=32, q8_stride=8)
        plan = launch.plan(both, {"M": 3, "D": 64}, {"EPS": 1e-6})
        assert plan.binding_bytes == {"x": 384, "residual": 384, "weight": 256, "x8": 192, "x_scale": 48}
        assert variant_name(both) == "rms_norm_xf16_res_q32_s8__v4_wg64"

    def test_slots_are_one_for_each_thread_or_each_subgroup_of_four(self) -> None:
        assert RmsNorm(workgroup_size=256).requirements.limits["maxComputeWorkgroupStorageSize"] == 1024
        lanes = RmsNorm(workgroup_size=256, subgroups=True).requirements
        assert lanes.limits["maxComputeWorkgroupStorageSize"] == 256
        assert lanes.features == ("subgroups",)
        emitting = RmsNorm(workgroup_size=256, q8_group=128, q8_stride=8).requirements
        assert emitting.limits["maxComputeWorkgroupStorageSize"] == 4 * 1024

    def test_the_plain_twin_computes_the_same_and_needs_nothing_more(self) -> None:
        plain = RmsNorm(activation="f16", workgroup_size=256, subgroups=True, d=64).plain()
        assert plain == RmsNorm(activation="f16", vector=1, workgroup_size=64)
        emitting = RmsNorm(residual=True, q8_group=64, q8_stride=4, workgroup_size=256, subgroups=True)
        assert emitting.plain() == RmsNorm(residual=True, q8_group=64, q8_stride=4)


class TestOracle:
    def test_by_hand(self) -> None:
        x = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
        y = normalised(x, np.array([1.0, -2.0], dtype=np.float32), 12.5)
        assert y[0].tolist() == [0.6, -1.6]
        assert not y[1].any(), "a row of zeros stays zero"

    def test_eps_is_taken_as_f32_holds_it(self) -> None:
        y = normalised(np.zeros((1, 1)) + 1e-30, np.ones(1, dtype=np.float32), 1e-6)
        assert y[0, 0] == 1e-30 / np.sqrt(1e-60 + np.float64(np.float32(1e-6)))

    def test_c02_values(self) -> None:
        y = normalised(c02_rows(), ONES, 1e-6)
        np.testing.assert_allclose(y[0], 1.0, rtol=1e-9)
        assert y[1, 0] == pytest.approx(63.796, rel=1e-5)
        np.testing.assert_allclose(y[1, 1:], 0.079745, rtol=1e-5)

    def test_c02_a_row_whose_squares_overflowed_to_zero_is_rejected(self) -> None:
        values = normalised(c02_rows(), ONES, 1e-6)
        expected = Close(values, np.abs(values), np.dtype(np.float16))
        tolerance = RmsNorm(activation="f16").tolerance()
        right = values.astype(np.float16)
        assert expected.judge(right.tobytes(), tolerance).problem is None
        hidden = right.copy()
        hidden[0] = 0.0
        assert np.isfinite(hidden).all(), "finite is not right"
        for wrong in (hidden, right[::-1], (values * 1.02).astype(np.float16)):
            assert expected.judge(wrong.tobytes(), tolerance).problem is not None

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    def test_problems_hold_zeros_overflowing_squares_and_tiny_rows(
        self, activation: str, rng: np.random.Generator
    ) -> None:
        made = problem(constants(activation=activation), {"M": 8, "D": 64}, rng)
        largest = np.abs(made.inputs["x"].astype(np.float64)).max(axis=1)
        assert largest[4] == 0.0
        assert largest[1] ** 2 > 65504.0
        assert largest[5] > (1e16 if activation == "f32" else 30000.0)
        assert 0.0 < largest[6] < 1e-5
        assert (made.inputs["weight"] == 0.0).any()

    def test_a_sum_is_rounded_to_f32_once_and_stays_in_f16_at_its_end(self, rng: np.random.Generator) -> None:
        large = np.array([[1.0, 16777216.0]], np.float32)
        assert summed(large, np.array([[2.0**-24, 1.0]], np.float32)).tolist() == [[1.0, 16777216.0]]
        assert summed(np.array([60000.0], np.float16), np.array([60000.0], np.float16)).tolist() == [120000.0]
        made = problem(constants(activation="f16", residual=True), {"M": 8, "D": 64}, rng)
        expected, y = made.expected["residual"], made.expected["y"]
        assert isinstance(expected, Nearest)
        assert isinstance(y, Close)
        assert np.abs(expected.values[5]).max() == 65504.0
        sums = made.inputs["x"].astype(np.float64) + made.inputs["residual"].astype(np.float64)
        assert np.abs(sums[5]).max() > 65504.0
        by_hand = sums[5] * made.inputs["weight"] / np.sqrt(np.mean(sums[5] ** 2) + 1e-6)
        np.testing.assert_allclose(y.values[5], by_hand, rtol=1e-6, err_msg="y is made before the sum is narrowed")

    def test_running_sums_cancel_vanish_and_double(self, rng: np.random.Generator) -> None:
        made = problem(constants(residual=True), {"M": 8, "D": 64}, rng)
        x, residual = made.inputs["x"].astype(np.float64), made.inputs["residual"].astype(np.float64)
        assert np.abs(x[1] + residual[1]).max() < 1.0 < 299.0 < np.abs(x[1]).min()
        assert not residual[2].any()
        assert not (np.abs(x[4]) + np.abs(residual[4])).any()
        assert (x[5] == residual[5]).all()

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    def test_a_running_sum_that_was_left_or_replaced_is_rejected(
        self, activation: str, rng: np.random.Generator
    ) -> None:
        made = problem(constants(activation=activation, residual=True), {"M": 8, "D": 64}, rng)
        expected, tolerance = made.expected["residual"], RmsNorm(residual=True).tolerance()
        assert isinstance(expected, Nearest)
        right = expected.values.astype(expected.dtype)
        assert expected.judge(right.tobytes(), tolerance).problem is None
        for wrong in (made.inputs["residual"], made.inputs["x"], right[::-1], -right):
            assert expected.judge(wrong.tobytes(), tolerance).problem is not None


@pytest.mark.parametrize("vector", [1, 4])
@pytest.mark.parametrize("subgroups", [False, True])
def test_c02_on_a_device(vector: Any, subgroups: bool, lavapipe: Gpu) -> None:
    variant = RmsNorm(activation="f16", vector=vector, subgroups=subgroups)
    inputs: dict[str, np.ndarray[Any, np.dtype[Any]]] = {"x": c02_rows(), "weight": ONES}
    raw = Runner(lavapipe, variant, render(variant, "test")).run(inputs, {"M": 2, "D": D}, {"EPS": 1e-6})["y"]
    y = np.frombuffer(raw, np.float16).reshape(2, D).astype(np.float64)
    assert (y[0] == 1.0).all()
    np.testing.assert_allclose(y[1], [63.796, *[0.079745] * (D - 1)], rtol=2e-3)
