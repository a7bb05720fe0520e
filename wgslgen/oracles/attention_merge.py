"""Oracle of `attention_merge`: parts under the largest of their maxima, in float64; as int8 where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close, Expected, Rounded
from wgslgen.oracles.attention import LOWEST, Floats
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.quantize_q8 import order, packed, quantise

CLEAR = 1e-3
"""Distance to a rounding tie, in units of the scale, that the errors of f32 do not cross: 127 times their 2^-20."""


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)) for any finite x."""
    with np.errstate(under="ignore"):
        falling = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, falling) / (1.0 + falling)


def merged(partials: NDArray[Any], stats: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the attention [heads, head_dim] and the magnitudes that its error is relative to.

    partials are [heads, splits, head_dim] and stats [heads, splits, 2].
    """
    maxima, totals = (stats[..., place].astype(np.float64) for place in (0, 1))
    exponents = maxima - maxima.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        weights = np.where(totals > 0.0, np.exp(np.maximum(exponents, -700.0)), 0.0)
        heavy = weights * (1.0 + np.minimum(-exponents, 200.0))
        total = (weights * totals).sum(axis=-1)[:, None]
        divisor = np.where(total == 0.0, 1.0, total)
        y = np.einsum("hs,hsd->hd", weights, partials.astype(np.float64)) / divisor
        spread = np.einsum("hs,hsd->hd", heavy, np.abs(partials.astype(np.float64)))
        return y, (spread + np.abs(y) * (heavy * totals).sum(axis=-1)[:, None]) / divisor


def gated(values: Floats, magnitudes: Floats, gate: NDArray[Any] | None) -> tuple[Floats, Floats]:
    """Return both times sigmoid(gate), the magnitudes for its error, too: exp's grows with its argument."""
    if gate is None:
        return values, magnitudes
    wide = gate.astype(np.float64).reshape(values.shape)
    with np.errstate(under="ignore"):
        factor = sigmoid(wide)
        factor[factor < np.finfo(np.float32).tiny] = 0.0
        return values * factor, magnitudes * factor * (1.0 + np.clip(-wide, 0.0, 200.0))


def gates(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return gates of ordinary size, zeros, and such as make a careless sigmoid overflow; none near the end of exp."""
    sizes = rng.choice([1.0, 4.0, 0.0, 1e3, 1e38], shape)
    drawn = rng.standard_normal(shape).clip(-3.0, 3.0) * sizes
    kept: Floats = np.where(sizes > 100.0, np.copysign(np.maximum(np.abs(drawn), 150.0), drawn), drawn)
    return kept.astype(np.float32)


def parts(heads: int, splits: int, dim: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return partials and stats: empty parts, heads without keys, maxima far apart and far from 0."""
    maxima = rng.standard_normal((heads, splits)) * rng.choice([1.0, 30.0], (heads, 1)) + rng.choice(
        [0.0, 500.0, -500.0], (heads, 1)
    )
    totals = rng.uniform(1.0, 64.0, (heads, splits))
    partials = rng.standard_normal((heads, splits, dim)) * rng.choice([1.0, 100.0, 0.0], (heads, splits, 1))
    empty = (rng.random((heads, splits)) < 0.2) | (rng.random((heads, 1)) < 0.1)
    stats = np.stack([np.where(empty, LOWEST, maxima), np.where(empty, 0.0, totals)], axis=-1)
    return np.where(empty[..., None], 0.0, partials).astype(np.float32), stats.astype(np.float32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of B sequences."""
    heads, dim = constants["q_heads"], constants["head_dim"]
    rows = sizes["B"] * heads
    partials, stats = parts(rows, constants["num_splits"], dim, rng)
    gate = gates((rows, dim), rng) if constants["gate"] else None
    if constants["q8_group"] is not None:
        partials = clear_of_ties(partials, stats, gate, constants["q8_group"])
    values, magnitudes = gated(*merged(partials, stats), gate)
    inputs: dict[str, NDArray[Any]] = {"partials": partials, "stats": stats}
    if gate is not None:
        inputs["gate"] = gate
    flat = (sizes["B"], heads * dim)
    if constants["q8_group"] is None:
        y = Close(values.reshape(flat), magnitudes.reshape(flat), ELEMENTS[constants["activation"]])
        return Problem(inputs=inputs, expected={"y": y})
    return Problem(
        inputs=inputs,
        expected=as_q8(values.reshape(flat), magnitudes.reshape(flat), constants["q8_group"], constants["q8_stride"]),
    )


def as_q8(values: Floats, magnitudes: Floats, group: int, stride: int) -> dict[str, Expected]:
    """Return x8 and x_scale of a result [rows, elements] that lies clear of ties: its integers must be met."""
    quantised = quantise(values, group)
    _, x_scale = packed(quantised, stride)
    largest = magnitudes.reshape(-1, group).max(axis=-1) / 127.0
    return {
        "x8": Rounded(quantised.reals, order(values.shape[0], values.shape[1], stride), np.dtype(np.int8)),
        "x_scale": Close(
            x_scale.astype(np.float64), np.stack([largest, np.zeros_like(largest)], axis=-1), np.dtype(np.float32)
        ),
    }


def clear_of_ties(
    partials: NDArray[Any], stats: NDArray[Any], gate: NDArray[Any] | None, group: int
) -> NDArray[np.float32]:
    """Return the partials with those elements a little larger that would come near a rounding tie."""
    while True:
        values, magnitudes = merged(partials, stats)
        reals = quantise(gated(values, magnitudes, gate)[0].reshape(1, -1), group).reals.reshape(values.shape)
        near = np.abs(np.abs(reals) % 1.0 - 0.5) < CLEAR
        if not near.any():
            return partials
        partials = np.where(near[:, None, :], partials * np.float32(1.01), partials)
