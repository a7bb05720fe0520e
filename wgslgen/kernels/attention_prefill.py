"""`attention_prefill`: causal attention of M tokens of each of B sequences, over what the cache holds of them.

Token t of a sequence sits at position lengths[b] - M + t and sees every key to there, or the last WINDOW of them: the
past may be empty or not. Where the position is negative, the token is padding and its result 0. A workgroup makes
TILE_ROWS rows, a row being a token and a query head: all that share a key head, token by token. It goes over the
keys from the first to the last that any of its rows sees.

With `mask`, mask[b][t][key] is added to the score; -infinity, and the lowest f32 number, exclude the key instead. A
row without keys gives exactly 0. Masks of keys that a row does not see, and behind the length, may hold anything.
With `gate`, results are multiplied by sigmoid(gate), for any finite gate. M = 0 and B = 0 are no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.attention import SOFTMAX_DERIVATION, SOFTMAX_NMSE, Attention
from wgslgen.kernels.attention_merge import gate_binding
from wgslgen.spec import F16_MAX, Alone, Binding, Case, Const, Constant, Tolerance, UniformField


class AttentionPrefill(Attention):
    """Constants of `attention_prefill`."""

    NAME = "attention_prefill"
    SUMMARY = "causal attention of M tokens a sequence over the cache"
    SIZES = ("B", "M", "CAPACITY", "LAYERS", "LAYER")

    mask: Annotated[bool, Constant("add a mask to the scores", "what", "mask")] = False
    gate: Annotated[bool, Constant("multiply by sigmoid(gate)", "what", "gate")] = False
    tile_rows: Annotated[Literal[4, 8, 16], Constant("rows of a workgroup", "how", "rows{}")] = 8

    @property
    def rows(self) -> int:
        """Rows of a workgroup."""
        return self.tile_rows

    def consts(self) -> Iterator[Const]:
        """Yield the geometry, and where f16 ends."""
        yield from super().consts()
        if self.activation == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return queries, cache, lengths, options, and the result."""
        mask = Binding(
            name="mask",
            access="read",
            element="f32",
            length="B * M * CAPACITY",
            doc="added to the scores [B][M][CAPACITY]; -infinity, and the lowest number, exclude",
        )
        y = Binding(
            name="y",
            access="read_write",
            element=f"vec4<{self.activation}>",
            length=f"B * M * {self.q_heads * self.head_dim // 4}",
            doc=f"attention [B][M][{self.q_heads}][{self.head_dim}]",
        )
        gates = (gate_binding("M", self.q_heads, self.head_dim),) if self.gate else ()
        return (*self.input_bindings("M"), *((mask,) if self.mask else ()), *gates, y)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return what the decode kernel needs, and the number of tokens."""
        return (*super().uniforms(), UniformField(name="m", type="u32", value="M", doc="tokens of a sequence"))

    def alone(self) -> Alone | None:
        """Return attention of many tokens."""
        return Alone(op="attention_prefill", sizes=self.SIZES)

    def workgroups(self) -> str:
        """Return one workgroup for each sequence, key head, and tile of its rows."""
        return f"B * KV_HEADS * ceil_div(M * {self.group_heads}, ROWS)"

    def tolerance(self) -> Tolerance:
        """Return the bound of an online softmax in f32, or of one rounding to f16 behind it."""
        half = self.activation == "f16"
        return Tolerance(
            nmse=1e-6 if half else SOFTMAX_NMSE,
            element=2.0**-17,
            rounding=2.0**-10 if half else 0.0,
            derivation=SOFTMAX_DERIVATION + ("; an f16 result may be either neighbour, 2^-10 of its value" * half),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: no past and a past, fewer rows and keys than a tile and more."""
        tile = self.workgroup_size
        shapes = {
            "one token, a past": (1, 1, 5, 1, 0),
            "no past": (1, 7, 7, 1, 0),
            "ragged lengths, the second layer": (6, 5, tile + 9, 2, 1),
            "many tiles of both": (2, 33, 2 * tile + 3, 1, 0),
        }
        return tuple(Case(name=n, sizes=dict(zip(self.SIZES, values, strict=True))) for n, values in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(tile_rows=4, workgroup_size=64 if self.head_dim <= 256 else 128, subgroups=False)

    def template_values(self) -> dict[str, Any]:
        """Return the structure, and the types of a result."""
        types = {"wide_type": "vec4<f32>", "narrow_type": f"vec4<{self.activation}>"}
        return {**super().template_values(), **types}
