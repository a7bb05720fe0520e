"""What a dispatch must move and multiply, counted from its spec: whatever the text does, it cannot do with less.

Bytes are those of the bindings: what is read counts once, however often a text reads it, and what is written once;
what is changed in place, both. Of a binding that a dispatch uses in part only that part counts: as many rows of a table
as there are ids, as many experts as are asked for, the keys of one layer, the rows of a cache that are written.
Uniforms do not count.

Operations are multiply-adds, two each, of activations with weights, queries with keys, and scores with values; of
`rms_norm`, those of the squares. What else a text does, to make numbers of codes above all, counts as nothing: that is
why kernels on narrow codes stay far below the rate of their unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wgslgen.kernels.attention import Attention
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matmul_id import MatmulId
from wgslgen.kernels.matvec_id import MatvecId
from wgslgen.kernels.product import Product
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.spec import Binding, Kernel

Sizes = Mapping[str, int]
Unit = Literal["f32", "dot4", "matrix"]
"""What multiplies: f32 units, four int8 at a time, or matrix units."""


@dataclass(frozen=True)
class Count:
    """Bytes read and written, and operations on `unit` (None: it multiplies nothing that counts, or counts bits)."""

    read: int
    written: int
    operations: int
    unit: Unit | None

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.read + self.written


def count(variant: Kernel, sizes: Sizes) -> Count:
    """Return what one dispatch of `variant` with `sizes` moves and multiplies."""
    values = {**variant.const_values, **sizes}
    read = written = 0
    for binding in variant.bindings():
        size = _touched(variant, binding, values)
        if binding.access == "read" or _changed(variant, binding):
            read += size
        if binding.access == "read_write":
            written += size
    operations = 2 * _multiply_adds(variant, sizes)
    return Count(read, written, operations, _unit(variant) if operations else None)


def _changed(variant: Kernel, binding: Binding) -> bool:
    """Tell whether a binding that is written is read first; a cache keeps its other rows, and none is read."""
    return binding.kept and not (isinstance(variant, RopeCacheKv) and binding.name.endswith("_cache"))


def _touched(variant: Kernel, binding: Binding, values: Sizes) -> int:
    """Return the bytes of `binding` that the dispatch uses."""
    whole = binding.byte_length(values)
    if isinstance(variant, GetRows) and binding.name in {plane.name for plane in variant.weight_bindings()}:
        return whole * min(values["R"], values["N"]) // max(values["N"], 1)
    if isinstance(variant, MatmulId | MatvecId) and binding.name in {plane.name for plane in variant.weight_bindings()}:
        used = min(values["T"] * values["USED"], values["EXPERTS"])
        return whole * used // max(values["EXPERTS"], 1)
    if isinstance(variant, Attention) and binding.name[:2] in ("k_", "v_"):
        return whole // max(values["LAYERS"], 1) * _seen(variant, values) // max(values["CAPACITY"], 1)
    if isinstance(variant, RopeCacheKv) and binding.name.endswith("_cache"):
        return whole // max(values["LAYERS"] * values["CAPACITY"], 1) * values["M"]
    if isinstance(variant, RopeCacheKv) and binding.name == "rope_table":
        return whole // max(values["TABLE_ROWS"], 1) * min(values["M"], values["TABLE_ROWS"])
    return whole


def _seen(variant: Attention, values: Sizes) -> int:
    """Return the keys of a full cache that some token sees."""
    tokens = values["M"] if isinstance(variant, AttentionPrefill) else 1
    most = values["CAPACITY"] if variant.window is None else variant.window + tokens - 1
    return min(values["CAPACITY"], most)


def _multiply_adds(variant: Kernel, sizes: Sizes) -> int:
    if isinstance(variant, Product):  # matvec, lm_head_argmax, and the experts of one token
        tokens = sizes["T"] * sizes["USED"] if "T" in sizes else variant.columns
        return tokens * variant.matrices * sizes["N"] * sizes["K"]
    if isinstance(variant, MatmulId):
        return sizes["T"] * sizes["USED"] * variant.matrices * sizes["N"] * sizes["K"]
    if isinstance(variant, Matmul):
        return sizes["M"] * variant.matrices * sizes["N"] * sizes["K"]
    if isinstance(variant, AttentionSplit):
        return 2 * sizes["B"] * variant.q_heads * variant.head_dim * _seen(variant, sizes)
    if isinstance(variant, AttentionPrefill):
        return 2 * sizes["B"] * variant.q_heads * variant.head_dim * _pairs(variant, sizes)
    return sizes["M"] * sizes["D"] if isinstance(variant, RmsNorm) else 0


def _pairs(variant: AttentionPrefill, sizes: Sizes) -> int:
    """Return the (token, key) pairs of a full cache: the last token sees all keys, each before it one less."""
    tokens, keys = sizes["M"], sizes["CAPACITY"]
    window = keys if variant.window is None else variant.window
    return sum(min(max(keys - tokens + 1 + token, 0), window) for token in range(tokens))


UNITS: Mapping[str, Unit | None] = {"int8": "dot4", "subgroup_matrix": "matrix", "popcount": None}
"""By route; what is not here multiplies on the units of f32."""


def _unit(variant: Kernel) -> Unit | None:
    return UNITS.get(str(getattr(variant, "route", None)), "f32")
