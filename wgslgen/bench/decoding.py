"""A whole model as dispatches: one token with a cache, and a prompt of many tokens.

The token is what the plans of a decoder make it: `decode_embedding`, `decode_layer` for every layer, `decode_head`. For
a prompt there is no such plan yet, so it is put together here: for each layer two norms, four products, rotation and
attention, each the plan that `selection` ranks first for the device; behind them the head, for one token. Weights are
random and every layer has its own, so that none is in a cache when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from wgslgen import bundlefile, decoder, presets, selection
from wgslgen.bench.jobs import plans_of
from wgslgen.bench.machine import Machine
from wgslgen.bench.prepared import Step
from wgslgen.bundletext import bundle_toml
from wgslgen.decoder import Choice
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.manifest import entry, plan_entry
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.plan import Pass, Plan
from wgslgen.plans import decode
from wgslgen.spec import Kernel

SHARED = ("rope_table", "lengths", "token", "hidden")
"""Inputs that all layers have in common."""


@dataclass(frozen=True)
class Work:
    """Steps of a model: what they are, and how many tokens they make."""

    name: str
    tokens: int
    steps: tuple[Step, ...]


def choice_for(machine: Machine, model: Model, stored: Format) -> Choice:
    """Return how a token is computed on the machine: int8 and an f16 cache where there are such.

    Raises UsageProblem where no route takes the model in this format.
    """
    cache = "f16" if "shader-f16" in machine.gpu.features else "f32"
    subgroups = "subgroups" in machine.gpu.features
    for route in ("int8", "float"):
        choice = Choice(stored, stored, route, subgroups, cache)  # type: ignore[arg-type]  # the literals
        with suppress(ValidationError):
            if decoder.variants(model, choice) is not None:
                return choice
    raise UsageProblem(
        f"there are no plans of a decoder for this model with weights in {stored}", hint="choose another --format"
    )


def token(machine: Machine, model: Model, choice: Choice, keys: int) -> Work:  # noqa: ARG001  # as `prompt`
    """Return one token with `keys` keys in the cache, its own among them."""
    embedding, layer, head = decode.decode_plans(model, choice)
    steps = [Step(embedding, {"N": model.vocab})]
    sizes = {"CAPACITY": keys, "LAYERS": model.layers, "TABLE_ROWS": keys}
    steps += [Step(layer, {**sizes, "LAYER": at}, own_inputs(layer, f"layer{at}")) for at in range(model.layers)]
    steps.append(Step(head, {"N": model.vocab}))
    return Work(f"one token, {keys} keys, {choice.route}, {choice.cache} cache", 1, tuple(steps))


def own_inputs(plan: Plan, owner: str, shared: Sequence[str] = SHARED) -> dict[str, str]:
    """Return names that give `owner` inputs of its own, but for the shared ones."""
    return {b.name: f"{owner}.{b.name}" for b in plan.buffers if b.role == "input" and b.name not in shared}


def prompt(machine: Machine, model: Model, choice: Choice, tokens: int) -> Work:
    """Return a prompt of so many tokens on an empty cache, up to its last token's successor.

    Raises UsageProblem where no plan does one of its ops on this machine.
    """
    kit = Kit(machine, model, choice)
    return Work(f"a prompt of {tokens} tokens, {choice.cache} cache", tokens, tuple(_prompt(kit, tokens)))


def _prompt(kit: Kit, tokens: int) -> Iterator[Step]:
    model, choice = kit.model, kit.choice
    queries = model.q_heads * model.head_dim
    rows = {role: n for role, (n, _) in decoder.shapes(model).items()}
    yield kit.step("embedding", "embedding", {"N": model.vocab, "K": model.hidden, "R": tokens}, y="hidden")
    rope = _rope(decoder.variants(model, choice) or {})
    cache = {"B": 1, "M": tokens, "CAPACITY": tokens, "LAYERS": model.layers}
    for at in range(model.layers):
        own, place = f"layer{at}", {**cache, "LAYER": at}
        norm = {"M": tokens, "D": model.hidden}
        yield kit.step("norm", f"{own}.attn", norm, x="hidden", y="normed")
        yield kit.linear(f"{own}.qkv", tokens, rows["qkv"], model.hidden, "store", "normed", "qkv")
        yield Step(rope, {**place, "TABLE_ROWS": tokens}, own_inputs(rope, own, (*SHARED, "qkv")))
        yield kit.step("attention_prefill", own, place, {"cache": choice.cache}, y="attended", q="q", **_caches())
        yield kit.linear(f"{own}.output", tokens, rows["attention_output"], queries, "residual", "attended", "hidden")
        yield kit.step("norm", f"{own}.ffn", norm, x="hidden", y="normed")
        yield kit.linear(f"{own}.gate_up", tokens, rows["gate_up"], model.hidden, "swiglu", "normed", "gated")
        yield kit.linear(f"{own}.down", tokens, rows["down"], model.intermediate, "residual", "gated", "hidden")
    *_, head = decode.decode_plans(model, choice)
    yield Step(head, {"N": model.vocab})


def _caches() -> dict[str, str]:
    return {"k_cache": "k_cache", "v_cache": "v_cache"}


def _rope(roles: Mapping[str, Kernel]) -> Plan:
    """Return the pass that rotates q and k of many tokens and writes the cache."""
    variant = roles["rope"]
    outputs = tuple(binding.name for binding in variant.bindings() if binding.access == "read_write")
    each = Pass(variant=variant)
    name = variant_name(variant)
    return Plan(name=name, op="rope", doc=variant.SUMMARY, sizes=variant.SIZES, outputs=outputs, passes=(each,))


class Kit:
    """The plans for a model, and what `selection` needs to choose among them for a machine."""

    def __init__(self, machine: Machine, model: Model, choice: Choice) -> None:
        self.model, self.choice = model, choice
        text = bundle_toml("bench", "", "", model, presets.weights(model, choice.stored), model.hidden)
        variants = (*bundlefile.expand(bundlefile.parse(text, "bench")).variants, *_attention(model, choice))
        found = plans_of(variants)
        self.plans = {plan.name: plan for plan in found}
        entries = [entry(variant).model_dump(mode="json") for variant in variants]
        several = [plan_entry(plan).model_dump(mode="json") for plan in found if plan.name not in _names(variants)]
        self.kit = selection.kit_of({"variants": entries, "plans": several})
        self.profile = profile_of(machine)
        self.chosen: dict[tuple[object, ...], Plan] = {}

    def select(self, op: str, sizes: Mapping[str, int], want: Mapping[str, Any]) -> Plan:
        """Return the plan that is ranked first; raise UsageProblem where none will do."""
        key = (op, *sizes.items(), *want.items())
        if key not in self.chosen:
            found = selection.select(self.kit, op, sizes, self.profile, want)
            if found.plan is None:
                raise UsageProblem(f"nothing does {op} of {dict(sizes)} here: {found.refused[0].reason}")
            self.chosen[key] = self.plans[found.plan["name"]]
        return self.chosen[key]

    def step(
        self, op: str, owner: str, sizes: Mapping[str, int], want: Mapping[str, Any] | None = None, **names: str
    ) -> Step:
        """Return the chosen plan for `op`, its buffers as named, and its other inputs `owner`'s own."""
        if op == "attention_prefill":  # the cache's layers and the layer are not what a plan is chosen by
            plan = self.select(op, {**sizes, "LAYER": 0}, want or {})
        else:
            plan = self.select(op, sizes, want or {})
        own = own_inputs(plan, owner)
        return Step(plan, {name: sizes[name] for name in plan.sizes}, {**own, **_known(plan, names)})

    def linear(self, owner: str, m: int, n: int, k: int, epilogue: str, x: str, y: str) -> Step:
        """Return the chosen product, with operands rounded as far as int8 if that is faster."""
        want = {"format": self.choice.stored.name, "epilogue": epilogue, "rounding": "int8"}
        return self.step("linear", owner, {"M": m, "N": n, "K": k}, want, x=x, y=y)


def _known(plan: Plan, names: Mapping[str, str]) -> dict[str, str]:
    buffers = {buffer.name for buffer in plan.buffers}
    return {name: shared for name, shared in names.items() if name in buffers}


def _names(variants: Sequence[Kernel]) -> set[str]:
    return {variant_name(variant) for variant in variants}


def _attention(model: Model, choice: Choice) -> Iterator[Kernel]:
    """Yield the attention of many tokens with as many rows a workgroup as its memory holds."""
    heads = {"q_heads": model.q_heads, "kv_heads": model.kv_heads, "head_dim": model.head_dim}
    for rows in (16, 8, 4):
        with suppress(ValidationError):
            yield AttentionPrefill.model_validate(
                {**heads, "cache": choice.cache, "subgroups": choice.subgroups, "tile_rows": rows}
            )


def profile_of(machine: Machine) -> dict[str, Any]:
    """Return the machine as `selection` reads it."""
    gpu = machine.gpu
    size = gpu.subgroup_size
    return {
        "kind": "software" if machine.software else "gpu",
        "features": sorted(gpu.features),
        "languageFeatures": ["subgroup_id", "packed_4x8_integer_dot_product"],
        "limits": machine.limits,
        "subgroups": None if size is None else {"min": size, "max": size},
        "subgroupMatrices": [matrix.model_dump(mode="json") for matrix in gpu.matrices],
    }
