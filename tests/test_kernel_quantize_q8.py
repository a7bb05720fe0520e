from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.compare import Close, Rounded
from wgslgen.errors import UsageProblem
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.oracles.quantize_q8 import SMALLEST, TIES, dequantised, near_tie, order, packed, problem, quantise
from wgslgen.render import render


def group_of(*values: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return x [1, 32] that starts with `values` and goes on with zeros."""
    x = np.zeros((1, 32), dtype=np.float32)
    x[0, : len(values)] = values
    return x


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "word"),
        [
            ({"group": 48, "stride": 1}, "group"),
            ({"group": 32, "stride": 2}, "stride"),
            ({"group": 32, "stride": 1, "activation": "f64"}, "activation"),
            ({"group": 32, "stride": 1, "workgroup_size": 64}, "workgroup_size"),
            ({"stride": 1}, "group"),
        ],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], word: str) -> None:
        with pytest.raises(ValidationError, match=word):
            QuantizeQ8(**constants)

    def test_part_groups_are_refused_with_the_rule(self) -> None:
        with pytest.raises(
            UsageProblem, match=r"K = 96 breaks K % GROUP == 0, because a row must be whole groups of 64"
        ):
            launch.plan(QuantizeQ8(group=64, stride=4), {"M": 1, "K": 96})

    def test_a_group_is_a_workgroup_and_none_is_no_dispatch(self) -> None:
        variant = QuantizeQ8(group=64, stride=4)
        assert launch.plan(variant, {"M": 3, "K": 128}).workgroups == (6, 1, 1)
        assert launch.plan(variant, {"M": 0, "K": 128}).workgroups is None

    def test_bytes_of_each_binding(self) -> None:
        plan = launch.plan(QuantizeQ8(group=64, stride=4, activation="f16"), {"M": 3, "K": 128})
        assert plan.binding_bytes == {"x": 768, "x8": 384, "x_scale": 48}

    def test_only_a_stride_needs_words_in_workgroup_memory(self) -> None:
        assert [v.name for v in QuantizeQ8(group=32, stride=1).workgroup_variables()] == ["max_slots", "sum_slots"]
        strided = QuantizeQ8(group=128, stride=8)
        assert [v.name for v in strided.workgroup_variables()] == ["max_slots", "sum_slots", "q8_words"]
        assert strided.requirements.limits["maxComputeWorkgroupStorageSize"] == 128 + 128 + 128

    def test_the_numbers_of_the_scale_are_those_of_the_oracle(self) -> None:
        text = render(QuantizeQ8(group=32, stride=1), "test")
        numbers = {
            w[1].rstrip(":"): w[4].rstrip("f;") for line in text.split("\n") if (w := line.split())[:1] == ["const"]
        }
        assert np.float32(numbers["INVERSE_127"]) == np.float32(1.0 / 127.0)
        assert np.float32(numbers["SMALLEST"]) == np.float32(SMALLEST)


class TestOracle:
    def test_ties_go_to_the_even_integer(self) -> None:
        quantised = quantise(group_of(127.0, *TIES), 32)
        assert quantised.scales.tolist() == [[1.0]]
        expected = [127, 0, 2, 2, 0, -2, -2, 64, 64, -64, -64, 126, 126, -126, -126]
        assert quantised.integers[0, :15].tolist() == expected
        assert quantised.sums.tolist() == [[127.0 + 2 + 2 - 2 - 2]]

    def test_the_scale_is_one_product(self) -> None:
        largest = np.float32(1.7)
        quantised = quantise(group_of(-1.7), 32)
        assert quantised.scales[0, 0] == np.float32(largest * np.float32(1.0 / 127.0))
        assert quantised.integers[0, 0] == -127

    def test_the_largest_element_is_127_whatever_its_bits(self, rng: np.random.Generator) -> None:
        x = np.zeros((5000, 32), dtype=np.float32)
        x[:, 7] = np.exp2(rng.uniform(-118.0, 127.9, 5000))
        assert (quantise(x, 32).integers[:, 7] == 127).all()

    def test_zeros_and_magnitudes_below_the_smallest_scale_give_zeros(self) -> None:
        below = float(np.nextafter(np.float32(SMALLEST), np.float32(0)))
        for x in (group_of(), group_of(1e-40), group_of(-below)):
            quantised = quantise(x, 32)
            assert quantised.scales.tolist() == [[0.0]]
            assert not quantised.integers.any()

    def test_the_smallest_scale_is_the_smallest_normal_number(self) -> None:
        quantised = quantise(group_of(SMALLEST, 2.0**-126, 0.75 * 2.0**-126, 0.5 * 2.0**-126), 32)
        assert quantised.scales.tolist() == [[2.0**-126]]
        assert quantised.integers[0, :4].tolist() == [127, 1, 1, 0]

    def test_huge_values_stay_finite(self) -> None:
        quantised = quantise(group_of(1e30, -5e29, 3e38), 32)
        assert np.isfinite(quantised.scales).all()
        assert quantised.integers[0, :3].tolist() == [0, 0, 127]
        assert dequantised(quantised)[0, 2] == pytest.approx(3e38, rel=1e-6)

    @pytest.mark.parametrize(
        ("stride", "first"),
        [
            (1, [0, 1, 2, 3, 4, 5, 6, 7]),
            (4, [0, 4, 8, 12, 1, 5, 9, 13]),
            (8, [0, 8, 16, 24, 1, 9, 17, 25]),
        ],
    )
    def test_byte_order(self, stride: int, first: list[int]) -> None:
        x = np.arange(64, dtype=np.float32).reshape(2, 32) + np.float32(63.0)
        x[:, 31] = 127.0
        words, _ = packed(quantise(x, 32), stride)
        assert words.view(np.int8)[:8].tolist() == [63 + element for element in first]
        assert sorted(order(2, 32, stride).tolist()) == [*range(64)], "every element stands somewhere once"


class TestProblem:
    @pytest.mark.parametrize("activation", ["f32", "f16"])
    @pytest.mark.parametrize("group", [32, 64, 128])
    def test_data_lie_on_ties_or_clear_of_them(self, activation: str, group: int, rng: np.random.Generator) -> None:
        made = problem({"activation": activation, "group": group, "stride": 4}, {"M": 3, "K": 8 * group}, rng)
        quantised = quantise(made.inputs["x"], group)
        assert not near_tie(quantised.reals).any()
        ties = np.abs(quantised.reals) % 1.0 == 0.5
        assert ties.reshape(3, 8, group)[:, 0].sum() >= 3 * len(TIES)
        assert (quantised.scales[:, 2] == 0.0).all(), "a group of zeros has no scale"

    def test_f32_data_reach_both_ends(self, rng: np.random.Generator) -> None:
        made = problem({"activation": "f32", "group": 32, "stride": 1}, {"M": 1, "K": 8 * 32}, rng)
        magnitudes = np.abs(made.inputs["x"]).reshape(8, 32)
        assert magnitudes.max() > 5e29
        assert 0 < magnitudes[3].max() < 2.0**-126, "a group of subnormals"
        assert ((magnitudes[6] > 0) & (magnitudes[6] < 2.0**-126)).sum() >= 6, "subnormals under a scale"
        assert magnitudes[7].max() == np.nextafter(np.float32(SMALLEST), np.float32(0))

    def test_a_sum_off_by_one_and_a_scale_off_by_two_ulp_are_rejected(self, rng: np.random.Generator) -> None:
        made = problem({"activation": "f32", "group": 32, "stride": 1}, {"M": 1, "K": 64}, rng)
        tolerance = QuantizeQ8(group=32, stride=1).tolerance()
        expected = made.expected["x_scale"]
        _, right = packed(quantise(made.inputs["x"], 32), 1)
        assert expected.judge(right.tobytes(), tolerance).problem is None
        for column, other in ((1, right[1, 1] + np.float32(1)), (0, np.float32(right[1, 0] * (1 + 2.0**-21)))):
            wrong = right.copy()
            wrong[1, column] = other
            assert expected.judge(wrong.tobytes(), tolerance).problem is not None

    def test_the_judge_of_integers_rejects_another_order_and_another_scale(self, rng: np.random.Generator) -> None:
        made = problem({"activation": "f32", "group": 64, "stride": 4}, {"M": 2, "K": 128}, rng)
        tolerance = QuantizeQ8(group=64, stride=4).tolerance()
        expected = made.expected["x8"]
        quantised = quantise(made.inputs["x"], 64)
        right, _ = packed(quantised, 4)
        assert expected.judge(right.tobytes(), tolerance).problem is None
        assert expected.judge(packed(quantised, 1)[0].tobytes(), tolerance).problem is not None
        scaled = np.rint(right.view(np.int8) * (1 / 1.02)).astype(np.int8)
        assert expected.judge(scaled.tobytes(), tolerance).problem is not None


class TestRounded:
    TOLERANCE = QuantizeQ8(group=32, stride=1).tolerance()

    def verdict(self, real: float, got: int) -> str | None:
        expected = Rounded(np.array([[real]]), np.array([0]), np.dtype(np.int8))
        return expected.judge(np.array([got], dtype=np.int8).tobytes(), self.TOLERANCE).problem

    def test_a_tie_goes_to_even_and_nowhere_else(self) -> None:
        assert self.verdict(2.5, 2) is None
        assert self.verdict(2.5, 3) is not None
        assert self.verdict(-1.5, -2) is None
        assert self.verdict(-1.5, -1) is not None

    def test_within_an_ulp_of_a_tie_either_neighbour_is_right(self) -> None:
        near = float(np.nextafter(np.float32(2.5), np.float32(3)))
        assert self.verdict(near, 2) is None
        assert self.verdict(near, 3) is None
        assert self.verdict(near, 4) is not None

    def test_elsewhere_one_integer_is_right_and_the_message_names_the_first_wrong_one(self) -> None:
        assert self.verdict(2.51, 3) is None
        assert self.verdict(2.51, 2) == "1 of 1 integers wrong; first at 0: got 2, real value 2.510000"


def test_scale_and_sum_are_judged_by_their_own_magnitudes(rng: np.random.Generator) -> None:
    made = problem({"activation": "f32", "group": 32, "stride": 1}, {"M": 1, "K": 64}, rng)
    expected = made.expected["x_scale"]
    assert isinstance(expected, Close)
    assert (expected.magnitudes[:, 0] == expected.values[:, 0]).all()
    assert not expected.magnitudes[:, 1].any(), "a magnitude of 0 expects the sum exactly"
