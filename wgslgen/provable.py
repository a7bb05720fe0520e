"""A plan, and what can be shown of it for all sizes at once: that it may stand in for another.

Plan Q stands in for plan P where

- both do the same op on the same buffers of the caller, with the same constants of those that say what is computed,
  and Q rounds no more than P;
- every shape that P takes, Q takes: the rules of Q follow from those of P, no buffer of Q is larger than the largest of
  P or empty where those of P are not, and its workgroups are fewer than P has bytes, which three dimensions hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any

from wgslgen import kernels, selection, wgsltypes
from wgslgen.bounds import Bounds, Size, Unbounded, at_least, bounds, positive, total
from wgslgen.expr import FUNCTIONS, Json
from wgslgen.launch import MOST_BYTES

Entry = Mapping[str, Any]
BETWEEN = ("operand", "columns", "chunk", "num_splits", "tile_m", "tile_rows", "q8_group", "q8_stride")
"""Constants that say what passes of a plan hand to one another, what is baked in, or how operands are rounded."""
MOST_DOUBLED = 31
"""Doublings of a size of 1 that stay a u32."""


class Provable:
    """A plan and what is proven of it, worked out once."""

    def __init__(self, kit: Entry, plan: Entry) -> None:
        self.name: str = plan["name"]
        self.entry = plan
        self.variants = [kit["variants"][step["variant"]] for step in plan["passes"]]
        self.rounding = selection.ROUNDINGS.index(selection.facts(kit, plan)["rounding"])

    @cached_property
    def meaning(self) -> dict[str, Any]:
        """The constants that say what is computed; of activations the first pass's, of the others the last's."""
        found: dict[str, Any] = {}
        for variant in self.variants:
            notes = kernels.get(variant["kernel"]).constants()
            names = [name for name, note in notes.items() if note.part == "what" and name not in BETWEEN]
            own = {name: variant["constants"].get(name) for name in names if name.upper() not in variant["sizes"]}
            found |= {name: found.get(name, value) if name == "activation" else value for name, value in own.items()}
        return found

    @cached_property
    def interface(self) -> dict[str, str]:
        """The types of what the caller's buffers hold; whether a text reads several at a time is its own matter."""
        scratch = {buffer["name"] for buffer in self.entry.get("buffers", ()) if buffer["role"] == "scratch"}
        return {
            step["buffers"][binding["name"]]: wgsltypes.scalar_of(binding["element"])
            for step, variant in zip(self.entry["passes"], self.variants, strict=True)
            for binding in variant["bindings"]
            if step["buffers"][binding["name"]] not in scratch
        }

    @property
    def holds_f16(self) -> bool:
        """Whether the caller holds f16 data."""
        return "f16" in self.interface.values()

    @cached_property
    def conditions(self) -> list[Json]:
        """All rules, in the plan's sizes."""
        return [rule["condition"] for rule in self.entry["rules"]] + [
            _substituted(rule["condition"], step["sizes"])
            for step, variant in zip(self.entry["passes"], self.variants, strict=True)
            for rule in variant["rules"]
        ]

    @cached_property
    def values(self) -> dict[str, int]:
        """The sizes that have one value."""
        found: dict[str, int] = {}
        for condition in self.conditions:
            match condition:
                case ["eq", str(name), int(value)]:
                    found[name] = value
        return {**found, **self.entry["fixed"]}

    @cached_property
    def facts(self) -> list[Json]:
        """The rules where the sizes of one value stand as numbers."""
        return [_substituted(condition, self.values) for condition in self.conditions]

    @cached_property
    def bytes(self) -> list[Json]:
        """The bytes of each binding of each pass."""
        return [
            _substituted(["round_up", ["mul", binding["length"], wgsltypes.stride(binding["element"])], 4], sizes)
            for step, variant in zip(self.entry["passes"], self.variants, strict=True)
            for sizes in [step["sizes"]]
            for binding in variant["bindings"]
        ]

    @cached_property
    def workgroups(self) -> list[Json]:
        """The workgroups of each pass."""
        steps = zip(self.entry["passes"], self.variants, strict=True)
        return [_substituted(variant["workgroups"], step["sizes"]) for step, variant in steps]

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """What the free sizes can be: multiples of what rules say, and zero only where no buffer is empty then."""
        steps = {name: 1 for name in self.entry["sizes"] if name not in self.values}
        for fact in self.facts:
            match fact:
                case ["eq", ["mod", str(name), int(step)], 0]:
                    steps[name] = math.lcm(steps[name], step)
        return {name: Size(step, int(self._empties(name))) for name, step in steps.items()}

    def shapes(self) -> Iterator[dict[str, int]]:
        """Yield shapes that may be the plan's: the smallest, then one or two sizes doubled again and again."""
        least = {**self.values, **{name: size.step * size.least for name, size in self.sizes.items()}}
        yield least
        for names in combinations(self.sizes, min(2, len(self.sizes))):
            for doubled in product(range(MOST_DOUBLED), repeat=len(names)):
                yield least | {name: least[name] << times for name, times in zip(names, doubled, strict=True)}

    def takes(self, shape: Mapping[str, int], limits: Mapping[str, int]) -> bool:
        """Return whether the plan takes the shape, where buffers are limited so."""
        most = min(limits["maxStorageBufferBindingSize"], limits["maxBufferSize"], MOST_BYTES)
        return (
            {*shape} >= {*self.sizes}
            and all(shape.get(name) == value for name, value in self.values.items())
            and all(_value(fact, shape) for fact in self.facts)
            and all(value < 2**32 for value in shape.values())
            and all(0 < _value(span, shape) <= most for span in self.spans)
        )

    @cached_property
    def spans(self) -> list[Json]:
        """The bytes of each binding where the sizes of one value stand as numbers."""
        return [_substituted(each, self.values) for each in self.bytes]

    @cached_property
    def held(self) -> list[Bounds]:
        """What encloses the bytes of each binding."""
        return [bounds(each, self.sizes) for each in self.spans]

    def _empties(self, name: str) -> bool:
        """Return whether a buffer is empty where this size is zero, or a rule refuses zero."""
        try:
            empty = any(_at_zero(each, name) == 0 for each in self.bytes)
        except ZeroDivisionError:
            return False
        return empty or ["gt", name, 0] in self.facts or ["ge", name, 1] in self.facts

    def computes(self, other: Provable) -> bool:
        """Return whether this plan computes what `other` does, on the same buffers."""
        return (
            self.rounding <= other.rounding
            and self.interface == other.interface
            and all(other.meaning.get(name, value) == value for name, value in self.meaning.items())
        )

    def stands_in_for(self, other: Provable) -> bool:
        """Return whether this plan computes what `other` does, and is known to take every shape that `other` takes."""
        return (
            self.computes(other)
            and all(name in {**other.values, **other.sizes} for name in self.entry["sizes"])
            and all(other.values.get(name) == value for name, value in self.entry["fixed"].items())
            and self._takes_shapes_of(other)
        )

    def _takes_shapes_of(self, other: Provable) -> bool:
        def mine(expressions: Sequence[Json]) -> list[Json]:
            return [_substituted(each, other.values) for each in expressions]

        try:
            if not all(_follows(each, other) for each in mine(self.conditions)):
                return False
            held = [bounds(each, other.sizes) for each in mine(self.bytes)]
            launched = [bounds(each, other.sizes) for each in mine(self.workgroups)]
        except Unbounded:
            return False
        return (
            all(positive(each.low) for each in held)
            and all(
                same in other.spans or any(at_least(theirs.low, each.high) for theirs in other.held)
                for same, each in zip(mine(self.bytes), held, strict=True)
            )
            and all(at_least(total(other.held).low, each.high) for each in launched)
        )


def _follows(condition: Json, other: Provable) -> bool:
    """Return whether `condition` holds for every shape that `other` takes."""
    if isinstance(condition, int):
        return bool(condition)
    if condition in other.facts:
        return True
    if isinstance(condition, str):
        return other.sizes[condition].least > 0
    operator, left, right = condition
    if operator in ("and", "or"):
        return (all if operator == "and" else any)(_follows(each, other) for each in (left, right))
    a, b = bounds(left, other.sizes), bounds(right, other.sizes)
    match operator:
        case "eq":
            return a.exact and a == b
        case "ge" | "gt":
            return at_least(a.low, b.high, int(operator == "gt"))
        case "le" | "lt":
            return at_least(b.low, a.high, int(operator == "lt"))
    return False


def _substituted(expression: Json, values: Mapping[str, Json]) -> Json:
    """Return an expression with names replaced, and computed where no name is left."""
    if isinstance(expression, str):
        return values.get(expression, expression)
    if isinstance(expression, int):
        return expression
    operator, *operands = expression
    replaced = [_substituted(operand, values) for operand in operands]
    if all(isinstance(operand, int) for operand in replaced):
        return FUNCTIONS[operator](*replaced)
    return [operator, *replaced]


def _value(expression: Json, shape: Mapping[str, int]) -> int:
    """Return the value for a shape that has all sizes; it may be more than a page counts to."""
    found = _substituted(expression, shape)
    if not isinstance(found, int):
        raise TypeError(f"{expression} needs more than {', '.join(shape)}")
    return found


def _at_zero(expression: Json, name: str) -> int | None:
    """Return the value where `name` is zero, or None where other sizes decide."""
    if isinstance(expression, str):
        return 0 if expression == name else None
    if isinstance(expression, int):
        return expression
    operator, *operands = expression
    a, b = (_at_zero(operand, name) for operand in operands)
    if operator == "mul" and 0 in (a, b):
        return 0
    return None if a is None or b is None else FUNCTIONS[operator](a, b)
