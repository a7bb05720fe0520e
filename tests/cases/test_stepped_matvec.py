"""Route int8 of `matvec` where scales end before their activation group does: steps add up their own activations."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cases.support import SOURCE, Bytes, Floats, run_matvec
from wgslgen.adapters import Gpu
from wgslgen.harness import Runner
from wgslgen.kernels.matvec import Matvec
from wgslgen.layouts import pack
from wgslgen.oracles.quantize_q8 import packed, quantise
from wgslgen.render import render

ONE = np.float16(1.0).tobytes()
SUMS = np.arange(16) % 5 * 127.0
"""Sums of x over each 16 columns: neighbours, and stretches of 32, have different ones."""
Q3_K_SCALES = bytes(low | low + 8 << 4 for low in range(8)) + b"\xaa" * 4
"""Scales 0 to 15: 32 is taken off each, and every upper pair is 2."""
BY_HAND: dict[str, tuple[bytes, float]] = {
    # Codes 0 and minima 0 to 15.
    "q2_K": (bytes(i << 4 for i in range(16)) + bytes(64) + ONE + ONE, -(np.arange(16) * SUMS).sum()),
    # Codes 0, which stand for -4, under scales 0 to 15.
    "q3_K": (bytes(96) + Q3_K_SCALES + ONE, -4 * (np.arange(16) * SUMS).sum()),
    # Codes 0 and minima 0 to 7, each for 32 columns.
    "q4_K": (
        ONE + ONE + bytes([0, 0, 0, 0, 0, 1, 2, 3, 0x40, 0x50, 0x60, 0x70]) + bytes(128),
        -(np.arange(16) // 2 * SUMS).sum(),
    ),
    # Codes 0, which stand for -32, under scales 1 to 16.
    "q6_K": (bytes(192) + bytes(range(1, 17)) + ONE, -32 * (np.arange(1, 17) * SUMS).sum()),
}
every = pytest.mark.parametrize("name", BY_HAND)


def activations() -> Floats:
    """Return x [2, 256] with SUMS, and the same with the other sign; int8 holds it exactly."""
    x = np.zeros((2, 256))
    for stretch in range(16):
        x[0, 16 * stretch : 16 * stretch + stretch % 5] = 127.0
    x[1] = -x[0]
    return x


def variants(name: str, route: str) -> list[Matvec]:
    """Return matvec in both layouts, for each activation group where the route has them."""
    groups = ({"activation_group": group} for group in (32, 64, 128)) if route == "int8" else ({},)
    return [
        Matvec.model_validate(
            {"format": name, "route": route, "layout": layout, "columns": 2, "tile_rows": 2, "subgroups": sub, **group}
        )
        for group in groups
        for layout, sub in (("planar", False), ("ggml", True))
    ]


@every
@pytest.mark.parametrize("route", ["float", "int8"])
def test_c30_zero_and_minimum_take_the_sum_of_their_own_stretch(name: str, route: str, gpu: Gpu) -> None:
    """The sum of the whole group, or of another stretch, gives another result."""
    data, expected = BY_HAND[name]
    for variant in variants(name, route):
        y = run_matvec(gpu, variant, np.frombuffer(3 * data, np.uint8), activations().astype(np.float32))
        np.testing.assert_array_equal(y, [[expected] * 3, [-expected] * 3])


@every
def test_steps_add_up_only_where_their_scale_ends_first(name: str) -> None:
    for variant in variants(name, "int8"):
        shorter = variant.weight_format.scale_group < (variant.activation_group or 0)
        assert variant.sums_steps == shorter
        assert ("0x01010101u" in render(variant, SOURCE)) == shorter


def run_text(gpu: Gpu, variant: Matvec, text: str, data: Bytes) -> Floats:
    """Return y [2, 1] as another text than the variant's computes it."""
    x8, x_scale = packed(
        quantise(activations().astype(np.float32), variant.activation_group or 0),
        variant.weight_format.int8_stride or 1,
    )
    inputs = {**pack(variant.weight_format, variant.layout, data, 1, 256), "x8": x8, "x_scale": x_scale}
    raw = Runner(gpu, variant, text).run(inputs, {"N": 1, "K": 256})["y"]
    return np.frombuffer(raw, np.float32, count=2).astype(np.float64)


@every
def test_by_the_groups_sum_results_would_be_others(name: str, lavapipe: Gpu) -> None:
    """What the values by hand are for: a text that takes the sum of the group once, as for scales of a whole block."""
    data, expected = BY_HAND[name]
    variant = variants(name, "int8")[-2]
    assert variant.activation_group == 128
    text = render(variant, SOURCE)
    own_sum = re.compile(r"f32\(\s+dot4I8Packed\([^;]*?0x01010101u\)\s+\),")
    changed, count = own_sum.subn("select(0.0f, x_scale[group].y, step % STEPS_PER_GROUP == 0u),", text)
    assert count == 1
    weights = np.frombuffer(data, np.uint8)
    assert run_text(lavapipe, variant, text, weights).tolist() == [expected, -expected]
    assert run_text(lavapipe, variant, changed, weights)[0] != expected
