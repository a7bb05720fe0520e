"""Route int8 of `matmul`: results by hand, tails, zero points, extremes of the packed product, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases.support import SOURCE, Bytes, Floats, block, rows, runner
from cases.test_barriers import reversed_threads, right, without
from wgslgen import layouts
from wgslgen.adapters import Gpu
from wgslgen.compare import compare
from wgslgen.errors import OracleMismatch
from wgslgen.harness import Runner
from wgslgen.kernels.matmul import Matmul
from wgslgen.oracles.matvec import product
from wgslgen.oracles.quantize_q8 import dequantised, packed, quantise
from wgslgen.render import render
from wgslgen.spec import Case
from wgslgen.verify import verify_on

FORMS: list[dict[str, Any]] = [
    {"layout": "planar", "tile_m": 8, "tile_n": 32, "thread_m": 1, "thread_n": 2},
    {"layout": "ggml", "tile_m": 16, "tile_n": 16, "tile_k": 32, "thread_m": 4, "thread_n": 1},
]
"""A form for few tokens, and one whose tiles of K are short; large ones take a compiler long."""
TOKENS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33)
ROWS = (1, 3, 31, 33, 65)


def int8(fmt: str, **constants: Any) -> Matmul:
    """Return the variant of route int8 with the widest step that its tile holds."""
    words: dict[str, Any] = {"step_words": {"q1_0": 1, "q2_0": 2}[fmt]} if fmt in ("q1_0", "q2_0") else {}
    return Matmul(**{"format": fmt, "route": "int8", **words, **constants})


def forms(fmt: str, **constants: Any) -> list[Matmul]:
    """Return a variant for each of FORMS."""
    return [int8(fmt, **form, **constants) for form in FORMS]


def inputs_of(variant: Matmul, data: Bytes, x: NDArray[np.float32]) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Return inputs and sizes for the weights `data` and x [M, K]."""
    m, k = x.shape
    n = data.size // variant.weight_format.row_bytes(k)
    x8, x_scale = packed(quantise(x, variant.activation_group or 0), variant.weight_format.int8_stride or 1)
    weights = layouts.pack(variant.weight_format, variant.layout, data, n, k)
    return {**weights, "x8": x8, "x_scale": x_scale}, {"M": m, "N": n, "K": k, "X_STRIDE": k}


def run_matmul(gpu: Gpu, variant: Matmul, data: Bytes, x: NDArray[np.float32]) -> Floats:
    """Return y [M, N] as the adapter computes it."""
    inputs, sizes = inputs_of(variant, data, x)
    raw = runner(gpu, variant).run(inputs, sizes)["y"]
    y = np.frombuffer(raw, np.float32, count=sizes["M"] * sizes["N"]).astype(np.float64)
    return y.reshape(sizes["M"], sizes["N"])


# ---- C01 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 8])
def test_c01_int8_is_exact_where_its_activations_are(tokens: int, gpu: Gpu) -> None:
    """127 has scale 1, so nothing rounds: 128 * 7 * 127. 100 has 100/127, which is rounded once."""
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 4)
    for variant in forms("q4_0"):
        y = run_matmul(gpu, variant, data, np.full((tokens, 128), 127.0, np.float32))
        np.testing.assert_array_equal(y, np.full((tokens, 4), 113792.0))
        x = np.full((tokens, 128), 100.0, np.float32)
        y = run_matmul(gpu, variant, data, x)
        expected, magnitudes = product(np.full((4, 128), 7.0), dequantised(quantise(x, 32)))
        verdict = compare(y, expected, magnitudes, variant.tolerance())
        assert verdict.problem is None, verdict.problem
        assert np.abs(y - 89600.0).max() < 0.1


# ---- C29 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", ROWS)
def test_c29_tails_of_int8(n: int, gpu: Gpu) -> None:
    """Against the oracle; the harness sees that nothing outside the result is written."""
    cases = [Case(name="C29", sizes={"M": m, "N": n, "K": 256, "X_STRIDE": 256}) for m in TOKENS]
    for variant in (int8("q4_0"), int8("q4_K", tile_m=8, thread_m=2, activation_group=128, layout="ggml")):
        outcome = verify_on(gpu, variant, cases)
        assert (outcome.status, outcome.runs) == ("passed", len(cases)), outcome.problem


@pytest.mark.parametrize("guard", ["row < m && ", "column < n && "])
def test_c29_a_store_without_its_guard_is_caught(guard: str, gpu: Gpu) -> None:
    """Five tokens and three rows in tiles of 8: a token or a row too many is a write past the end."""
    variant = int8("q4_0", tile_m=8, tile_n=8, thread_m=1, thread_n=1)
    text = render(variant, SOURCE)
    assert text.count(guard) == 1
    inputs, sizes = inputs_of(variant, rows([block(1.0, bytes(16))] * 3), np.ones((5, 32), np.float32))
    Runner(gpu, variant, text).run(inputs, sizes)
    with pytest.raises(OracleMismatch, match="wrote outside y"):
        Runner(gpu, variant, text.replace(guard, "")).run(inputs, sizes)


@pytest.mark.parametrize("clamp", ["first_m + row, m - 1u", "first_n + row, n - 1u"])
def test_c29_rows_past_the_end_are_others_and_count_nowhere(clamp: str) -> None:
    """What is read past M or N is read from the last row, so no load depends on what a device does past a buffer."""
    assert f"min({clamp})" in render(int8("q4_0"), SOURCE)


@pytest.mark.parametrize("blocks", [1, 3, 5])
@pytest.mark.parametrize("fmt", ["q4_0", "q4_1", "q8_0"])
def test_c29_k_that_ends_within_a_tile(fmt: str, blocks: int, gpu: Gpu) -> None:
    """Rows of 32, 96 and 160 columns in tiles of 128; behind them lies the next row, which must not be added."""
    k = 32 * blocks
    for layout in ("planar", "ggml"):
        variant = int8(fmt, layout=layout, tile_m=8, tile_n=16, tile_k=128, thread_m=1)
        outcome = verify_on(gpu, variant, [Case(name="C29", sizes={"M": 3, "N": 5, "K": k, "X_STRIDE": k})])
        assert outcome.status == "passed", outcome.problem


def test_c29_a_tile_of_k_without_its_end_is_caught(lavapipe: Gpu) -> None:
    variant = int8("q4_0", tile_m=8, tile_n=8, tile_k=128, thread_m=1, thread_n=1)
    text = render(variant, SOURCE)
    end = "select(f32(), step_scale(from_step), step < row_steps)"
    assert text.count(end) == 1
    inputs, sizes = inputs_of(variant, rows([block(1.0, b"\x99" * 16)]), np.full((1, 32), 127.0, np.float32))
    right_sum, wrong_sum = (
        np.frombuffer(Runner(lavapipe, variant, each).run(inputs, sizes)["y"], np.float32)[0]
        for each in (text, text.replace(end, "step_scale(from_step)"))
    )
    assert (right_sum, wrong_sum) == (32 * 127.0, 4 * 32 * 127.0)


# ---- C30 -------------------------------------------------------------------------------------------


def test_c30_zero_points_are_taken_off_in_signed_numbers(gpu: Gpu) -> None:
    """All of x is 127, which int8 holds exactly; so results are 127 times those for 1."""
    for fmt, group, d, expected in (
        ("q4_0", 32, 0.25, -64.0),
        ("q2_0", 64, 0.5, -32.0),
        ("q1_0", 128, 0.5, -64.0),
    ):
        x = np.full((3, group), 127.0, np.float32)
        for activation_group in (32, group):
            for variant in forms(fmt, group=group, activation_group=activation_group):
                y = run_matmul(gpu, variant, rows([block(d, bytes(16))]), x)
                np.testing.assert_array_equal(y, np.full((3, 1), 127 * expected))


@pytest.mark.parametrize(("at", "expected"), [(1, 4.0), (17, -5.0), (0, 0.0), (16, 0.0)])
def test_c30_a_nibble_is_where_q4_0_has_it(at: int, expected: float, gpu: Gpu) -> None:
    payload = bytearray(b"\x88" * 16)
    payload[1] = 0x3C
    x = np.zeros((2, 32), np.float32)
    x[1, at] = 127.0
    for variant in forms("q4_0"):
        y = run_matmul(gpu, variant, rows([block(0.5, bytes(payload))]), x)
        np.testing.assert_array_equal(y, [[0.0], [127 * 0.5 * expected]])


@pytest.mark.parametrize("activation_group", [32, 64, 128])
def test_c30_zero_and_minimum_take_the_sum_of_their_own_stretch(activation_group: int, gpu: Gpu) -> None:
    """In q2_K 16 weights have a scale and a minimum, in q6_K a scale and a zero of -32: less than any group.

    Each stretch of x has another sum, and the stretches another minimum or scale: the sum of the whole group, or of
    another stretch, gives another result. q2_K: codes 0, minima m = 0 to 15, so -m times the sum. q6_K: codes 0 under
    scales 1 to 16, so -32 times the scale times the sum.
    """
    sums = np.arange(16) % 5 * 127.0
    x = np.zeros((1, 256), np.float32)
    for stretch in range(16):
        x[0, 16 * stretch : 16 * stretch + stretch % 5] = 127.0
    halves = np.array([1.0, 1.0], np.float16).tobytes()
    q2_k = bytes(index << 4 for index in range(16)) + bytes(64) + halves
    q6_k = bytes(192) + bytes(range(1, 17)) + halves[:2]
    for fmt, data, expected in (
        ("q2_K", q2_k, -(np.arange(16) * sums).sum()),
        ("q6_K", q6_k, -32 * (np.arange(1, 17) * sums).sum()),
    ):
        for variant in forms(fmt, activation_group=activation_group):
            y = run_matmul(gpu, variant, rows([data, data]), np.tile(x, (2, 1)))
            np.testing.assert_array_equal(y, np.full((2, 2), expected))


# ---- C49 -------------------------------------------------------------------------------------------

# Blocks of 256, so that every shape class has several tiles of K.
BARRIERS: dict[str, Any] = {"tile_m": 8, "tile_n": 64, "tile_k": 32, "thread_m": 1, "thread_n": 2}


def test_c49_threads_in_the_other_order_change_nothing(gpu: Gpu) -> None:
    for variant in (int8("q6_K", **BARRIERS), int8("q2_K", tile_m=16, thread_m=2, activation_group=64)):
        assert right(gpu, variant, reversed_threads(variant, render(variant, SOURCE)))


@pytest.mark.parametrize("place", [0, 1])
def test_c49_one_barrier_less_shows_in_one_of_two_orders(place: int, lavapipe: Gpu) -> None:
    """One between writing and reading a tile, one before it is overwritten."""
    variant = int8("q6_K", **BARRIERS)
    text = render(variant, SOURCE)
    assert text.count("workgroupBarrier();") == 2
    text = without(text, place)
    assert not all(right(lavapipe, variant, each) for each in (text, reversed_threads(variant, text)))


# ---- C53 -------------------------------------------------------------------------------------------


def test_c53_parts_of_k_give_the_same_bits_in_20_runs(gpu: Gpu, rng: np.random.Generator) -> None:
    variant = int8("q8_0", num_splits=4, tile_m=8, thread_m=1, tile_n=32)
    data = variant.weight_format.random_blocks(33, 1024, rng).reshape(-1)
    inputs, sizes = inputs_of(variant, data, rng.standard_normal((5, 1024)).astype(np.float32))
    inputs["partials"] = np.full((4, 5, 33), 1e30, np.float32)
    compiled = runner(gpu, variant)
    found = {compiled.run(inputs, sizes)["partials"] for _ in range(20)}
    assert len(found) == 1
    assert np.abs(np.frombuffer(found.pop(), np.float32)).max() < 1e30


# ---- C54 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_c54_the_least_and_the_largest_code_by_the_largest_activation(sign: int, gpu: Gpu) -> None:
    """-128 and 127 by 127 and -127, through a whole segment."""
    text = render(int8("q8_0"), SOURCE)
    assert "dot4I8Packed" in text
    assert "requires" not in text
    x = np.full((2, 64), sign * 127.0, np.float32)
    data = rows([block(0.5, b"\x80" * 32)] * 2, [block(0.5, b"\x7f" * 32)] * 2)
    for variant in forms("q8_0"):
        y = run_matmul(gpu, variant, data, x)
        np.testing.assert_array_equal(y, [[sign * 32 * -128 * 127, sign * 32 * 127 * 127]] * 2)
