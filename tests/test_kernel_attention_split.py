from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.oracles.attention import LOWEST, attend, key_head, ragged, seen
from wgslgen.oracles.attention_split import parts, problem
from wgslgen.render import render

QWEN3: dict[str, Any] = {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "num_splits": 8}
SCALE = {"SCALE": 0.125}


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"q_heads": 6, "kv_heads": 4}, "q_heads 6 is not a multiple of kv_heads 4"),
            ({"q_heads": 0}, "q_heads 0 is not positive"),
            ({"kv_heads": 0}, "q_heads 16 is not a multiple of kv_heads 0"),
            ({"head_dim": 66}, "head_dim 66 is not a positive multiple of 4"),
            ({"head_dim": 0}, "head_dim 0 is not a positive multiple of 4"),
            ({"head_dim": 260}, "head_dim 260 needs a thread for every 4 elements, 65; workgroup_size is 64"),
            ({"num_splits": 0}, "num_splits 0 is outside 1 to 32, which attention_merge handles"),
            ({"num_splits": 33}, "num_splits 33 is outside 1 to 32, which attention_merge handles"),
            ({"window": 0}, "window 0 is not positive"),
            ({"tile_rows": 0}, "tile_rows 0 is outside 1 to 16"),
            ({"tile_rows": 17}, "tile_rows 17 is outside 1 to 16"),
            ({"kv_heads": 1, "q_heads": 20}, "a group of 20 heads needs tile_rows, at most 16"),
            (
                {"kv_heads": 1, "head_dim": 256},
                "16 rows of head_dim 256 with workgroup_size 64 take 24576 bytes .*, above 16384; use fewer tile_rows",
            ),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            AttentionSplit(**{**QWEN3, **constants})

    def test_head_dim_256_has_a_form_for_every_group(self) -> None:
        for heads in range(1, 17):
            rows = None if heads <= 8 else 8
            variant = AttentionSplit(q_heads=heads, kv_heads=1, head_dim=256, num_splits=4, tile_rows=rows)
            assert not variant.raised_limits
            assert variant.row_tiles == (1 if heads <= 8 else 2)
            assert not variant.plain().raised_limits

    def test_what_two_folds_need_one_after_the_other_is_one_variable(self) -> None:
        variant = AttentionSplit(**QWEN3)
        assert [v.name for v in variant.workgroup_variables()] == ["tile", "weights", "slots"]
        assert variant.requirements.limits["maxComputeWorkgroupStorageSize"] == 2 * 512 + 1024 + 2 * 256
        lanes = variant.changed(subgroups=True).requirements.limits["maxComputeWorkgroupStorageSize"]
        assert lanes == 2 * 512 + 1024 + 2 * 64

    def test_sizes_and_lengths_are_checked(self) -> None:
        variant = AttentionSplit(**QWEN3)
        sizes = {"B": 2, "CAPACITY": 32, "LAYERS": 3, "LAYER": 2}
        plan = launch.plan(variant, sizes, SCALE)
        assert plan.workgroups == (2 * 8 * 8, 1, 1)
        assert plan.binding_bytes["k_cache"] == plan.binding_bytes["v_cache"] == 3 * 2 * 32 * 8 * 128 * 4
        assert plan.binding_bytes["partials"] == 2 * 16 * 8 * 128 * 4
        assert plan.binding_bytes["stats"] == 2 * 16 * 8 * 8
        with pytest.raises(UsageProblem, match="LAYER < LAYERS, because the cache has LAYERS layers"):
            launch.plan(variant, {**sizes, "LAYER": 3}, SCALE)
        with pytest.raises(UsageProblem, match=r"no value for SCALE"):
            launch.plan(variant, sizes)
        launch.check_values(variant, {"lengths": np.array([0, 32], np.uint32)}, sizes)
        with pytest.raises(UsageProblem, match=r"lengths\[1\] is 33; expected a number from 0 to 32"):
            launch.check_values(variant, {"lengths": np.array([0, 33], np.uint32)}, sizes)

    def test_c25_no_sequences_are_no_dispatch(self) -> None:
        sizes = {"B": 0, "CAPACITY": 32, "LAYERS": 1, "LAYER": 0}
        assert launch.plan(AttentionSplit(**QWEN3), sizes, SCALE).workgroups is None

    def test_the_plain_twin_shares_nothing_and_needs_nothing(self) -> None:
        plain = AttentionSplit(**QWEN3, cache="f16", workgroup_size=128, subgroups=True).plain()
        assert plain == AttentionSplit(**QWEN3, cache="f16", tile_rows=1)
        assert AttentionSplit(**{**QWEN3, "head_dim": 320}, workgroup_size=128).plain().workgroup_size == 128

    def test_a_key_is_read_in_one_place_for_all_rows(self) -> None:
        """So each key and value is read once for the heads of a group, whatever their number."""
        for heads in (1, 7, 16):
            variant = AttentionSplit(q_heads=heads, kv_heads=1, head_dim=64, num_splits=2)
            text = render(variant, "tests")
            assert text.count(" = k_cache[") == text.count("k_cache[") == variant.key_loads
            assert text.count(" = v_cache[") == text.count("v_cache[") == variant.value_loads

    @pytest.mark.parametrize(
        ("heads", "head_dim", "keys", "values"),
        [(1, 128, 16, 16), (4, 128, 16, 16), (7, 128, 8, 9), (16, 128, 4, 4), (2, 40, 10, 16), (8, 80, 5, 8)],
    )
    def test_loads_in_flight_are_few_where_rows_are_many(
        self, heads: int, head_dim: int, keys: int, values: int
    ) -> None:
        """A round of fours of a key must not read past its end, so it divides them."""
        variant = AttentionSplit(q_heads=heads, kv_heads=1, head_dim=head_dim, num_splits=2)
        assert (variant.key_loads, variant.value_loads) == (keys, values)


class TestOracle:
    def test_by_hand(self) -> None:
        q, k, v = np.array([2.0, 0.0]), np.array([[np.log(3.0), 5.0], [0.0, 7.0]]), np.array([[4.0, 0.0], [8.0, 1.0]])
        sums = attend(q, k, v, 0.5)
        assert sums.maximum == pytest.approx(np.log(3.0))
        assert sums.total == pytest.approx(1.0 + 1.0 / 3.0)
        np.testing.assert_allclose(sums.values, [4.0 + 8.0 / 3.0, 1.0 / 3.0])
        np.testing.assert_allclose(sums.result, [5.0, 0.25])

    def test_a_bias_is_added_to_the_scores(self) -> None:
        k, v = np.zeros((2, 4)), np.array([[0.0] * 4, [1.0] * 4])
        sums = attend(np.ones(4), k, v, 1.0, np.array([0.0, np.log(3.0)]))
        np.testing.assert_allclose(sums.result, 0.75)

    def test_no_keys_have_the_lowest_maximum_and_weigh_nothing(self) -> None:
        sums = attend(np.ones(4), np.zeros((0, 4)), np.zeros((0, 4)), 1.0)
        assert (sums.maximum, sums.total, *sums.result) == (LOWEST, 0.0, 0.0, 0.0, 0.0, 0.0)
        assert not sums.result_magnitudes.any(), "exactly"

    def test_far_scores_lose_no_keys_to_overflow(self) -> None:
        sums = attend(np.ones(1), np.array([[100.0], [0.0], [-100.0]]), np.array([[1.0], [2.0], [3.0]]), 1.0)
        assert sums.result.tolist() == [1.0]

    def test_heads_repeat_or_tile(self) -> None:
        maps: dict[str, list[int]] = {"repeat": [0, 0, 0, 1, 1, 1], "tile": [0, 1, 0, 1, 0, 1]}
        for head_map, expected in maps.items():
            constants = {"q_heads": 6, "kv_heads": 2, "head_map": head_map}
            assert [key_head(head, constants) for head in range(6)] == expected

    def test_a_window_ends_with_the_querys_own_key(self) -> None:
        assert seen(10, None) == slice(0, 10)
        assert seen(10, 3) == slice(7, 10)
        assert seen(2, 3) == slice(0, 2)
        assert seen(-1, 3) == slice(0, 0)

    def test_parts_differ_by_one_key_at_most(self) -> None:
        assert parts(slice(3, 10), 3) == [slice(3, 6), slice(6, 8), slice(8, 10)]
        assert parts(slice(0, 2), 4) == [slice(0, 1), slice(1, 2), slice(0, 0), slice(0, 0)]

    def test_problems_hold_stale_rows_and_all_kinds_of_lengths(self, rng: np.random.Generator) -> None:
        assert ragged(6, 20, 4).tolist() == [20, 0, 1, 13, 4, 2]
        assert ragged(6, 1, 1).max() == 1
        constants = AttentionSplit(q_heads=4, kv_heads=2, head_dim=8, num_splits=3).model_dump()
        made = problem(constants, {"B": 4, "CAPACITY": 9, "LAYERS": 2, "LAYER": 1}, rng)
        for name in ("k_cache", "v_cache"):
            stale = np.isnan(made.inputs[name]).all(axis=(3, 4))
            assert (stale == (np.arange(9) >= made.inputs["lengths"][:, None])).all()
            assert (np.isnan(made.inputs[name]).any(axis=(3, 4)) == stale).all()
        stats = made.expected["stats"]
        assert isinstance(stats, Close)
        assert (stats.values[stats.magnitudes[:, 0] == 0.0] == [LOWEST, 0.0]).all(axis=1).any()

    def test_a_part_of_another_kind_is_refused(self, rng: np.random.Generator) -> None:
        """The comparison tells the next layer's, the next head's and the next part's result from this one's."""
        constants = AttentionSplit(q_heads=4, kv_heads=2, head_dim=8, num_splits=2).model_dump()
        made = problem(constants, {"B": 1, "CAPACITY": 9, "LAYERS": 2, "LAYER": 1}, rng)
        expected = made.expected["partials"]
        assert isinstance(expected, Close)
        tolerance = AttentionSplit(q_heads=4, kv_heads=2, head_dim=8, num_splits=2).tolerance()
        right = expected.values.astype(np.float32)
        assert expected.judge(right.tobytes(), tolerance).problem is None
        for wrong in (np.roll(right, 1, axis=0), right * np.float32(1.02), right[::-1]):
            assert expected.judge(np.ascontiguousarray(wrong).tobytes(), tolerance).problem is not None
