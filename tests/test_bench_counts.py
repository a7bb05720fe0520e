"""Bytes and operations of variants, against what a person counts from the shapes."""

from __future__ import annotations

from typing import Any

import pytest

from wgslgen import kernels
from wgslgen.bench.counts import Count, count
from wgslgen.bench.results import total

Q2 = {"format": "q2_0", "group": 64, "activation_group": 64}
HEADS = {"q_heads": 32, "kv_heads": 8, "head_dim": 128}
ONE = {"B": 1, "LAYERS": 28, "LAYER": 3}
CODES, SCALES, GGML = 4096 * 4096 * 2 // 8, 4096 * 4096 // 64 * 2, 4096 * 4096 // 64 * 18
FLOATS = 4096 * 4
MULTIPLY_ADDS = 4096 * 4096
CASES: dict[str, tuple[str, dict[str, Any], dict[str, int], Count]] = {
    "planar weights and f32 activations": (
        "matvec",
        {"format": "q2_0", "group": 64, "route": "float"},
        {"N": 4096, "K": 4096},
        Count(CODES + SCALES + FLOATS, FLOATS, 2 * MULTIPLY_ADDS, "f32"),
    ),
    "the file's own bytes": (
        "matvec",
        {"format": "q2_0", "group": 64, "route": "block", "layout": "ggml", "step_words": 1},
        {"N": 4096, "K": 4096},
        Count(GGML + FLOATS, FLOATS, 2 * MULTIPLY_ADDS, "f32"),
    ),
    "int8 activations with scale and sum, added in place": (
        "matvec",
        {**Q2, "route": "int8", "epilogue": "residual"},
        {"N": 4096, "K": 4096},
        Count(CODES + SCALES + 4096 + 64 * 8 + FLOATS, FLOATS, 2 * MULTIPLY_ADDS, "dot4"),
    ),
    "signs against bit planes, which no unit multiplies": (
        "matvec",
        {**Q2, "route": "popcount", "layout": "planes", "step_words": 1},
        {"N": 4096, "K": 4096},
        Count(2 * 4096 * 4096 // 8 + SCALES + 4096 // 8 + 64 * 4, FLOATS, 2 * MULTIPLY_ADDS, None),
    ),
    "gate and up": (
        "matvec",
        {**Q2, "route": "int8", "epilogue": "swiglu"},
        {"N": 4096, "K": 4096},
        Count(2 * (CODES + SCALES) + 4096 + 64 * 8, FLOATS, 4 * MULTIPLY_ADDS, "dot4"),
    ),
    "many tokens": (
        "matmul",
        {"format": "q2_0", "group": 64, "route": "tile", "step_words": 1},
        {"M": 512, "N": 4096, "K": 4096, "X_STRIDE": 4096},
        Count(CODES + SCALES + 512 * FLOATS, 512 * FLOATS, 2 * 512 * MULTIPLY_ADDS, "f32"),
    ),
    "matrix units, in parts of K": (
        "matmul",
        {"format": "q2_0", "group": 64, "route": "subgroup_matrix", "step_words": 1, "num_splits": 4},
        {"M": 16, "N": 4096, "K": 4096, "X_STRIDE": 4096},
        Count(CODES + SCALES + 16 * FLOATS, 4 * 16 * FLOATS, 2 * 16 * MULTIPLY_ADDS, "matrix"),
    ),
    "x once, integers with scales and sums": (
        "quantize_q8",
        {"group": 64, "stride": 4},
        {"M": 3, "K": 4096},
        Count(3 * FLOATS, 3 * (4096 + 64 * 8), 0, None),
    ),
    "the keys of one layer of 28": (
        "attention_split",
        {**HEADS, "num_splits": 16, "cache": "f16"},
        {**ONE, "CAPACITY": 1000},
        Count(32 * 128 * 4 + 2 * 1000 * 8 * 128 * 2 + 4, 16 * 32 * (128 * 4 + 8), 2 * 2 * 32 * 128 * 1000, "f32"),
    ),
    "the keys of a window": (
        "attention_split",
        {**HEADS, "num_splits": 16, "window": 100},
        {**ONE, "CAPACITY": 1000},
        Count(32 * 128 * 4 + 2 * 100 * 8 * 128 * 4 + 4, 16 * 32 * (128 * 4 + 8), 2 * 2 * 32 * 128 * 100, "f32"),
    ),
    "a prompt sees half of the pairs": (
        "attention_prefill",
        {**HEADS, "cache": "f16"},
        {**ONE, "M": 4, "CAPACITY": 4},
        Count(4 * 32 * 128 * 4 + 2 * 4 * 8 * 128 * 2 + 4, 4 * 32 * 128 * 4, 2 * 2 * 32 * 128 * 10, "f32"),
    ),
    "as many rows as ids": (
        "get_rows",
        {"format": "q2_0", "group": 64, "layout": "ggml", "step_words": 1},
        {"N": 100, "ROWS": 100, "FIRST_ROW": 0, "K": 128, "R": 3},
        Count(3 * 2 * 18 + 3 * 4, 3 * 128 * 4, 0, None),
    ),
    "no more rows than there are": (
        "get_rows",
        {"format": "q2_0", "group": 64, "layout": "ggml", "step_words": 1},
        {"N": 10, "ROWS": 10, "FIRST_ROW": 0, "K": 128, "R": 30},
        Count(10 * 2 * 18 + 30 * 4, 30 * 128 * 4, 0, None),
    ),
    "squares": ("rms_norm", {}, {"M": 2, "D": 2048}, Count(3 * 2048 * 4, 2 * 2048 * 4, 2 * 2 * 2048, "f32")),
    "squares of a running sum": (
        "rms_norm",
        {"residual": True},
        {"M": 2, "D": 2048},
        Count(5 * 2048 * 4, 4 * 2048 * 4, 2 * 2 * 2048, "f32"),
    ),
    "the rows of a cache that are written": (
        "rope_cache_kv",
        {**HEADS, "pairing": "half", "cache": "f16"},
        {**ONE, "M": 2, "CAPACITY": 512, "TABLE_ROWS": 512},
        Count(2 * 48 * 128 * 4 + 2 * 64 * 8 + 4, 2 * 32 * 128 * 4 + 2 * 2 * 8 * 128 * 2, 0, None),
    ),
    "two experts of eight": (
        "matvec_id",
        {"format": "q2_0", "group": 64, "route": "float"},
        {"T": 1, "USED": 2, "EXPERTS": 8, "N": 4096, "K": 4096},
        Count(2 * (CODES + SCALES) + 2 * 4 + FLOATS, 2 * FLOATS, 2 * 2 * MULTIPLY_ADDS, "f32"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_dispatch_counts_as_by_hand(name: str) -> None:
    kernel, constants, sizes, expected = CASES[name]
    assert count(kernels.get(kernel)(**constants), sizes) == expected


def test_passes_add_up_and_the_one_that_multiplies_most_names_the_unit() -> None:
    parts = (Count(5, 7, 0, None), Count(11, 13, 100, "dot4"), Count(17, 19, 10, "f32"))
    assert total(parts) == Count(33, 39, 110, "dot4")
    assert total(parts).moved == 72
