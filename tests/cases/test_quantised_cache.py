"""Cases of caches in q8_0 and q4_0: masks, odd rows of blocks, heads, strides, lengths, and rows as they come in.

Values are numbers that blocks hold exactly, so results are those of a cache in f32. Heads of 32 are one block each, and
share a word of scales with their neighbours.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from cases.attention import FORMS, constant, decode, prefill, softmax, zeros
from cases.quantised import CACHES, Numbers, representable, split_format, untouched, write
from cases.support import runner
from wgslgen.adapters import Gpu
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.qk_norm_rope import QkNormRope
from wgslgen.rope import rope_table

# ---- C09 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cache", CACHES)
def test_c09_a_fully_masked_row_is_exactly_zero(
    cache: str, form: dict[str, Any], gpu: Gpu, rng: np.random.Generator
) -> None:
    q = rng.standard_normal((1, 33, 2, 64))
    k, v = (representable(cache, rng.standard_normal((1, 33, 1, 64))) for _ in "kv")
    mask = np.zeros((1, 33, 33))
    mask[:, 0], mask[:, 32] = -np.inf, np.finfo(np.float32).min
    y = prefill(gpu, q, k, v, [33], 0.125, mask, cache=cache, **form)
    np.testing.assert_array_equal(y[:, [0, 32]], 0.0)
    scores = 0.125 * np.einsum("mhd,nd->mhn", q[0], k[0, :, 0])
    future = np.arange(33) > np.arange(33)[:, None]
    expected = softmax(np.where(future[:, None], -np.inf, scores)) @ v[0, :, 0]
    np.testing.assert_allclose(y[0, 1:32], expected[1:32], atol=2e-6)


# ---- C28 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("cache", "rows", "blocks"), [("q4_0", 3, 3), ("q8_0", 5, 1), ("q8_0", 3, 3), ("q4_0", 5, 1)])
def test_c28_rows_of_an_odd_number_of_blocks(
    cache: str, rows: int, blocks: int, form: dict[str, Any], gpu: Gpu
) -> None:
    """Scale (r + 1) (b + 1) / 8 of block b in row r, and codes of 1: three blocks add up to 24, 48 and 72."""
    scales = np.outer(np.arange(1, rows + 1), np.arange(1, blocks + 1)) / 8.0
    v = scales.repeat(32, axis=1)[:, None, None]
    sums = np.arange(1, rows + 1) * {1: 4.0, 3: 24.0}[blocks]
    y = decode(gpu, np.ones((rows, 1, 32 * blocks)), v, v, [1] * rows, cache=cache, **form)
    np.testing.assert_array_equal(y[:, 0], v[:, 0, 0])
    np.testing.assert_array_equal(y.sum(axis=(1, 2)), sums)
    y = prefill(gpu, np.ones((rows, 1, 1, 32 * blocks)), v, v, [1] * rows, cache=cache, **form)
    np.testing.assert_array_equal(y.sum(axis=(1, 2, 3)), sums)


# ---- C33 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(
    ("q_heads", "kv_heads", "head_map", "expected"),
    [
        (6, 2, "repeat", [1, 1, 1, 2, 2, 2]),
        (28, 4, "repeat", [1] * 7 + [2] * 7 + [3] * 7 + [4] * 7),
        (9, 3, "repeat", [1, 1, 1, 2, 2, 2, 3, 3, 3]),
        (6, 2, "tile", [1, 2, 1, 2, 1, 2]),
    ],
)
def test_c33_query_heads_share_the_key_head_of_their_group(
    q_heads: int, kv_heads: int, head_map: Literal["repeat", "tile"], expected: list[int], cache: str, gpu: Gpu
) -> None:
    q, k = zeros(1, q_heads, 32), zeros(1, 4, kv_heads, 32)
    v = np.broadcast_to(1.0 + np.arange(kv_heads)[:, None], k.shape)
    heads = np.broadcast_to(np.array(expected)[:, None], (q_heads, 32))
    np.testing.assert_array_equal(decode(gpu, q, k, v, [4], head_map=head_map, cache=cache)[0], heads)
    y = prefill(gpu, q[:, None].repeat(3, axis=1), k, v, [4], head_map=head_map, cache=cache)
    np.testing.assert_array_equal(y[0], np.broadcast_to(heads, y[0].shape))


# ---- C34 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", CACHES)
def test_c34_rows_lie_where_the_capacity_puts_them(cache: str, gpu: Gpu) -> None:
    """Values 1000 h + j of 10 keys in a cache of 64 rows; a second sequence, with 500 more, stands behind."""
    keys, heads = np.arange(64)[None, :, None, None], np.arange(2)[None, None, :, None]
    v = np.broadcast_to(500.0 * np.arange(2)[:, None, None, None] + 1000.0 * heads + keys, (2, 64, 2, 32))
    means = np.array([[4.5, 1004.5], [504.5, 1504.5]])
    y = decode(gpu, zeros(2, 2, 32), zeros(*v.shape), v, [10, 10], cache=cache)
    np.testing.assert_allclose(y, constant(means, 2, 2, 32), rtol=1e-6)
    y = prefill(gpu, zeros(2, 2, 2, 32), zeros(*v.shape), v, [10, 10], cache=cache)
    np.testing.assert_allclose(y, constant(np.stack([means - 0.5, means], axis=1), 2, 2, 2, 32), rtol=1e-6)


# ---- C35 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("swap", [False, True])
def test_c35_each_sequence_has_its_own_length(swap: bool, cache: str, gpu: Gpu) -> None:
    """With 9 rows of one block the second sequence starts in the middle of a word of scales."""
    lengths, means = np.array([3, 7]), np.array([1.0, 103.0])
    v = np.broadcast_to((100.0 * np.arange(2)[:, None] + np.arange(9))[..., None, None], (2, 9, 1, 32))
    if swap:
        lengths, means, v = lengths[::-1], means[::-1], v[::-1]
    y = decode(gpu, zeros(2, 1, 32), zeros(*v.shape), v, lengths, cache=cache)
    np.testing.assert_allclose(y, constant(means, 2, 1, 32), rtol=1e-6)
    y = prefill(gpu, zeros(2, 2, 1, 32), zeros(*v.shape), v, lengths, cache=cache)
    np.testing.assert_allclose(y, constant(np.stack([means - 0.5, means], axis=1), 2, 2, 1, 32), rtol=1e-6)


# ---- C36 -------------------------------------------------------------------------------------------

B, CAPACITY, LAYERS, LAYER = 2, 15, 2, 1
Caches = dict[str, dict[str, Numbers]]


def remember(gpu: Gpu, cache: str, k: Numbers, v: Numbers, first: int, caches: Caches) -> Caches:
    """Return the caches behind tokens k and v [B, M, kv_heads, head_dim] at positions from `first` on.

    Keys are normalised and rotated in place; then each token is a row of each cache.
    """
    _, m, heads, dim = k.shape
    rotate = QkNormRope(q_heads=heads, kv_heads=heads, head_dim=dim)
    inputs = {
        "q": k,
        "k": k,
        "rope_table": rope_table(CAPACITY, dim, 1e4),
        "lengths": np.full(B, first + m, np.uint32),
        "norm_weight": np.linspace(0.5, 1.5, 2 * dim, dtype=np.float32),
    }
    raw = runner(gpu, rotate).run(inputs, {"B": B, "M": m, "TABLE_ROWS": CAPACITY}, {"EPS": 1e-6})
    rotated = np.frombuffer(raw["k"], np.float32)
    ids = ((LAYER * B + np.arange(B)[:, None]) * CAPACITY + first + np.arange(m)).ravel()
    rows = LAYERS * B * CAPACITY
    return {
        letter: write(gpu, cache, x.reshape(B * m, heads * dim), ids, rows, caches[letter])
        for letter, x in (("k", rotated), ("v", v))
    }


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("heads", [1, 3])
def test_c36_decoded_tokens_follow_those_of_the_prefill(
    heads: int, cache: str, gpu: Gpu, rng: np.random.Generator
) -> None:
    """9 tokens and then 3, one by one, leave the bytes of 12 at once, and no others; both kinds of attention read them.

    Of a row of one head two positions share a word of scales, and with 15 rows two sequences do.
    """
    k, v = rng.standard_normal((2, B, 12, heads, 32)).astype(np.float32)
    rows, fmt = LAYERS * B * CAPACITY, split_format(cache)
    empty: Caches = {letter: untouched(cache, rows, heads * 32) for letter in "kv"}
    at_once = remember(gpu, cache, k, v, 0, empty)
    caches = remember(gpu, cache, k[:, :9], v[:, :9], 0, empty)
    for position in (9, 10, 11):
        one = slice(position, position + 1)
        caches = remember(gpu, cache, np.ascontiguousarray(k[:, one]), v[:, one].copy(), position, caches)
    written = np.zeros((LAYERS, B, CAPACITY), np.bool_)
    written[LAYER, :, :12] = True
    for letter in "kv":
        for name, size in (("codes", heads * 4 * fmt.bits), ("scales", heads * 2)):
            plane = caches[letter][name]
            np.testing.assert_array_equal(plane, at_once[letter][name])
            by_row = plane[: rows * size].reshape(rows, size)
            assert (by_row[~written.ravel()] == 0xAA).all()
            assert (by_row[written.ravel()] != 0xAA).any(axis=1).all()
    values = {letter: held(cache, planes, heads) for letter, planes in caches.items()}
    np.testing.assert_allclose(values["v"], v, atol=0.03 if cache == "q8_0" else 0.5)
    _see_all(gpu, cache, caches, values, rng.standard_normal((B, 12, 2 * heads, 32)).astype(np.float32))


def held(cache: str, planes: dict[str, Numbers], heads: int) -> Numbers:
    """Return what the planes hold of the layer's first 12 tokens, [B, 12, heads, 32]."""
    fmt, count = split_format(cache), LAYERS * B * CAPACITY * heads
    codes = fmt.code_bytes
    data = np.empty((count, fmt.block_bytes), np.uint8)
    data[:, fmt.code_offset : fmt.code_offset + codes] = planes["codes"].reshape(count, codes)
    data[:, :2] = planes["scales"][: 2 * count].reshape(count, 2)
    return fmt.unpack(data).reshape(LAYERS, B, CAPACITY, heads, 32)[LAYER, :, :12]


def _see_all(gpu: Gpu, cache: str, caches: Caches, values: dict[str, Numbers], q: Numbers) -> None:
    """Compare what 12 tokens see, q [B, 12, q_heads, 32], and what the last one of them sees, with float64."""
    heads = values["k"].shape[2]
    shape: dict[str, Any] = {"q_heads": q.shape[2], "head_dim": 32}
    keys: dict[str, Any] = {"kv_heads": heads, "cache": cache}
    inputs = {"lengths": np.full(B, 12, np.uint32)}
    for letter, planes in caches.items():
        inputs |= {f"{letter}_cache": planes["codes"], f"{letter}_scales": planes["scales"]}
    sizes = {"B": B, "CAPACITY": CAPACITY, "LAYERS": LAYERS, "LAYER": LAYER}
    scores = 0.25 * np.einsum("bmgrd,bngd->bgrmn", q.reshape(B, 12, heads, 2, 32).astype(np.float64), values["k"])
    past = np.arange(12) <= np.arange(12)[:, None]
    weights = softmax(np.where(past, scores, -np.inf))
    expected = np.einsum("bgrmn,bngd->bmgrd", weights, values["v"]).reshape(q.shape)
    all_tokens = AttentionPrefill(**shape, **keys)
    raw = runner(gpu, all_tokens).run({**inputs, "q": q}, {**sizes, "M": 12}, {"SCALE": 0.25})["y"]
    np.testing.assert_allclose(np.frombuffer(raw, np.float32).reshape(q.shape), expected, atol=2e-6)
    split = AttentionSplit(**shape, **keys, num_splits=3)
    parts = runner(gpu, split).run({**inputs, "q": q[:, 11].copy()}, sizes, {"SCALE": 0.25})
    floats = {name: np.frombuffer(part, np.float32) for name, part in parts.items()}
    raw = runner(gpu, AttentionMerge(**shape, num_splits=3)).run(floats, {"B": B})["y"]
    np.testing.assert_allclose(np.frombuffer(raw, np.float32).reshape(q[:, 11].shape), expected[:, 11], atol=2e-6)
