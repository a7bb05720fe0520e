from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import open_adapter
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.qk_norm_rope import QkNormRope
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.oracles.qk_norm_rope import problem
from wgslgen.render import render

HEADS: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": 16, "rotary_dim": 8}
SIZES = {"B": 4, "M": 3, "TABLE_ROWS": 6}


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"kv_heads": 3}, "q_heads 4 is not a positive multiple of kv_heads 3"),
            ({"rotary_dim": 9}, "rotary_dim 9 is not a positive even number"),
            ({"rotary_dim": 24}, "rotary_dim 24 is above head_dim 16"),
            ({"cache": "f32"}, "Extra inputs are not permitted"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            QkNormRope(**{**HEADS, **constants})

    def test_sizes_lengths_and_eps_are_checked(self) -> None:
        variant = QkNormRope(**HEADS)
        with pytest.raises(UsageProblem, match="without a table there is no position"):
            launch.plan(variant, {**SIZES, "TABLE_ROWS": 0}, {"EPS": 1e-6})
        with pytest.raises(UsageProblem, match=r"lengths\[0\] is 7; expected a number from 0 to 6"):
            launch.check_values(variant, {"lengths": np.array([7], dtype=np.uint32)}, SIZES)
        with pytest.raises(UsageProblem, match=r"no value for EPS \(uniform eps\)"):
            launch.plan(variant, SIZES)
        plan = launch.plan(variant, SIZES, {"EPS": 1e-5})
        assert plan.uniform_bytes == struct.pack("<IIfI", 4, 3, 1e-5, 6)
        assert plan.workgroups == (4 * 3 * 6 // 4, 1, 1), "four heads a workgroup"
        assert launch.plan(variant, {**SIZES, "B": 0}, {"EPS": 1e-5}).workgroups is None

    def test_subgroups_need_no_leave(self) -> None:
        assert QkNormRope(**HEADS, subgroups=True).requirements.features == ("subgroups",)


class TestOracle:
    def test_tokens_without_a_position_stay(self, rng: np.random.Generator) -> None:
        made = problem(QkNormRope(**HEADS).model_dump(), SIZES, rng)
        assert made.inputs["lengths"][1:].tolist() == [6, 1, 0]
        for name, heads in (("q", 4), ("k", 2)):
            expected = made.expected[name]
            assert isinstance(expected, Close)
            same = (expected.values == made.inputs[name].reshape(-1, 16)).all(axis=-1)
            exact = (expected.magnitudes == 0.0).all(axis=-1)
            padding = np.zeros((4, 3, heads), dtype=bool)
            padding[2, :2] = padding[3] = True
            assert same[padding.ravel()].all()
            assert exact[padding.ravel()].all()
            zeros = (made.inputs[name].reshape(-1, 16) == 0.0).all(axis=-1)
            assert not same[~padding.ravel() & ~zeros].any()


@pytest.mark.parametrize("subgroups", [False, True])
def test_both_kernels_give_the_same_bits(subgroups: bool, rng: np.random.Generator) -> None:
    gpu = open_adapter("lavapipe")
    made = problem(QkNormRope(**HEADS).model_dump(), SIZES, rng)
    alone = QkNormRope(**HEADS, subgroups=subgroups)
    here = Runner(gpu, alone, render(alone, "test")).run(made.inputs, SIZES, {"EPS": 1e-6})
    cached = RopeCacheKv(**HEADS, subgroups=subgroups, source="separate", qk_norm=True)
    cache = np.zeros((4, 6, 2, 16), dtype=np.float32)
    inputs = {**made.inputs, "v": made.inputs["k"], "k_cache": cache, "v_cache": cache}
    sizes = {**SIZES, "CAPACITY": 6, "LAYERS": 1, "LAYER": 0}
    there = Runner(gpu, cached, render(cached, "test")).run(inputs, sizes, {"EPS": 1e-6})
    assert here["q"] == there["q"]
    keys = np.frombuffer(here["k"], np.uint32).reshape(4, 3, 2, 16)
    rows = np.frombuffer(there["k_cache"], np.uint32).reshape(4, 6, 2, 16)
    assert (keys[1] == rows[1, 3:]).all()


def test_a_length_past_the_table_changes_nothing_that_has_no_angles(rng: np.random.Generator) -> None:
    """Positions 4 to 6 of 6 rows, one so far that it wraps, and padding beside them."""
    variant = QkNormRope(**HEADS)
    made = problem(variant.model_dump(), SIZES, rng)
    inputs = {**made.inputs, "lengths": np.array([7, 2**32 - 1, 8, 2**31], dtype=np.uint32)}
    outputs = Runner(open_adapter("lavapipe"), variant, render(variant, "test")).run(inputs, SIZES, {"EPS": 1e-6})
    for name, heads in (("q", 4), ("k", 2)):
        same = np.frombuffer(outputs[name], np.float32).reshape(4, 3, heads, 16) == inputs[name]
        stayed = np.array([[bool(token.all()) for token in sequence] for sequence in same])
        assert stayed.tolist() == [[False, False, True], [True] * 3, [False, True, True], [True] * 3]
