from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases.support import opened, runner, widest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.adapters import SOFTWARE, Gpu
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.rowchunks import RowChunk, row_chunks

BINDING = "maxStorageBufferBindingSize"
KINDS = [
    *(formats.get(*kind) for kind in (("q2_0", 64), ("q1_0", 32), ("q8_0", 32), ("q4_1", 32), ("q1_0", 128))),
    *(formats.get(name) for name in ("mxfp4", "nvfp4", "q6_K", "iq1_m")),
]
"""Blocks of 6 to 210 bytes, one of them odd, of which 1 to 18 are no codes."""


@pytest.fixture(scope="module", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return opened(str(request.param))


def limited(size: int, **others: int) -> dict[str, int]:
    return {**DEFAULT_LIMITS, BINDING: size, **others}


def check(
    chunks: Sequence[RowChunk], fmt: Format, layout: str, n: int, k: int, limits: Mapping[str, int], multiple: int
) -> None:
    """Assert what every answer keeps: rows once and in order, planes whole, offsets aligned, sizes bound."""
    assert [chunk.first_row for chunk in chunks] == [sum(c.rows for c in chunks[:i]) for i in range(len(chunks))]
    assert sum(chunk.rows for chunk in chunks) == n
    assert all(chunk.rows > 0 and chunk.first_row % multiple == 0 for chunk in chunks)
    for plane, size in layouts.plane_sizes(fmt, layout, n, k).items():
        parts = [chunk.planes[plane] for chunk in chunks]
        assert parts[0][0] == 0
        assert all(offset + size == following for (offset, size), (following, _) in pairwise(parts))
        assert sum(parts[-1]) == 4 * size.words
        assert all(offset % limits["minStorageBufferOffsetAlignment"] == 0 for offset, _ in parts)
        assert all(0 < size <= limits[BINDING] and size % 4 == 0 for _, size in parts)


@pytest.mark.parametrize(
    ("fmt", "group", "layout", "n", "k", "rows"),
    [
        # 621236224 weights: q2_0 takes 18 bytes for 64 of them, q1_0 18 for 128, q8_0 34 for 32.
        ("q2_0", 64, "planar", 151669, 4096, [75840, 75829]),
        ("q2_0", 64, "ggml", 151669, 4096, [75840, 75829]),
        ("q1_0", 128, "planar", 151669, 4096, [151669]),
        ("q1_0", 128, "ggml", 151669, 4096, [151669]),
        ("q8_0", 32, "planar", 151669, 4096, [30333] * 5),
        ("q8_0", 32, "ggml", 151669, 4096, [30333] * 5),
        ("q2_0", 64, "planar", 248320, 5120, [82773] * 3),
        ("q2_0", 64, "ggml", 248320, 5120, [82773] * 3),
        ("q1_0", 128, "planar", 248320, 5120, [124160] * 2),
        ("q1_0", 128, "ggml", 248320, 5120, [124160] * 2),
        ("q8_0", 32, "planar", 248320, 5120, [24832] * 10),
        ("q8_0", 32, "ggml", 248320, 5120, [22574] * 11),
    ],
)
def test_vocabularies_take_few_even_chunks(fmt: str, group: int, layout: str, n: int, k: int, rows: list[int]) -> None:
    kind = formats.get(fmt, group)
    chunks = row_chunks(kind, layout, n, k, DEFAULT_LIMITS, 8)
    check(chunks, kind, layout, n, k, DEFAULT_LIMITS, 8)
    assert len(chunks) == len(rows)
    # Offsets come each 128 rows at most, and chunks differ by no more.
    assert max(abs(chunk.rows - wanted) for chunk, wanted in zip(chunks, rows, strict=True)) <= 128
    for chunk in chunks:
        sizes = {plane: 4 * size.words for plane, size in layouts.plane_sizes(kind, layout, chunk.rows, k).items()}
        assert sizes == {plane: size for plane, (_, size) in chunk.planes.items()}


def test_properties_hold_for_small_weights_and_tiny_limits(rng: np.random.Generator) -> None:
    """And no answer has fewer chunks: with one less, the rows before the last would be above the limit."""
    refused = several = 0
    for _ in range(1500):
        kind = KINDS[rng.integers(len(KINDS))]
        taken = [name for name in ("planar", "ggml", "row4") if layouts.refusal(kind, name) is None]
        layout = taken[rng.integers(len(taken))]
        tile = layouts.row_tile(layout)
        n, k, multiple = tile * int(rng.integers(1, 300)), kind.group * int(rng.integers(1, 9)), int(rng.integers(1, 9))
        alignment = int(2 ** rng.integers(2, 9))
        limits = limited(int(rng.integers(64, 20000)), minStorageBufferOffsetAlignment=alignment)
        try:
            chunks = row_chunks(kind, layout, n, k, limits, multiple)
        except UsageProblem:
            refused += 1
            assert fewest(kind, layout, n, k, limits, multiple) is None
            continue
        check(chunks, kind, layout, n, k, limits, multiple)
        several += len(chunks) > 2
        assert len(chunks) == fewest(kind, layout, n, k, limits, multiple)
        step = (*bounds(kind, layout, n, k, limits, multiple), n)[1]
        lengths = [-(-chunk.rows // step) for chunk in chunks]
        assert max(lengths) - min(lengths) <= 1, "as even as offsets let them be"
    assert refused > 100
    assert several > 300


def bounds(fmt: Format, layout: str, n: int, k: int, limits: Mapping[str, int], multiple: int) -> list[int]:
    """Return the rows at which a chunk may begin, found by trying each."""
    tile, alignment = layouts.row_tile(layout), limits["minStorageBufferOffsetAlignment"]
    sizes = [size.content_bytes for size in layouts.plane_sizes(fmt, layout, tile, k).values()]
    rows = (row for row in range(0, n, tile) if row % multiple == 0)
    return [row for row in rows if all(row // tile * size % alignment == 0 for size in sizes)]


def fewest(fmt: Format, layout: str, n: int, k: int, limits: Mapping[str, int], multiple: int) -> int | None:
    """Return the fewest chunks, found by taking as many rows as fit, time after time; None where none fit."""
    ends, count, first = [*bounds(fmt, layout, n, k, limits, multiple), n], 0, 0
    while first < n:
        fitting = [row for row in ends if row > first and _fits(fmt, layout, row - first, k, limits)]
        if not fitting:
            return None
        count, first = count + 1, fitting[-1]
    return count


def _fits(fmt: Format, layout: str, rows: int, k: int, limits: Mapping[str, int]) -> bool:
    return all(4 * size.words <= limits[BINDING] for size in layouts.plane_sizes(fmt, layout, rows, k).values())


def test_what_cannot_be_is_a_clear_error() -> None:
    kind = formats.get("q1_0", 128)
    words = (
        r"q1_0 with group 128, layout ggml: rows of 128 columns reach offsets that are multiples of 256 bytes each 128 "
        r"rows, which are 2304 bytes of plane weights, above the limit maxStorageBufferBindingSize 2000"
    )
    with pytest.raises(UsageProblem, match=words) as caught:
        row_chunks(kind, "ggml", 1000, 128, limited(2000))
    assert "request a larger limit" in str(caught.value.hint)
    assert len(row_chunks(kind, "ggml", 111, 128, limited(2000))) == 1, "what fits needs no offset"
    with pytest.raises(UsageProblem, match="above the limit maxBufferSize 2000"):
        row_chunks(kind, "ggml", 1000, 128, {**DEFAULT_LIMITS, "maxBufferSize": 2000})
    with pytest.raises(UsageProblem, match="row chunks: minStorageBufferOffsetAlignment is 0; expected a positive"):
        row_chunks(kind, "ggml", 1000, 128, limited(2000, minStorageBufferOffsetAlignment=0))
    with pytest.raises(UsageProblem, match=f"row chunks: {BINDING} is not stated; expected a positive"):
        row_chunks(kind, "ggml", 1000, 128, {k: v for k, v in DEFAULT_LIMITS.items() if k != BINDING})
    with pytest.raises(UsageProblem, match="multiple is 0; expected a positive number of rows"):
        row_chunks(kind, "ggml", 1000, 128, DEFAULT_LIMITS, 0)
    with pytest.raises(UsageProblem, match="row chunks: N = -1; expected a number of rows"):
        row_chunks(kind, "ggml", -1, 128, DEFAULT_LIMITS)
    with pytest.raises(UsageProblem, match="K = 100 is not a positive multiple"):
        row_chunks(kind, "ggml", 10, 100, DEFAULT_LIMITS)
    with pytest.raises(UsageProblem, match="stores 4 rows together"):
        row_chunks(kind, "row4", 10, 128, DEFAULT_LIMITS)
    assert row_chunks(kind, "planar", 0, 128, DEFAULT_LIMITS) == []


# ---- on devices ------------------------------------------------------------------------------------


def run_chunks(
    gpu: Gpu, variant: LmHeadArgmax, data: NDArray[Any], x: NDArray[np.float32], chunks: Sequence[RowChunk]
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Return best_value and best_index [SLOTS] after one dispatch a chunk, which binds that chunk's bytes."""
    k, tile = x.size, variant.tile_rows
    n = data.size // variant.weight_format.row_bytes(k)
    planes = layouts.pack(variant.weight_format, variant.layout, data, n, k)
    slots = -(-n // tile)
    best = {"best_value": np.full(slots, np.nan, np.float32), "best_index": np.full(slots, 2**32 - 1, np.uint32)}
    for chunk in chunks:
        sizes = {"N": chunk.rows, "K": k, "SLOTS": slots, "FIRST_ROW": chunk.first_row}
        bound = {p: planes[p].view(np.uint8)[at : at + size].view(np.uint32) for p, (at, size) in chunk.planes.items()}
        bound |= {layouts.GRID: planes[layouts.GRID]} if layouts.GRID in planes else {}
        raw = runner(gpu, variant).run({**bound, "x": x, **best}, {**sizes, "FIRST_SLOT": chunk.first_row // tile})
        best = {
            "best_value": np.frombuffer(raw["best_value"], "<f4"),
            "best_index": np.frombuffer(raw["best_index"], "<u4"),
        }
    return best["best_value"].astype(np.float32), best["best_index"].astype(np.uint32)


@pytest.mark.parametrize("layout", ["planar", "ggml"])
@pytest.mark.parametrize("subgroups", [False, True])
def test_three_chunks_give_the_token_of_one_dispatch(
    layout: str, subgroups: bool, gpu: Gpu, rng: np.random.Generator
) -> None:
    """Ties across chunks included: the row that wins stands in each, and the first of them is the token."""
    variant = widest(LmHeadArgmax, format="q2_0", group=64, layout=layout, route="float", subgroups=subgroups)
    fmt, n, k = variant.weight_format, 509, 128
    weights = rng.standard_normal((n, k)).astype(np.float32)
    x = rng.standard_normal(k).astype(np.float32)
    data = fmt.quantise(weights)
    logits = fmt.unpack(data) @ x
    data[[100, 300, 301, 508]] = data[int(np.argmax(logits))]
    data[:100] = data[100:200][::-1] if int(np.argmax(logits)) < 100 else data[:100]
    whole = row_chunks(fmt, layout, n, k, DEFAULT_LIMITS, variant.tile_rows)
    plane = 16 * 2 if layout == "planar" else 18 * 2
    chunks = row_chunks(fmt, layout, n, k, limited(200 * plane), variant.tile_rows)
    assert [len(whole), len(chunks)] == [1, 3]
    one, three = (run_chunks(gpu, variant, data, x, parts) for parts in (whole, chunks))
    np.testing.assert_array_equal(one[0].view(np.uint32), three[0].view(np.uint32))
    np.testing.assert_array_equal(one[1], three[1])
    logits = fmt.unpack(data) @ x
    ties = np.flatnonzero(logits >= logits.max() - 1e-9)
    assert len({np.searchsorted([c.first_row for c in chunks], row, "right") for row in ties}) == 3
    value, index = three
    assert index[value == value.max()].min() == ties[0]


@pytest.mark.parametrize("layout", ["planar", "ggml"])
@pytest.mark.parametrize("name", ["iq2_s", "iq1_m", "mxfp4"])
def test_chunks_share_one_table_and_cut_blocks_of_any_length(
    name: str, layout: str, gpu: Gpu, rng: np.random.Generator
) -> None:
    """The table of codes is no part of the rows: each chunk binds all of it."""
    variant = widest(LmHeadArgmax, format=name, layout=layout, route="float")
    fmt, n = variant.weight_format, 389
    k = 2 * fmt.group
    assert layouts.GRID not in layouts.plane_sizes(fmt, layout, n, k)
    data = fmt.random_blocks(n, k, rng)
    x = rng.standard_normal(k).astype(np.float32)
    data[[50, 200, 388]] = data[int(np.argmax(fmt.unpack(data) @ x))]
    most = 4 * max(size.words for size in layouts.plane_sizes(fmt, layout, 128, k).values())
    whole = row_chunks(fmt, layout, n, k, DEFAULT_LIMITS, variant.tile_rows)
    chunks = row_chunks(fmt, layout, n, k, limited(most), variant.tile_rows)
    check(chunks, fmt, layout, n, k, limited(most), variant.tile_rows)
    assert [len(whole), len(chunks)] == [1, 4]
    one, several = (run_chunks(gpu, variant, data, x, parts) for parts in (whole, chunks))
    np.testing.assert_array_equal(one[0].view(np.uint32), several[0].view(np.uint32))
    np.testing.assert_array_equal(one[1], several[1])
    value, index = several
    logits = fmt.unpack(data) @ x
    assert index[value == value.max()].min() == np.flatnonzero(logits >= logits.max() - 1e-9)[0]
