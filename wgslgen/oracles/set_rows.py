"""Oracle of `set_rows`: rows put into a tensor, quantised by the format's rule; what no id names stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Expected, Nearest, Rounded
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import SMALLEST, quantise

Floats = NDArray[np.float64]
BLOCK = 32
F16_MAX = 65504.0


def some_rows(r: int, k: int, dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return rows [R, K]: of all magnitudes, with blocks of zeros, and past f16's range where the type allows."""
    blocks = rng.standard_normal((r, -(-k // BLOCK), BLOCK))
    sizes = rng.choice([1.0, 1.0, 1e-3, 30.0, 0.0, 1e4 if dtype == np.float16 else 1e8], blocks.shape[:2])
    with np.errstate(under="ignore"):
        made: NDArray[Any] = (blocks * sizes[..., None]).reshape(r, -1)[:, :k].astype(dtype)
        return made


def some_ids(r: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return different ids for `r` rows, neighbours among them; where there are many, the last ones out of range."""
    ids = np.concatenate([np.arange(0, rows, 2), np.arange(1, rows, 2)])[:r].astype(np.uint32)
    if r > 4:
        ids[-2:] = (rows, 2**32 - 1)
    return rng.permutation(ids)


def q4_reals(x: Floats) -> tuple[Floats, Floats]:
    """Return codes before rounding [R, blocks, 32] and scales [R, blocks] of q4_0 for x [R, blocks, 32]."""
    peak = np.take_along_axis(x, np.abs(x).argmax(axis=-1)[..., None], axis=-1)[..., 0]
    scales = np.where(np.abs(peak) < SMALLEST, 0.0, peak / -8.0)
    reals = np.divide(x, scales[..., None], out=np.zeros_like(x), where=scales[..., None] != 0)
    return np.minimum(reals + 8.0, 15.0), scales


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` R, K and ROWS; format and activation of the `constants` are read."""
    r, k, rows = sizes["R"], sizes["K"], sizes["ROWS"]
    x, ids = some_rows(r, k, ELEMENTS[constants["activation"]], rng), some_ids(r, rows, rng)
    here = ids < rows
    named, wide = ids[here], x.astype(np.float64)[here]
    inputs: dict[str, NDArray[Any]] = {"x": x, "ids": ids}
    if constants["format"] in ("f32", "f16"):
        dtype = ELEMENTS[constants["format"]]
        before = rng.standard_normal((rows, k)).astype(dtype)
        after = before.astype(np.float64)
        after[named] = wide.clip(-F16_MAX, F16_MAX) if dtype == np.float16 else wide
        return Problem(inputs={**inputs, "y": before}, expected={"y": Nearest(after, dtype)})
    q4 = constants["format"] == "q4_0"
    codes = rng.integers(0, 256, (rows, k // 2 if q4 else k), dtype=np.uint8)
    scales = rng.standard_normal((rows, k // BLOCK)).astype(np.float16)
    reals = in_blocks(codes) if q4 else codes.view(np.int8).astype(np.float64)
    halves = scales.astype(np.float64)
    if q4:
        made, units = q4_reals(wide.reshape(len(wide), -1, BLOCK))
        reals[named], halves[named] = made.reshape(len(wide), -1), units.clip(-F16_MAX, F16_MAX)
    else:
        quantised = quantise(wide, BLOCK)
        reals[named], halves[named] = quantised.reals, quantised.scales.astype(np.float64).clip(-F16_MAX, F16_MAX)
    padded = np.zeros(-(-scales.size // 2) * 2, dtype=np.float16)
    padded[: scales.size] = scales.reshape(-1)
    expected: dict[str, Expected] = {
        "codes": Rounded(reals, np.arange(reals.size), np.dtype(np.int8), nibbles=q4),
        "scales": Nearest(halves, np.dtype(np.float16)),
    }
    return Problem(inputs={**inputs, "codes": codes, "scales": padded}, expected=expected)


def in_blocks(codes: NDArray[np.uint8]) -> Floats:
    """Return code bytes [rows, K / 2] as codes [rows, K]: of a block of 16 bytes the low halves, then the high ones."""
    blocks = codes.reshape(len(codes), -1, 16)
    return np.concatenate([blocks & 15, blocks >> 4], axis=-1).reshape(len(codes), -1).astype(np.float64)
