from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.compare import Close, Rounded
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.oracles.attention import LOWEST
from wgslgen.oracles.attention_merge import CLEAR, gated, gates, merged, problem, sigmoid

SMALL: dict[str, Any] = {"q_heads": 4, "head_dim": 8, "num_splits": 2}


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"q_heads": 0}, "q_heads 0 is not positive"),
            ({"head_dim": 6}, "head_dim 6 is not a positive multiple of 4"),
            ({"num_splits": 33}, "num_splits 33 is outside 1 to 32"),
            ({"q8_group": 32}, "q8_group 32 and q8_stride None go together"),
            ({"q8_group": 64, "q8_stride": 4}, "a row of 32 elements is not whole groups of q8_group 64"),
            ({"q8_group": 32, "q8_stride": 4, "activation": "f16"}, "with q8_group there is no y"),
            ({"workgroup_size": 32}, "workgroup_size"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            AttentionMerge(**{**SMALL, **constants})

    def test_a_thread_makes_four_elements_and_c25_no_sequences_are_no_dispatch(self) -> None:
        variant = AttentionMerge(q_heads=16, head_dim=128, num_splits=8)
        assert launch.plan(variant, {"B": 3}).workgroups == (3 * 16 * 32 // 64, 1, 1)
        assert launch.plan(variant, {"B": 0}).workgroups is None

    def test_it_reads_what_the_split_writes(self) -> None:
        split = AttentionSplit(q_heads=6, kv_heads=2, head_dim=64, num_splits=5)
        written = launch.plan(split, {"B": 3, "CAPACITY": 8, "LAYERS": 1, "LAYER": 0}, {"SCALE": 1.0}).binding_bytes
        read = launch.plan(AttentionMerge(q_heads=6, head_dim=64, num_splits=5), {"B": 3}).binding_bytes
        assert {name: read[name] for name in ("partials", "stats")} == {
            name: written[name] for name in ("partials", "stats")
        }

    def test_int8_results_take_the_place_of_y(self) -> None:
        variant = AttentionMerge(**SMALL, gate=True, q8_group=32, q8_stride=8)
        assert [b.name for b in variant.bindings()] == ["partials", "stats", "gate", "x8", "x_scale"]
        assert launch.plan(variant, {"B": 3}).binding_bytes["x_scale"] == 3 * 8
        assert [b.name for b in AttentionMerge(**SMALL).bindings()] == ["partials", "stats", "y"]

    def test_the_plain_twin_computes_the_same(self) -> None:
        variant = AttentionMerge(**SMALL, gate=True, q8_group=32, q8_stride=4, workgroup_size=128)
        assert variant.plain() == variant.changed(workgroup_size=64)


class TestOracle:
    def test_by_hand(self) -> None:
        """Two parts: one key of score ln 2 and value 6; two of score 0 with values that add up to 9."""
        partials = np.array([[[6.0], [9.0]]])
        stats = np.array([[[np.log(2.0), 1.0], [0.0, 2.0]]])
        values, _ = merged(partials, stats)
        np.testing.assert_allclose(values, [[(2.0 * 6.0 + 9.0) / (2.0 + 2.0)]])

    def test_empty_parts_weigh_nothing(self) -> None:
        empty = [LOWEST, 0.0]
        partials = np.array([[[0.0], [9.0]], [[0.0], [0.0]]])
        values, magnitudes = merged(partials, np.array([[empty, [-1000.0, 3.0]], [empty, empty]]))
        assert values.tolist() == [[3.0], [0.0]]
        assert magnitudes[1].tolist() == [0.0], "exactly"

    def test_gates_are_finite_whatever_their_size(self) -> None:
        gate = np.array([[0.0, -200.0, 200.0, -3e38, 3e38]])
        values, _ = gated(np.ones((1, 5)), np.ones((1, 5)), gate)
        np.testing.assert_allclose(values, [[0.5, 0.0, 1.0, 0.0, 1.0]], atol=1e-80)
        assert sigmoid(np.array([np.log(3.0)]))[0] == pytest.approx(0.75)

    def test_gates_are_drawn_from_everywhere(self, rng: np.random.Generator) -> None:
        drawn = np.abs(gates((64, 8), rng).astype(np.float64))
        for low, high in ((0, 1e-30), (1e-3, 2), (150, 1e4), (1e36, 4e38)):
            assert ((low <= drawn) & (drawn < high)).any()

    @pytest.mark.parametrize("gate", [False, True])
    def test_int8_results_lie_clear_of_ties(self, gate: bool, rng: np.random.Generator) -> None:
        constants = AttentionMerge(**SMALL, gate=gate, q8_group=32, q8_stride=1).model_dump()
        made = problem(constants, {"B": 40}, rng)
        integers, scales = made.expected["x8"], made.expected["x_scale"]
        assert isinstance(integers, Rounded)
        assert isinstance(scales, Close)
        assert (np.abs(np.abs(integers.values) % 1.0 - 0.5) >= CLEAR).all()
        assert not scales.magnitudes[:, 1].any(), "sums of integers are exact"
        np.testing.assert_allclose(np.abs(integers.values).max(axis=1)[scales.values[:, 0] > 0], 127.0, rtol=1e-6)

    def test_problems_hold_empty_parts_and_heads_without_keys(self, rng: np.random.Generator) -> None:
        made = problem(AttentionMerge(**SMALL).model_dump(), {"B": 40}, rng)
        empty = made.inputs["stats"][..., 1] == 0.0
        assert empty.all(axis=1).any()
        assert (empty.any(axis=1) & ~empty.all(axis=1)).any()
        assert (made.inputs["stats"][empty] == [np.float32(LOWEST), 0.0]).all()
