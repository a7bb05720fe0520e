"""The facts of a decoder from a GGUF file's keys, believed only where its tensors say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from wgslgen.model import Model

DEFAULT_THETA = 10000.0
"""The rotary base of files that name none (llama.cpp's default)."""
INTERLEAVED = ("llama", "mistral")
"""Architectures whose q and k rows a GGUF file holds in the order for rotating neighbours."""


def decoder_facts(architecture: str, metadata: Mapping[str, Any], dims: Mapping[str, tuple[int, ...]]) -> Model | None:
    """Return the facts of a dense decoder named as llama, qwen2 and qwen3 are; None for any other model.

    Args:
        architecture: The prefix of the model's own keys.
        metadata: Key → value.
        dims: Tensor name → dimensions, innermost first.
    """

    def fact(key: str) -> Any:
        return metadata.get(f"{architecture}.{key}")

    def whole(key: str, default: int = 0) -> int:
        value = fact(key)
        return value if type(value) is int else default

    hidden, heads = whole("embedding_length"), whole("attention.head_count")
    embedding = dims.get("token_embd.weight", ())
    if not hidden or not heads or len(embedding) != 2:
        return None
    try:
        model = Model(
            hidden=hidden,
            intermediate=whole("feed_forward_length"),
            q_heads=heads,
            kv_heads=whole("attention.head_count_kv", heads),
            head_dim=whole("attention.key_length", hidden // heads),
            layers=whole("block_count"),
            vocab=embedding[1],
            rope_theta=_shortest(fact("rope.freq_base") or DEFAULT_THETA),
            eps=_shortest(fact("attention.layer_norm_rms_epsilon")),
            tied="output.weight" not in dims,
            qk_norm="blk.0.attn_q_norm.weight" in dims,
            rope_pairing="interleaved" if architecture in INTERLEAVED else "half",
            attention_bias="blk.0.attn_q.bias" in dims,
        )
    except (ValidationError, TypeError, ValueError):
        return None
    same = all(
        dims.get(f"{name}.weight" if role != "linear" else f"blk.0.{name}.weight") == (k, n)
        for name, role, n, k in model.shapes()
    )
    return model if same else None


def _shortest(value: Any) -> float:
    """Return an f32 from the file as the decimal that was meant: 1e-05, not 9.999999747378752e-06."""
    return float(str(np.float32(value)))
