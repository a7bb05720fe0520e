"""Cases of attention: softmax, masks, head maps, cache strides, lengths, order of sums."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

from cases.attention import Numbers, cached, decode
from cases.support import runner
from wgslgen.adapters import Gpu
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.verify import verify_on

FORMS = [{"subgroups": subgroups, "workgroup_size": size} for subgroups, size in ((False, 64), (True, 128))]


def zeros(*shape: int) -> Numbers:
    return np.zeros(shape)


def constant(values: Any, *shape: int) -> Numbers:
    """Return an array of `shape` that holds `values`, which stand for its first axes."""
    array = np.asarray(values, np.float64)
    return np.broadcast_to(array.reshape(*array.shape, *[1] * (len(shape) - array.ndim)), shape)


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


# ---- C10 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c10_a_key_that_is_no_number_shows_in_its_heads_and_changes_no_others(
    form: dict[str, Any], gpu: Gpu, rng: np.random.Generator
) -> None:
    q = rng.standard_normal((1, 6, 64))
    k, v = rng.standard_normal((2, 1, 150, 2, 64))
    clean = decode(gpu, q, k, v, [150], 0.125, **form)
    for at in (0, 70, 149):
        broken = k.copy()
        broken[0, at, 0, 5] = np.nan
        y = decode(gpu, q, broken, v, [150], 0.125, **form)
        assert np.isnan(y[0, :3]).all(), at
        np.testing.assert_array_equal(y[0, 3:], clean[0, 3:])


# ---- C22, C23 --------------------------------------------------------------------------------------


def test_c22_heads_of_320_take_the_larger_workgroup_and_lose_no_dims(gpu: Gpu) -> None:
    variant = AttentionSplit(q_heads=2, kv_heads=1, head_dim=320, num_splits=2, workgroup_size=128)
    outcome = verify_on(gpu, variant)
    assert outcome.status == "passed", outcome.problem


# ---- C25 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c25_an_empty_cache_gives_zeros(form: dict[str, Any], gpu: Gpu) -> None:
    """Behind length 0 all of the cache is NaN; the neighbour's rows are not read either."""
    q = np.ones((3, 2, 8))
    k = v = np.ones((3, 5, 1, 8))
    y = decode(gpu, q, k, v, [0, 5, 0], **form)
    np.testing.assert_array_equal(y, constant([0.0, 1.0, 0.0], 3, 2, 8))


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
    y = decode(gpu, q, k, v, [4], head_map=head_map)
    np.testing.assert_array_equal(y[0], np.broadcast_to(np.array(expected)[:, None], (q_heads, 8)))


# ---- C34 -------------------------------------------------------------------------------------------


def test_c34_rows_lie_where_the_capacity_puts_them(gpu: Gpu) -> None:
    """Values 1000 h + j of 10 keys in a cache of 64 rows: their means, which f32 rounds by little."""
    keys, heads = np.arange(64)[None, :, None, None], np.arange(2)[None, None, :, None]
    v = np.broadcast_to(1000.0 * heads + keys, (1, 64, 2, 8))
    y = decode(gpu, zeros(1, 2, 8), zeros(*v.shape), v, [10])
    np.testing.assert_allclose(y[0], constant([4.5, 1004.5], 2, 8), rtol=1e-6)


# ---- C35 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swap", [False, True])
def test_c35_each_sequence_has_its_own_length(swap: bool, gpu: Gpu) -> None:
    lengths, means = np.array([3, 7]), np.array([1.0, 103.0])
    v = np.broadcast_to((100.0 * np.arange(2)[:, None] + np.arange(9))[..., None, None], (2, 9, 1, 8))
    if swap:
        lengths, means, v = lengths[::-1], means[::-1], v[::-1]
    y = decode(gpu, zeros(2, 1, 8), zeros(*v.shape), v, lengths)
    np.testing.assert_allclose(y, constant(means, 2, 1, 8), rtol=1e-6)


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
