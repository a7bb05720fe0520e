"""Host-shareable WGSL types: sizes, alignments, struct layout (WGSL specification, "Memory layout").

Everything that turns a spec into bytes asks here: binding sizes, uniform packing, workgroup memory.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from wgslgen.errors import UsageProblem

Scalar = Literal["u32", "i32", "f32", "f16"]
SCALARS: dict[str, np.dtype[np.generic]] = {
    "u32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
}
LARGEST = float(np.finfo(np.float32).max)
RANGES = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1), "f32": (-LARGEST, LARGEST)}
"""Least and largest number of the scalar types that constants and uniform fields have."""
WORKGROUP_ALIGNMENT = 16
"""Each workgroup variable is rounded up to this many bytes before the sum is compared with the limit."""

ATOMIC = "atomic<u32>"

_VECTOR = re.compile(r"vec([234])<(u32|i32|f32|f16)>")


def scalar_of(wgsl: str) -> str:
    """Return the scalar type inside `wgsl` (`vec4<u32>` → `u32`)."""
    return _parts(wgsl)[0]


def lanes(wgsl: str) -> int:
    """Return how many scalars `wgsl` holds (1 for a scalar)."""
    return _parts(wgsl)[1]


def size(wgsl: str) -> int:
    """Return the size of the scalar or vector type `wgsl` in bytes (12 for `vec3<u32>`)."""
    scalar, count = _parts(wgsl)
    return SCALARS[scalar].itemsize * count


def alignment(wgsl: str) -> int:
    """Return the alignment of `wgsl` in bytes; a vec3 aligns like a vec4."""
    scalar, count = _parts(wgsl)
    return SCALARS[scalar].itemsize * (4 if count == 3 else count)


def stride(wgsl: str) -> int:
    """Return the distance in bytes between two elements of `array<wgsl>`."""
    return round_up(size(wgsl), alignment(wgsl))


def round_up(value: int, unit: int) -> int:
    """Return the smallest multiple of `unit` that is not below `value`."""
    return -(-value // unit) * unit


def struct_layout(fields: dict[str, str]) -> tuple[dict[str, int], int]:
    """Return the byte offset of each field (name → type, in order) and the struct's size in bytes.

    Raises UsageProblem for a type that a uniform struct of ours may not hold: arrays would need a stride
    of 16 bytes there.
    """
    offsets: dict[str, int] = {}
    end, widest = 0, 1
    for name, wgsl in fields.items():
        if wgsl.startswith("array"):
            raise UsageProblem(
                f"uniform field {name}: type {wgsl} is not allowed; in a uniform struct array elements must lie "
                "16 bytes apart",
                hint="use a vec4<…>, single fields, or a storage buffer",
            )
        offsets[name] = round_up(end, alignment(wgsl))
        end = offsets[name] + size(wgsl)
        widest = max(widest, alignment(wgsl))
    return offsets, round_up(end, widest)


def workgroup_bytes(variables: dict[str, tuple[str, int]]) -> int:
    """Return what workgroup variables (name → element type and count) take of the device's limit, in bytes."""
    return sum(round_up(stride(wgsl) * count, WORKGROUP_ALIGNMENT) for wgsl, count in variables.values())


def _parts(wgsl: str) -> tuple[str, int]:
    if wgsl in SCALARS:
        return wgsl, 1
    if wgsl == ATOMIC:
        return "u32", 1
    match = _VECTOR.fullmatch(wgsl)
    if match is None:
        raise UsageProblem(f"type {wgsl!r} is not one that wgslgen lays out; expected a scalar or vecN<scalar>")
    return match[2], int(match[1])
