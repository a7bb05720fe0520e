"""What every layout is made of: its planes, what it refuses, and how bytes get there and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgslgen.formats.base import Bytes, Format


class PlaneSize(NamedTuple):
    """A plane's size: the bytes that mean something, and the u32 words of its buffer."""

    content_bytes: int
    words: int


class Refusal(NamedTuple):
    """Why a layout cannot hold a format, and the layout that can."""

    problem: str
    instead: str


class Layout(ABC):
    """An order of the bytes of `n` rows of `count` blocks; it has no state."""

    name: ClassVar[str]
    planes: ClassVar[tuple[str, ...]]
    row_tile: ClassVar[int] = 1
    """Rows that are stored together."""

    def refusal(self, fmt: Format) -> Refusal | None:
        """Return why the format does not fit, or None: here, that there are no scales to part from codes."""
        return None if fmt.quantised else Refusal(f"{fmt.name} has no scales to part from the codes", "ggml")

    @abstractmethod
    def content_bytes(self, fmt: Format, n: int, blocks: int) -> dict[str, int]:
        """Return the bytes of each plane that mean something, for `n` rows that hold `blocks` blocks in all."""

    @abstractmethod
    def split(self, fmt: Format, rows: Bytes) -> dict[str, Bytes]:
        """Return the bytes of each plane, in any shape, for uint8 rows [N, row_bytes]."""

    @abstractmethod
    def join(self, fmt: Format, parts: Mapping[str, Bytes], n: int, count: int) -> Bytes:
        """Return the rows' bytes, in any shape, from flat planes of `n` rows of `count` blocks."""


def part(fmt: Format, rows: Bytes) -> tuple[Bytes, Bytes]:
    """Part rows [N, row_bytes] into code bytes [N, blocks, code_bytes] and the rest [N, blocks, header_bytes]."""
    blocks = rows.reshape(len(rows), rows.shape[1] // fmt.block_bytes, fmt.block_bytes)
    is_code = _code_mask(fmt)
    return blocks[..., is_code], blocks[..., ~is_code]


def reunite(fmt: Format, codes: Bytes, headers: Bytes) -> Bytes:
    """Return blocks [N, blocks, block_bytes] from what `part` returns; the leading axes may be flattened."""
    is_code = _code_mask(fmt)
    blocks = np.empty((*headers.shape[:-1], fmt.block_bytes), dtype=np.uint8)
    blocks[..., is_code] = codes.reshape(*headers.shape[:-1], fmt.code_bytes)
    blocks[..., ~is_code] = headers
    return blocks


def _code_mask(fmt: Format) -> NDArray[np.bool_]:
    """Return which bytes of a block are codes: [block_bytes]."""
    index = np.arange(fmt.block_bytes)
    return (index >= fmt.code_offset) & (index < fmt.code_offset + fmt.code_bytes)
