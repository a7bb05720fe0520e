"""Layouts row4 and planes on devices: C28 and C30 for them, and the popcount route by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cases.support import block, popcount_routes, row4_routes, rows, run_matvec
from wgslgen import formats
from wgslgen.adapters import Gpu

# ---- C28 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fmt", "k", "payload"),
    [("q4_0", 96, b"\x99" * 16), ("q8_0", 96, b"\x01" * 32), ("q1_0", 384, b"\xff" * 16)],
)
def test_c28_each_row_and_block_of_a_tile_has_its_own_scale(fmt: str, k: int, payload: bytes, gpu: Gpu) -> None:
    """All weights are d = (row + 1)(block + 1) / 8: three column blocks, and two tiles of four rows."""
    group = formats.get(fmt).group
    data = rows(*[[block((r + 1) * (b + 1) / 8, payload) for b in range(3)] for r in range(8)])
    for variant in row4_routes(fmt):
        x = 127.0 if variant.route == "int8" else 1.0
        y = run_matvec(gpu, variant, data, np.full((1, k), x, np.float32))
        np.testing.assert_array_equal(y, [[x * group * 6 * (r + 1) / 8 for r in range(8)]])


@pytest.mark.parametrize(("fmt", "group", "payload"), [("q1_0", 128, b"\xff" * 16), ("q2_0", 64, b"\xaa" * 16)])
def test_c28_scales_of_planes_are_in_pairs_across_rows(fmt: str, group: int, payload: bytes, gpu: Gpu) -> None:
    """Three blocks a row, so that rows 0, 2 and 4 start in the low half of a word and the others in the high one."""
    data = rows(*[[block((r + 1) * (b + 1) / 8, payload) for b in range(3)] for r in range(5)])
    for variant in popcount_routes(fmt, group):
        y = run_matvec(gpu, variant, data, np.full((1, 3 * group), 2.0, np.float32))
        np.testing.assert_array_equal(y, [[2 * group * 6 * (r + 1) / 8 for r in range(5)]])


# ---- C30 -------------------------------------------------------------------------------------------


def test_c30_zero_points_are_taken_off_in_signed_numbers(gpu: Gpu) -> None:
    """All codes are 0: the least weight, four rows of it under different scales. Results are 127 times those for 1."""
    zeros = {("q4_0", 32): (0.25, 16, -64.0), ("q2_0", 64): (0.5, 16, -32.0), ("q1_0", 128): (0.5, 16, -64.0)}
    for (fmt, group), (d, payload, expected) in zeros.items():
        data = rows(*[[block(d * scale, bytes(payload))] for scale in (1, 2, -1, 4)])
        for variant in row4_routes(fmt, group):
            y = run_matvec(gpu, variant, data, np.full((1, group), 127.0, np.float32))
            np.testing.assert_array_equal(y, [[127 * expected * scale for scale in (1, 2, -1, 4)]])


def test_c30_counts_of_signs_are_subtracted_in_signed_numbers(gpu: Gpu) -> None:
    """Fewer agree than differ: all weights are -d, and all activations +3, so nothing agrees at all."""
    for fmt, group, d in (("q1_0", 32, 0.5), ("q1_0", 128, 0.5), ("q2_0", 64, 0.25), ("q2_0", 128, 0.25)):
        data = rows([block(d, bytes(formats.get(fmt, group).code_bytes))])
        for variant in popcount_routes(fmt, group):
            y = run_matvec(gpu, variant, data, np.full((1, group), 3.0, np.float32))
            np.testing.assert_array_equal(y, [[-3.0 * d * group]])


# ---- popcount by hand ------------------------------------------------------------------------------

SIGNS = {
    "both zeros are +1": ([0.0, -0.0], [1.0, 1.0]),
    "what is below zero is -1": ([-8.0, 8.0], [-1.0, 1.0]),
}


@pytest.mark.parametrize("what", SIGNS)
def test_a_product_of_signs_by_hand(what: str, gpu: Gpu) -> None:
    """Row r of q2_0 has weights that are zero but for one: +d at r for even r, -d for odd r. Other x are 8."""
    data = np.full((2, 18), 0x55, np.uint8)  # all codes 1: zeros
    data[:, :2] = [0x00, 0x40]  # d = 2
    data[0, 2], data[1, 2] = 0b01010110, 0b01010001  # code 2 at element 0; code 0 at element 1
    start, signs = SIGNS[what]
    x = np.full((1, 64), 8.0, np.float32)
    x[0, :2] = start
    scale = np.abs(x).mean()
    for variant in popcount_routes("q2_0", 64):
        np.testing.assert_array_equal(
            run_matvec(gpu, variant, data, x), [[2.0 * scale * signs[0], -2.0 * scale * signs[1]]]
        )


def test_rows_of_zeros_and_activations_of_zeros_give_zero(gpu: Gpu) -> None:
    """Zero weights are in no plane; zero activations have the scale 0, whatever their signs."""
    zeros, ones = np.full((1, 18), 0x55, np.uint8), np.full((1, 18), 0xAA, np.uint8)
    zeros[:, :2] = ones[:, :2] = [0x00, 0x3C]
    data = np.concatenate([zeros, ones])
    for variant in popcount_routes("q2_0", 64, columns=2):
        x = np.stack([np.full(64, 5.0), np.zeros(64)]).astype(np.float32)
        np.testing.assert_array_equal(run_matvec(gpu, variant, data, x), [[0.0, 320.0], [0.0, 0.0]])
