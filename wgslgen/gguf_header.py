"""The header of a GGUF file, read with every length checked before it is believed.

PyPI's `gguf` has a reader, and its tables of type names and block sizes are used here; the reader itself is
not, for four reasons found with version 0.19: it ends in a ValueError at a tensor type that it does not know
(q2_0, id 42); it knows one group for a type, while files with three groups of q1_0 and two of q2_0 exist; it
takes what is left of the file where a length points past the end, so a truncated file reads as shorter
strings or fails in NumPy; and it makes a NumPy object for each of a vocabulary's words, which takes seconds.

Source of the layout: the GGUF specification, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gguf.constants import GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC, GGUFValueType

from wgslgen.errors import UsageProblem
from wgslgen.tomltext import brief

VERSIONS = (2, 3)
MOST_DIMENSIONS = 4
MOST_DEPTH = 4
"""Arrays inside arrays; no known key nests at all, and a loop must not exhaust the stack."""

SCALARS: Mapping[GGUFValueType, str] = {
    GGUFValueType.UINT8: "B",
    GGUFValueType.INT8: "b",
    GGUFValueType.UINT16: "H",
    GGUFValueType.INT16: "h",
    GGUFValueType.UINT32: "I",
    GGUFValueType.INT32: "i",
    GGUFValueType.FLOAT32: "f",
    GGUFValueType.BOOL: "?",
    GGUFValueType.UINT64: "Q",
    GGUFValueType.INT64: "q",
    GGUFValueType.FLOAT64: "d",
}
LEAST_PAIR, LEAST_TENSOR, LEAST_STRING = 8 + 4 + 1, 8 + 4 + 4 + 8, 8
"""Bytes that the smallest possible entry takes: what a count is measured against before the loop."""

NEW_FILE = "download or convert the file again"


@dataclass(frozen=True)
class TensorInfo:
    """A tensor as the header lists it; `dims` runs from the innermost (K) outwards."""

    name: str
    dims: tuple[int, ...]
    type_id: int
    offset: int
    """Bytes from the start of the tensor data."""


@dataclass(frozen=True)
class Header:
    """What stands before the tensor data."""

    metadata: Mapping[str, Any]
    """Key → number, string or bool; an array is known by its length alone, as `ArrayLength`."""
    tensors: tuple[TensorInfo, ...]
    data_start: int
    alignment: int


@dataclass(frozen=True)
class ArrayLength:
    """An array in the metadata, of which only the length was kept."""

    count: int


def read_header(data: memoryview, file: str) -> Header:
    """Return the header of the GGUF file whose bytes are `data`; `file` names it in messages.

    Only the header's own bytes are touched, so `data` may be a memory map of a file of any size. Raises
    UsageProblem for another kind of file, an unknown version, a big-endian file, a header that ends early,
    counts and lengths that the file cannot hold, unknown value types, and names given twice.
    """
    cursor = _Cursor(data, file)
    cursor.check_kind()
    tensor_count, pair_count = cursor.unpack("<QQ", "the counts")
    cursor.check_count(tensor_count * LEAST_TENSOR + pair_count * LEAST_PAIR, tensor_count, pair_count)
    metadata: dict[str, Any] = {}
    for index in range(pair_count):
        name = cursor.string(f"the name of key {index + 1} of {pair_count}")
        if name in metadata:
            raise UsageProblem(f"{file}: key {brief(name)} is given twice", hint=NEW_FILE)
        (kind,) = cursor.unpack("<I", f"the type of {brief(name)}")
        metadata[name] = cursor.value(kind, brief(name))
    tensors: dict[str, TensorInfo] = {}
    for index in range(tensor_count):
        tensor = cursor.tensor(f"tensor {index + 1} of {tensor_count}")
        if tensor.name in tensors:
            raise UsageProblem(f"{file}: tensor {brief(tensor.name)} is given twice", hint=NEW_FILE)
        tensors[tensor.name] = tensor
    alignment = metadata.get("general.alignment", GGUF_DEFAULT_ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment < 2**31 or alignment & (alignment - 1):
        raise UsageProblem(f"{file}: general.alignment is {alignment!r}; expected a power of two", hint=NEW_FILE)
    start = -(-cursor.at // alignment) * alignment
    return Header(metadata, tuple(tensors.values()), start, alignment)


class _Cursor:
    """A place in the file that only moves over bytes that are there."""

    def __init__(self, data: memoryview, file: str) -> None:
        self.data, self.file, self.at = data, file, 0

    def check_kind(self) -> None:
        """Move over magic and version; refuse other kinds of files."""
        magic = bytes(self.data[:4])
        if magic != struct.pack("<I", GGUF_MAGIC):
            raise UsageProblem(
                f"{self.file}: not a GGUF file: it opens with {magic!r}; expected b'GGUF'",
                hint="give a .gguf file",
            )
        self.at = 4
        (version,) = self.unpack("<I", "the version")
        if version & 0xFFFF == 0 and version:
            raise UsageProblem(
                f"{self.file}: a big-endian GGUF file; expected a little-endian one",
                hint="convert it with gguf's gguf-convert-endian",
            )
        if version not in VERSIONS:
            known = " or ".join(str(known) for known in VERSIONS)
            raise UsageProblem(
                f"{self.file}: GGUF version {version}; expected version {known}",
                hint="convert the model again with a current llama.cpp",
            )

    def check_count(self, least: int, tensors: int, pairs: int) -> None:
        """Refuse counts that even the smallest entries would not fit the file with."""
        if least > len(self.data) - self.at:
            raise UsageProblem(
                f"{self.file}: its header announces {tensors} tensors and {pairs} keys, at least {least} bytes; "
                f"{len(self.data) - self.at} bytes follow",
                hint=f"the file is truncated or damaged: {NEW_FILE}",
            )

    def skip(self, count: int, what: str) -> int:
        """Move over the next `count` bytes; return where they began."""
        left = len(self.data) - self.at
        if count > left:
            raise UsageProblem(
                f"{self.file}: the file ends within {what}: {count} bytes expected at byte {self.at}, {left} left",
                hint=f"the file is truncated or damaged: {NEW_FILE}",
            )
        self.at += count
        return self.at - count

    def take(self, count: int, what: str) -> bytes:
        """Return the next `count` bytes and move over them."""
        start = self.skip(count, what)
        return bytes(self.data[start : self.at])

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers."""
        return struct.unpack(layout, self.take(struct.calcsize(layout), what))

    def string(self, what: str) -> str:
        """Return the next string: its length in bytes as u64, then UTF-8."""
        (length,) = self.unpack("<Q", what)
        start = self.at
        try:
            return self.take(length, what).decode()
        except UnicodeDecodeError:
            raise UsageProblem(f"{self.file}: {what} at byte {start} is not UTF-8", hint=NEW_FILE) from None

    def value(self, kind: int, what: str, depth: int = 0) -> Any:
        """Return the next value of this type; of an array only its length."""
        if kind == GGUFValueType.STRING:
            return self.string(what)
        if kind in SCALARS:
            return self.unpack(f"<{SCALARS[GGUFValueType(kind)]}", what)[0]
        if kind == GGUFValueType.ARRAY and depth < MOST_DEPTH:
            return self.array(what, depth)
        raise UsageProblem(f"{self.file}: {what} has value type {kind}, which GGUF does not define", hint=NEW_FILE)

    def array(self, what: str, depth: int) -> ArrayLength:
        """Move over an array: element type, count, elements."""
        kind, count = self.unpack("<IQ", what)
        if kind in SCALARS:
            self.skip(count * struct.calcsize(f"<{SCALARS[GGUFValueType(kind)]}"), what)
            return ArrayLength(count)
        if count * LEAST_STRING > len(self.data) - self.at:
            self.skip(count * LEAST_STRING, what)
        for _ in range(count):
            if kind == GGUFValueType.STRING:
                (length,) = self.unpack("<Q", what)
                self.skip(length, what)
            else:
                self.value(kind, what, depth + 1)
        return ArrayLength(count)

    def tensor(self, which: str) -> TensorInfo:
        """Return the next entry of the tensor list."""
        name = self.string(f"the name of {which}")
        what = f"the entry of {brief(name)}, {which}"
        (rank,) = self.unpack("<I", what)
        if not 0 < rank <= MOST_DIMENSIONS:
            raise UsageProblem(
                f"{self.file}: tensor {brief(name)} has {rank} dimensions; expected 1 to {MOST_DIMENSIONS}",
                hint=NEW_FILE,
            )
        dims = self.unpack(f"<{rank}Q", what)
        if math.prod(dims) == 0 or math.prod(dims) >= 2**63:
            raise UsageProblem(
                f"{self.file}: tensor {brief(name)} has dimensions {list(dims)}; expected a product from 1 to 2^63",
                hint=NEW_FILE,
            )
        type_id, offset = self.unpack("<IQ", what)
        return TensorInfo(name, tuple(dims), type_id, offset)
