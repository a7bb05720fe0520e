"""Cases of products of many tokens; what they share with products of experts is here, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from cases.experts import SMALL, experts_of, multiply_id, read
from cases.support import SOURCE, Bytes, Floats, block, rows, runner
from wgslgen import formats, layouts
from wgslgen.adapters import Gpu
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.oracles.matmul import problem
from wgslgen.render import render
from wgslgen.spec import Case
from wgslgen.verify import verify_on

MIDDLE: dict[str, Any] = {"tile_m": 32, "thread_m": 4, "tile_n": 32, "thread_n": 2}


def multiply(gpu: Gpu, variant: Matmul, data: Bytes, x: Floats) -> Floats:
    """Return y [M, N] as the adapter computes it for the weights `data` and x [M, K]."""
    m, k = x.shape
    n = data.size // variant.weight_format.row_bytes(k)
    inputs = {**layouts.pack(variant.weight_format, variant.layout, data, n, k), **read(variant, x)}
    raw = runner(gpu, variant).run(inputs, {"M": m, "N": n, "K": k, "X_STRIDE": k})["y"]
    return np.frombuffer(raw, np.float32).astype(np.float64).reshape(m, n)


def products(fmt: str, **constants: Any) -> list[Matmul]:
    """Return matmul on the routes that take floats or int8."""
    ways: tuple[Mapping[str, Any], ...] = ({"route": "tile"}, {"route": "int8", "activation_group": 32})
    return [Matmul(format=fmt, **way, **tile, **constants) for way in ways for tile in (SMALL, MIDDLE)]


# ---- C01, C30: large sums, and zero points ----------------------------------------------------------


@pytest.mark.parametrize("m", [1, 8])
def test_c01_results_past_the_end_of_f16_are_exact(gpu: Gpu, m: int) -> None:
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 4)
    x = np.full((m, 128), 100.0)
    for variant in products("q4_0"):
        assert (multiply(gpu, variant, data, x) == 89600.0).all()
    for other in experts_of("q4_0"):
        assert (multiply_id(gpu, other, data, x, [[0]] * m, 1) == 89600.0).all()


def test_c01_activations_of_1e5_are_exact_on_f32_paths(gpu: Gpu) -> None:
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 3)
    x = np.full((9, 128), 1e5)
    for tile in (SMALL, MIDDLE):
        assert (multiply(gpu, Matmul(format="q4_0", route="tile", **tile), data, x) == 89600000.0).all()
    signs = rows(*[[block(1.0, b"\xff" * 16)]] * 3)
    table = Matmul(format="q1_0", route="lut", step_words=1)
    assert (multiply(gpu, table, signs, x) == 12800000.0).all()


def test_c30_codes_under_their_zero_point_are_negative(gpu: Gpu) -> None:
    x = np.ones((5, 32))
    for variant in products("q4_0"):
        assert (multiply(gpu, variant, rows([block(0.25, bytes(16))]), x) == -64.0).all()
    half = [Matmul(format="q2_0", group=64, step_words=1, route=r, **SMALL) for r in ("tile", "int8")]
    for variant in half:
        assert (multiply(gpu, variant, rows([block(0.5, bytes(16))]), np.ones((5, 64))) == -32.0).all()
    one = np.zeros((2, 32))
    one[0, 1] = one[1, 17] = 1.0
    code = b"\x88\x3c" + b"\x88" * 14
    for variant in products("q4_0"):
        assert multiply(gpu, variant, rows([block(1.0, code)]), one).tolist() == [[4.0], [-5.0]]


@pytest.mark.parametrize(("name", "zero"), [("q3_K", 4), ("q6_K", 32)])
def test_c30_zero_points_under_scales_of_their_own(gpu: Gpu, name: str, zero: int) -> None:
    """All codes 0: every weight is minus the zero point times its scale, of which a block has sixteen."""
    fmt = formats.get(name)
    data = np.zeros(fmt.block_bytes, np.uint8)
    at = 108 if name == "q3_K" else 208
    data[at : at + 2] = (0x00, 0x3C)  # d = 1
    if name == "q6_K":
        data[192:208] = np.arange(1, 17)
        scales = np.arange(1, 17)
    else:
        data[104:108] = 0xAA  # the upper pairs of all scales: 32 + 0 - 32
        data[96:104] = np.arange(8) | np.arange(8, 16) << 4
        scales = np.arange(16)
    expected = -16.0 * zero * scales.sum()
    for variant in products(name):
        assert (multiply(gpu, variant, data, np.ones((3, 256))) == expected).all()


# ---- C29: tails -------------------------------------------------------------------------------------

TAILS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33)


@pytest.mark.parametrize("n", [1, 3, 31, 33, 65])
def test_c29_tails_of_tokens_and_rows(gpu: Gpu, n: int) -> None:
    """Behind every output the harness lays guards, and behind every input NaN."""
    cases = [Case(name="tail", sizes={"M": m, "N": n, "K": 256, "X_STRIDE": 256}) for m in TAILS]
    variants = [
        Matmul(format="q4_0", route="tile", **MIDDLE),
        Matmul(format="q1_0", route="int8", step_words=1, **MIDDLE),
        Matmul(format="q1_0", route="lut", step_words=1),
        Matmul(format="q8_0", route="tile", num_splits=4, **SMALL),
    ]
    for variant in variants:
        outcome = verify_on(gpu, variant, cases)
        assert outcome.status == "passed", outcome.problem


# ---- C43, C49, C53, C54 -------------------------------------------------------------------------------


def test_c43_tables_are_typed() -> None:
    for name in ("iq4_nl", "mxfp4"):
        assert "vec4<u32>(0x" in render(Matmul(format=name, route="tile"), SOURCE)


def test_c49_tiles_are_read_before_they_are_overwritten(gpu: Gpu) -> None:
    """Many tiles of K in one workgroup, 50 times: the same bits each time, and right."""
    sizes = {"M": 8, "N": 32, "K": 2048, "X_STRIDE": 2048}
    for variant in (
        Matmul(format="q4_0", route="tile", tile_m=8, thread_m=2, tile_n=64, thread_n=1),
        Matmul(format="q4_0", route="int8", tile_m=8, thread_m=2, tile_n=64, thread_n=1),
        Matmul(format="q1_0", route="lut", step_words=1, tile_n=256),
    ):
        made = problem(variant.model_dump(), sizes, np.random.default_rng(3))
        expected = made.expected["y"]
        seen = {runner(gpu, variant).run(made.inputs, sizes)["y"] for _ in range(50)}
        assert len(seen) == 1
        assert expected.judge(seen.pop(), variant.tolerance()).problem is None


def test_c53_parts_of_k_are_added_in_one_order(gpu: Gpu) -> None:
    """Twenty runs over outputs that hold 1e30 give the same bits."""
    first, second = Matmul(format="q8_0", route="tile", num_splits=8, **SMALL), SumSplits(num_splits=8)
    sizes = {"M": 5, "N": 33, "K": 1024, "X_STRIDE": 1024}
    made = problem(first.model_dump(), sizes, np.random.default_rng(4))
    stale = {"partials": np.full(8 * 5 * 33, 1e30, np.float32), "y": np.full(5 * 33, 1e30, np.float32)}
    results = set()
    for _ in range(20):
        partials = runner(gpu, first).run({**made.inputs, "partials": stale["partials"]}, sizes)["partials"]
        parts = np.frombuffer(partials, np.float32)
        assert made.expected["partials"].judge(partials, first.tolerance()).problem is None
        results.add(runner(gpu, second).run({"partials": parts, "y": stale["y"]}, {"M": 5, "N": 33})["y"])
    assert len(results) == 1
    whole = parts.astype(np.float64).reshape(8, -1).sum(axis=0)
    assert np.allclose(np.frombuffer(results.pop(), np.float32), whole, rtol=1e-5, atol=1e-5 * np.abs(parts).max())
    assert "atomic" not in render(first, SOURCE) + render(second, SOURCE)


def test_c54_extreme_bytes_multiply_right(gpu: Gpu) -> None:
    """Codes of -128 times integers of 127: four of them are -65024, and a row of 32 is eight times that."""
    data = rows([block(1.0, b"\x80" * 32)])
    x = np.full((3, 32), 127.0)
    for variant in products("q8_0"):
        assert (multiply(gpu, variant, data, x) == -65024.0 * 8).all()
    for other in experts_of("q8_0"):
        assert (multiply_id(gpu, other, data, x, [[0]] * 3, 1) == -65024.0 * 8).all()
    assert "requires" not in render(products("q8_0")[2], SOURCE)


# ---- C52: strides -----------------------------------------------------------------------------------


def test_c52_rows_of_x_may_lie_apart_and_share_weights(gpu: Gpu) -> None:
    """x[b] = b + 1 gives (b + 1) times the same, with 64 elements of NaN between the rows."""
    data = rows([block(1.0, b"\x99" * 16)], [block(2.0, b"\xaa" * 16)])
    apart = np.full((3, 96), np.nan, np.float32)
    apart[:, :32] = np.arange(1, 4)[:, None]
    flat = apart.reshape(-1)[: 2 * 96 + 32]
    for tile in (SMALL, MIDDLE):
        variant = Matmul(format="q4_0", route="tile", **tile)
        inputs = {**layouts.pack(variant.weight_format, "planar", data, 2, 32), "x": flat}
        raw = runner(gpu, variant).run(inputs, {"M": 3, "N": 2, "K": 32, "X_STRIDE": 96})["y"]
        expected = np.outer([1, 2, 3], [32.0, 128.0])
        assert np.array_equal(np.frombuffer(raw, np.float32).reshape(3, 2), expected)
