from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases.support import opened, runner, widest
from cases.test_limits import q1_rows
from wgslgen import launch, layouts
from wgslgen.adapters import Gpu
from wgslgen.errors import OracleMismatch
from wgslgen.harness import Runner
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.naming import variant_name
from wgslgen.oracles.quantize_q8 import packed, quantise
from wgslgen.render import render
from wgslgen.spec import Case
from wgslgen.validate import validate
from wgslgen.verify import verify_on

Words = NDArray[np.uint32]


def heads(fmt: str, group: int | None = None, **constants: Any) -> list[LmHeadArgmax]:
    """Return the head on every route, with subgroups and without."""
    ways: list[dict[str, Any]] = [
        {"route": "float", "layout": "planar"},
        {"route": "int8", "layout": "ggml", "activation_group": 32},
        {"route": "block", "layout": "ggml"},
    ]
    base = {"format": fmt, "group": group, "tile_rows": 4, **constants}
    return [widest(LmHeadArgmax, **base, **way, subgroups=subgroups) for way in ways for subgroups in (False, True)]


def sizes_for(variant: LmHeadArgmax, n: int, k: int) -> dict[str, int]:
    """Return the sizes of a head in one dispatch."""
    return {"N": n, "K": k, "SLOTS": -(-n // variant.tile_rows), "FIRST_ROW": 0, "FIRST_SLOT": 0}


def best_of(
    gpu: Gpu, variant: LmHeadArgmax, data: NDArray[Any], x: NDArray[np.float32]
) -> tuple[NDArray[np.float32], Words]:
    """Return the value and row of each slot [columns, SLOTS] for weights `data` and x [columns, K]."""
    columns, k = x.shape
    n = data.size // variant.weight_format.row_bytes(k)
    inputs: dict[str, NDArray[Any]] = dict(layouts.pack(variant.weight_format, variant.layout, data, n, k))
    if variant.route == "int8":
        x8, x_scale = packed(quantise(x, variant.activation_group or 0), variant.weight_format.int8_stride or 1)
        inputs |= {"x8": x8, "x_scale": x_scale}
    else:
        inputs["x"] = x
    raw = runner(gpu, variant).run(inputs, sizes_for(variant, n, k))
    value, index = (np.frombuffer(raw[name], dtype) for name, dtype in (("best_value", "<f4"), ("best_index", "<u4")))
    return value.reshape(columns, -1), index.reshape(columns, -1)


def token(value: NDArray[np.float32], index: Words) -> int:
    """Return the row of the best slot of [SLOTS]: the lowest of equal ones."""
    return int(index[value == value.max()].min())


# ---- C18 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile_rows", [2, 4, 8])
def test_c18_rows_that_do_not_fill_a_tile_keep_control_flow_uniform(tile_rows: int, gpu: Gpu) -> None:
    variants = [v for v in heads("q1_0", tile_rows=tile_rows) if v.subgroups]
    report = validate({variant_name(v): render(v, "tests") for v in variants}, require=("naga", "tint"))
    assert not report.rejected, report.findings
    assert not report.not_judged
    for variant in variants:
        cases = [Case(name="C18", sizes=sizes_for(variant, n, 256)) for n in (1, tile_rows + 1, 3 * tile_rows - 1)]
        outcome = verify_on(gpu, variant, cases)
        assert (outcome.status, outcome.runs) == ("passed", 3), outcome.problem


# ---- C20 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "adapter", "subgroups", "winners"),
    [
        (151936, "lavapipe", False, (65535, 65536, 151935)),
        (248320, "lavapipe", True, (65535, 65536, 248319)),
        (151936, "swiftshader", False, (65536,)),
    ],
)
def test_c20_a_head_of_one_row_a_workgroup_folds(
    n: int, adapter: str, subgroups: bool, winners: tuple[int, ...]
) -> None:
    """Row r is (r mod 1024) / 1024 in each weight; the row that must win is 2. Surplus workgroups write nothing."""
    constants: dict[str, Any] = {"tile_rows": 1, "workgroup_size": 32, "subgroups": subgroups}
    variant = widest(LmHeadArgmax, format="q1_0", route="float", **constants)
    grid = launch.plan(variant, sizes_for(variant, n, 256)).workgroups
    assert grid is not None
    assert grid[1] > 1
    x = np.ones((1, 256), np.float32)
    for winner in winners:
        data = q1_rows(n).reshape(n, -1)
        data[winner].reshape(2, 18)[:, :2] = np.array([2.0], "<f2").view(np.uint8)
        value, index = best_of(opened(adapter), variant, data.reshape(-1), x)
        np.testing.assert_array_equal(index[0], np.arange(n))
        np.testing.assert_array_equal(value[0], np.where(np.arange(n) == winner, 512.0, np.arange(n) % 1024 / 4))
        assert token(value[0], index[0]) == winner


# ---- C29 -------------------------------------------------------------------------------------------

WRONG: Mapping[str, tuple[str, str, str]] = {
    "a surplus workgroup": (" && tile < n", "", "wrote outside best_value"),
    "a row past the last": ("min(TILE_ROWS, n - tile)", "TILE_ROWS + 1u", ""),
}


@pytest.mark.parametrize("what", WRONG)
def test_c29_a_head_without_its_guard_is_caught(what: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five rows in tiles of four the last slot has one; a workgroup too many is what a folded dispatch has."""
    good, bad, words = WRONG[what]
    variant = LmHeadArgmax(format="f32", layout="ggml", route="float", columns=2)
    text = render(variant, "tests")
    assert text.count(good) == 1
    weights = np.repeat([[1.0, 0.0], [0.0, 0.0]], [4, 1], axis=0).repeat(2, axis=1).astype(np.float32)
    inputs: dict[str, NDArray[Any]] = {"weights": weights, "x": np.full((2, 4), -1.0, np.float32)}
    if words:
        monkeypatch.setattr(LmHeadArgmax, "workgroups", lambda _: "3")
    sizes = sizes_for(variant, 5, 4)
    right = Runner(gpu, variant, text).run(inputs, sizes)["best_index"]
    assert np.frombuffer(right, "<u4").tolist() == [0, 4, 0, 4]
    wrong = Runner(gpu, variant, text.replace(good, bad))
    if words:
        with pytest.raises(OracleMismatch, match=words):
            wrong.run(inputs, sizes)
    else:
        assert wrong.run(inputs, sizes)["best_index"] != right


# ---- C37 -------------------------------------------------------------------------------------------


def test_c37_all_nan_gives_the_lowest_row_of_each_slot(gpu: Gpu, rng: np.random.Generator) -> None:
    """NaN in the activations makes every logit NaN; on route int8 it comes in by the scale."""
    for variant in heads("q2_0", 64):
        data = variant.weight_format.quantise(rng.standard_normal((10, 128)).astype(np.float32))
        inputs: dict[str, NDArray[Any]] = dict(layouts.pack(variant.weight_format, variant.layout, data, 10, 128))
        nan = np.full(128, np.nan, np.float32)
        if variant.route == "int8":
            inputs |= {"x8": np.zeros(32, np.uint32), "x_scale": np.full((4, 2), np.nan, np.float32)}
        else:
            inputs["x"] = nan
        raw = runner(gpu, variant).run(inputs, sizes_for(variant, 10, 128))
        assert np.frombuffer(raw["best_index"], "<u4").tolist() == [0, 4, 8]
        assert np.isnan(np.frombuffer(raw["best_value"], "<f4")).all()


def test_c37_nan_never_wins_against_a_number_and_infinities_are_numbers(gpu: Gpu) -> None:
    nan, inf = np.nan, np.inf
    logits = [[nan, 1, 3, nan], [nan, -inf, nan, nan], [nan, nan, nan, nan], [-inf, inf, nan, inf], [-0.0, 0.0, 0, -1]]
    weights = np.zeros((20, 4), np.float32)
    weights[:, 0] = np.ravel(logits)
    x = np.array([[1.0, 0.0, 0.0, 0.0]], np.float32)
    for subgroups in (False, True):
        variant = LmHeadArgmax(format="f32", layout="ggml", route="float", subgroups=subgroups)
        value, index = best_of(gpu, variant, weights.view(np.uint8), x)
        assert index[0].tolist() == [2, 5, 8, 13, 16]
        np.testing.assert_array_equal(value[0], [3.0, -inf, nan, inf, 0.0])


# ---- ties ------------------------------------------------------------------------------------------


def test_of_equal_rows_the_lowest_is_named_on_every_route(gpu: Gpu, rng: np.random.Generator) -> None:
    for variant in heads("q4_0", columns=2):
        fmt = variant.weight_format
        data = np.repeat(fmt.quantise(rng.standard_normal((1, 320)).astype(np.float32)), 11, axis=0)
        x = rng.standard_normal((2, 320)).astype(np.float32)
        value, index = best_of(gpu, variant, data, x)
        assert index.tolist() == [[0, 4, 8]] * 2
        assert (value.view(np.uint32) == value.view(np.uint32)[:, :1]).all()
