"""One token through a decoder: `decode_embedding`, `decode_layer` for each layer, and `decode_head`.

A layer is nine passes on float activations and ten on int8: norm, q k v, rotation with the cache's write, split,
merge, output, norm, gate and up, (quantise,) down. Norm and merge write int8 themselves where it is wanted, and
both projections back into the hidden state add to it in place. Neither allocates or copies anything: the cache is
written in place, and what changes from token to token is `lengths` alone.

Buffers of weights are named by role and binding, as `qkv_codes`: the rows of q, k and v stacked, and of gate and up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product

from pydantic import ValidationError

from wgslgen import decoder
from wgslgen.decoder import Choice
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.weighted import Weighted
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:
    """Yield the plans of the model for every choice whose formats and caches occur among the variants."""
    if model is None:
        return
    layers = dict.fromkeys(v.weight_format for v in variants if isinstance(v, Matvec))
    ends = dict.fromkeys(v.weight_format for v in variants if isinstance(v, LmHeadArgmax))
    caches = dict.fromkeys(v.cache for v in variants if isinstance(v, AttentionSplit))
    rest = (decoder.ROUTES, (False, True), caches, (False, True))
    for stored, end, route, subgroups, cache, narrow in product(layers, ends, *rest):
        with suppress(ValidationError):
            yield from decode_plans(model, Choice(stored, end, route, subgroups, cache, narrow))


def decode_plans(model: Model, choice: Choice) -> Iterator[Plan]:
    """Yield the plans of embedding, layer and head; nothing where the route does not take the format."""
    roles = decoder.variants(model, choice)
    if roles is not None:
        yield embedding(roles["embedding"])
        yield layer(roles, model, choice)
        yield head(roles, choice)


def embedding(variant: Kernel) -> Plan:
    """Return the pass before the first layer: the embedding of `token`, which `decode_head` wrote."""
    one_id = {"R": "1", "FIRST_ROW": "0", "ROWS": "N"}
    return Plan(
        name=plan_name("decode_embedding", variant),
        op="decode_embedding",
        doc="the hidden state that a token starts with",
        sizes=("N",),
        outputs=("hidden",),
        passes=(_pass(variant, {**_weights("embedding", variant), "ids": "token", "y": "hidden"}, **one_id),),
        judged=False,
    )


def layer(roles: Mapping[str, Kernel], model: Model, choice: Choice) -> Plan:
    """Return the passes of a layer over `hidden`, which they change in place."""

    def norm(half: str) -> Pass:
        buffers = {"x": "hidden", "weight": f"{half}_norm_weight", **_result(choice, f"{half}_normed")}
        return _pass(roles["norm"], buffers)

    def linear(role: str, x: str, y: str) -> Pass:
        n, k = decoder.shapes(model)[role]
        buffers = {**_weights(role, roles[role]), **_operand(choice, x), "y": y}
        return _pass(roles[role], buffers, N=str(n), K=str(k))

    quantise = [
        _pass(roles["quantise"], {"x": "gated", **_result(choice, "gated")}, K=str(model.intermediate))
        for _ in range(choice.route == "int8")
    ]
    return Plan(
        name=layer_name(choice),
        op="decode_layer",
        doc="one layer of a decoder for one token",
        sizes=("CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"),
        outputs=("hidden",),
        passes=(
            norm("attn"),
            linear("qkv", "attn_normed", "qkv"),
            _pass(roles["rope"], {"norm_weight": "qk_norm_weight"} if roles["rope"].model_dump()["qk_norm"] else {}),
            _pass(roles["split"]),
            _pass(roles["merge"], _result(choice, "attended")),
            linear("attention_output", "attended", "hidden"),
            norm("ffn"),
            linear("gate_up", "ffn_normed", "gated"),
            *quantise,
            linear("down", "gated", "hidden"),
        ),
        judged=False,
    )


def head(roles: Mapping[str, Kernel], choice: Choice) -> Plan:
    """Return the passes behind the last layer: norm, output projection with arg-max, merge."""
    lm_head = roles["lm_head"]
    slots = f"ceil_div(N, {lm_head.const_values['TILE_ROWS']})"
    return Plan(
        name=plan_name("decode_head", lm_head, roles["token"]),
        op="decode_head",
        doc="the likeliest token behind the last layer",
        sizes=("N",),
        outputs=("token",),
        passes=(
            _pass(
                roles["output_norm"],
                {"x": "hidden", "weight": "output_norm_weight", **_result(choice, "output_normed")},
            ),
            _pass(
                lm_head,
                {**_weights("lm_head", lm_head), **_operand(choice, "output_normed")},
                SLOTS=slots,
                FIRST_ROW="0",
                FIRST_SLOT="0",
            ),
            _pass(roles["token"], SLOTS=slots),
        ),
        principal=1,
        judged=False,
    )


def layer_name(choice: Choice) -> str:
    """Return the name of a layer's plan, which has no principal pass."""
    stored = choice.stored
    group = f"_g{stored.group}" if len(stored.groups) > 1 else ""
    words = [f"{stored.name}{group}", choice.route, f"kv{choice.cache}"]
    words += ["sg"] * choice.subgroups + [f"wg{decoder.NARROW}"] * choice.narrow
    return f"decode_layer.{'_'.join(words)}"


def _pass(variant: Kernel, buffers: Mapping[str, str] | None = None, **sizes: str) -> Pass:
    """Return the pass for one token of one sequence, with the baked sizes filled in."""
    fields = variant.model_dump()
    baked = {size: str(fields[size.lower()]) for size in variant.SIZES if fields.get(size.lower()) is not None}
    one: dict[str, str] = {size: "1" for size in ("B", "M") if size in variant.SIZES}
    bindings = {binding.name for binding in variant.bindings()}
    named = {binding: name for binding, name in (buffers or {}).items() if binding in bindings}
    return Pass(variant=variant, buffers=named, sizes={**one, **baked, **sizes})


def _weights(role: str, variant: Kernel) -> dict[str, str]:
    """Return the names of the weight's planes."""
    planes = variant.weight_bindings() if isinstance(variant, Weighted) else ()
    return {binding.name: f"{role}_{binding.name}" for binding in planes}


def _operand(choice: Choice, name: str) -> dict[str, str]:
    """Return the bindings of a product's activations, as floats or as int8."""
    return {"x": name} if choice.route == "float" else {"x8": f"{name}_x8", "x_scale": f"{name}_scale"}


def _result(choice: Choice, name: str) -> dict[str, str]:
    """Return the bindings of a result that a product reads."""
    return {"y": name} if choice.route == "float" else {"x8": f"{name}_x8", "x_scale": f"{name}_scale"}
