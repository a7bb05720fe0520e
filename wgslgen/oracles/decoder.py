"""A whole decoder in float64, one token at a time: the judge of the plans `decode_layer` and `decode_head`.

It is llama's shape: norm, grouped-query attention with rotary positions, gated feed-forward, residual sums, and
with `qk_norm` Qwen3's norm of each head of q and k. Weights are float64 as their blocks unpack; the rotary table is
taken as given, since devices read it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Rounded = Callable[[str, Floats], Floats]
"""What becomes of the activations [K] of the product of this name: itself, or what int8 leaves of it."""


def exactly(name: str, x: Floats) -> Floats:  # noqa: ARG001  # every product
    """Leave activations as they are."""
    return x


@dataclass(frozen=True)
class Shape:
    """The facts of the decoder that its arithmetic needs."""

    q_heads: int
    kv_heads: int
    head_dim: int
    eps: float
    pairing: str = "half"
    cache: type[np.floating[Any]] = np.float64
    """What keys and values are rounded to before they are remembered."""


@dataclass
class Layer:
    """Weights of a layer, [N, K] in float64, and the keys and values that it has seen, [heads, head_dim] a token.

    `gate_up` holds the gate's rows, then those of up; `qk_norm` is [2, head_dim] or None.
    """

    attn_norm: Floats
    qkv: Floats
    qk_norm: Floats | None
    attention_output: Floats
    ffn_norm: Floats
    gate_up: Floats
    down: Floats
    keys: list[Floats] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def rms_norm(x: Floats, weight: Floats, eps: float) -> Floats:
    """Return x [..., D] divided by the root of its mean square, times weight [D]."""
    result: Floats = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + float(np.float32(eps))) * weight
    return result


def rotate(heads: Floats, row: Floats, pairing: str) -> Floats:
    """Return heads [H, head_dim] rotated by a row [pairs, 2] of the table: cosine and sine of each pair."""
    pairs = len(row)
    first, second = {
        "half": (slice(0, pairs), slice(pairs, 2 * pairs)),
        "interleaved": (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)),
    }[pairing]
    cosine, sine = row[:, 0], row[:, 1]
    turned = heads.copy()
    turned[:, first] = heads[:, first] * cosine - heads[:, second] * sine
    turned[:, second] = heads[:, second] * cosine + heads[:, first] * sine
    return turned


def attend(q: Floats, keys: Floats, values: Floats) -> Floats:
    """Return the attention of q [Q, D] over keys and values [T, KV, D] as [Q, D], heads in groups."""
    group = q.shape[0] // keys.shape[1]
    spread_keys, spread_values = (np.repeat(part, group, axis=1) for part in (keys, values))
    scores = np.einsum("qd,tqd->qt", q, spread_keys) / np.sqrt(q.shape[1])
    weights = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -700.0))
    result: Floats = np.einsum("qt,tqd->qd", weights / weights.sum(axis=1, keepdims=True), spread_values)
    return result


def silu(x: Floats) -> Floats:
    """Return x / (1 + exp(-x)), finite everywhere."""
    small = np.exp(-np.abs(x))
    result: Floats = x * np.where(x >= 0, 1.0, small) / (1.0 + small)
    return result


def step(x: Floats, layer: Layer, shape: Shape, row: Floats, rounded: Rounded = exactly) -> Floats:
    """Return the hidden state [hidden] behind `layer`, which remembers the token's key and value.

    `row` [pairs, 2] is the table's for the token's position; `rounded` sees what each product reads.
    """
    heads = (shape.q_heads, shape.kv_heads, shape.kv_heads)
    normed = rounded("qkv", rms_norm(x, layer.attn_norm, shape.eps))
    q, k, v = np.split((layer.qkv @ normed).reshape(-1, shape.head_dim), np.cumsum(heads)[:2])
    if layer.qk_norm is not None:
        q, k = (rms_norm(part, weight, shape.eps) for part, weight in zip((q, k), layer.qk_norm, strict=True))
    q, k = (rotate(part, row, shape.pairing) for part in (q, k))
    with np.errstate(under="ignore"):
        layer.keys.append(k.astype(shape.cache).astype(np.float64))
        layer.values.append(v.astype(shape.cache).astype(np.float64))
    attended = attend(q, np.stack(layer.keys), np.stack(layer.values)).reshape(-1)
    x = x + layer.attention_output @ rounded("attention_output", attended)
    normed = rounded("gate_up", rms_norm(x, layer.ffn_norm, shape.eps))
    gate, up = np.split(layer.gate_up @ normed, 2)
    return x + layer.down @ rounded("down", silu(gate) * up)


def logits(x: Floats, norm: Floats, head: Floats, eps: float, rounded: Rounded = exactly) -> Floats:
    """Return the logits [vocabulary] of the hidden state behind the last layer."""
    result: Floats = head @ rounded("lm_head", rms_norm(x, norm, eps))
    return result


def margin(values: Floats) -> float:
    """Return by how much the largest of `values` leads, in units of their root mean square."""
    best, second = np.sort(values)[:-3:-1]
    return float((best - second) / np.sqrt(np.mean(values * values)))
