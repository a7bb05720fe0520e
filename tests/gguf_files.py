"""GGUF files made of bytes, so that a test can get any part of one wrong."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wgslgen import formats
from wgslgen.errors import UsageProblem
from wgslgen.gguf_model import GgufModel, read_model

U32, F32, BOOL, STRING, ARRAY, U64 = 4, 6, 7, 8, 9, 10
LAYOUTS = {U32: "I", F32: "f", BOOL: "?", U64: "Q", 0: "B", 5: "i", 12: "d"}


@dataclass(frozen=True)
class Tensor:
    """A tensor for the list; `dims` innermost first, `data` as it lies in the file."""

    name: str
    dims: tuple[int, ...]
    type_id: int
    data: bytes
    offset: int | None = None
    """Where the header says that it starts; None is the truth."""


def string(text: str | bytes) -> bytes:
    """Return a string as GGUF stores it."""
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def value(kind: int, content: Any) -> bytes:
    """Return a value without its type; an array's content is (element type, items)."""
    if kind == STRING:
        return string(content)
    if kind == ARRAY:
        element, items = content
        return struct.pack("<IQ", element, len(items)) + b"".join(value(element, item) for item in items)
    return struct.pack(f"<{LAYOUTS[kind]}", content)


def pair(key: str | bytes, kind: int, content: Any) -> bytes:
    """Return a key with its value."""
    return string(key) + struct.pack("<I", kind) + value(kind, content)


def entry(tensor: Tensor, offset: int) -> bytes:
    """Return a tensor's entry in the list."""
    rank = len(tensor.dims)
    return string(tensor.name) + struct.pack(f"<I{rank}QIQ", rank, *tensor.dims, tensor.type_id, offset)


def padded(data: bytes, alignment: int) -> bytes:
    """Return `data` with zeros up to a multiple of the alignment."""
    return data + bytes(-len(data) % alignment)


def gguf_file(
    tensors: Sequence[Tensor] = (),
    metadata: Mapping[str, tuple[int, Any]] | None = None,
    *,
    version: int = 3,
    alignment: int = 32,
    counts: tuple[int, int] | None = None,
    pad_end: bool = True,
) -> bytes:
    """Return the bytes of a GGUF file; `counts` (tensors, keys) may lie."""
    metadata = {"general.architecture": (STRING, "llama"), **(metadata or {})}
    if alignment != 32:
        metadata["general.alignment"] = (U32, alignment)
    head = b"GGUF" + struct.pack("<IQQ", version, *(counts or (len(tensors), len(metadata))))
    head += b"".join(pair(key, *content) for key, content in metadata.items())
    data = b""
    for tensor in tensors:
        data = padded(data, alignment)
        head += entry(tensor, len(data) if tensor.offset is None else tensor.offset)
        data += tensor.data
    return padded(head, alignment) + (padded(data, alignment) if pad_end else data)


def read(tmp_path: Path, data: bytes, group: int | None = None) -> GgufModel:
    """Write the bytes to a file and read it."""
    path = tmp_path / "t.gguf"
    path.write_bytes(data)
    return read_model(path, group)


def problem_of(tmp_path: Path, data: bytes, group: int | None = None) -> UsageProblem:
    """Return the error that reading ends in: it names the file and gives a hint."""
    with pytest.raises(UsageProblem) as caught:
        read(tmp_path, data, group)
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith(str(tmp_path / "t.gguf"))
    assert caught.value.hint
    return caught.value


def matrix(name: str, n: int, k: int, weight_format: str, group: int | None = None, seed: int = 0) -> Tensor:
    """Return a tensor of random blocks."""
    stored = formats.get(weight_format, group)
    data = stored.random_blocks(n, k, np.random.default_rng(seed)).tobytes()
    return Tensor(name, (k, n), stored.gguf_type, data)


PLAIN = [matrix("a.weight", 3, 64, "q4_0"), matrix("b.weight", 5, 32, "f32"), matrix("c.weight", 2, 96, "q8_0")]
METADATA = {
    "general.name": (STRING, "a model"),
    "a.flag": (BOOL, True),
    "a.float": (F32, 0.5),
    "a.long": (U64, 2**40),
    "a.numbers": (ARRAY, (U32, [1, 2, 3])),
    "a.words": (ARRAY, (STRING, ["one", "", "three"])),
    "a.nested": (ARRAY, (ARRAY, [(U32, [1]), (STRING, ["x"])])),
    "a.empty": (ARRAY, (STRING, [])),
}
