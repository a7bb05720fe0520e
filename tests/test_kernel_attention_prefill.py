from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.oracles.attention import LOWEST
from wgslgen.oracles.attention_prefill import masks, problem
from wgslgen.render import render

QWEN3: dict[str, Any] = {"q_heads": 16, "kv_heads": 8, "head_dim": 128}
SMALL: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": 8}
SIZES = {"B": 2, "M": 9, "CAPACITY": 32, "LAYERS": 3, "LAYER": 2}
SCALE = {"SCALE": 0.125}


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"q_heads": 6, "kv_heads": 4}, "q_heads 6 is not a multiple of kv_heads 4"),
            ({"head_dim": 66}, "head_dim 66 is not a positive multiple of 4"),
            ({"head_dim": 260}, "head_dim 260 needs a thread for every 4 elements, 65; workgroup_size is 64"),
            ({"window": 0}, "window 0 is not positive"),
            ({"tile_rows": 2}, "tile_rows"),
            (
                {"head_dim": 256, "tile_rows": 16},
                "16 rows of head_dim 256 with workgroup_size 64 take 24576 bytes .*, above 16384; use fewer tile_rows",
            ),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            AttentionPrefill(**{**QWEN3, **constants})

    @pytest.mark.parametrize("subgroups", [False, True])
    def test_head_dim_256_fits_by_default(self, subgroups: bool) -> None:
        variant = AttentionPrefill(q_heads=16, kv_heads=2, head_dim=256, subgroups=subgroups)
        assert not variant.raised_limits
        taken = variant.requirements.limits["maxComputeWorkgroupStorageSize"]
        assert taken == 8 * 1024 + 2 * 1024 + (512 if subgroups else 2048)

    def test_rows_are_the_tokens_of_a_group(self) -> None:
        assert launch.plan(AttentionPrefill(**QWEN3), SIZES, SCALE).workgroups == (2 * 8 * 3, 1, 1)
        assert launch.plan(AttentionPrefill(**QWEN3, tile_rows=16), SIZES, SCALE).workgroups == (2 * 8 * 2, 1, 1)

    def test_c25_no_tokens_and_no_sequences_are_no_dispatch(self) -> None:
        for none in ("M", "B"):
            assert launch.plan(AttentionPrefill(**QWEN3), {**SIZES, none: 0}, SCALE).workgroups is None

    def test_sizes_are_checked(self) -> None:
        with pytest.raises(UsageProblem, match="LAYER < LAYERS"):
            launch.plan(AttentionPrefill(**QWEN3), {**SIZES, "LAYER": 3}, SCALE)
        with pytest.raises(UsageProblem, match=r"lengths\[0\] is 33"):
            launch.check_values(AttentionPrefill(**QWEN3), {"lengths": np.array([33, 0], np.uint32)}, SIZES)

    def test_all_options_together_need_seven_buffers(self) -> None:
        variant = AttentionPrefill(**QWEN3, mask=True, gate=True)
        names = [binding.name for binding in variant.bindings()]
        assert names == ["q", "k_cache", "v_cache", "lengths", "mask", "gate", "y"]
        assert launch.plan(variant, SIZES, SCALE).binding_bytes["mask"] == 2 * 9 * 32 * 4

    def test_c07_no_infinity_stands_in_the_text(self) -> None:
        text = render(AttentionPrefill(**QWEN3, mask=True), "tests")
        assert "0xff7fffffu" in text, "the lowest number, whose right neighbour is -infinity"
        assert not any(bits in text for bits in ("0xff800000", "0x7f800000", "0xfc00", "0x7c00"))

    def test_the_plain_twin_computes_the_same(self) -> None:
        variant = AttentionPrefill(**QWEN3, mask=True, gate=True, window=7, tile_rows=16, subgroups=True)
        assert variant.plain() == AttentionPrefill(**QWEN3, mask=True, gate=True, window=7, tile_rows=4)


class TestOracle:
    def judged(self, constants: dict[str, Any], sizes: dict[str, int], rng: np.random.Generator) -> Close:
        made = problem(AttentionPrefill(**constants).model_dump(), sizes, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        return expected

    def test_a_lone_token_gets_its_own_value(self, rng: np.random.Generator) -> None:
        made = problem(AttentionPrefill(**SMALL).model_dump(), {**SIZES, "B": 1, "M": 32}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        own = made.inputs["v_cache"][2, 0, 0]
        np.testing.assert_array_equal(expected.values[:4], own[[0, 0, 1, 1]])

    def test_padding_and_nothing_else_is_zero(self, rng: np.random.Generator) -> None:
        """Lengths 32, 0, 1, 21, 9 and 4 for nine tokens: the last tokens of each are no padding."""
        expected = self.judged(SMALL, {**SIZES, "B": 6}, rng)
        zero = ~expected.values.any(axis=-1).reshape(6, 9, 4)
        padding = np.array([[0], [9], [8], [0], [0], [5]]) > np.arange(9)
        assert (zero.all(axis=-1) >= padding).all()
        assert not expected.magnitudes.reshape(6, 9, -1)[padding].any(), "exactly"
        assert expected.magnitudes.reshape(6, 9, -1)[~padding].any(axis=-1).mean() > 0.9

    def test_a_window_sees_the_last_keys(self, rng: np.random.Generator) -> None:
        made = problem(AttentionPrefill(**SMALL, window=1).model_dump(), {**SIZES, "B": 1}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        own = made.inputs["v_cache"][2, 0, 32 - 9 :, [0, 0, 1, 1]].transpose(1, 0, 2).reshape(-1, 8)
        np.testing.assert_array_equal(expected.values, own)

    def test_masks_exclude_in_both_ways_and_hide_nothing_that_is_seen(self, rng: np.random.Generator) -> None:
        ends = np.arange(-1, 29).reshape(2, 15)
        mask = masks(ends, 32, rng)
        assert (np.isnan(mask) == (np.arange(32) >= ends[..., None])).all()
        excluded = mask <= LOWEST
        assert np.isneginf(mask[excluded]).any()
        assert (mask[excluded] == np.float32(LOWEST)).any()
        seen = ~np.isnan(mask)
        all_excluded = (excluded == seen).all(axis=-1)
        assert all_excluded.ravel()[[6, 11, 16]].all()
        assert ((seen & ~excluded).sum(axis=-1).ravel()[[7, 12, 17]] == 1).all()

    def test_rows_whose_keys_are_all_excluded_are_exactly_zero(self, rng: np.random.Generator) -> None:
        expected = self.judged({**SMALL, "mask": True}, {**SIZES, "B": 1}, rng)
        rows = expected.values.reshape(9, 4, 8)
        assert not rows[[1, 6]].any()
        assert not expected.magnitudes.reshape(9, 4, 8)[[1, 6]].any()
        assert rows[[0, 2, 3, 4, 5]].any(axis=-1).any(axis=-1).all()
