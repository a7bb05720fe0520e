"""What the oracles of attention share: softmax(SCALE q.k) v in float64, and queries and caches with hard values.

The error of a weight exp(s - m) is relative: that of s, which grows with the magnitudes that q.k adds up, and that
of exp, which grows with |s - m|. So the magnitudes here hold 1 + (magnitudes of q.k) + |s - m| for each key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.oracles.problem import ELEMENTS

Floats = NDArray[np.float64]
Numbers = NDArray[Any]

LOWEST = float(np.finfo(np.float32).min)
"""The maximum of no scores; an additive mask that is not above it excludes, as -infinity does."""


@dataclass(frozen=True)
class Sums:
    """What a query [head_dim] makes of its keys: the sums of weights exp(s - maximum), without and with values.

    Beside each number stands the magnitude that its error is relative to. Without keys, all but the maximum is 0.
    """

    maximum: float
    maximum_magnitude: float
    total: float
    total_magnitude: float
    values: Floats
    value_magnitudes: Floats

    @property
    def result(self) -> Floats:
        """The attention of this query, [head_dim]: 0 where there are no keys."""
        return self.values / self.total if self.total else self.values

    @property
    def result_magnitudes(self) -> Floats:
        """What the result's error is relative to; errors that all weights share fall out, and this counts them."""
        return (self.value_magnitudes + np.abs(self.result) * self.total_magnitude) / (self.total or 1.0)


def attend(q: Numbers, k: Numbers, v: Numbers, scale: float, bias: Floats | None = None) -> Sums:
    """Return the sums of one query [head_dim] over k and v [keys, head_dim].

    `scale` is taken as f32 holds it; `bias` [keys] is added to the scores.
    """
    wide_q, wide_k, wide_v = (part.astype(np.float64) for part in (q, k, v))
    if not len(wide_k):
        nothing = np.zeros_like(wide_q)
        return Sums(LOWEST, 0.0, 0.0, 0.0, nothing, nothing)
    factor = np.float64(np.float32(scale))
    added = np.zeros(len(wide_k)) if bias is None else bias
    with np.errstate(under="ignore"):
        scores = factor * (wide_k @ wide_q) + added
        magnitudes = abs(factor) * (np.abs(wide_k) @ np.abs(wide_q)) + np.abs(added)
        maximum = scores.max()
        weights = np.exp(scores - maximum)
        heavy = weights * (1.0 + magnitudes + magnitudes.max(where=scores == maximum, initial=0.0) + maximum - scores)
        return Sums(
            maximum=float(maximum),
            maximum_magnitude=float(magnitudes.max()),
            total=float(weights.sum()),
            total_magnitude=float(heavy.sum()),
            values=weights @ wide_v,
            value_magnitudes=heavy @ np.abs(wide_v),
        )


def key_head(head: int, constants: Mapping[str, Any]) -> int:
    """Return the key head of a query head."""
    q_heads, kv_heads = int(constants["q_heads"]), int(constants["kv_heads"])
    return head % kv_heads if constants["head_map"] == "tile" else head // (q_heads // kv_heads)


def seen(end: int, window: int | None) -> slice:
    """Return the positions that a query at position end - 1 sees; none where that is negative."""
    last = max(end, 0)
    return slice(0 if window is None else max(last - window, 0), last)


def ragged(count: int, capacity: int, tokens: int) -> NDArray[np.uint32]:
    """Return `count` lengths up to the capacity.

    First the full cache; then none, one token, an odd number, no past, and half of the call's tokens as padding.
    """
    odd = max(capacity * 2 // 3 - 1, 0) | 1
    kinds: Sequence[int] = (capacity, 0, 1, odd, tokens, max(tokens // 2, 1))
    return np.array([min(kinds[index % len(kinds)], capacity) for index in range(count)], np.uint32)


def queries(constants: Mapping[str, Any], b: int, m: int, rng: np.random.Generator) -> Numbers:
    """Return q [B, M, q_heads, head_dim]: heads of different sizes, zeros among them."""
    shape = (b, m, constants["q_heads"], constants["head_dim"])
    sizes = rng.choice([1.0, 1.0, 1.0, 3.0, 0.0, 1e-3], shape[:3])
    with np.errstate(under="ignore"):
        made: Numbers = (rng.standard_normal(shape) * sizes[..., None]).astype(ELEMENTS[constants["activation"]])
    return made


def caches(
    constants: Mapping[str, Any], sizes: Mapping[str, int], lengths: NDArray[np.uint32], rng: np.random.Generator
) -> tuple[Numbers, Numbers, dict[str, Numbers]]:
    """Return keys and values [LAYERS, B, CAPACITY, kv_heads, head_dim] as the caches hold them, and their buffers.

    A few keys have large scores, and a few values are large, tiny or zeros. Rows past the lengths hold NaN.
    """
    shape = (sizes["LAYERS"], sizes["B"], sizes["CAPACITY"], constants["kv_heads"], constants["head_dim"])
    keys = rng.standard_normal(shape) * rng.choice([1.0] * 12 + [2.0, 0.0], shape[:4])[..., None]
    values = rng.standard_normal(shape) * rng.choice([1.0] * 12 + [100.0, 1e-4, 0.0], shape[:4])[..., None]
    stale = np.arange(sizes["CAPACITY"]) >= lengths[:, None]
    k, k_buffers = stored(constants["cache"], "k", keys, stale)
    v, v_buffers = stored(constants["cache"], "v", values, stale)
    return k, v, {**k_buffers, **v_buffers}


def stored(cache: str, letter: str, rows: Floats, stale: NDArray[np.bool_]) -> tuple[Numbers, dict[str, Numbers]]:
    """Return rows [layers, B, capacity, kv_heads, head_dim] as the cache holds them, and the cache's buffers.

    What `stale` [B, capacity] marks is NaN: as a number, or as the scale of all its blocks.
    """
    name = f"{letter}_cache"
    if cache in ELEMENTS:
        with np.errstate(under="ignore"):
            made = rows.astype(ELEMENTS[cache])
        made[:, stale] = np.nan
        return made, {name: made}
    fmt = formats.get(cache)
    flat = rows.reshape(-1, rows.shape[-1]).astype(np.float32)
    data = fmt.quantise(flat)
    held = fmt.unpack(data).reshape(rows.shape)
    planes = layouts.pack(fmt, "planar", data, *flat.shape)
    scales = planes["scales"].view(np.float16)[: flat.size // fmt.group].copy()
    blocks = scales.reshape(*rows.shape[:-1], -1)
    blocks[:, stale] = np.nan
    held[:, stale] = np.nan
    padded = np.zeros(-(-scales.size // 2) * 2, dtype=np.float16)
    padded[: scales.size] = scales
    return held, {name: planes["codes"], f"{letter}_scales": padded}
