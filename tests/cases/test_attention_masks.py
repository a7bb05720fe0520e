"""Cases of attention: what masks exclude, and keys that are no numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cases.attention import FORMS, decode, prefill, softmax
from wgslgen.adapters import Gpu
from wgslgen.compare import Close
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.softmax import Softmax
from wgslgen.render import render

# ---- C07 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c07_real_infinities_of_a_mask_exclude(form: dict[str, Any], gpu: Gpu, rng: np.random.Generator) -> None:
    """Both -infinity and the lowest number, among numbers that are added; what is excluded weighs exactly nothing."""
    m, n = 37, 70
    q, (k, v) = rng.standard_normal((1, m, 2, 64)), rng.standard_normal((2, 1, n, 1, 64))
    numbers = rng.standard_normal((1, m, n)).astype(np.float32)
    excluded = rng.choice([0.0, -np.inf, float(np.finfo(np.float32).min)], (1, m, n), p=[0.4, 0.3, 0.3])
    mask = np.where(excluded < 0.0, excluded, numbers).astype(np.float32)
    assert (mask.view(np.uint32) == 0xFF800000).sum() > 500
    y = prefill(gpu, q, k, v, [n], 0.125, mask, **form)
    scores = 0.125 * np.einsum("mhd,nd->mhn", q[0], k[0, :, 0]) + np.where(excluded < 0.0, -np.inf, numbers)[0][:, None]
    future = np.arange(n) > np.arange(n - m, n)[:, None]
    expected = softmax(np.where(future[:, None], -np.inf, scores)) @ v[0, :, 0]
    np.testing.assert_allclose(y[0], expected, atol=2e-6)
    # Other values where all is excluded, or hidden, change no bit.
    hidden = (future | (excluded[0] < 0.0)).all(axis=0)
    hidden[-1] = True
    mask[..., -1] = -np.inf
    before = prefill(gpu, q, k, v, [n], 0.125, mask, **form)
    other = np.where(hidden[:, None, None], 1e6, v)
    np.testing.assert_array_equal(prefill(gpu, q, k, other, [n], 0.125, mask, **form), before)


# ---- C09 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lowest", [-np.inf, -3.4028235e38])
def test_c09_a_fully_masked_row_is_exactly_zero(
    lowest: float, form: dict[str, Any], gpu: Gpu, rng: np.random.Generator
) -> None:
    q, (k, v) = rng.standard_normal((1, 33, 2, 64)), rng.standard_normal((2, 1, 33, 1, 64))
    mask = np.zeros((1, 33, 33))
    clean = prefill(gpu, q, k, v, [33], 0.125, mask, **form)
    mask[:, [0, 32]] = lowest
    y = prefill(gpu, q, k, v, [33], 0.125, mask, **form)
    np.testing.assert_array_equal(y[:, [0, 32]], 0.0)
    np.testing.assert_array_equal(y[:, 1:32], clean[:, 1:32])
    scores = 0.125 * np.einsum("mhd,nd->mhn", q[0], k[0, :, 0])
    future = np.arange(33) > np.arange(33)[:, None]
    expected = softmax(np.where(future[:, None], -np.inf, scores)) @ v[0, :, 0]
    np.testing.assert_allclose(y[0, 1:32], expected[1:32], atol=2e-6)


def test_c09_a_reference_that_is_no_number_excuses_no_number() -> None:
    nan, one = np.full((1, 4), np.nan), np.ones((1, 4))
    tolerance = AttentionPrefill(q_heads=1, kv_heads=1, head_dim=4).tolerance()
    for got, reference in ((nan, one), (one, nan)):
        verdict = Close(reference, one, np.dtype(np.float32)).judge(got.astype(np.float32).tobytes(), tolerance)
        assert verdict.problem is not None
        assert "finite on one side only" in verdict.problem


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


@pytest.mark.parametrize("form", FORMS)
def test_c10_a_key_that_is_no_number_shows_in_the_tokens_that_see_it(
    form: dict[str, Any], gpu: Gpu, rng: np.random.Generator
) -> None:
    q = rng.standard_normal((1, 20, 4, 64))
    k, v = rng.standard_normal((2, 1, 90, 2, 64))
    clean = prefill(gpu, q, k, v, [90], 0.125, **form)
    for at in (3, 77):
        broken = k.copy()
        broken[0, at, 1, 5] = np.nan
        y = prefill(gpu, q, broken, v, [90], 0.125, **form)
        seeing = np.arange(70, 90) >= at
        assert np.isnan(y[0, seeing, 2:]).all(), at
        np.testing.assert_array_equal(y[0, ~seeing, 2:], clean[0, ~seeing, 2:])
        np.testing.assert_array_equal(y[0, :, :2], clean[0, :, :2])


FLOOR = re.compile(r"\bmax\((total|sum|total_sum\([^()]*\)), [\d.]")
"""A sum with a floor under it, which makes a finite number of NaN where max drops it, as WGSL allows."""


def test_c10_no_sum_has_a_floor_under_it() -> None:
    """The results above cannot show it: there the weighted values are NaN, too."""
    shape: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": 64}
    guard = "select(total, 1.0f, total == 0.0f)"
    texts = [
        render(AttentionPrefill(**shape), "tests"),
        render(AttentionMerge(q_heads=4, head_dim=64, num_splits=2), "tests"),
        render(Softmax(), "tests").replace("select(sum, 1.0f, sum == 0.0f)", guard),
    ]
    for text in texts:
        assert text.count(guard) == 1
        assert not FLOOR.search(text)
        assert FLOOR.search(text.replace(guard, "max(total, 1e-20f)"))
    assert not FLOOR.search(render(AttentionSplit(**shape, num_splits=2), "tests"))


@pytest.mark.parametrize("form", FORMS)
def test_c10_an_infinite_value_stays_infinite_where_keys_end_within_a_round(form: dict[str, Any], gpu: Gpu) -> None:
    """What a round reads past the last key must be dropped: infinity times a weight of 0 would be no number."""
    keys = np.zeros((1, 70, 1, 64))
    values = np.ones((1, 70, 1, 64))
    for length in (1, 3, 34, 70):
        broken = values.copy()
        broken[0, length - 1, 0, 7] = np.inf
        expected = np.where(np.arange(64) == 7, np.inf, 1.0)
        y = decode(gpu, np.zeros((1, 2, 64)), keys, broken, [length], splits=1, **form)
        np.testing.assert_array_equal(y[0], np.tile(expected, (2, 1)))
        y = prefill(gpu, np.zeros((1, 1, 2, 64)), keys, broken, [length], **form)
        np.testing.assert_array_equal(y[0, 0], np.tile(expected, (2, 1)))
