"""The facts of a decoder from a GGUF file's keys, believed only where its tensors say the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from wgslgen.model import Model

DEFAULT_THETA = 10000.0
"""The rotary base of files that name none (llama.cpp's default)."""
PAIRINGS: Mapping[str, Literal["half", "interleaved"]] = MappingProxyType(
    {"llama": "interleaved", "qwen2": "half", "qwen3": "half"}
)
"""The architectures that compute what our decoder does, each with what its q and k rows are in order for."""
FOREIGN = (
    "attention.sliding_window",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "expert_count",
    "logit_scale",
)
"""Keys of models that compute something else beside."""


def decoder_facts(architecture: str, metadata: Mapping[str, Any], dims: Mapping[str, tuple[int, ...]]) -> Model | None:
    """Return the facts of a dense decoder of the kinds in PAIRINGS; None for any other model.

    A model that shares the shapes and computes something else, such as a part of each head rotated, is another one.

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
    if not hidden or not heads or len(embedding) != 2 or architecture not in PAIRINGS:
        return None
    head_dim = whole("attention.key_length", hidden // heads)
    if whole("rope.dimension_count", head_dim) != head_dim or any(fact(key) for key in FOREIGN):
        return None
    try:
        model = Model(
            hidden=hidden,
            intermediate=whole("feed_forward_length"),
            q_heads=heads,
            kv_heads=whole("attention.head_count_kv", heads),
            head_dim=head_dim,
            layers=whole("block_count"),
            vocab=embedding[1],
            rope_theta=_shortest(fact("rope.freq_base") or DEFAULT_THETA),
            eps=_shortest(fact("attention.layer_norm_rms_epsilon")),
            tied="output.weight" not in dims,
            qk_norm="blk.0.attn_q_norm.weight" in dims,
            rope_pairing=PAIRINGS[architecture],
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
