from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.oracles.rope_cache_kv import heads, positions, problem, rotated
from wgslgen.render import render

SMALL: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": 8}
SIZES = {"B": 2, "M": 3, "CAPACITY": 5, "LAYERS": 2, "LAYER": 1, "TABLE_ROWS": 6}
QUARTER = np.array([[[0.0, 1.0]]])
"""A turn by a right angle, for one token and one pair [1, 1, 2]."""


@pytest.fixture(scope="module")
def lavapipe() -> Gpu:
    return open_adapter("lavapipe")


def small(**constants: Any) -> RopeCacheKv:
    return RopeCacheKv(**{**SMALL, **constants})


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"q_heads": 5}, "q_heads 5 is not a positive multiple of kv_heads 2"),
            ({"q_heads": 0}, "q_heads 0 is not a positive multiple of kv_heads 2"),
            ({"kv_heads": 0}, "q_heads 4 is not a positive multiple of kv_heads 0"),
            ({"head_dim": 12}, "head_dim 12 is not a positive multiple of 8"),
            ({"head_dim": 0}, "head_dim 0 is not a positive multiple of 8"),
            ({"rotary_dim": 7}, "rotary_dim 7 is not a positive even number"),
            ({"rotary_dim": 0}, "rotary_dim 0 is not a positive even number"),
            ({"rotary_dim": 10}, "rotary_dim 10 is above head_dim 8"),
            ({"rotary_dim": 6}, "rotary_dim 6 is not a multiple of 8, as vector 4 needs; vector 1 takes every even"),
            ({"head_dim": 1032, "vector": 1}, "head_dim 1032 is above 1024, the most for vector 1 and workgroup_size"),
            ({"subgroups": True}, "subgroups without qk_norm: there is nothing to add up"),
            ({"workgroup_size": 256}, "workgroup_size"),
            ({"pairing": "neox"}, "pairing"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            small(**constants)

    @pytest.mark.parametrize(("head_dim", "rotary_dim"), [(40, None), (72, None), (80, 32), (80, 20), (256, 64)])
    def test_heads_of_every_model_have_a_variant(self, head_dim: int, rotary_dim: int | None) -> None:
        vector = 4 if (rotary_dim or head_dim) % 8 == 0 else 1
        variant = small(head_dim=head_dim, rotary_dim=rotary_dim, vector=vector)
        assert variant.rotated == (rotary_dim or head_dim)

    def test_a_workgroup_is_whole_heads_and_at_most_four_where_it_folds(self) -> None:
        for size in (32, 64, 128):
            for head_dim in (40, 64, 72, 80, 96, 128, 256):
                for norm in (False, True):
                    variant = small(head_dim=head_dim, workgroup_size=size, qk_norm=norm)
                    assert variant.group_heads * variant.head_threads == size
                    assert variant.rounds * variant.head_threads >= variant.units
                    assert not norm or variant.group_heads <= 4
        assert small(head_dim=128, workgroup_size=64).group_heads == 4

    def test_one_token_of_many_heads_is_many_small_workgroups(self) -> None:
        variant = RopeCacheKv(q_heads=32, kv_heads=8, head_dim=128, qk_norm=True)
        assert variant.rounds == 1, "no thread goes over its head twice"
        sizes = {"B": 1, "M": 1, "CAPACITY": 64, "LAYERS": 1, "LAYER": 0, "TABLE_ROWS": 64}
        assert launch.plan(variant, sizes, {"EPS": 1e-6}).workgroups == (24, 1, 1)
        assert launch.plan(variant, {**sizes, "M": 5000}, {"EPS": 1e-6}).workgroups == (60000, 2, 1)
        assert launch.plan(variant, {**sizes, "M": 0}, {"EPS": 1e-6}).workgroups is None

    def test_sizes_are_checked(self) -> None:
        with pytest.raises(UsageProblem, match="the caches hold LAYERS layers, counted from 0"):
            launch.plan(small(), {**SIZES, "LAYER": 2})
        with pytest.raises(UsageProblem, match="every position of the cache needs a row of the table"):
            launch.plan(small(), {**SIZES, "TABLE_ROWS": 4})

    def test_a_length_above_the_capacity_is_refused_on_the_host(self) -> None:
        launch.check_values(small(), {"lengths": np.array([0, 5], dtype=np.uint32)}, SIZES)
        with pytest.raises(UsageProblem, match=r"lengths\[1\] is 6; expected a number from 0 to 5"):
            launch.check_values(small(), {"lengths": np.array([0, 6], dtype=np.uint32)}, SIZES)

    def test_bytes_of_bindings_and_uniforms(self) -> None:
        plan = launch.plan(small(qk_norm=True, cache="f16", rotary_dim=8), SIZES, {"EPS": 1e-5})
        assert plan.binding_bytes == {
            "qkv": 2 * 3 * 8 * 8 * 4,
            "q": 2 * 3 * 4 * 8 * 4,
            "rope_table": 6 * 4 * 2 * 4,
            "lengths": 2 * 4,
            "norm_weight": 2 * 8 * 4,
            "k_cache": 2 * 2 * 5 * 2 * 8 * 2,
            "v_cache": 2 * 2 * 5 * 2 * 8 * 2,
        }
        assert plan.uniform_bytes == struct.pack("<IIfIIIII", 2, 3, 1e-5, 5, 1, 0, 0, 0)
        with pytest.raises(UsageProblem, match=r"no value for EPS \(uniform eps\)"):
            launch.plan(small(qk_norm=True), SIZES)
        scalars = launch.plan(small(vector=1, rotary_dim=2), SIZES).binding_bytes
        assert scalars["rope_table"] == 6 * 1 * 2 * 4

    def test_the_plain_twin_computes_the_same_and_needs_nothing_more(self) -> None:
        plain = small(qk_norm=True, subgroups=True, workgroup_size=128, cache="f16").plain()
        assert plain == small(qk_norm=True, vector=1, workgroup_size=64, cache="f16")


class TestOracle:
    def test_pairs_by_hand(self) -> None:
        x = np.arange(1.0, 9.0)[None]
        turns = np.repeat(QUARTER[0], 2, axis=0)[None]
        half, magnitudes = rotated(x, turns, "half")
        assert half[0].tolist() == [-3.0, -4.0, 1.0, 2.0, 5.0, 6.0, 7.0, 8.0]
        assert magnitudes[0].tolist() == [3.0, 4.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0]
        interleaved, _ = rotated(x, turns, "interleaved")
        assert interleaved[0].tolist() == [-2.0, 1.0, -4.0, 3.0, 5.0, 6.0, 7.0, 8.0]

    def test_every_element_may_rotate(self) -> None:
        values, _ = rotated(np.array([[3.0, 4.0]]), np.array([[[0.6, 0.8]]]), "half")
        np.testing.assert_allclose(values, [[-1.4, 4.8]], rtol=1e-15)

    def test_a_norm_stands_in_front_of_the_rotation(self) -> None:
        x = np.array([3.0, 4.0]).reshape(1, 1, 1, 2)
        values, magnitudes = heads(x, np.array([1.0, 2.0], dtype=np.float32), QUARTER[None], "half")
        scale = 1.0 / np.sqrt(12.5 + np.float64(np.float32(1e-6)))
        np.testing.assert_allclose(values.ravel(), [-8.0 * scale, 3.0 * scale], rtol=1e-15)
        np.testing.assert_allclose(magnitudes.ravel(), np.abs(values).ravel(), rtol=1e-15)

    def test_a_length_counts_the_tokens_of_the_call(self) -> None:
        lengths = np.array([9, 3, 1, 0], dtype=np.uint32)
        assert positions(lengths, 3).tolist() == [[6, 7, 8], [0, 1, 2], [-2, -1, 0], [-3, -2, -1]]

    @pytest.mark.parametrize("source", ["packed", "separate"])
    def test_only_the_rows_of_the_call_are_written(self, source: str, rng: np.random.Generator) -> None:
        sizes = {"B": 5, "M": 3, "CAPACITY": 7, "LAYERS": 2, "LAYER": 1, "TABLE_ROWS": 7}
        made = problem(small(source=source).model_dump(), sizes, rng)
        lengths = made.inputs["lengths"].tolist()
        assert lengths[1:4] == [7, 1, 0]
        keys = expected_values(made.expected["k_cache"]).reshape(2, 5, 7, 2 * 8)
        assert np.isnan(keys[0]).all(), "the other layer"
        for b, length in enumerate(lengths):
            assert np.flatnonzero(np.isfinite(keys[1, b]).any(axis=-1)).tolist() == [
                p for p in range(7) if length - 3 <= p < length
            ]
        q = expected_values(made.expected["q"]).reshape(5, 3, 4, 8)
        before = made.inputs["q"].astype(np.float64) if source == "separate" else np.zeros_like(q)
        assert (q[2, :2] == before[2, :2]).all()
        assert (q[3] == before[3]).all()

    @pytest.mark.parametrize(("activation", "large"), [("f32", 1e16), ("f16", 2500.0)])
    def test_problems_hold_zeros_large_and_tiny_heads(
        self, activation: str, large: float, rng: np.random.Generator
    ) -> None:
        made = problem(small(activation=activation).model_dump(), SIZES, rng)
        largest = np.abs(made.inputs["qkv"].astype(np.float64)).max(axis=-1).ravel()
        assert (largest == 0.0).any()
        assert largest.max() > large
        assert ((largest > 0.0) & (largest < 1e-3)).any()

    def test_a_pair_turned_the_other_way_is_rejected(self, rng: np.random.Generator) -> None:
        variant = small()
        made = problem(variant.model_dump(), SIZES, rng)
        q = made.expected["q"]
        right = expected_values(q).astype(np.float32)
        assert q.judge(right.tobytes(), variant.tolerance()).problem is None
        other = problem(small(pairing="interleaved").model_dump(), SIZES, np.random.default_rng(0))
        for wrong in (right * np.float32(1.000001), right[::-1], expected_values(other.expected["q"])):
            assert q.judge(wrong.astype(np.float32).tobytes(), variant.tolerance()).problem is not None


def expected_values(expected: Any) -> NDArray[np.float64]:
    """Return the numbers [rows, columns] that an output should have."""
    assert isinstance(expected, Close)
    return expected.values


def run(gpu: Gpu, variant: RopeCacheKv, inputs: dict[str, NDArray[Any]]) -> dict[str, bytes]:
    parameters = {"EPS": 1e-6} if variant.qk_norm else {}
    return Runner(gpu, variant, render(variant, "test")).run(inputs, SIZES, parameters)


class TestOnADevice:
    @pytest.mark.parametrize("norm", [False, True])
    def test_narrow_caches_change_nothing_else(self, norm: bool, lavapipe: Gpu, rng: np.random.Generator) -> None:
        """A rounding that is granted to one output hides nothing in another."""
        wide, narrow = small(qk_norm=norm), small(qk_norm=norm, cache="f16")
        inputs = dict(problem(wide.model_dump(), SIZES, rng).inputs)
        one = run(lavapipe, wide, inputs)
        caches = {name: inputs[name].astype(np.float16) for name in ("k_cache", "v_cache")}
        assert run(lavapipe, narrow, {**inputs, **caches})["q"] == one["q"]

    def test_narrow_activations_do_not_reach_a_wide_cache(self, lavapipe: Gpu, rng: np.random.Generator) -> None:
        wide, narrow = small(qk_norm=True), small(qk_norm=True, activation="f16")
        inputs = dict(problem(narrow.model_dump(), SIZES, rng).inputs)
        one = run(lavapipe, narrow, inputs)
        other = run(lavapipe, wide, {**inputs, "qkv": inputs["qkv"].astype(np.float32)})
        assert (one["k_cache"], one["v_cache"]) == (other["k_cache"], other["v_cache"])

    @pytest.mark.parametrize("source", ["packed", "separate"])
    def test_a_length_past_the_capacity_writes_no_row_that_is_not_there(
        self, source: str, lavapipe: Gpu, rng: np.random.Generator
    ) -> None:
        """Positions 3 to 5 of 5 rows, and one so far that it wraps: guards around the caches see any stray write."""
        variant = small(source=source)
        inputs = dict(problem(variant.model_dump(), SIZES, rng).inputs)
        inputs["lengths"] = np.array([6, 2**32 - 1], dtype=np.uint32)
        outputs = run(lavapipe, variant, inputs)
        keys = np.frombuffer(outputs["k_cache"], np.float32).reshape(2, 2, 5, 16)
        assert np.argwhere(np.isfinite(keys).any(axis=-1)).tolist() == [[1, 0, 3], [1, 0, 4]]
        q = np.frombuffer(outputs["q"], np.float32).reshape(2, 3, 4, 8)
        before = inputs["q"] if source == "separate" else np.zeros_like(q)
        assert (q[0, 2] == before[0, 2]).all()
        assert (q[1] == before[1]).all()
