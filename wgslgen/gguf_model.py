"""What a GGUF file says about its model: architecture, shapes, and where each tensor's bytes lie.

The header does not say which group a q1_0 or q2_0 tensor has. It follows from the distance to the next
tensor (or to the end of the file), which must be exactly the tensor's bytes, padded to the alignment; where
that leaves two groups possible, the caller must say which. (A file with one such tensor, cut off where the
tensor would end with the other group, cannot be told from a whole one.)
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from numpy.typing import NDArray

from wgslgen import formats
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.gguf_facts import decoder_facts
from wgslgen.gguf_header import NEW_FILE, Header, TensorInfo, read_header
from wgslgen.model import Model
from wgslgen.tomltext import brief
from wgslgen.wording import any_of

GGML_TYPES = {int(known): known for known in GGMLQuantizationType}
TRUNCATED = f"the file is truncated or damaged: {NEW_FILE}"


@dataclass(frozen=True)
class GgufTensor:
    """A tensor of N rows and K columns; `dims` runs from the innermost (K) outwards."""

    name: str
    type_id: int
    type_name: str
    """Lower-case, as formats are called; types that wgslgen has no format for are named, too."""
    dims: tuple[int, ...]
    offset: int
    """Bytes from the start of the file."""
    byte_length: int
    stored: Format | None
    """The format with its group; None where wgslgen has none for this type."""

    @property
    def format(self) -> str | None:
        """The format's name."""
        return None if self.stored is None else self.stored.name

    @property
    def group(self) -> int | None:
        """The weights under one scale."""
        return None if self.stored is None else self.stored.group

    @property
    def k(self) -> int:
        """Columns: the innermost dimension."""
        return self.dims[0]

    @property
    def n(self) -> int:
        """Rows: the product of all other dimensions."""
        return math.prod(self.dims[1:])


@dataclass(frozen=True)
class GgufModel:
    """A GGUF file's header, checked against the file's size."""

    file: str
    """The file's name without its folder."""
    architecture: str
    metadata: Mapping[str, Any]
    tensors: tuple[GgufTensor, ...]
    facts: Model | None
    """The decoder's facts where its keys and tensors are named as llama, qwen2 and qwen3 name them."""

    def tensor(self, name: str) -> GgufTensor:
        """Return the tensor `name`; raise UsageProblem where there is none."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise UsageProblem(
            f"{self.file} has no tensor {brief(name)}; it has {len(self.tensors)}",
            hint=f"its first is {brief(self.tensors[0].name)}" if self.tensors else NEW_FILE,
        )


def read_model(path: str | Path, group: int | None = None) -> GgufModel:
    """Read the header of the GGUF file at `path`; no tensor data is read.

    Args:
        path: The file.
        group: The group of the formats whose group the type id leaves open; None finds it out.

    Raises:
        UsageProblem: The file is unreadable, not GGUF, truncated or damaged; a tensor has an unknown type,
            rows that are not whole blocks, or data beyond the end of the file; or no group, or more than
            one, fits the distances between the tensors.
    """
    file = str(path)
    try:
        with Path(path).open("rb") as stream:
            size = stream.seek(0, 2)
            if size == 0:
                raise UsageProblem(f"{file}: an empty file; expected a GGUF file", hint=NEW_FILE)
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
                header = read_header(view, file)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageProblem(f"{file}: cannot be read: {reason}", hint="give the path of a .gguf file") from None
    rooms = _rooms(header, size, file)
    groups = _groups(header, rooms, group, file)
    tensors = tuple(_tensor(header, info, groups, size, file) for info in header.tensors)
    _refuse_overlaps(tensors, file)
    architecture = header.metadata.get("general.architecture")
    named = architecture if isinstance(architecture, str) else "unknown"
    facts = decoder_facts(named, header.metadata, {tensor.name: tensor.dims for tensor in tensors})
    return GgufModel(Path(path).name, named, header.metadata, tensors, facts)


def tensor_bytes(path: str | Path, tensor: GgufTensor) -> NDArray[np.uint8]:
    """Return the tensor's bytes as read-only uint8 [N, row_bytes], mapped from the file and not copied."""
    shape = (tensor.n, tensor.byte_length // tensor.n)
    try:
        return np.memmap(path, dtype=np.uint8, mode="r", offset=tensor.offset, shape=shape)
    except (OSError, ValueError) as problem:
        raise UsageProblem(f"{path}: {tensor.name} cannot be read: {problem}", hint=TRUNCATED) from None


# ---- tensors --------------------------------------------------------------------------------------


def _rooms(header: Header, size: int, file: str) -> dict[str, tuple[int, bool]]:
    """Return, for each tensor, the bytes up to the next one, and whether it is the last of the file."""
    if not header.tensors:
        raise UsageProblem(f"{file}: holds no tensors; expected a model's weights", hint=NEW_FILE)
    by_offset = sorted(header.tensors, key=lambda info: info.offset)
    ends = [*(info.offset for info in by_offset[1:]), max(0, size - header.data_start)]
    rooms: dict[str, tuple[int, bool]] = {}
    for index, (info, end) in enumerate(zip(by_offset, ends, strict=True)):
        if info.offset % header.alignment:
            raise UsageProblem(
                f"{file}: {brief(info.name)} starts at byte {info.offset} of the data, "
                f"which is not a multiple of the alignment {header.alignment}",
                hint=NEW_FILE,
            )
        rooms[info.name] = (end - info.offset, index == len(by_offset) - 1)
    return rooms


def _groups(header: Header, rooms: Mapping[str, tuple[int, bool]], wanted: int | None, file: str) -> dict[int, Format]:
    """Return the format of each type id whose group the file leaves open."""
    found: dict[int, Format] = {}
    for type_id in sorted({info.type_id for info in header.tensors}):
        kind = formats.by_gguf_type(type_id)
        if kind is None or len(kind.groups) < 2:
            continue
        # The last tensor goes last: where the file is cut short, the others still tell the group.
        infos = sorted((info for info in header.tensors if info.type_id == type_id), key=lambda i: i.offset)
        left, cause = [kind(group=group) for group in kind.groups], infos[0]
        for info in infos:
            room, last = rooms[info.name]
            fits = [stored for stored in left if _fills(stored, info, room, header.alignment)]
            if not fits and last and len(left) == 1 and info is not infos[0]:
                break  # a truncated file: `_tensor` says so
            if not fits:
                raise _no_group(file, info, left, room)
            left, cause = fits, info
        found[type_id] = _chosen(file, kind, cause, left, wanted)
    if wanted is not None and not found:
        raise UsageProblem(
            f"{file}: group {wanted} was given, and no tensor has a type with several groups",
            hint="leave --group out",
        )
    return found


def _fills(stored: Format, info: TensorInfo, room: int, alignment: int) -> bool:
    """Tell whether the tensor in this format takes exactly its room, padding counted or not."""
    if info.dims[0] % stored.group:
        return False
    length = math.prod(info.dims[1:]) * stored.row_bytes(info.dims[0])
    return room in (length, -(-length // alignment) * alignment)


def _no_group(file: str, info: TensorInfo, left: Iterable[Format], room: int) -> UsageProblem:
    rows, columns = math.prod(info.dims[1:]), info.dims[0]
    sizes = [
        f"group {stored.group} takes {rows * stored.row_bytes(columns)} bytes"
        if columns % stored.group == 0
        else f"group {stored.group} does not divide K = {columns}"
        for stored in left
    ]
    name = next(iter(left)).name
    return UsageProblem(
        f"{file}: {brief(info.name)} is {name} with {rows} rows of {columns} columns and has room for {room} bytes; "
        + ", ".join(sizes),
        hint=TRUNCATED,
    )


def _chosen(file: str, kind: type[Format], cause: TensorInfo, left: list[Format], wanted: int | None) -> Format:
    """Return the group that is left, or among several the one that the caller wants."""
    groups = [stored.group for stored in left]
    fitting = any_of(str(group) for group in groups)
    if wanted is not None:
        if wanted in groups:
            return left[groups.index(wanted)]
        raise UsageProblem(
            f"{file}: group {wanted} does not fit its {kind.name} tensors, {brief(cause.name)} for one; "
            f"their lengths fit group {fitting}",
            hint="leave --group out" if len(groups) == 1 else f"use --group {groups[0]}",
        )
    if len(groups) > 1:
        raise UsageProblem(
            f"{file}: its {kind.name} tensors fit group {fitting}, and the header does not say which",
            hint=f"say which: --group {groups[0]}",
        )
    return left[0]


def _tensor(header: Header, info: TensorInfo, groups: Mapping[int, Format], size: int, file: str) -> GgufTensor:
    """Return the tensor with its length; refuse an unknown type, part blocks, and data past the end."""
    rows, columns = math.prod(info.dims[1:]), info.dims[0]
    kind = formats.by_gguf_type(info.type_id)
    stored = groups.get(info.type_id) or (formats.get(kind.name) if kind is not None else None)
    if stored is not None:
        type_name, block, block_bytes = stored.name, stored.group, stored.block_bytes
    elif info.type_id in GGML_TYPES:
        known = GGML_TYPES[info.type_id]
        type_name, (block, block_bytes) = known.name.lower(), GGML_QUANT_SIZES[known]
    else:
        raise UsageProblem(
            f"{file}: {brief(info.name)} has type id {info.type_id}, which is unknown; "
            f"wgslgen reads {', '.join(formats.names())}",
            hint="convert the model to one of these types",
        )
    if columns % block:
        raise UsageProblem(
            f"{file}: {brief(info.name)} is {type_name} with {columns} columns; expected a multiple of {block}",
            hint=NEW_FILE,
        )
    start, length = header.data_start + info.offset, rows * columns // block * block_bytes
    if start + length > size:
        raise UsageProblem(
            f"{file}: the file ends within {brief(info.name)}: its data are bytes {start} to {start + length}, "
            f"the file has {size}",
            hint=TRUNCATED,
        )
    return GgufTensor(info.name, info.type_id, type_name, info.dims, start, length, stored)


def _refuse_overlaps(tensors: Iterable[GgufTensor], file: str) -> None:
    before: GgufTensor | None = None
    for tensor in sorted(tensors, key=lambda tensor: tensor.offset):
        if before is not None and before.offset + before.byte_length > tensor.offset:
            raise UsageProblem(
                f"{file}: {brief(before.name)} ({before.byte_length} bytes at {before.offset}) reaches into "
                f"{brief(tensor.name)} at {tensor.offset}",
                hint=NEW_FILE,
            )
        before = tensor
