"""The facts of a decoder model that decide which shapes its kernels meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wgslgen.formats import Format
from wgslgen.spec import Frozen

Count = Annotated[int, Field(gt=0, lt=2**32)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Role = Literal["linear", "embedding", "head"]


class Model(Frozen):
    """A llama-like decoder: grouped queries, gated feed-forward, RMS norms, rotary positions."""

    hidden: Count
    intermediate: Count
    q_heads: Count
    kv_heads: Count
    head_dim: Count
    layers: Count
    vocab: Count
    rope_theta: Positive
    eps: Positive
    tied: bool
    """Whether the output projection is the embedding."""
    qk_norm: bool = False
    """Whether each head of q and k is normalised before its rotation, as Qwen3 does."""
    rope_pairing: Literal["half", "interleaved"] = "half"
    """What rotates together: dims d and d + head_dim / 2, or neighbours, as in llama models in GGUF files."""
    attention_bias: bool = False
    """Whether q, k and v have a bias; no plan of ours adds one."""

    @model_validator(mode="after")
    def _whole_groups(self) -> Self:
        if self.q_heads % self.kv_heads:
            raise ValueError(f"q_heads {self.q_heads} is not a multiple of kv_heads {self.kv_heads}")
        return self

    def shapes(self) -> Iterator[tuple[str, Role, int, int]]:
        """Yield (name, role, N, K) of each weight matrix of a layer, then of embedding and head."""
        queries, keys = self.q_heads * self.head_dim, self.kv_heads * self.head_dim
        yield "attn_q", "linear", queries, self.hidden
        yield "attn_k", "linear", keys, self.hidden
        yield "attn_v", "linear", keys, self.hidden
        yield "attn_output", "linear", self.hidden, queries
        yield "ffn_gate", "linear", self.intermediate, self.hidden
        yield "ffn_up", "linear", self.intermediate, self.hidden
        yield "ffn_down", "linear", self.hidden, self.intermediate
        yield "token_embd", "embedding", self.vocab, self.hidden
        yield ("token_embd" if self.tied else "output"), "head", self.vocab, self.hidden


@dataclass(frozen=True)
class Weight:
    """A weight matrix [N, K]: what it is called, what it is for, and how it is stored.

    A tied embedding appears twice, once in each role.
    """

    name: str
    role: Role
    n: int
    k: int
    format: Format
    count: int = 1
    """How many matrices of this shape and format the model has."""
