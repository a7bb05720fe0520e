"""What the cases of quantised caches share: planes of blocks by hand, and what one dispatch writes into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cases.support import runner
from wgslgen import formats, layouts
from wgslgen.adapters import Gpu
from wgslgen.formats.base import Blocks, SplitFormat
from wgslgen.kernels.set_rows import SetRows

Numbers = NDArray[Any]
CACHES = ("q8_0", "q4_0")


def split_format(cache: str) -> SplitFormat:
    """Return the format of a cache's blocks."""
    fmt = formats.get(cache)
    assert isinstance(fmt, SplitFormat)
    return fmt


def representable(cache: str, rows: Numbers) -> Numbers:
    """Return rows [..., head_dim] rounded to numbers that blocks hold exactly."""
    fmt = split_format(cache)
    held = fmt.unpack(fmt.quantise(rows.reshape(-1, rows.shape[-1]).astype(np.float32)))
    return held.reshape(rows.shape)


def blocks_of(cache: str, letter: str, rows: Numbers, stale: Numbers) -> dict[str, Numbers]:
    """Return codes and scales of rows [B, capacity, kv_heads, head_dim] that blocks hold exactly.

    Blocks of one number each have it as their scale, and the code of 1. The scales of stale rows are NaN.
    """
    fmt, flat = split_format(cache), rows.reshape(-1, rows.shape[-1])
    firsts = flat.reshape(len(flat), -1, 32)[..., 0]
    if (flat == firsts.repeat(32, axis=1)).all():
        codes = np.full(flat.shape, 1 - fmt.zero, np.int8 if fmt.signed else np.uint8)
        data = fmt.join(Blocks(codes, firsts.astype(np.float16)))
    else:
        data = fmt.quantise(flat.astype(np.float32))
    np.testing.assert_array_equal(fmt.unpack(data), flat)
    planes = layouts.pack(fmt, "planar", data, *flat.shape)
    scales = planes["scales"].view(np.float16).reshape(-1).copy()
    scales[: firsts.size].reshape(*rows.shape[:-1], -1)[stale] = np.nan
    return {f"{letter}_cache": planes["codes"], f"{letter}_scales": scales}


def untouched(fmt: str, rows: int, k: int) -> dict[str, Numbers]:
    """Return the planes of a tensor [rows, K], every byte of them 0xAA; behind an odd number of scales is one more."""
    sizes = {"codes": rows * k * formats.get(fmt).bits // 8, "scales": -(-rows * k // 32 // 2) * 4}
    return {name: np.full(size, 0xAA, np.uint8) for name, size in sizes.items()}


def write(gpu: Gpu, fmt: str, x: Numbers, ids: Any, rows: int, tensor: dict[str, Numbers]) -> dict[str, Numbers]:
    """Return the tensor's buffers as bytes, behind one dispatch that puts x [R, K] into rows `ids`."""
    variant = SetRows.model_validate({"format": fmt, "activation": "f16" if x.dtype == np.float16 else "f32"})
    inputs = {"x": x, "ids": np.array(ids, np.uint32), **tensor}
    raw = runner(gpu, variant).run(inputs, {"R": x.shape[0], "K": x.shape[1], "ROWS": rows})
    return {name: np.frombuffer(content, np.uint8) for name, content in raw.items()}
