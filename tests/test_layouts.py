"""Layouts: planes pinned by hand-written words, exact inverses, and refusals."""

from __future__ import annotations

from typing import Any, ClassVar

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Blocks, Bytes, Floats, Format, ScaledFormat

CASES = [
    (formats.get(kind.name, group), layout)
    for kind in formats.FORMATS
    for group in kind.groups
    for layout in layouts.PLANES
    if layouts.refusal(formats.get(kind.name, group), layout) is None
]
every_case = pytest.mark.parametrize(
    ("fmt", "layout"), CASES, ids=[f"{fmt.name}-{fmt.group}-{layout}" for fmt, layout in CASES]
)


def random_rows(fmt: Format, layout: str, n: int, blocks: int, rng: np.random.Generator) -> Bytes:
    """Return rows of random bytes, NaN patterns of scales among them, with all codes that the layout holds."""
    data = rng.integers(0, 256, (n, blocks * fmt.block_bytes), dtype=np.uint8)
    return ternary(fmt, data) if layout == "planes" else data


def ternary(fmt: Format, data: Bytes) -> Bytes:
    """Return the rows with code 1, which q2_0 has for zero, in the place of code 3."""
    assert isinstance(fmt, ScaledFormat)
    parts = fmt.split(data)
    return fmt.join(Blocks(np.where(parts.codes == 3, 1, parts.codes).astype(np.uint8), parts.scales))


@every_case
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (1, 3), (3, 1), (5, 3), (7, 5), (2, 2), (48, 4)])
def test_round_trip(fmt: Format, layout: str, n: int, blocks: int, rng: np.random.Generator) -> None:
    """Bytes come back, for odd N where the layout allows it, and for odd numbers of blocks."""
    n *= layouts.row_tile(layout)
    k = blocks * fmt.group
    data = random_rows(fmt, layout, n, blocks, rng)
    planes = layouts.pack(fmt, layout, data, n, k)
    sizes = layouts.plane_sizes(fmt, layout, n, k)
    if fmt.grid() is not None:
        assert planes.pop(layouts.GRID).tolist() == np.asarray(fmt.grid()).tolist()
    assert list(planes) == list(sizes) == list(layouts.PLANES[layout])
    for plane, words in planes.items():
        assert words.dtype == np.uint32
        assert words.shape == (sizes[plane].words,)
        assert not words.view(np.uint8)[sizes[plane].content_bytes :].any()
    twice = n * k // 8 if (fmt.name, layout) == ("q1_0", "planes") else 0  # two planes for one bit
    assert sum(size.content_bytes for size in sizes.values()) == data.size + twice
    back = layouts.unpack(fmt, layout, planes, n, k)
    assert back.shape == data.shape
    assert back.tobytes() == data.tobytes()


@every_case
def test_packing_copies(fmt: Format, layout: str, rng: np.random.Generator) -> None:
    """Planes do not change with the bytes that they were made from, nor the other way round."""
    data = random_rows(fmt, layout, 4, 2, rng)
    before = data.tobytes()
    planes = layouts.pack(fmt, layout, data, 4, 2 * fmt.group)
    for words in planes.values():
        words.fill(0)
    assert data.tobytes() == before


def test_c27_one_q4_0_block_is_padded_to_whole_words() -> None:
    fmt = formats.get("q4_0")
    words = layouts.pack(fmt, "ggml", np.arange(1, 19, dtype=np.uint8), 1, 32)["weights"]
    assert words.nbytes == 20
    assert words.view(np.uint8).tolist() == [*range(1, 19), 0, 0]


def test_c28_rows_of_54_bytes_straddle_words() -> None:
    fmt = formats.get("q4_0")
    assert isinstance(fmt, ScaledFormat)
    scales = np.array([[(r + 1) * (b + 1) / 8 for b in range(3)] for r in range(3)]).astype(np.float16)
    data = fmt.join(Blocks(np.full((3, 96), 9, dtype=np.uint8), scales))
    words = layouts.pack(fmt, "ggml", data, 3, 96)["weights"]
    assert words.size == 41  # 162 bytes
    # Row 1 starts at byte 54, the upper half of word 13; row 2 at byte 108, word 27.
    assert words[13] >> 16 == scales.view(np.uint16)[1, 0]
    assert words[27] & 0xFFFF == scales.view(np.uint16)[2, 0]
    planes = layouts.pack(fmt, "planar", data, 3, 96)
    assert planes["codes"].tolist() == [0x99999999] * 36
    assert planes["scales"].tolist() == [
        int(low) | int(high) << 16
        for low, high in np.append(scales.view(np.uint16).ravel(), np.uint16(0)).reshape(5, 2)
    ]


def test_planar_q2_0_by_hand() -> None:
    fmt = formats.get("q2_0", 64)
    rows = [bytes([r, 0x3C + r]) + bytes(range(16 * r, 16 * r + 16)) for r in range(3)]
    planes = layouts.pack(fmt, "planar", np.frombuffer(b"".join(rows), dtype=np.uint8), 3, 64)
    assert planes["codes"][:5].tolist() == [0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C, 0x13121110]
    assert planes["codes"].size == 12
    assert planes["scales"].tolist() == [0x3D013C00, 0x00003E02]


def test_planar_q4_1_has_one_word_a_block() -> None:
    fmt = formats.get("q4_1")
    block = b"\x00\x38" + b"\x00\xc2" + bytes(16)
    planes = layouts.pack(fmt, "planar", np.frombuffer(block * 3, dtype=np.uint8), 1, 96)
    assert planes["scales"].tolist() == [0xC2003800] * 3


def test_odd_f16_row_is_padded() -> None:
    fmt = formats.get("f16")
    words = layouts.pack(fmt, "ggml", np.array([1.0, 2.0, -1.0], dtype=np.float16), 1, 3)["weights"]
    assert words.tolist() == [0x40003C00, 0x0000BC00]


@pytest.mark.parametrize("layout", layouts.PLANES)
def test_no_rows_are_empty_planes(layout: str) -> None:
    fmt = formats.get("q1_0")
    planes = layouts.pack(fmt, layout, np.empty(0, dtype=np.uint8), 0, 128)
    assert [words.size for words in planes.values()] == [0] * len(layouts.PLANES[layout])
    assert layouts.unpack(fmt, layout, planes, 0, 128).shape == (0, 18)


# A format with sub-scales in a super-block, to show that nothing above supposes one scale before the codes.


class SuperBlocks(Format):
    """q6_K as stored: 128 bytes of low nibbles, 64 of high bits, 16 i8 sub-scales, f16 scale."""

    name: ClassVar[str] = "super"
    groups: ClassVar[tuple[int, ...]] = (256,)
    bits: ClassVar[int] = 6
    scale_offset: ClassVar[int | None] = 208
    code_offset: ClassVar[int] = 0

    group: int = 256

    @property
    def header_bytes(self) -> int:
        return 16 + 2

    def split(self, data: Bytes) -> Blocks:
        blocks = self._blocks(data)
        low, high = blocks[..., :128].reshape(*blocks.shape[:2], 2, 1, 64), blocks[..., 128:192]
        nibbles = low >> np.array([[0], [4]], dtype=np.uint8) & 15
        pairs = high.reshape(*blocks.shape[:2], 2, 1, 32) >> np.array([[0], [2], [4], [6]], dtype=np.uint8) & 3
        codes = nibbles.reshape(-1, 256) | pairs.reshape(-1, 256) << 4
        return Blocks(codes.reshape(len(data), -1), np.ascontiguousarray(blocks[..., 208:]).view("<f2")[..., 0])

    def join(self, blocks: Blocks) -> Bytes:
        raise NotImplementedError

    def unpack(self, data: Bytes) -> Floats:
        parts = self.split(data)
        sub: Floats = self._blocks(data)[..., 192:208].view(np.int8).astype(np.float64)
        scales = parts.scales.astype(np.float64)[..., None] * sub
        codes = parts.codes.astype(np.float64) - 32
        values: Floats = codes * scales.reshape(len(data), -1).repeat(16, axis=1)
        return values

    def quantise(self, weights: NDArray[np.float32]) -> Bytes:
        raise NotImplementedError

    def random_blocks(self, n: int, k: int, rng: np.random.Generator) -> Bytes:
        data = rng.integers(0, 256, (n, self.row_bytes(k)), dtype=np.uint8)
        self._blocks(data)[..., 208:] = (0x00, 0x38)
        return data


def test_a_super_block_format_fits_every_layout_but_bit_planes(rng: np.random.Generator) -> None:
    fmt = SuperBlocks()
    assert (fmt.block_bytes, fmt.code_bytes) == (210, 192)
    data = fmt.random_blocks(4, 768, rng)
    theirs = gguf.quants.dequantize(data, gguf.GGMLQuantizationType.Q6_K)
    assert np.allclose(fmt.unpack(data), theirs, rtol=1e-6, atol=0)
    assert [layout for layout in layouts.PLANES if layouts.refusal(fmt, layout)] == ["planes"]
    for layout in ("ggml", "planar", "row4"):
        planes = layouts.pack(fmt, layout, data, 4, 768)
        assert layouts.unpack(fmt, layout, planes, 4, 768).tobytes() == data.tobytes()
    sizes = layouts.plane_sizes(fmt, "planar", 3, 768)
    assert (sizes["codes"].content_bytes, sizes["scales"].content_bytes) == (9 * 192, 9 * 18)


# What is refused, and how.


def test_unknown_layout() -> None:
    with pytest.raises(UsageProblem, match="no layout 'row9'") as caught:
        layouts.plane_sizes(formats.get("q1_0"), "row9", 1, 128)
    assert caught.value.hint == "choose a layout from: ggml, planar, row4, planes"


@pytest.mark.parametrize("layout", ["planar", "row4", "planes"])
@pytest.mark.parametrize("name", ["f16", "f32"])
def test_all_layouts_but_the_files_own_need_scales(name: str, layout: str) -> None:
    fmt = formats.get(name)
    with pytest.raises(UsageProblem, match=f"^{name} has no scales to part from the codes") as caught:
        layouts.pack(fmt, layout, np.zeros(fmt.row_bytes(4), dtype=np.uint8), 1, 4)
    assert caught.value.hint == 'set layout = "ggml"'


def test_pack_names_the_group_that_fits() -> None:
    data = np.zeros((3, formats.get("q2_0", 128).row_bytes(256)), dtype=np.uint8)
    with pytest.raises(UsageProblem, match=r"q2_0 with group 64.* got 204") as caught:
        layouts.pack(formats.get("q2_0", 64), "planar", data, 3, 256)
    assert caught.value.hint == "the length fits group 128: set group = 128"


PLANES: dict[str, NDArray[np.uint32]] = {
    "codes": np.zeros(4, dtype=np.uint32),
    "scales": np.zeros(1, dtype=np.uint32),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.zeros(5, dtype=np.uint32)}, "plane codes is 4 uint32 words, got 5 of uint32"),
        ({"scales": np.zeros(1, dtype=np.float32)}, "plane scales is 1 uint32 words, got 1 of float32"),
        ({"weights": np.zeros(5, dtype=np.uint32)}, "planes codes, scales; got codes, scales, weights"),
    ],
)
def test_unpack_refuses_other_planes(change: dict[str, NDArray[Any]], message: str) -> None:
    fmt = formats.get("q2_0", 64)
    assert layouts.unpack(fmt, "planar", PLANES, 1, 64).shape == (1, 18)
    with pytest.raises(UsageProblem, match=message):
        layouts.unpack(fmt, "planar", PLANES | change, 1, 64)


def test_unpack_refuses_no_planes() -> None:
    with pytest.raises(UsageProblem, match="the planes weights; got none"):
        layouts.unpack(formats.get("q4_0"), "ggml", {}, 1, 32)
