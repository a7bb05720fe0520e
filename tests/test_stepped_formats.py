"""Formats against PyPI gguf: all that it has NumPy code for, on raw random blocks; new ones join by themselves."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Format
from wgslgen.formats.stepped import SteppedFormat

ALL = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups]
OWN = {"q1_0", "q2_0"}
"""Formats that gguf has no code for; tests/test_formats.py pins them by hand."""
KNOWN = [fmt for fmt in ALL if fmt.name not in OWN]
STEPPED = [fmt for fmt in ALL if isinstance(fmt, SteppedFormat)]


def ids(fmt: Format) -> str:
    return str(fmt).replace(" ", "-")


every_known = pytest.mark.parametrize("fmt", KNOWN, ids=ids)
every_stepped = pytest.mark.parametrize("fmt", STEPPED, ids=ids)


def gguf_type(fmt: Format) -> gguf.GGMLQuantizationType:
    return gguf.GGMLQuantizationType[fmt.name.upper()]


def gguf_weights(fmt: Format, data: NDArray[np.uint8], k: int) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        rows = data if fmt.name != "f32" else data.view(np.float32)
        found = gguf.quants.dequantize(rows, gguf_type(fmt))
    return np.asarray(found).reshape(len(data), k).astype(np.float64)


def test_gguf_judges_all_but_two_formats() -> None:
    assert {fmt.name for fmt in ALL} - {fmt.name for fmt in KNOWN} == OWN
    assert len(STEPPED) >= 17


@every_known
def test_type_id_and_block_are_ggufs(fmt: Format) -> None:
    assert fmt.gguf_type == gguf_type(fmt)
    assert (fmt.group, fmt.block_bytes) == gguf.GGML_QUANT_SIZES[gguf_type(fmt)]


@every_known
@pytest.mark.parametrize("blocks", [1, 3, 8])
def test_weights_are_ggufs(fmt: Format, blocks: int, rng: np.random.Generator) -> None:
    """The package computes in f32: a product is exact there, and a minimum is added with one rounding."""
    k = blocks * max(fmt.group, 4)
    data = fmt.random_blocks(24, k, rng)
    ours, theirs = fmt.unpack(data), gguf_weights(fmt, data, k)
    if not fmt.has_minimum:
        assert (ours == theirs).all()
        return
    step = 2.0**-24
    largest = np.abs(ours).reshape(24, blocks, -1).max(axis=-1).repeat(k // blocks, axis=1)
    assert (np.abs(ours - theirs) <= 4 * step * largest).all()
    assert (ours == theirs).mean() > 0.5


@every_stepped
def test_blocks_come_back_from_every_layout(fmt: SteppedFormat, rng: np.random.Generator) -> None:
    data = rng.integers(0, 256, (5, 3 * fmt.block_bytes), dtype=np.uint8)
    k = 3 * fmt.group
    for layout in ("ggml", "planar"):
        planes = layouts.pack(fmt, layout, data, 5, k)
        assert (layouts.unpack(fmt, layout, planes, 5, k) == data).all()
        assert ("grid" in planes) == (fmt.grid() is not None)
        without = {name: words for name, words in planes.items() if name != "grid"}
        assert (layouts.unpack(fmt, layout, without, 5, k) == data).all()
    for layout in ("row4", "planes"):
        assert layouts.refusal(fmt, layout) is not None


@pytest.mark.parametrize("fmt", [fmt for fmt in STEPPED if fmt.grid() is not None], ids=ids)
def test_another_table_is_refused(fmt: SteppedFormat, rng: np.random.Generator) -> None:
    planes = layouts.pack(fmt, "planar", fmt.random_blocks(2, fmt.group, rng), 2, fmt.group)
    changed = planes["grid"].copy()
    changed[-1] ^= 1
    with pytest.raises(UsageProblem, match="plane grid is not the table of this format"):
        layouts.unpack(fmt, "planar", {**planes, "grid": changed}, 2, fmt.group)


@every_stepped
def test_codes_are_signed_bytes_and_of_all_values(fmt: SteppedFormat, rng: np.random.Generator) -> None:
    parts = fmt.take_apart(fmt.random_blocks(64, 4 * fmt.group, rng).reshape(64, 4, fmt.block_bytes))
    assert parts.codes.shape == (64, 4, fmt.group)
    assert parts.codes.dtype == np.int8
    assert parts.scales.shape == (64, 4, fmt.group // fmt.scale_group)
    assert (parts.mins is not None) == fmt.has_minimum
    assert np.unique(parts.codes).size >= 3
    assert np.isfinite(parts.scales).all()


@every_stepped
def test_weights_are_exact_in_f32_but_for_a_minimum(fmt: SteppedFormat, rng: np.random.Generator) -> None:
    """What `get_rows` promises: a scale times a whole number needs no rounding."""
    parts = fmt.take_apart(fmt.random_blocks(64, 4 * fmt.group, rng).reshape(64, 4, fmt.block_bytes))
    codes = parts.codes.reshape(*parts.scales.shape, -1).astype(np.float64) + fmt.zero
    products = codes * parts.scales[..., None]
    assert (products.astype(np.float32).astype(np.float64) == products).all()


@every_stepped
def test_scales_of_zero_give_zeros(fmt: SteppedFormat, rng: np.random.Generator) -> None:
    data = fmt.random_blocks(4, 2 * fmt.group, rng).reshape(4, 2, fmt.block_bytes)
    for offset in fmt.halves:
        data[..., offset : offset + 2] = 0
    if fmt.halves:
        assert not fmt.unpack(data.reshape(4, -1)).any()


@pytest.mark.parametrize("name", ["q5_0", "q5_1", "tq1_0", "tq2_0", "mxfp4", "bf16"])
def test_quantisers_give_ggufs_bytes(name: str, rng: np.random.Generator) -> None:
    """But where f32, in which gguf works, rounds another way than float64: in at most one block of 50."""
    fmt = formats.get(name)
    k = 4 * max(fmt.group, 32)
    weights = rng.standard_normal((64, k)).astype(np.float32)
    ours = fmt.quantise(weights)
    theirs = np.asarray(gguf.quants.quantize(weights, gguf_type(fmt))).view(np.uint8).reshape(ours.shape)
    blocks = (-1, fmt.block_bytes)
    same = (ours.reshape(blocks) == theirs.reshape(blocks)).all(axis=1)
    assert same.mean() >= 0.98


@every_stepped
def test_without_a_reference_quantiser_the_refusal_is_clear(fmt: SteppedFormat) -> None:
    if type(fmt).quantise is not SteppedFormat.quantise:
        return
    with pytest.raises(UsageProblem, match=f"{fmt.name}: no reference quantiser is defined for this format"):
        fmt.quantise(np.zeros((1, fmt.group), dtype=np.float32))
