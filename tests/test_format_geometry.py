"""Formats: the numbers that templates are written from, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import formats
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Format, ScaledFormat, SplitFormat

ALL = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups]
QUANTISED = [fmt for fmt in ALL if isinstance(fmt, ScaledFormat) and fmt.step is None]


def ids(fmt: Format) -> str:
    return f"{fmt.name}-{fmt.group}"


every = pytest.mark.parametrize("fmt", ALL, ids=ids)
every_quantised = pytest.mark.parametrize("fmt", QUANTISED, ids=ids)


# The numbers that templates and other packers are written from.


@every_quantised
def test_units_cover_the_elements_of_their_words(fmt: ScaledFormat) -> None:
    """Each group of four that the decode of word `unit` gives is in that word, and none is left out."""
    per_word = 32 // fmt.bits
    slots = fmt.slot_elements().reshape(-1, per_word)
    assert len(slots) == fmt.code_words
    for unit, elements in enumerate(slots):
        offsets = [fmt.unit_offset(unit, four) for four in range(fmt.unit_groups)]
        assert sorted(o + i for o in offsets for i in range(4)) == sorted(elements.tolist())


@pytest.mark.parametrize(("name", "words", "offset"), [("f16", 2, 12), ("f32", 4, 12), ("q8_0", 1, 12)])
def test_units_of_one_group(name: str, words: int, offset: int) -> None:
    fmt = formats.get(name)
    assert (fmt.unit_words, fmt.unit_groups, fmt.unit_offset(3, 0)) == (words, 1, offset)


def test_unit_offsets_by_hand() -> None:
    assert formats.get("q1_0").unit_offset(3, 7) == 124
    assert formats.get("q2_0", 64).unit_offset(3, 2) == 56
    assert formats.get("q4_0").unit_offset(3, 1) == 28


@every_quantised
def test_int8_words_match_codes_masked_in_place(fmt: ScaledFormat) -> None:
    """Shift i of a code word, masked to one code a byte, meets the activations of one int8 word."""
    stride = fmt.int8_stride
    assert stride is not None
    slots = fmt.slot_elements().reshape(fmt.code_words, 4, 8 // fmt.bits)
    for word in slots:
        for i in range(8 // fmt.bits):
            elements = word[:, i]
            assert elements.tolist() == [elements[0] + stride * byte for byte in range(4)]
            assert elements[0] % (4 * stride) < stride


def test_plain_formats_have_no_scales_and_no_int8_route() -> None:
    for name in ("f16", "bf16", "f32"):
        fmt = formats.get(name)
        assert not fmt.quantised
        assert fmt.int8_stride is None
        assert fmt.scale_offset is None
        assert (fmt.header_bytes, fmt.code_bytes) == (0, fmt.block_bytes)


# What is refused, and how.


def test_get() -> None:
    assert formats.get("q4_1") == formats.get("q4_1", 32)
    assert [formats.get(kind.name, kind.groups[0]).name for kind in formats.FORMATS] == list(formats.names())
    defaults = {kind.name: kind.default_group for kind in formats.FORMATS}
    assert defaults["q2_0"] is None
    assert defaults["q1_0"] == 128
    assert defaults["f32"] == 1


def test_get_refuses_an_unknown_format() -> None:
    with pytest.raises(UsageProblem, match="no format 'q9_9'") as caught:
        formats.get("q9_9")
    assert caught.value.hint is not None
    assert "q2_0" in caught.value.hint


def test_get_refuses_a_missing_group() -> None:
    with pytest.raises(UsageProblem, match="q2_0 needs a group") as caught:
        formats.get("q2_0")
    assert caught.value.hint == "set group = 64 or 128"


@pytest.mark.parametrize(("name", "group"), [("q2_0", 32), ("q4_0", 64), ("f32", 32), ("f32", True)])
def test_get_refuses_an_illegal_group(name: str, group: int) -> None:
    with pytest.raises(UsageProblem, match=f"{name} has no group {group}"):
        formats.get(name, group)


def test_a_format_itself_refuses_an_illegal_group_and_changes() -> None:
    kind = type(formats.get("q2_0", 64))
    with pytest.raises(ValidationError, match="q2_0 has no group 96; expected one of 64, 128"):
        kind(group=96)
    with pytest.raises(ValidationError, match="frozen"):
        formats.get("q2_0", 64).group = 128


@pytest.mark.parametrize(("group", "other"), [(64, 128), (128, 64)])
def test_check_names_the_other_group(group: int, other: int) -> None:
    fmt = formats.get("q2_0", group)
    actual = formats.get("q2_0", other).row_bytes(256) * 3
    with pytest.raises(UsageProblem) as caught:
        fmt.check(actual, 3, 256)
    expected = fmt.row_bytes(256) * 3
    assert caught.value.message == (
        f"q2_0 with group {group}: 3 rows of 256 columns are {expected} bytes, got {actual}"
    )
    assert caught.value.hint == f"the length fits group {other}: set group = {other}"


@every
@pytest.mark.parametrize("off", [-1, 1, 7])
def test_check_refuses_every_wrong_length(fmt: Format, off: int) -> None:
    k = 2 * fmt.group
    fmt.check(3 * fmt.row_bytes(k), 3, k)
    with pytest.raises(UsageProblem, match=f"{fmt.name}.*got {3 * fmt.row_bytes(k) + off}") as caught:
        fmt.check(3 * fmt.row_bytes(k) + off, 3, k)
    assert caught.value.hint is not None
    assert "no group" in caught.value.hint


def test_check_refuses_negative_rows() -> None:
    with pytest.raises(UsageProblem, match="N = -1"):
        formats.get("q4_0").check(0, -1, 32)


@pytest.mark.parametrize("k", [0, -32, 1, 33])
def test_row_bytes_refuses_part_blocks(k: int) -> None:
    with pytest.raises(UsageProblem, match=f"q4_0: K = {k} .* 32 weights"):
        formats.get("q4_0").row_bytes(k)


def test_row_bytes_names_the_group_that_fits() -> None:
    with pytest.raises(UsageProblem, match="K = 192") as caught:
        formats.get("q2_0", 128).row_bytes(192)
    assert caught.value.hint == "K fits group 64: set group = 64"


@every
def test_rows_takes_any_buffer_of_the_right_length(fmt: Format, rng: np.random.Generator) -> None:
    data = fmt.random_blocks(4, 2 * fmt.group, rng)
    assert (fmt.rows(data.reshape(-1).view(np.uint16), 4, 2 * fmt.group) == data).all()
    with pytest.raises(UsageProblem):
        fmt.rows(data[:-1], 4, 2 * fmt.group)


@every
def test_split_and_unpack_refuse_other_shapes(fmt: Format) -> None:
    good = np.zeros((2, fmt.block_bytes), dtype=np.uint8)
    bads: list[NDArray[Any]] = [good[0], good[:, :-1], good.astype(np.int8)]
    for bad in bads:
        with pytest.raises(UsageProblem, match="expected uint8 rows") as caught:
            fmt.unpack(bad)
        assert "Format.rows" in str(caught.value)
        if isinstance(fmt, SplitFormat):
            with pytest.raises(UsageProblem, match="expected uint8 rows"):
                fmt.split(bad)
