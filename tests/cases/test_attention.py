"""Cases of attention: softmax, sizes, head maps, cache strides, lengths, order of sums."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from cases.attention import FORMS, Numbers, cached, constant, decode, prefill, zeros
from cases.support import runner
from wgslgen import launch
from wgslgen.adapters import Gpu
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.verify import verify_on

# ---- C03 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_c03_far_scores_do_not_overflow(rows: int, form: dict[str, Any], gpu: Gpu) -> None:
    """Scaled scores 100, 0 and -100, for 1, 2 and 5 query heads of a key head, in f32 and f16, at once and split."""
    q = np.eye(1, 4)[None].repeat(rows, axis=1)
    k = constant([[100.0, 0.0, -100.0]], 1, 3, 1, 4)
    v = constant([[1.0, 2.0, 3.0]], 1, 3, 1, 4)
    types = ["f32", "f16"] if "shader-f16" in gpu.features else ["f32"]
    for activation, splits in product(types, (1, 3)):
        y = decode(gpu, q, k, v, [3], splits=splits, cache=activation, activation=activation, **form)
        np.testing.assert_array_equal(y, 1.0)
    for activation in types:
        # Of two tokens the first sees the first two keys.
        tokens = q[:, None].repeat(2, axis=1)
        y = prefill(gpu, tokens, k, v, [3], cache=activation, activation=activation, **form)
        np.testing.assert_array_equal(y, 1.0)


# ---- C20 -------------------------------------------------------------------------------------------


def test_c20_more_workgroups_than_one_dimension_has(lavapipe: Gpu) -> None:
    """A sequence for each workgroup of 65537, which fold into two rows of 32769, with one to spare."""
    b = 65537
    assert launch.fold(b, 65535) == (32769, 2, 1)
    v = constant(np.arange(b) % 4096, b, 1, 1, 4)
    q, lengths = zeros(b, 1, 4), np.arange(b) % 5 != 0
    expected = np.where(lengths[:, None, None], v[:, 0], 0.0)
    np.testing.assert_array_equal(decode(lavapipe, q, v, v, lengths, splits=1), expected)
    np.testing.assert_array_equal(prefill(lavapipe, q[:, None], v, v, lengths, tile_rows=4)[:, 0], expected)


def test_c20_the_merge_of_many_sequences_folds(lavapipe: Gpu) -> None:
    """Without a spare workgroup and with one; each makes the 256 elements of a sequence."""
    variant = AttentionMerge(q_heads=1, head_dim=256, num_splits=1)
    for b in (65536, 65537):
        values = constant(np.arange(b) % 4096, b, 256).astype(np.float32)
        stats = constant([[0.0, 2.0]], 1, 2).repeat(b, axis=0).astype(np.float32)
        y = np.frombuffer(
            runner(lavapipe, variant).run({"partials": values, "stats": stats}, {"B": b})["y"], np.float32
        )
        np.testing.assert_array_equal(y.reshape(b, 256), values / 2.0)


# ---- C22, C23 --------------------------------------------------------------------------------------


def test_c22_heads_of_320_take_the_larger_workgroup_and_lose_no_dims(gpu: Gpu) -> None:
    shape: dict[str, Any] = {"q_heads": 2, "kv_heads": 1, "head_dim": 320, "workgroup_size": 128}
    for variant in (AttentionSplit(**shape, num_splits=2), AttentionPrefill(**shape, tile_rows=4)):
        outcome = verify_on(gpu, variant)
        assert outcome.status == "passed", outcome.problem
    with pytest.raises(ValidationError, match="head_dim 320 needs a thread for every 4 elements, 80"):
        AttentionPrefill(**{**shape, "workgroup_size": 64})


def test_c23_head_dim_256_has_smaller_tiles_or_a_clear_error(gpu: Gpu) -> None:
    """The keys of a tile lie in no workgroup memory; its rows do, and must be few enough."""
    shape: dict[str, Any] = {"q_heads": 2, "kv_heads": 1, "head_dim": 256}
    with pytest.raises(ValidationError, match="take 24576 bytes of workgroup memory, above 16384; use fewer tile_rows"):
        AttentionPrefill(**shape, tile_rows=16)
    variant = AttentionPrefill(**shape, tile_rows=8)
    assert not variant.raised_limits
    outcome = verify_on(gpu, variant, variant.cases()[:2])
    assert outcome.status == "passed", outcome.problem


# ---- C25 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c25_an_empty_cache_gives_zeros(form: dict[str, Any], gpu: Gpu) -> None:
    """Behind length 0 all of the cache is NaN; the neighbour's rows are not read either."""
    q = np.ones((3, 2, 8))
    k = v = np.ones((3, 5, 1, 8))
    y = decode(gpu, q, k, v, [0, 5, 0], **form)
    np.testing.assert_array_equal(y, constant([0.0, 1.0, 0.0], 3, 2, 8))
    y = prefill(gpu, q[:, None].repeat(2, axis=1), k, v, [0, 5, 1], **form)
    np.testing.assert_array_equal(y, constant([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], 3, 2, 2, 8))


# ---- C33 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q_heads", "kv_heads", "head_map", "expected"),
    [
        (6, 2, "repeat", [1, 1, 1, 2, 2, 2]),
        (28, 4, "repeat", [1] * 7 + [2] * 7 + [3] * 7 + [4] * 7),
        (8, 8, "repeat", [*range(1, 9)]),
        (8, 1, "repeat", [1] * 8),
        (9, 3, "repeat", [1, 1, 1, 2, 2, 2, 3, 3, 3]),
        (6, 2, "tile", [1, 2, 1, 2, 1, 2]),
        (9, 3, "tile", [1, 2, 3, 1, 2, 3, 1, 2, 3]),
    ],
)
def test_c33_query_heads_share_the_key_head_of_their_group(
    q_heads: int, kv_heads: int, head_map: Literal["repeat", "tile"], expected: list[int], gpu: Gpu
) -> None:
    q, k = zeros(1, q_heads, 8), zeros(1, 4, kv_heads, 8)
    v = np.broadcast_to(1.0 + np.arange(kv_heads)[:, None], k.shape)
    heads = np.broadcast_to(np.array(expected)[:, None], (q_heads, 8))
    np.testing.assert_array_equal(decode(gpu, q, k, v, [4], head_map=head_map)[0], heads)
    y = prefill(gpu, q[:, None].repeat(3, axis=1), k, v, [4], head_map=head_map)
    np.testing.assert_array_equal(y[0], np.broadcast_to(heads, y[0].shape))


def test_c33_heads_that_share_nothing_whole_are_refused() -> None:
    for kernel, more in ((AttentionSplit, {"num_splits": 1}), (AttentionPrefill, {})):
        with pytest.raises(ValidationError, match="q_heads 6 is not a multiple of kv_heads 4"):
            kernel(q_heads=6, kv_heads=4, head_dim=8, **more)  # type: ignore[arg-type]  # both take these


# ---- C34 -------------------------------------------------------------------------------------------


def test_c34_rows_lie_where_the_capacity_puts_them(gpu: Gpu) -> None:
    """Values 1000 h + j of 10 keys in a cache of 64 rows: their means, which f32 rounds by little.

    A second sequence, with 500 more, stands behind the first: only there does the stride between them show.
    """
    keys, heads = np.arange(64)[None, :, None, None], np.arange(2)[None, None, :, None]
    sequences = np.arange(2)[:, None, None, None]
    v = np.broadcast_to(500.0 * sequences + 1000.0 * heads + keys, (2, 64, 2, 8))
    means = np.array([[4.5, 1004.5], [504.5, 1504.5]])
    y = decode(gpu, zeros(2, 2, 8), zeros(*v.shape), v, [10, 10])
    np.testing.assert_allclose(y, constant(means, 2, 2, 8), rtol=1e-6)
    y = prefill(gpu, zeros(2, 2, 2, 8), zeros(*v.shape), v, [10, 10])
    np.testing.assert_allclose(y, constant(np.stack([means - 0.5, means], axis=1), 2, 2, 2, 8), rtol=1e-6)


# ---- C35 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swap", [False, True])
def test_c35_each_sequence_has_its_own_length(swap: bool, gpu: Gpu) -> None:
    lengths, means = np.array([3, 7]), np.array([1.0, 103.0])
    v = np.broadcast_to((100.0 * np.arange(2)[:, None] + np.arange(9))[..., None, None], (2, 9, 1, 8))
    if swap:
        lengths, means, v = lengths[::-1], means[::-1], v[::-1]
    y = decode(gpu, zeros(2, 1, 8), zeros(*v.shape), v, lengths)
    np.testing.assert_allclose(y, constant(means, 2, 1, 8), rtol=1e-6)
    y = prefill(gpu, zeros(2, 2, 1, 8), zeros(*v.shape), v, lengths)
    np.testing.assert_allclose(y, constant(np.stack([means - 0.5, means], axis=1), 2, 2, 1, 8), rtol=1e-6)


# ---- C53 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c53_twenty_decodes_give_the_same_bits(form: dict[str, Any], gpu: Gpu, rng: np.random.Generator) -> None:
    """The results' buffers are full of 1e30 each time: nothing is added to what lies there."""
    shape: dict[str, Any] = {"q_heads": 6, "head_dim": 64, "num_splits": 5}
    split = AttentionSplit(**shape, kv_heads=2, **form)
    merge = AttentionMerge(**shape, workgroup_size=form["workgroup_size"])
    q, (k, v) = rng.standard_normal((2, 6, 64)), rng.standard_normal((2, 2, 150, 2, 64))
    inputs = cached({}, q, k, v, [150, 77])
    full = {
        "partials": np.full((2, 6, 5, 64), 1e30, np.float32),
        "stats": np.full((2, 6, 5, 2), 1e30, np.float32),
    }
    sizes = {"B": 2, "CAPACITY": 150, "LAYERS": 1, "LAYER": 0}
    runs: list[dict[str, bytes]] = []
    for _ in range(20):
        raw = runner(gpu, split).run({**inputs, **full}, sizes, {"SCALE": 0.125})
        parts: dict[str, Numbers] = {name: np.frombuffer(raw[name], np.float32) for name in full}
        y = np.full((2, 6, 64), 1e30, np.float32)
        runs.append({**raw, **runner(gpu, merge).run({**parts, "y": y}, {"B": 2})})
    assert all(run == runs[0] for run in runs)
    y = np.frombuffer(runs[0]["y"], np.float32).reshape(2, 6, 64)
    for row, length in enumerate((150, 77)):
        for head in range(6):
            weights = np.exp(0.125 * k[row, :length, head // 3] @ q[row, head])
            expected = weights @ v[row, :length, head // 3] / weights.sum()
            np.testing.assert_allclose(y[row, head], expected, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_c53_twenty_prefills_give_the_same_bits(form: dict[str, Any], gpu: Gpu, rng: np.random.Generator) -> None:
    variant = AttentionPrefill(q_heads=6, kv_heads=2, head_dim=64, **form)
    q, (k, v) = rng.standard_normal((2, 9, 6, 64)), rng.standard_normal((2, 2, 150, 2, 64))
    inputs = cached({}, q, k, v, [150, 77]) | {"y": np.full((2, 9, 6, 64), 1e30, np.float32)}
    sizes = {"B": 2, "M": 9, "CAPACITY": 150, "LAYERS": 1, "LAYER": 0}
    first, *others = (runner(gpu, variant).run(inputs, sizes, {"SCALE": 0.125}) for _ in range(20))
    assert all(other == first for other in others)
    # The last token of a prefill is what decode makes of it, but for the order of sums.
    y = np.frombuffer(first["y"], np.float32).astype(np.float64).reshape(q.shape)
    np.testing.assert_allclose(decode(gpu, q[:, -1], k, v, [150, 77], 0.125, **form), y[:, -1], atol=2e-6)
