"""What the attention cases share: queries, keys and values by hand, sent through decode and prefill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cases.quantised import blocks_of
from cases.support import Floats, runner
from wgslgen.adapters import Gpu
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit

TYPES: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16)}
Numbers = NDArray[Any]
FORMS = [{"subgroups": subgroups, "workgroup_size": size} for subgroups, size in ((False, 64), (True, 128))]


def zeros(*shape: int) -> Numbers:
    return np.zeros(shape)


def constant(values: Any, *shape: int) -> Numbers:
    """Return an array of `shape` that holds `values`, which stand for its first axes."""
    array = np.asarray(values, np.float64)
    return np.broadcast_to(array.reshape(*array.shape, *[1] * (len(shape) - array.ndim)), shape)


def cached(constants: Mapping[str, Any], q: Numbers, k: Numbers, v: Numbers, lengths: Any) -> dict[str, Numbers]:
    """Return the inputs q, caches and lengths of one layer in the variant's types; stale rows hold NaN.

    A cache of blocks takes what these hold exactly, and has the NaN for a scale.
    """
    ends, cache = np.array(lengths, np.uint32), constants.get("cache", "f32")
    inputs = {"q": q.astype(TYPES[constants.get("activation", "f32")]), "lengths": ends}
    for letter, rows in (("k", k), ("v", v)):
        stale = np.arange(rows.shape[1]) >= ends[:, None]
        if cache in TYPES:
            inputs[f"{letter}_cache"] = np.where(stale[..., None, None], np.nan, rows).astype(TYPES[cache])
        else:
            inputs |= blocks_of(cache, letter, rows, stale)
    return inputs


def decode(
    gpu: Gpu, q: Numbers, k: Numbers, v: Numbers, lengths: Any, scale: float = 1.0, splits: int = 3, **constants: Any
) -> Floats:
    """Return the attention [B, q_heads, head_dim] of one token, through split and merge.

    q is [B, q_heads, head_dim], k and v are [B, capacity, kv_heads, head_dim], all by value.
    """
    b, q_heads, head_dim = q.shape
    shared: dict[str, Any] = {"q_heads": q_heads, "head_dim": head_dim, "num_splits": splits}
    split = AttentionSplit(**shared, kv_heads=k.shape[2], **constants)
    sizes = {"B": b, "CAPACITY": k.shape[1], "LAYERS": 1, "LAYER": 0}
    raw = runner(gpu, split).run(cached(constants, q, k, v, lengths), sizes, {"SCALE": scale})
    parts = {name: np.frombuffer(raw[name], np.float32) for name in ("partials", "stats")}
    merge = AttentionMerge(**shared, activation=constants.get("activation", "f32"))
    y: NDArray[Any] = np.frombuffer(runner(gpu, merge).run(parts, {"B": b})["y"], TYPES[merge.activation])
    return y.astype(np.float64).reshape(q.shape)


def prefill(
    gpu: Gpu, q: Numbers, k: Numbers, v: Numbers, lengths: Any, scale: float = 1.0, mask: Any = None, **constants: Any
) -> Floats:
    """Return the attention of q [B, M, q_heads, head_dim]; k and v are [B, capacity, kv_heads, head_dim].

    The mask, [B, M, capacity], is taken as f32 holds it.
    """
    b, m, q_heads, head_dim = q.shape
    given: dict[str, Any] = {"q_heads": q_heads, "kv_heads": k.shape[2], "head_dim": head_dim, "mask": mask is not None}
    variant = AttentionPrefill(**given, **constants)
    inputs = cached(constants, q, k, v, lengths)
    if mask is not None:
        inputs["mask"] = np.asarray(mask, np.float32)
    sizes = {"B": b, "M": m, "CAPACITY": k.shape[1], "LAYERS": 1, "LAYER": 0}
    raw = runner(gpu, variant).run(inputs, sizes, {"SCALE": scale})["y"]
    y: NDArray[Any] = np.frombuffer(raw, TYPES[variant.activation])
    return y.astype(np.float64).reshape(q.shape)


def softmax(scores: Floats) -> Floats:
    """Return the weights of the last axis; scores that are -infinity weigh nothing, and all of them give zeros."""
    largest = scores.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        weights = np.exp(scores - np.where(np.isneginf(largest), 0.0, largest))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0.0, 1.0, total)
