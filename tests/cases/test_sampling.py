"""From logits to a token: C08 and C37 at run time, and the vocabularies of C20."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases.support import runner
from wgslgen.adapters import Gpu
from wgslgen.kernels.argmax import Argmax
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.top_k import TopK
from wgslgen.oracles.argmax import f32_bits, row, winner, words
from wgslgen.oracles.top_k import best

NAN, INF = float("nan"), float("inf")
Rows = NDArray[Any]
FORMS = [(False, 64), (False, 256), (True, 64), (True, 256)]
"""Subgroups, and threads of a workgroup."""


def token(gpu: Gpu, x: Rows, form: tuple[bool, int], chunk: Any = 256) -> list[int]:
    """Return the tokens of logits x [M, N], f32 or f16, by both passes; the second one's value must be the token's."""
    m, n = x.shape
    how: dict[str, Any] = {"subgroups": form[0], "workgroup_size": form[1]}
    first = Argmax(activation="f16" if x.dtype == np.float16 else "f32", chunk=chunk, **how)
    slots = {
        name: np.frombuffer(raw, np.uint32)
        for name, raw in runner(gpu, first).run({"logits": words(x)}, {"M": m, "N": n}).items()
    }
    found = runner(gpu, ArgmaxMerge(value=True, **how)).run(slots, {"M": m, "SLOTS": -(-n // chunk)})
    tokens = np.frombuffer(found["token"], np.uint32)
    np.testing.assert_array_equal(np.frombuffer(found["value"], np.uint32), f32_bits(x)[np.arange(m), tokens])
    without = runner(gpu, ArgmaxMerge(**how)).run(slots, {"M": m, "SLOTS": -(-n // chunk)})
    assert without["token"] == found["token"]
    return [int(index) for index in tokens]


def merged(gpu: Gpu, values: Sequence[float], indices: Iterable[int], form: tuple[bool, int]) -> int:
    """Return the token of a row whose slots hold these, as an `lm_head_argmax` may have left them."""
    slots = {"best_value": np.array(values, np.float32), "best_index": np.array([*indices], np.uint32)}
    variant = ArgmaxMerge.model_validate({"subgroups": form[0], "workgroup_size": form[1]})
    raw = runner(gpu, variant).run(slots, {"M": 1, "SLOTS": len(values)})["token"]
    return int(np.frombuffer(raw, np.uint32)[0])


def largest(gpu: Gpu, x: Rows, variant: TopK) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return value bits and indices [M, K_TOP] of logits x [M, N] by all the stages that they take."""
    m, n = x.shape
    given = {"logits": words(x)}
    for stage in variant.stages(n):
        raw = runner(gpu, variant).run(given, {"M": m, "N": stage.columns})
        values, indices = (np.frombuffer(raw[name], np.uint32) for name in ("values", "indices"))
        given, variant = {"logits": values, "ids": indices}, variant.merging()
    return values.reshape(m, -1), indices.reshape(m, -1)


# ---- C08 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("form", FORMS)
def test_c08_nan_is_seen_between_numbers(form: tuple[bool, int], dtype: type, gpu: Gpu) -> None:
    """By its bits: on some devices a comparison of floats would not see it. f16 logits need no f16."""
    assert token(gpu, np.array([[1.0, NAN, 3.0], [3.0, NAN, 1.0]], dtype), form) == [2, 0]


# ---- C37 -------------------------------------------------------------------------------------------


def c37_rows(dtype: type) -> tuple[Rows, list[int]]:
    """Return rows [8, 1000] and their tokens: 1000 is no multiple of a workgroup, nor of a chunk."""
    x: Rows = np.full((8, 1000), -INF, dtype)
    x[1] = NAN
    x[2] = NAN
    x[2, 777] = -INF
    x[3] = 0.5
    x[3, 999] = 2.0
    x[4, [500, 300, 900]] = 1.0
    x[5] = -1.0
    x[5, 650:] = np.where(np.arange(350) % 2, 0.0, -0.0)
    x[6] = NAN
    x[6, 998:] = [-3.0, -2.0]
    x[7] = np.finfo(dtype).min
    x[7, 0] = -INF
    return x, [0, 0, 777, 999, 300, 650, 999, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("form", FORMS)
def test_c37_nan_infinities_and_ties(form: tuple[bool, int], dtype: type, gpu: Gpu) -> None:
    """All -infinity is 0, all NaN is 0; the maximum may stand in the tail, and NaN loses to -infinity, too."""
    x, tokens = c37_rows(dtype)
    for chunk in (256, 1024):
        assert token(gpu, x, form, chunk) == tokens
    assert token(gpu, np.array([[NAN, 1.0, 3.0]], dtype), form) == [2]
    for lone in (NAN, -INF, INF, 0.0):
        assert token(gpu, np.array([[lone]], dtype), form) == [0]


@pytest.mark.parametrize("form", FORMS)
def test_c37_partials_in_any_order(form: tuple[bool, int], gpu: Gpu) -> None:
    """As `lm_head_argmax` leaves them: a slot's place says nothing of its index."""
    assert merged(gpu, [5.0], [123], form) == 123
    assert merged(gpu, [2.0, 2.0, 2.0, 1.0], [9, 4, 7, 0], form) == 4
    assert merged(gpu, [-0.0, 0.0], [9, 4], form) == 4
    assert merged(gpu, [NAN, 1.0, 3.0], [0, 1, 2], form) == 2
    assert merged(gpu, [NAN, NAN, NAN], [30, 10, 20], form) == 10
    assert merged(gpu, [NAN, -INF, NAN], [1, 77, 3], form) == 77
    assert merged(gpu, [-INF] * 300, range(300, 0, -1), form) == 1
    assert merged(gpu, [NAN] * 1000 + [-INF], range(1001, 0, -1), form) == 1
    assert merged(gpu, [1.0] * 40000, range(40004, 4, -1), form) == 5


def test_c37_top_k_puts_nan_last_and_never_repeats(gpu: Gpu) -> None:
    for dtype in (np.float32, np.float16):
        x, tokens = c37_rows(dtype)
        kind: Any = "f16" if dtype == np.float16 else "f32"
        _, indices = largest(gpu, x, TopK(activation=kind, k_top=3, chunk=256))
        assert indices[:, 0].tolist() == tokens
        assert indices.tolist()[:3] == [[0, 1, 2], [0, 1, 2], [777, 0, 1]]
        assert indices.tolist()[4] == [300, 500, 900]
        assert indices.tolist()[6] == [999, 998, 0]


# ---- C20 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [151669, 248320])
def test_c20_whole_vocabularies(n: int, gpu: Gpu, rng: np.random.Generator) -> None:
    """The first rows of the kinds that the oracle makes, and one whose maximum is the last logit of all."""
    x = np.stack([row(kind, n, np.dtype(np.float32), rng) for kind in (0, 6, 9)])
    expected = [winner(of.astype(np.float64), np.arange(n)) for of in np.nan_to_num(x, nan=-INF)]
    assert expected[2] == n - 1
    assert token(gpu, x, (False, 256), 1024) == expected
    assert token(gpu, x, (True, 128), 4096) == expected
    for variant in (TopK(k_top=64, chunk=1024), TopK(k_top=5, chunk=2048, workgroup_size=256)):
        values, indices = largest(gpu, x, variant)
        for at in range(len(x)):
            value, index = best(x[at], np.arange(n, dtype=np.uint32), variant.k_top)
            np.testing.assert_array_equal(indices[at], index)
            np.testing.assert_array_equal(values[at], value)


def test_c20_more_slots_than_a_dimension_has_workgroups(lavapipe: Gpu) -> None:
    """70 rows of 970 slots fold into two dimensions, and the surplus workgroups write nothing."""
    x = np.zeros((70, 248320), np.float16)
    x[np.arange(70), np.arange(70) * 3500 + 17] = 1.0
    variant = Argmax(activation="f16", chunk=256)
    assert token(lavapipe, x, (False, 64)) == [at * 3500 + 17 for at in range(70)]
    assert runner(lavapipe, variant).limits["maxComputeWorkgroupsPerDimension"] == 65535


# ---- C49, C53 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_c49_c53_the_same_bits_in_50_runs(form: tuple[bool, int], lavapipe: Gpu, rng: np.random.Generator) -> None:
    """The merge folds twice in one pass, so that its slots are read and written again; every row ties."""
    x = np.stack([row(kind, 1000, np.dtype(np.float32), rng) for kind in range(64)])
    expected = token(lavapipe, x, form)
    variant = ArgmaxMerge.model_validate({"value": True, "subgroups": form[0], "workgroup_size": form[1]})
    slots = {"best_value": f32_bits(x), "best_index": np.tile(np.arange(1000, dtype=np.uint32), (64, 1))}
    runs = {runner(lavapipe, variant).run(slots, {"M": 64, "SLOTS": 1000})["token"] for _ in range(50)}
    assert runs == {np.array(expected, np.uint32).tobytes()}


def test_c53_top_k_gives_the_same_bits_in_20_runs(lavapipe: Gpu, rng: np.random.Generator) -> None:
    x = np.stack([row(kind, 3000, np.dtype(np.float32), rng) for kind in range(12)])
    runs = {tuple(part.tobytes() for part in largest(lavapipe, x, TopK(chunk=256))) for _ in range(20)}
    assert len(runs) == 1
