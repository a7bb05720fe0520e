"""Oracle of `rope_cache_kv`: heads normalised if asked, rotated by position, keys and values put into the caches.

All in float64 from the values that the buffers hold. Every row of the caches is NaN before, so that a read of any
would show, and so would a write to one that is not this call's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Close
from wgslgen.oracles.problem import ELEMENTS, Problem
from wgslgen.oracles.rms_norm import F16_MAX, normalised

Floats = NDArray[np.float64]

EPS = 1e-6


def rotated(x: Floats, turns: Floats, pairing: str) -> tuple[Floats, Floats]:
    """Return x [..., head_dim] rotated by turns [..., rotary_dim / 2, 2] of (cos, sin), and what was added up for it.

    Partner of element d is d + rotary_dim / 2 for the pairing `half`, and its neighbour for `interleaved`. Elements
    from rotary_dim on pass through, exactly: their magnitudes are 0.
    """
    half = turns.shape[-2]
    cosine, sine = turns[..., 0], turns[..., 1]
    first = slice(0, half) if pairing == "half" else slice(0, 2 * half, 2)
    second = slice(half, 2 * half) if pairing == "half" else slice(1, 2 * half, 2)
    a, b = x[..., first], x[..., second]
    values, magnitudes = x.copy(), np.zeros_like(x)
    values[..., first], values[..., second] = a * cosine - b * sine, b * cosine + a * sine
    magnitudes[..., first] = np.abs(a * cosine) + np.abs(b * sine)
    magnitudes[..., second] = np.abs(b * cosine) + np.abs(a * sine)
    return values, magnitudes


def positions(lengths: NDArray[np.uint32], m: int) -> NDArray[np.int64]:
    """Return the position of each token [B, M]: the last of a sequence is at its length - 1; negative is padding."""
    found: NDArray[np.int64] = lengths.astype(np.int64)[:, None] - m + np.arange(m)
    return found


def heads(x: NDArray[Any], weight: NDArray[np.float32] | None, turns: Floats, pairing: str) -> tuple[Floats, Floats]:
    """Return x [B, M, heads, head_dim], normalised with `weight` [head_dim] if any and turned, and the magnitudes.

    `turns` [B, M, rotary_dim / 2, 2] are those of each token. What a norm made and passes through has its own size
    for a magnitude.
    """
    wide = x.astype(np.float64) if weight is None else normalised(x, weight, EPS)
    values, magnitudes = rotated(wide, turns[:, :, None], pairing)
    return values, magnitudes if weight is None else np.maximum(magnitudes, np.abs(values))


def some_lengths(b: int, m: int, rows: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return lengths up to `rows`: any with no padding where there can be, full, partly padding, empty, and any."""
    edges = [int(rng.integers(min(m, rows), rows + 1)), rows, m // 2, 0]
    return np.array([*edges, *rng.integers(0, rows + 1, b)][:b], dtype=np.uint32)


def some_turns(rows: int, pairs: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a table [rows, pairs, 2] of turns by any angle, with some quarter turns, each row scaled a little."""
    angles = np.where(rng.random((rows, pairs)) < 0.1, 0.0, rng.uniform(0.0, 2.0 * np.pi, (rows, pairs)))
    table = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    table[rng.random((rows, pairs)) < 0.05] = (0.0, -1.0)
    return (table * rng.uniform(0.9, 1.4, (rows, 1, 1))).astype(np.float32)


def some_heads(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return elements of `shape` [..., head_dim]; the kinds of heads take turns.

    They are ordinary, large (past f16's range where the type allows), zeros, of all magnitudes, and tiny.
    """
    kind = (np.arange(np.prod(shape[:-1])) % 8).reshape(*shape[:-1], 1)
    large, tiny = (3000.0, 1e-4) if dtype == np.float16 else (1e16, 1e-20)
    scales: tuple[Floats, ...] = (
        np.full(shape, large),
        np.zeros(shape),
        np.exp2(rng.uniform(-12.0, 12.0, shape)),
        np.full(shape, tiny),
    )
    normal: Floats = rng.standard_normal(shape)
    for at, scale in enumerate(scales, 3):
        normal = np.where(kind == at, normal * scale, normal)
    with np.errstate(under="ignore"):
        return normal.astype(dtype)


def some_weight(head_dim: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return the weights of q's norm and of k's [2, head_dim], of both signs, with zeros and large ones."""
    shape = (2, head_dim)
    weight: Floats = rng.standard_normal(shape) * rng.choice([1.0, 1.0, 8.0, 0.0], shape)
    return weight.astype(np.float32)


def problem(constants: Mapping[str, Any], sizes: Mapping[str, int], rng: np.random.Generator) -> Problem:
    """Return a problem of `sizes` B, M, CAPACITY, LAYERS, LAYER and TABLE_ROWS.

    `constants` are those of a variant: heads, head_dim, rotary_dim, pairing, activation, source, qk_norm and cache
    are read.
    """
    b, m, capacity = sizes["B"], sizes["M"], sizes["CAPACITY"]
    q_heads, kv_heads, head_dim = constants["q_heads"], constants["kv_heads"], constants["head_dim"]
    dtype, stored = ELEMENTS[constants["activation"]], ELEMENTS[constants["cache"]]
    lengths = some_lengths(b, m, capacity, rng)
    table = some_turns(sizes["TABLE_ROWS"], (constants["rotary_dim"] or head_dim) // 2, rng)
    qkv = some_heads((b, m, q_heads + 2 * kv_heads, head_dim), dtype, rng)
    weight = some_weight(head_dim, rng)
    q, k, v = np.split(qkv, [q_heads, q_heads + kv_heads], axis=2)

    place = positions(lengths, m)
    present = (place >= 0) & (place < capacity)
    turns = table.astype(np.float64)[np.where(present, place, 0)]
    q_weight, k_weight = weight if constants["qk_norm"] else (None, None)
    q_values, q_magnitudes = heads(q, q_weight, turns, constants["pairing"])
    k_values, k_magnitudes = heads(k, k_weight, turns, constants["pairing"])

    inputs: dict[str, NDArray[Any]] = {"rope_table": table, "lengths": lengths}
    if constants["qk_norm"]:
        inputs["norm_weight"] = weight
    if constants["source"] == "packed":
        inputs["qkv"] = qkv
        without = np.zeros_like(q_values)
    else:
        inputs |= {"q": q, "k": k, "v": v}
        without = q.astype(np.float64)
    q_values = np.where(present[..., None, None], q_values, without)
    q_magnitudes = np.where(present[..., None, None], q_magnitudes, 0.0)

    cache = np.full((sizes["LAYERS"], b, capacity, kv_heads, head_dim), np.nan)
    inputs |= {"k_cache": cache.astype(stored), "v_cache": cache.astype(stored)}
    k_cache, v_cache, k_cache_magnitudes = cache.copy(), cache.copy(), np.zeros_like(cache)
    for sequence, token in np.argwhere(present):
        row = (sizes["LAYER"], sequence, place[sequence, token])
        k_cache[row], v_cache[row] = k_values[sequence, token], v[sequence, token].astype(np.float64)
        k_cache_magnitudes[row] = k_magnitudes[sequence, token]
    return Problem(
        inputs=inputs,
        expected={
            "q": expected(q_values, q_magnitudes, dtype),
            "k_cache": expected(k_cache, k_cache_magnitudes, stored),
            "v_cache": expected(v_cache, np.zeros_like(v_cache), stored),
        },
        parameters={"EPS": EPS} if constants["qk_norm"] else {},
    )


def expected(values: Floats, magnitudes: Floats, dtype: np.dtype[Any]) -> Close:
    """Return the expectation of a tensor [..., head_dim], a row for each head; f16 stays inside its range."""
    if dtype == np.float16:
        values = values.clip(-F16_MAX, F16_MAX)
    columns = values.shape[-1]
    return Close(values.reshape(-1, columns), magnitudes.reshape(-1, columns), dtype)
