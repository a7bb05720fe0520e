"""`rope_cache_kv`: rotates the queries and keys of M tokens of B sequences, and writes keys and values into the cache.

Token t of a sequence stands at position lengths[b] - M + t, as lengths count the tokens of this call; so a decode step
is M = 1, a prefill is the same kernel, and both give the same bits. With `qk_norm` each head of q and k is first
divided by sqrt(mean(x x) + EPS) and multiplied by its weight. Elements from ROTARY_DIM on pass through the rotation.

Source `packed` reads qkv [B][M][Q_HEADS + 2 KV_HEADS][HEAD_DIM] and writes the queries into q, all of it; `separate`
rotates q in place and reads k and v, and so needs one buffer more: eight with the norms' weights. The caches are
[LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]; what is not written to stays bit for bit.

At the edges: a token at a negative position is padding, and one at CAPACITY or above has no row; neither touches the
caches, and its queries become zeros (`packed`) or stay what they were (`separate`). `launch.check_values` refuses
lengths above CAPACITY on the host. The table must have a row for every position of the cache. A head of zeros gives
zeros, for EPS above 0. Products must stay inside f32, and with `qk_norm` the sum of a head's squares, too. What goes
into f16, queries or cache, stays at +-65504. Values are copied, or narrowed to f16. M = 0 and B = 0 are no dispatch.
"""

from __future__ import annotations

from typing import Annotated, Literal

from wgslgen.kernels.rotary import Rotary
from wgslgen.spec import Binding, Case, Constant, Rule, UniformField


class RopeCacheKv(Rotary):
    """Constants of `rope_cache_kv`."""

    NAME = "rope_cache_kv"
    SUMMARY = "q and k rotated by position, k and v written into the cache"
    SIZES = ("B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS")

    source: Annotated[
        Literal["packed", "separate"],
        Constant("q, k and v in one buffer, or in one each with q in place", "what", "{}"),
    ] = "packed"
    qk_norm: Annotated[bool, Constant("normalise each head of q and k first", "what", "norm")] = False
    cache: Annotated[Literal["f32", "f16"], Constant("element type of the caches", "what", "kv{}")] = "f32"

    @property
    def normed(self) -> bool:
        """Whether q and k are normalised before they rotate."""
        return self.qk_norm

    @property
    def token_heads(self) -> int:
        """The heads of queries, keys and values."""
        return self.q_heads + 2 * self.kv_heads

    @property
    def narrows(self) -> bool:
        """Whether a result is stored as f16."""
        return "f16" in (self.activation, self.cache)

    def bindings(self) -> tuple[Binding, ...]:
        """Return activations, table, lengths, weights of the norms, and caches."""
        packed = (
            self.tensor("qkv", "read", "HEADS", "queries, keys and values [B][M][HEADS][HEAD_DIM]"),
            self.tensor("q", "read_write", "Q_HEADS", "rotated queries [B][M][Q_HEADS][HEAD_DIM]"),
        )
        separate = (
            self.tensor("q", "read_write", "Q_HEADS", "queries [B][M][Q_HEADS][HEAD_DIM], rotated in place", kept=True),
            self.tensor("k", "read", "KV_HEADS", "keys [B][M][KV_HEADS][HEAD_DIM]"),
            self.tensor("v", "read", "KV_HEADS", "values [B][M][KV_HEADS][HEAD_DIM]"),
        )
        tensors = packed if self.source == "packed" else separate
        return (*tensors, *self.rotary_bindings("CAPACITY + 1"), self._cache("k"), self._cache("v"))

    def _cache(self, what: str) -> Binding:
        words = {"k": "keys, rotated", "v": "values"}[what]
        return Binding(
            name=f"{what}_cache",
            access="read_write",
            element=self.loaded(self.cache),
            length=f"LAYERS * B * CAPACITY * KV_HEADS * {self.head_dim // self.vector}",
            doc=f"{words} [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]",
            kept=True,
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes of the batch and of the cache."""
        return (
            *self.rotary_uniforms(),
            UniformField(name="capacity", type="u32", value="CAPACITY", doc="rows of each sequence in the cache"),
            UniformField(name="layer", type="u32", value="LAYER", doc="layer that is written, from 0"),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (
            Rule(expression="LAYER < LAYERS", why="the caches hold LAYERS layers, counted from 0"),
            Rule(expression="TABLE_ROWS >= CAPACITY", why="every position of the cache needs a row of the table"),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: one token and many, one sequence and several, a layer among others."""
        shapes = {
            "one token": (1, 1, 8, 1, 0, 8),
            "one token of each sequence, a layer among others": (5, 1, 7, 3, 1, 9),
            "a prefill": (1, 9, 16, 2, 1, 16),
            "primes, padding, full and empty sequences": (5, 7, 13, 2, 0, 17),
            "more tokens than rows": (2, 6, 5, 1, 0, 5),
        }
        return tuple(Case(name=n, sizes=dict(zip(self.SIZES, values, strict=True))) for n, values in shapes.items())
