"""Selection: an op, its sizes and what is known of a device → the plan to run, and why not the others.

A pure function of data, the same that `runtime/select.js` of a bundle is: it reads a *kit*, the manifest's variants by
name and its plans, and gives the same plan and the same words. Nothing here knows a kernel.

- Candidates are the variants that do the op alone, and the plans of the op, in the kit's order.
- `want` says what must be computed: constants such as format, layout, activation, output and epilogue. Of what it does
  not name, `PLAIN` stands for itself, and the rest is free. `rounding` is the most that a candidate may round operands
  to; by default nothing is.
- Of those that the device may run and that accept the sizes, the cheapest by the cost table is chosen; among equals the
  first of the kit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wgslgen import costs, expr, wgsltypes
from wgslgen.errors import UsageProblem
from wgslgen.launch import MOST_BYTES

Entry = Mapping[str, Any]
Sizes = Mapping[str, int]

PLAIN = {"activation": "f32", "output": "f32", "epilogue": "store"}
"""What is computed where `want` says nothing."""
ROUNDINGS = ("none", "f16", "int8", "signs")
"""What operands are rounded to, from the finest to the coarsest."""
ROUNDING_OF = {"quantize_q8": "int8", "binarize": "signs"}
"""Kernels that round, and to what; a variant whose `operand` is f16 rounds to that."""
MOST_WHOLE = 2**53 - 1
"""The largest whole number that a page counts with."""
ENDLESS = MOST_WHOLE
"""The cost of a candidate whose cost passes that."""


class Refusal(NamedTuple):
    """A candidate that was not chosen, and why."""

    name: str
    reason: str


class Ranked(NamedTuple):
    """A candidate that would do, and its cost in nanoseconds of the table."""

    name: str
    ns: int


class Selection(NamedTuple):
    """The chosen plan (None: there is none), the others that would do in their order, and those that would not."""

    plan: Entry | None
    ranked: tuple[Ranked, ...]
    refused: tuple[Refusal, ...]


class _TooLarge(Exception):
    """A number on the way is past what a page counts with."""


def kit_of(manifest: Entry) -> dict[str, Any]:
    """Return the kit of a manifest: its variants by name, kernel by kernel, its plans, and the default costs."""
    listed = manifest["variants"]
    kernels = dict.fromkeys(variant["kernel"] for variant in listed)
    variants = {variant["name"]: variant for kernel in kernels for variant in listed if variant["kernel"] == kernel}
    return {"variants": variants, "plans": manifest["plans"], "costs": costs.cost_rows()}


def select(kit: Entry, op: str, sizes: Sizes, profile: Entry, want: Entry | None = None) -> Selection:
    """Return the plan of `kit` for `op` with `sizes` on a device of `profile`; see the module.

    Raises UsageProblem for an op that no candidate does, and for a rounding that does not exist.
    """
    wanted = {**PLAIN, **(want or {})}
    most = wanted.pop("rounding", "none")
    if most not in ROUNDINGS:
        raise UsageProblem(f"rounding {most!r}; expected one of {', '.join(ROUNDINGS)}")
    found = [*candidates(kit, op)]
    if not found:
        raise UsageProblem(f"nothing does {op}; there are {', '.join(ops(kit)) or 'no ops'}")
    ranked: list[tuple[int, int, Entry]] = []
    refused = []
    for at, plan in enumerate(found):
        reason = _refusal(kit, plan, wanted, want or {}, str(most), sizes, profile)
        if reason is None:
            ranked.append((_cost(kit, plan, sizes, profile), at, plan))
        else:
            refused.append(Refusal(plan["name"], reason))
    ranked.sort(key=lambda each: each[:2])
    return Selection(
        plan=ranked[0][2] if ranked else None,
        ranked=tuple(Ranked(plan["name"], ns) for ns, _, plan in ranked),
        refused=tuple(refused),
    )


def ops(kit: Entry) -> list[str]:
    """Return what the kit's candidates do, sorted."""
    alone = {variant["alone"]["op"] for variant in kit["variants"].values() if variant["alone"]}
    return sorted(alone | {plan["op"] for plan in kit["plans"]})


def candidates(kit: Entry, op: str) -> Iterator[Entry]:
    """Yield the plans that do `op`: variants that do it alone, then those of several passes."""
    for variant in kit["variants"].values():
        if variant["alone"] and variant["alone"]["op"] == op:
            yield alone_plan(variant)
    yield from (plan for plan in kit["plans"] if plan["op"] == op)


def alone_plan(variant: Entry) -> Entry:
    """Return the plan of one pass in which a variant does its op alone."""
    alone, fields = variant["alone"], (variant["uniforms"] or {"fields": []})["fields"]
    return {
        "name": variant["name"],
        "op": alone["op"],
        "sizes": alone["sizes"],
        "parameters": [field["value"] for field in fields if field["value"] not in variant["sizes"]],
        "fixed": alone["fixed"],
        "rules": [],
        "passes": [
            {
                "variant": variant["name"],
                "buffers": {binding["name"]: binding["name"] for binding in variant["bindings"]},
                "sizes": alone["given"],
            }
        ],
    }


def facts(kit: Entry, plan: Entry) -> dict[str, Any]:
    """Return what a plan computes, by the constants that say it; of activations the first pass's, else the last's.

    `rounding` is what it rounds operands to.
    """
    found: dict[str, Any] = {}
    rounding = 0
    for step in plan["passes"]:
        variant = kit["variants"][step["variant"]]
        first = found.get("activation")
        found |= variant["constants"]
        if first is not None:
            found["activation"] = first
        own = "f16" if variant["constants"].get("operand") == "f16" else ROUNDING_OF.get(variant["kernel"], "none")
        rounding = max(rounding, ROUNDINGS.index(own))
    return {**found, "rounding": ROUNDINGS[rounding]}


def _refusal(
    kit: Entry, plan: Entry, wanted: Entry, asked: Entry, most: str, sizes: Sizes, profile: Entry
) -> str | None:
    """Return the first reason why a plan will not do, or None."""
    known = facts(kit, plan)
    for name, value in wanted.items():
        if name in known and known[name] != value:
            return f"{name} is {_said(known[name])}, not {_said(value)}"
        if name not in known and name in asked:
            return f"it has no {name}"
    if ROUNDINGS.index(known["rounding"]) > ROUNDINGS.index(most):
        return f"it rounds operands to {known['rounding']}, and {most} is the most that is wanted"
    for name, value in plan["fixed"].items():
        if sizes.get(name, value) != value:
            return f"it is for {name} = {value}"
    for name in plan["sizes"]:
        if name not in sizes:
            return f"it needs the size {name}"
    try:
        return _refusal_of_sizes(kit, plan, {name: sizes[name] for name in plan["sizes"]}, profile)
    except _TooLarge:
        return "the sizes lead past 2^53"


def _refusal_of_sizes(kit: Entry, plan: Entry, sizes: Sizes, profile: Entry) -> str | None:
    for name, value in sizes.items():
        if not 0 <= value < 2**32:
            return f"{name} is {value}, which is no u32"
    for rule in plan["rules"]:
        if not evaluate(rule["condition"], sizes):
            return str(rule["why"])
    for step in plan["passes"]:
        variant = kit["variants"][step["variant"]]
        lacking = missing(variant, profile)
        if lacking:
            return f"{variant['name']} {'; '.join(lacking)}"
        own = {name: evaluate(step["sizes"][name], sizes) for name in variant["sizes"]}
        reason = _refusal_of_launch(variant, own, profile["limits"])
        if reason is not None:
            return f"{variant['name']}: {reason}"
    return None


def _refusal_of_launch(variant: Entry, sizes: Sizes, limits: Mapping[str, int]) -> str | None:
    for rule in variant["rules"]:
        if not evaluate(rule["condition"], sizes):
            return str(rule["why"])
    found = {
        binding["name"]: evaluate(
            ["round_up", ["mul", binding["length"], wgsltypes.stride(binding["element"])], 4], sizes
        )
        for binding in variant["bindings"]
    }
    total = evaluate(variant["workgroups"], sizes)
    for binding, size in found.items():
        for limit in ("maxStorageBufferBindingSize", "maxBufferSize"):
            if size > limits[limit]:
                return f"binding {binding} has {size} bytes, above {limit} {limits[limit]}"
        if size > MOST_BYTES:
            return f"binding {binding} has {size} bytes, above {MOST_BYTES}, where u32 ends"
        if total and not size:
            return f"binding {binding} is empty"
    if total > limits["maxComputeWorkgroupsPerDimension"] ** 3:
        return f"{total} workgroups do not fit three dimensions"
    return None


def missing(variant: Entry, profile: Entry) -> list[str]:
    """Return why a device of this profile must not run `variant`: a phrase for each reason."""
    needs = variant["requirements"]
    reasons = [f"needs feature {name}" for name in needs["features"] if name not in profile["features"]]
    reasons += [
        f"needs language feature {name}"
        for name in needs["language_features"]
        if name not in profile["languageFeatures"]
    ]
    for name, value in needs["limits"].items():
        if value > profile["limits"][name]:
            reasons.append(f"needs {name} {value}, has {profile['limits'][name]}")
    wanted, has = needs["subgroups"], profile["subgroups"]
    if wanted and has and (has["min"] < wanted["min"] or has["max"] > wanted["max"]):
        reasons.append(f"needs subgroups of {wanted['min']} to {wanted['max']}, has {has['min']} to {has['max']}")
    matrix = needs["subgroup_matrix"]
    if matrix:
        parts = ("component", "result", "m", "n", "k")
        if not any(all(one[part] == matrix[part] for part in parts) for one in profile["subgroupMatrices"]):
            shape = f"{matrix['m']}x{matrix['n']}x{matrix['k']}"
            reasons.append(f"needs subgroup matrices of {matrix['component']} {shape}")
    if variant["name"] in profile.get("failed", ()):
        reasons.append("failed the self-test on this device")
    return reasons


def _cost(kit: Entry, plan: Entry, sizes: Sizes, profile: Entry) -> int:
    total = 0
    kinds = (None, profile.get("kind", "gpu"))
    rows = [row for row in kit["costs"] if row.get("device") in kinds]
    try:
        for step in plan["passes"]:
            variant = kit["variants"][step["variant"]]
            own = {name: evaluate(step["sizes"][name], sizes) for name in variant["sizes"]}
            total += _pass_cost(rows, variant, own)
    except _TooLarge:
        return ENDLESS
    return min(total, ENDLESS)


def _pass_cost(rows: Sequence[Entry], variant: Entry, sizes: Sizes) -> int:
    constants = variant["constants"]
    for row in rows:
        fits = all(constants.get(name) == value for name, value in row["constants"].items())
        if row["kernel"] == variant["kernel"] and fits:
            numbers = {name.upper(): value for name, value in constants.items() if type(value) is int}
            return evaluate(row["ns"], {**numbers, **sizes})
    return costs.ANY


def evaluate(expression: expr.Json, values: Sizes) -> int:
    """Return the value of a manifest's expression; raise _TooLarge where a page could not count so far."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return values[expression]
    operator, *operands = expression
    result = expr.FUNCTIONS[operator](*(evaluate(operand, values) for operand in operands))
    if abs(result) > MOST_WHOLE:
        raise _TooLarge
    return result


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
