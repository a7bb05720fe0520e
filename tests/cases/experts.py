"""What the cases of experts share: both forms of their products, from weights, activations and ids by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cases.support import Bytes, Floats, runner
from wgslgen import layouts
from wgslgen.adapters import Gpu
from wgslgen.kernels.expert_rows import ExpertRows
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matmul_id import MatmulId
from wgslgen.kernels.matvec_id import MatvecId
from wgslgen.oracles.quantize_q8 import packed, quantise

Experts = MatmulId | MatvecId
TYPES: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16)}
SMALL: dict[str, Any] = {"tile_m": 8, "thread_m": 1, "tile_n": 32, "thread_n": 1}


def read(variant: Matmul | MatvecId, x: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return x [M, K] as the variant reads it."""
    if variant.route != "int8":
        return {"x": x.astype(TYPES[variant.activation])}
    x8, x_scale = packed(quantise(x, variant.activation_group or 0), variant.weight_format.int8_stride or 1)
    return {"x8": x8, "x_scale": x_scale}


def sorted_pairs(gpu: Gpu, tile_m: int, ids: NDArray[np.uint32], experts: int) -> dict[str, NDArray[np.uint32]]:
    """Return the pairs and the tiles that the adapter makes of ids [T, USED]."""
    sizes = {"T": ids.shape[0], "USED": ids.shape[1], "EXPERTS": experts}
    raw = runner(gpu, ExpertRows.model_validate({"tile_m": tile_m})).run({"ids": ids}, sizes)
    return {name: np.frombuffer(raw[name], np.uint32) for name in ("pairs", "tiles")}


def multiply_id(gpu: Gpu, variant: Experts, data: Bytes, x: NDArray[Any], ids: Any, experts: int) -> Floats:
    """Return y [T, USED, N] for the experts' weights `data`, x [T, K] or [T * USED, K], and ids [T, USED]."""
    chosen, k = np.array(ids, np.uint32), x.shape[1]
    t, used = chosen.shape
    rows = data.size // variant.weight_format.row_bytes(k)
    n = rows // experts // variant.matrices
    inputs = {**layouts.pack(variant.weight_format, variant.layout, data, rows, k), **read(variant, x)}
    if isinstance(variant, MatmulId):
        inputs |= sorted_pairs(gpu, variant.size.m, chosen, experts)
    else:
        inputs["ids"] = chosen
    raw = runner(gpu, variant).run(inputs, {"T": t, "USED": used, "EXPERTS": experts, "N": n, "K": k})["y"]
    y: NDArray[Any] = np.frombuffer(raw, TYPES[variant.output], count=t * used * n)
    return y.astype(np.float64).reshape(t, used, n)


def experts_of(fmt: str, group: int | None = None, **constants: Any) -> list[Experts]:
    """Return both forms of a product with experts, on floats and on int8."""
    base = {"format": fmt, "group": group, **constants}
    rounded = {"route": "int8", "activation_group": 32}
    tiles: list[Experts] = [MatmulId(**base, **SMALL, **way) for way in ({"route": "tile"}, rounded)]
    return [*tiles, *(MatvecId(**base, **way) for way in ({"route": "float"}, rounded))]
