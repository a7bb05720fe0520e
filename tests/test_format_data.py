"""Formats: quantisers, random blocks, and bytes that pass through untouched."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Bytes, Format, ScaledFormat, SplitFormat
from wgslgen.formats.halves import EDGE_WORDS, to_half

ALL = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups]
SPLIT = [fmt for fmt in ALL if isinstance(fmt, SplitFormat)]
QUANTISED = [fmt for fmt in ALL if isinstance(fmt, ScaledFormat)]


def scaled(name: str, group: int | None = None) -> ScaledFormat:
    fmt = formats.get(name, group)
    assert isinstance(fmt, ScaledFormat)
    return fmt


def ids(fmt: Format) -> str:
    return f"{fmt.name}-{fmt.group}"


HALVES = [fmt for fmt in SPLIT if fmt.name != "bf16"]
every = pytest.mark.parametrize("fmt", ALL, ids=ids)
every_split = pytest.mark.parametrize("fmt", SPLIT, ids=ids)
every_with_halves = pytest.mark.parametrize("fmt", HALVES, ids=ids)
every_quantised = pytest.mark.parametrize("fmt", QUANTISED, ids=ids)


# Quantisers.


def test_q1_0_quantiser(rng: np.random.Generator) -> None:
    fmt = scaled("q1_0", 32)
    source = rng.standard_normal((3, 64), dtype=np.float32)
    source[0, :2] = (0.0, -1e-30)
    parts = fmt.split(fmt.quantise(source))
    assert (parts.codes == (source >= 0)).all()
    means = np.abs(source.astype(np.float64)).reshape(3, 2, 32).mean(axis=-1)
    assert (parts.scales == to_half(means)).all()


def test_q2_0_quantiser_uses_codes_0_to_2(rng: np.random.Generator) -> None:
    fmt = scaled("q2_0", 64)
    source = np.zeros((1, 128), dtype=np.float32)
    source[0, :5] = (-2.0, -0.9, 0.9, 1.1, 2.0)
    parts = fmt.split(fmt.quantise(source))
    assert parts.codes[0, :6].tolist() == [0, 1, 1, 2, 2, 1]
    assert parts.scales.tolist() == [[2.0, 0.0]]
    many = fmt.split(fmt.quantise(rng.standard_normal((16, 256), dtype=np.float32)))
    assert set(many.codes.ravel().tolist()) == {0, 1, 2}


@every_split
def test_quantise_extremes(fmt: SplitFormat) -> None:
    """Zeros stay zero; the largest and least magnitudes neither raise nor give inf."""
    k = 2 * fmt.group
    zeros = fmt.unpack(fmt.quantise(np.zeros((2, k), dtype=np.float32)))
    assert np.count_nonzero(zeros) == 0
    for value in (1e-45, 1e-6, 65504.0, 3e38):
        source = np.full((1, k), value, dtype=np.float32)
        source[0, ::2] = -value
        held = fmt.unpack(fmt.quantise(source))
        assert np.isfinite(held).all()
        if value == 65504.0:  # q4_0 reaches 7 steps on one side and 8 on the other
            assert np.allclose(held, source, rtol=0.126, atol=0)


@every_split
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_quantise_refuses_what_is_not_finite(fmt: Format, bad: float) -> None:
    source = np.ones((1, fmt.group), dtype=np.float32)
    source[0, -1] = bad
    with pytest.raises(UsageProblem, match=f"{fmt.name}.* inf or NaN"):
        fmt.quantise(source)


def test_quantise_refuses_part_blocks() -> None:
    with pytest.raises(UsageProblem, match="K = 33"):
        formats.get("q8_0").quantise(np.ones((1, 33), dtype=np.float32))


# Random blocks.


def half_words(fmt: Format, data: Bytes) -> NDArray[np.uint16]:
    """Return the f16 words that scale a format's weights, or f16 weights themselves: [N, blocks]."""
    if isinstance(fmt, ScaledFormat):
        return fmt.split(data).scales.view(np.uint16)
    return to_half(fmt.unpack(data)).view(np.uint16)


@every
def test_random_blocks_follow_the_generator(fmt: Format) -> None:
    k = 3 * fmt.group
    first = fmt.random_blocks(5, k, np.random.default_rng(7))
    assert first.shape == (5, fmt.row_bytes(k))
    assert first.tobytes() == fmt.random_blocks(5, k, np.random.default_rng(7)).tobytes()
    assert first.tobytes() != fmt.random_blocks(5, k, np.random.default_rng(8)).tobytes()


@every_with_halves
@pytest.mark.parametrize(("n", "blocks"), [(1, 16), (33, 1), (9, 3), (5, 5)])
def test_random_blocks_hold_the_edges(fmt: Format, n: int, blocks: int, rng: np.random.Generator) -> None:
    data = fmt.random_blocks(n, blocks * fmt.group, rng)
    words = set(half_words(fmt, data).ravel().tolist())
    assert set(EDGE_WORDS) <= words
    assert np.isfinite(fmt.unpack(data)).all()


@every_with_halves
def test_random_rows_do_not_hide_small_scales(fmt: SplitFormat, rng: np.random.Generator) -> None:
    """Row 1 has ordinary scales only, row 2 none above the smallest normal, row 3 the largest first."""
    words = half_words(fmt, fmt.random_blocks(4, 16 * fmt.group, rng)) & 0x7FFF
    assert words[0, 0] == 0x7BFF
    assert words[1].min() > 0x2000
    assert words[1].max() <= 0x4000
    assert words[2].max() == 0x0400
    assert set(words[3, :2].tolist()) == {0x7BFF}


@every_quantised
def test_random_blocks_hold_all_codes(fmt: ScaledFormat, rng: np.random.Generator) -> None:
    codes = fmt.split(fmt.random_blocks(9, 32 * fmt.group, rng)).codes
    assert len(np.unique(codes)) == 1 << fmt.bits


def test_random_minima_differ_from_their_scales(rng: np.random.Generator) -> None:
    parts = scaled("q4_1").split(scaled("q4_1").random_blocks(8, 64, rng))
    assert parts.mins is not None
    assert (parts.scales.view(np.uint16) != parts.mins.view(np.uint16)).mean() > 0.5
    assert (parts.mins[1] != 0).all()


@every
def test_no_rows_are_no_bytes(fmt: Format, rng: np.random.Generator) -> None:
    data = fmt.random_blocks(0, fmt.group, rng)
    assert data.shape == (0, fmt.row_bytes(fmt.group))
    if isinstance(fmt, SplitFormat):
        assert fmt.join(fmt.split(data)).shape == data.shape
    assert fmt.unpack(data).shape == (0, fmt.group)


@every_split
def test_split_and_join_move_nan_patterns_untouched(fmt: SplitFormat, rng: np.random.Generator) -> None:
    data = rng.integers(0, 256, (64, 3 * fmt.block_bytes), dtype=np.uint8)
    data[:, :2] = (0x01, 0x7C)  # a signalling f16 NaN where a scale is expected
    assert fmt.join(fmt.split(data)).tobytes() == data.tobytes()
