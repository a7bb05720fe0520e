"""Cases of products with matrices of experts: large sums, tails, ids that are none, folds, and the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases.experts import SMALL, Experts, experts_of, multiply_id, sorted_pairs
from cases.support import SOURCE, block, rows, run_matvec, runner
from wgslgen import formats, launch
from wgslgen.adapters import Gpu
from wgslgen.kernels.expert_rows import ExpertRows
from wgslgen.kernels.expert_sum import ExpertSum
from wgslgen.kernels.matmul_id import MatmulId
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.matvec_id import MatvecId
from wgslgen.oracles.expert_rows import random_ids, rows_of
from wgslgen.oracles.matmul_id import problem
from wgslgen.render import render
from wgslgen.spec import Case
from wgslgen.verify import verify_on

NONE = 2**32 - 1
MIDDLE: dict[str, Any] = {"tile_m": 16, "thread_m": 2, "tile_n": 16, "thread_n": 2}

# ---- C01: large sums ------------------------------------------------------------------------------


def test_c01_activations_of_1e5_are_exact_on_f32_paths(gpu: Gpu) -> None:
    """128 * 7 * 1e5, from each of two experts, one of which has the weights' signs turned."""
    data = rows(*[[block(d, b"\xff" * 16)] * 4 for d in (1.0, -1.0) for _ in range(3)])
    x = np.full((9, 128), 1e5)
    for variant in experts_of("q4_0"):
        if variant.route != "int8":
            y = multiply_id(gpu, variant, data, x, [[0, 1]] * 9, 2)
            assert (y == np.array([[89600000.0], [-89600000.0]])).all()


@pytest.mark.parametrize("x_type", ["f32", "f16"])
def test_c01_f16_operands_and_f16_activations_are_added_up_in_f32(x_type: str, lavapipe: Gpu) -> None:
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 3)
    variants: list[Experts] = [
        MatmulId.model_validate({"format": "q4_0", "route": "tile", "operand": "f16", "activation": x_type, **SMALL}),
        MatvecId.model_validate({"format": "q4_0", "route": "float", "activation": x_type}),
    ]
    for variant in variants:
        assert (multiply_id(lavapipe, variant, data, np.full((2, 128), 100.0), [[0], [0]], 1) == 89600.0).all()


# ---- C29: tails -----------------------------------------------------------------------------------

TAILS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33)


@pytest.mark.parametrize("n", [1, 3, 31, 33, 65])
def test_c29_tails_of_tiles_and_rows(n: int, gpu: Gpu) -> None:
    """Behind every output the harness lays guards, and behind every input NaN."""
    sizes = [{"T": t, "USED": 1 + t % 2, "EXPERTS": 1 + t % 3, "N": n, "K": 256} for t in TAILS]
    variants: list[Experts] = [
        MatmulId(format="q8_0", route="tile", **MIDDLE),
        MatmulId(format="q4_0", route="int8", x_of="pair", **MIDDLE),
        MatvecId(format="q4_0", route="float", tile_rows=8),
    ]
    for variant in variants:
        outcome = verify_on(gpu, variant, [Case(name="tail", sizes=each) for each in sizes])
        assert outcome.status == "passed", outcome.problem


# ---- C38: ids ---------------------------------------------------------------------------------------


def test_experts_that_are_repeated_unused_and_none(gpu: Gpu) -> None:
    """Expert e multiplies by e + 1. Token 0 names one expert twice, token 1 none that exists; nobody names expert 1."""
    data = rows(*[[block(float(e + 1), b"\x99" * 16)] for e in range(3)])
    x = np.array([[1.0] * 32, [10.0] * 32, [100.0] * 32])
    ids = [[2, 2], [3, NONE], [0, 2]]
    expected = [[96.0, 96.0], [0.0, 0.0], [3200.0, 9600.0]]
    for variant in experts_of("q4_0"):
        assert multiply_id(gpu, variant, data, x, ids, 3)[..., 0].tolist() == expected


def test_rows_of_x_for_each_pair(gpu: Gpu) -> None:
    data = rows(*[[block(float(e + 1), b"\x99" * 16)] for e in range(3)])
    x = np.outer([1.0, 10.0, 100.0, 1000.0], np.ones(32))
    for variant in experts_of("q4_0", x_of="pair"):
        assert multiply_id(gpu, variant, data, x, [[2, 2], [NONE, 0]], 3)[..., 0].tolist() == [[96, 960], [0, 32000]]


@pytest.mark.parametrize("epilogue", ["store", "swiglu"])
def test_c38_without_an_expert_there_are_zeros_and_nothing_is_read(epilogue: str, gpu: Gpu) -> None:
    """Every scale of every matrix is NaN, and so would be whatever is made of one."""
    data = rows(*[[b"\x00\x7e" + b"\x99" * 16] for _ in range(4)])
    for variant in experts_of("q4_0", epilogue=epilogue):
        assert not multiply_id(gpu, variant, data, np.ones((2, 32)), [[2], [NONE]], 2).any()


@pytest.mark.parametrize("experts", [1, 3, 8, 256])
def test_who_goes_where_does_not_matter(experts: int, gpu: Gpu) -> None:
    """Expert e multiplies by e + 1: all pairs on the first or the last, one on each, or none anywhere."""
    data = rows(*[[block(float(e + 1), b"\x99" * 16)] for e in range(experts)])
    count = max(experts, 5)
    orders = [np.zeros(count), np.full(count, experts - 1), np.arange(count) % experts, np.full(count, experts)]
    for ids in (order.astype(np.uint32)[:, None] for order in [*orders, orders[2][::-1]]):
        expected = np.where(ids < experts, 32.0 * (ids + 1.0), 0.0)
        for variant in experts_of("q4_0"):
            assert np.array_equal(multiply_id(gpu, variant, data, np.ones((count, 32)), ids, experts)[..., 0], expected)


# ---- C28: experts whose blocks are odd in number -----------------------------------------------------


@pytest.mark.parametrize(("fmt", "group"), [("q4_0", 32), ("q2_0", 64), ("q4_1", 32), ("q6_K", 256)])
def test_c28_an_experts_rows_are_those_of_its_own_matrix(
    fmt: str, group: int, gpu: Gpu, rng: np.random.Generator
) -> None:
    """Planar scales lie two in a word, of which one is the next expert's: bits are those of `matvec` all the same."""
    kind = formats.get(fmt, group)
    n, k, experts = 3, 3 * kind.group, 3
    data = kind.random_blocks(experts * n, k, rng)
    x = rng.standard_normal((2, k)).astype(np.float32)
    ids = np.array([[1, 2], [0, 1]])
    for layout in ("planar", "ggml"):
        constants: dict[str, Any] = {"format": fmt, "group": group, "layout": layout, "route": "float"}
        y = multiply_id(gpu, MatvecId(**constants), data, x, ids, experts)
        for t, s in np.ndindex(2, 2):
            own = data[n * ids[t, s] : n * (ids[t, s] + 1)]
            np.testing.assert_array_equal(y[t, s], run_matvec(gpu, Matvec(**constants), own, x[t : t + 1])[0])


# ---- C20: folds ---------------------------------------------------------------------------------------


def test_c20_dispatches_of_many_pairs_and_rows_fold(lavapipe: Gpu) -> None:
    """Weight n of expert e is e + n / 16384 at the one place where x is not zero."""
    t, used, experts, n = 2, 32, 32, 16392
    each = np.add.outer(np.arange(experts), np.arange(n) / 16384)
    weights = np.full((experts, n, 4), 1e30, np.float32)
    weights[..., 1] = each
    x = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    ids = np.arange(t * used).reshape(t, used)[:, ::-1] % experts
    variants: list[Experts] = [
        MatvecId(format="f32", layout="ggml", route="float", tile_rows=8, workgroup_size=32),
        MatmulId(format="f32", layout="ggml", route="tile", tile_m=8, tile_n=8, thread_m=1, thread_n=1),
    ]
    for variant in variants:
        folded = launch.plan(variant, {"T": t, "USED": used, "EXPERTS": experts, "N": n, "K": 4}).workgroups
        assert folded is not None
        assert folded[1] > 1
        y = multiply_id(lavapipe, variant, weights.view(np.uint8), x, ids, experts)
        np.testing.assert_array_equal(y, each[ids] * np.array([1.0, 2.0])[:, None, None])


def test_c20_weighted_sums_of_many_elements_fold(lavapipe: Gpu) -> None:
    variant, sizes = ExpertSum(workgroup_size=32), {"T": 3, "USED": 1, "N": 700001}
    folded = launch.plan(variant, sizes).workgroups
    assert folded is not None
    assert folded[1] > 1
    x = np.arange(3 * 700001, dtype=np.float32)
    y = runner(lavapipe, variant).run({"x": x, "gates": np.array([0.5, 1.0, 2.0], np.float32)}, sizes)["y"]
    expected = x.reshape(3, -1) * np.array([[0.5], [1.0], [2.0]], np.float32)
    np.testing.assert_array_equal(np.frombuffer(y, np.float32).reshape(3, -1), expected)


# ---- C53: the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [{"route": "tile"}, {"route": "int8", "activation_group": 32}])
def test_c53_twenty_runs_over_stale_outputs_give_the_same_bits(way: dict[str, Any], gpu: Gpu) -> None:
    """From ids to the weighted sum; all outputs hold 1e30 before."""
    sizes = {"T": 33, "USED": 4, "EXPERTS": 8, "N": 40, "K": 512}
    first, product, last = ExpertRows(tile_m=8), MatmulId(format="q4_0", **way, **SMALL), ExpertSum()
    rng = np.random.default_rng(53)
    ids, made = random_ids(sizes, rng), problem(product.model_dump(), sizes, rng)
    gates, stale = rng.random((33, 4)).astype(np.float32), np.full(33 * 4 * 40, 1e30, np.float32)
    places = rows_of(ids, 8, 8)[1].size
    words = {"pairs": np.full(33 * 4, NONE, np.uint32), "tiles": np.full(places, NONE, np.uint32)}
    results, sums = set(), set()
    for _ in range(20):
        raw = runner(gpu, first).run({"ids": ids, **words}, {name: sizes[name] for name in first.SIZES})
        order = {name: np.frombuffer(raw[name], np.uint32) for name in words}
        y = runner(gpu, product).run({**made.inputs, **order, "y": stale}, sizes)["y"]
        results.add((raw["pairs"], raw["tiles"], y))
        inputs = {"x": np.frombuffer(y, np.float32), "gates": gates, "y": stale[: 33 * 40]}
        sums.add(runner(gpu, last).run(inputs, {name: sizes[name] for name in last.SIZES})["y"])
    assert len(results) == len(sums) == 1
    texts = "".join(render(variant, SOURCE) for variant in (first, product, last))
    assert "atomic" not in texts


def test_c53_the_order_of_pairs_is_that_of_their_numbers(gpu: Gpu) -> None:
    """4096 pairs of 256 experts, among them ids that are none."""
    ids = np.random.default_rng(4).integers(0, 280, (1024, 4)).astype(np.uint32)
    pairs, tiles = rows_of(ids, 256, 16)
    found = sorted_pairs(gpu, 16, ids, 256)
    np.testing.assert_array_equal(found["pairs"], pairs)
    np.testing.assert_array_equal(found["tiles"], tiles.ravel())


# ---- C54 ----------------------------------------------------------------------------------------------


def test_c54_the_least_code_times_the_largest(gpu: Gpu) -> None:
    """Codes of -128 times integers of 127, and of 127 for the other expert."""
    data = rows([block(0.5, b"\x80" * 32)], [block(0.5, b"\x7f" * 32)])
    for variant in experts_of("q8_0"):
        y = multiply_id(gpu, variant, data, np.full((3, 32), 127.0), [[0, 1]] * 3, 2)[..., 0]
        assert (y == [[-127.0 * 128 * 16, 127.0 * 127 * 16]]).all()
        text = render(variant, SOURCE)
        assert ("dot4I8Packed" in text) == (variant.route == "int8")
        assert "requires" not in text
