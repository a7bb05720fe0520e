"""Which variants a decoder of llama's kind needs for one token: a role each, with constants that fit the model.

A bundle file asks for them, and the plans `decode_layer` and `decode_head` are made of them: both read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wgslgen import kernels
from wgslgen.choices import good_tile, makes, matvec_constants
from wgslgen.formats import Format
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.model import Model
from wgslgen.spec import Kernel

NUM_SPLITS = 16
"""Parts of the keys: with 8 key heads 128 workgroups. On an H200 32 gained nothing at 1024 keys, a third at 4096."""

MOST_BAKED_WEIGHTS = 2**24
"""Past this a matrix's N is a uniform: its proof would take minutes, and rows gain nothing by being counted."""

WIDE: Mapping[str, int] = {"rms_norm": 256, "argmax_merge": 256}
"""Kernels whose one workgroup sees a whole row, and its threads; in compatibility mode they are `NARROW`."""
NARROW = 128

Route = Literal["float", "int8"]
ROUTES: tuple[Route, ...] = ("float", "int8")


@dataclass(frozen=True)
class Choice:
    """What is left to choose for a model: formats of its layers and of its two ends, and how to compute."""

    stored: Format
    ends: Format
    route: Route
    subgroups: bool
    cache: Literal["f32", "f16"]
    narrow: bool = False
    """Whether no workgroup has more than 128 threads, which is all that compatibility mode grants."""


def wanted(model: Model, stored: Format, ends: Format, route: Route) -> dict[str, dict[str, Any]] | None:
    """Return kernel and constants of each role, but for those of `axes`; None where the route has none.

    So it has where a kernel refuses the model's sizes: a head_dim that is not whole loads, say.

    The roles of a layer stand in their order, then those of embedding and output. A layer's norm serves both of its
    halves. `stored` is the format of the layers' matrices, `ends` that of embedding and output projection.
    """
    sizes = {role: _baked(n, k) for role, (n, k) in shapes(model).items()}
    products = {role: matvec_constants(route, stored, size["k"]) for role, size in sizes.items()}
    last = matvec_constants(route, ends, model.hidden)
    if last is None or model.attention_bias or None in products.values():
        return None
    matvec = {role: {**(products[role] or {}), **good_tile(sizes[role]["k"]), **sizes[role]} for role in sizes}
    heads = {"q_heads": model.q_heads, "kv_heads": model.kv_heads, "head_dim": model.head_dim}
    q8 = _int8(matvec["qkv"], stored)
    norm = {"kernel": "rms_norm", "d": model.hidden}
    roles: dict[str, dict[str, Any]] = {
        "norm": {**norm, **q8},
        "qkv": matvec["qkv"],
        "rope": {
            "kernel": "rope_cache_kv",
            **heads,
            "pairing": model.rope_pairing,
            "source": "packed",
            "qk_norm": model.qk_norm,
        },
        "split": _split({"kernel": "attention_split", **heads, "num_splits": NUM_SPLITS, "workgroup_size": 128}),
        "merge": {
            "kernel": "attention_merge",
            "q_heads": model.q_heads,
            "head_dim": model.head_dim,
            "num_splits": NUM_SPLITS,
            **q8,
        },
        "attention_output": {**matvec["attention_output"], "epilogue": "residual"},
        "gate_up": {**matvec["gate_up"], "epilogue": "swiglu"},
        "quantise": {"kernel": "quantize_q8", "group": q8.get("q8_group"), "stride": q8.get("q8_stride")},
        "down": {**matvec["down"], "epilogue": "residual"},
        "embedding": {"kernel": "get_rows", **_read_as(last), "k": model.hidden},
        "output_norm": {**norm, **_int8(last, ends)},
        "lm_head": {**last, **good_tile(model.hidden, rows=8), "kernel": "lm_head_argmax", "k": model.hidden},
        "token": {"kernel": "argmax_merge"},
    }
    if route == "float":
        del roles["quantise"]
    return roles if all(makes(kernels.get(role["kernel"]), role) for role in roles.values()) else None


def shapes(model: Model) -> dict[str, tuple[int, int]]:
    """Return N and K of each product of a layer; gate_up has N rows of the gate and N of up."""
    queries, keys = model.q_heads * model.head_dim, model.kv_heads * model.head_dim
    return {
        "qkv": (queries + 2 * keys, model.hidden),
        "attention_output": (model.hidden, queries),
        "gate_up": (model.intermediate, model.hidden),
        "down": (model.hidden, model.intermediate),
    }


def _split(constants: dict[str, Any]) -> dict[str, Any]:
    """Return the constants with as many rows of a group in a workgroup as its memory holds, the whole group if it can.

    Fewer rows mean that a key is read more than once; so rows are halved only until they fit.
    """
    rows = constants["q_heads"] // constants["kv_heads"]
    while rows > 1 and not makes(AttentionSplit, {**constants, "tile_rows": rows}):
        rows = -(-rows // 2)
    whole = rows * constants["kv_heads"] == constants["q_heads"]
    return constants if whole else {**constants, "tile_rows": rows}


def _baked(n: int, k: int) -> dict[str, int]:
    """Return the sizes that are baked in: K, and N where the matrix can be proven in seconds."""
    return {"n": n, "k": k} if n * k <= MOST_BAKED_WEIGHTS else {"k": k}


def _int8(product: Mapping[str, Any], stored: Format) -> dict[str, Any]:
    """Return how the operand of `product` is written as int8; nothing where it stays float."""
    if product["route"] != "int8":
        return {}
    return {"q8_group": product["activation_group"], "q8_stride": stored.int8_stride}


def _read_as(product: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants that say how `product` finds its weights."""
    return {name: product[name] for name in ("format", "group", "layout", "step_words") if name in product}


def variants(model: Model, choice: Choice) -> dict[str, Kernel] | None:
    """Return the variant of each role; None where the route has none for a format.

    Raises pydantic's ValidationError where the model's sizes do not fit a kernel.
    """
    roles = wanted(model, choice.stored, choice.ends, choice.route)
    if roles is None:
        return None
    return {role: _variant(constants, choice) for role, constants in roles.items()}


def axes(constants: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which of `workgroup_size`, `subgroups` and `cache` a role with these constants leaves open."""
    kernel = constants["kernel"]
    fields = kernels.get(kernel).model_fields
    open_ones = {
        "workgroup_size": kernel in WIDE,
        "subgroups": "subgroups" in fields and constants.get("qk_norm", True),  # rope_cache_kv folds norms alone
        "cache": "cache" in fields,
    }
    return tuple(name for name, is_open in open_ones.items() if is_open)


def _variant(constants: Mapping[str, Any], choice: Choice) -> Kernel:
    kernel = constants["kernel"]
    given = {name: value for name, value in constants.items() if name != "kernel"}
    chosen = {
        "workgroup_size": NARROW if choice.narrow else WIDE.get(kernel),
        "subgroups": choice.subgroups,
        "cache": choice.cache,
    }
    return kernels.get(kernel)(**given, **{name: chosen[name] for name in axes(constants)})
