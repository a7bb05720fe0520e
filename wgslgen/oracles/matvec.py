"""Oracle of `matvec`: y = x·Wᵀ in float64, from the file's bytes, and what its epilogues make of that.

For route int8 it quantises the activations as well (round half to even, one scale per group), and for route popcount
it binarises them, so that what is compared is the product; how far that lies from the exact product is
`int8_distance`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.compare import Close
from wgslgen.formats import Blocks, Format
from wgslgen.formats.base import SplitFormat
from wgslgen.oracles.binarize import binarise, words
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import dequantised, packed, quantise

Floats = NDArray[np.float64]
F16_ROOM = 32768.0
"""Half of f16's range: what test data for f16 results may reach."""
SHARE = 2.0**-20
"""How far a sum may be off, as a share of its magnitudes: what the tolerance of `store` grants."""


def product(weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return x [M, K] · weights [N, K]ᵀ as [M, N], and the same of the absolute values."""
    return x @ weights.T, np.abs(x) @ np.abs(weights).T


def spread(weights: Floats, x: Floats) -> Floats:
    """Return the root of the sum of the squared products [M, N] of x [M, K] and weights [N, K]; see `compare.Close`."""
    with np.errstate(under="ignore"):
        squares: Floats = np.square(x) @ np.square(weights).T
        return np.sqrt(squares)


def word_product(weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return the same product, and the sum of the magnitudes of what each 32 of K give, which counting makes exact.

    A step of more words is exact as a whole; the magnitudes are those of the narrowest step, so that all variants of
    a problem are judged alike.
    """
    parts = np.einsum("mgk,ngk->mng", x.reshape(len(x), -1, 32), weights.reshape(len(weights), -1, 32))
    return parts.sum(axis=-1), np.abs(parts).sum(axis=-1)


def route_product(constants: Mapping[str, Any], weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return the product for x as the route reads it, and the magnitudes that the route adds up."""
    if constants["route"] == "popcount":
        return word_product(weights, x)
    return product(weights, x)


def problem(
    constants: Mapping[str, Any],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    weights: NDArray[np.uint8] | None = None,
) -> Problem:
    """Return a problem of `sizes` N and K; `weights` are a file's bytes, else raw random blocks.

    `constants` are those of a variant: format, group, layout, columns, activation, output, route, activation_group
    and epilogue are read.
    """
    n, k = sizes["N"], sizes["K"]
    fmt = formats.get(constants["format"], constants["group"])
    rows = rows_of(constants, n)
    data = random_weights(constants, fmt, rows, k, rng) if weights is None else weights
    once, back = distinct(fmt.rows(data, rows, k))
    unpacked = fmt.unpack(once)
    x = activations(rng, constants, unpacked)
    read, exact = as_read(constants, fmt, x)
    inputs = {**layouts.pack(fmt, constants["layout"], data, rows, k), **read}
    values, magnitudes = route_product(constants, unpacked, exact)
    return finished(constants, rng, inputs, values[:, back], magnitudes[:, back])


def distinct(rows: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return the different rows of [N, row_bytes], and which of them each row is: those of stored answers repeat."""
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).reshape(-1)
    _, first, back = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], back.reshape(-1)


def finished(
    constants: Mapping[str, Any],
    rng: np.random.Generator,
    inputs: Mapping[str, NDArray[Any]],
    values: Floats,
    magnitudes: Floats,
    random_signs: Floats | None = None,
) -> Problem:
    """Return the problem that the sums [columns, rows of W] make by the variant's epilogue and output.

    `random_signs` is their `spread`, which is known of sums alone, not of what is made of two.
    """
    dtype, n = ELEMENTS[constants["output"]], values.shape[1] // 2
    if constants["epilogue"] == "swiglu":
        values, magnitudes = swiglu(values[:, :n], values[:, n:], magnitudes[:, :n], magnitudes[:, n:])
        random_signs = None
    elif constants["epilogue"] == "residual":
        with np.errstate(under="ignore"):
            y = residuals(rng, values.shape).astype(dtype)
        inputs = {**inputs, "y": y}
        values, magnitudes = values + y, magnitudes + np.abs(y)
    return Problem(inputs=inputs, expected={"y": Close(values, magnitudes, dtype, random_signs)})


def rows_of(constants: Mapping[str, Any], n: int) -> int:
    """Return the rows of W behind `n` rows of y."""
    return 2 * n if constants["epilogue"] == "swiglu" else n


def random_weights(
    constants: Mapping[str, Any], fmt: Format, rows: int, k: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return raw random blocks [rows, row_bytes]; for layout planes without the code that it cannot hold, +2d."""
    return as_held(constants, fmt, fmt.random_blocks(rows, k, rng))


def as_held(constants: Mapping[str, Any], fmt: Format, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return rows [rows, row_bytes] as the layout holds them: for planes with the least code in the place of +2d."""
    if constants["layout"] != "planes" or not isinstance(fmt, SplitFormat):
        return data
    parts = fmt.split(data)
    times = fmt.code_scale * parts.codes.astype(np.int64) + fmt.zero
    codes = np.where(times > 1, 0, parts.codes).astype(np.uint8)
    return fmt.join(Blocks(codes, parts.scales))


def as_read(constants: Mapping[str, Any], fmt: Format, x: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], Floats]:
    """Return x [columns, K] as the route's bindings hold it, and the values [columns, K] that it stands for there."""
    if constants["route"] == "popcount":
        binarised = binarise(x, constants["activation_group"])
        scales = binarised.scales
        each = scales.astype(np.float64).repeat(constants["activation_group"], axis=-1)
        return {"x1": words(binarised.positive), "x_scale": scales}, binarised.signs * each
    if constants["route"] != "int8":
        return {"x": x}, x.astype(np.float64)
    quantised = quantise(x, constants["activation_group"])
    x8, x_scale = packed(quantised, fmt.int8_stride or 1)
    return {"x8": x8, "x_scale": x_scale}, dequantised(quantised)


def swiglu(gate: Floats, up: Floats, gate_magnitudes: Floats, up_magnitudes: Floats) -> tuple[Floats, Floats]:
    """Return silu(gate)·up, all [columns, N], and how far it moves where both sums are off by their magnitudes' share.

    The slope of silu is at most 1.1 (1.0998 at 2.4). The product of both errors counts as a share of its own: it is
    what remains where gate and up cancel out.
    """
    with np.errstate(under="ignore"):
        falling = np.exp(-np.abs(gate))
        silu = gate * np.where(gate >= 0, 1.0, falling) / (1.0 + falling)
        moved = 1.1 * gate_magnitudes * (np.abs(up) + SHARE * up_magnitudes) + np.abs(silu) * up_magnitudes
        return silu * up, moved


def residuals(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return what is added to: of all magnitudes up to a quarter of f16's range, of both signs, a tenth zeros."""
    spread = rng.standard_normal(shape) * np.exp2(rng.uniform(-12.0, 12.0, shape))
    return np.where(rng.random(shape) < 0.1, 0.0, spread.clip(-F16_ROOM / 2, F16_ROOM / 2))


def activations(rng: np.random.Generator, constants: Mapping[str, Any], weights: Floats) -> NDArray[Any]:
    """Return random x [columns, K]; for f16 results so small that none leaves f16's range."""
    x = rng.standard_normal((constants["columns"], weights.shape[1]))
    if constants["output"] == "f16":
        largest = np.abs(product(weights, x)[0]).max(initial=0.0)
        # Behind a gate a result may be as large as the square of a sum.
        room = np.sqrt(F16_ROOM) if constants["epilogue"] == "swiglu" else F16_ROOM
        x *= 2.0 ** -max(0, np.ceil(np.log2(max(largest, 1.0) / room)))
    with np.errstate(under="ignore"):
        return x.astype(ELEMENTS[constants["activation"]])


def int8_distance(weights: Floats, x: NDArray[Any], group: int) -> float:
    """Return the NMSE between the product with int8 activations and the exact one."""
    exact, _ = product(weights, x.astype(np.float64))
    rounded, _ = product(weights, dequantised(quantise(x, group)))
    return float(np.square(rounded - exact).sum() / np.square(exact).sum())
