"""What an expression can be at most and at least, over all sizes at once: polynomials that enclose it.

Sizes are written as `step * (least + t)` with a whole t of at least 0. A polynomial in such t whose coefficients are
all positive or zero is nowhere negative, whatever the sizes; that is the one way in which things are proven here. It
is sound and not complete: what is true may go unproven, but what is proven is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from wgslgen.expr import Json

Polynomial = dict[tuple[str, ...], Fraction]
"""Coefficients by the sorted names of their product; no zero is kept."""


class Unbounded(Exception):
    """An expression that nothing here encloses, such as a quotient by a size."""


class Size(NamedTuple):
    """The values of a size: the multiples of `step` from `least` times it."""

    step: int = 1
    least: int = 0


class Bounds(NamedTuple):
    """Polynomials that an expression is never below, and never above."""

    low: Polynomial
    high: Polynomial

    @property
    def exact(self) -> bool:
        """Whether the expression is the polynomial."""
        return self.low == self.high

    def divisible(self, by: int) -> bool:
        """Whether `by` is known to divide every value."""
        return self.exact and all((coefficient / by).denominator == 1 for coefficient in self.low.values())


def bounds(expression: Json, sizes: Mapping[str, Size]) -> Bounds:
    """Return what encloses `expression`, an expression of a manifest; raise Unbounded where nothing does."""
    if isinstance(expression, int):
        return _both(_constant(expression))
    if isinstance(expression, str):
        step, least = sizes[expression]
        return _both(_sum({(expression,): Fraction(step)}, _constant(step * least)))
    operator, *operands = expression
    a, b = (bounds(operand, sizes) for operand in operands)
    match operator:
        case "add":
            return Bounds(_sum(a.low, b.low), _sum(a.high, b.high))
        case "sub":
            return Bounds(_difference(a.low, b.high), _difference(a.high, b.low))
        case "mul" if never_negative(a.low) and never_negative(b.low):
            return Bounds(_product(a.low, b.low), _product(a.high, b.high))
        case "min" | "max":
            return _extreme(operator, a, b)
        case "div" | "ceil_div" | "round_up" | "mod" if isinstance(operands[1], int) and operands[1] > 0:
            return _divided(operator, a, operands[1])
    raise Unbounded


def never_negative(polynomial: Polynomial) -> bool:
    """Return whether no coefficient is negative, and so no value is."""
    return all(coefficient >= 0 for coefficient in polynomial.values())


def positive(low: Polynomial) -> bool:
    """Return whether a whole number that is nowhere below `low` is known to be at least 1."""
    return never_negative(low) and low.get((), 0) > 0


def at_least(a: Polynomial, b: Polynomial, more: int = 0) -> bool:
    """Return whether `a` is known to be nowhere below `b + more`."""
    return never_negative(_difference(a, _sum(b, _constant(more))))


def total(found: list[Bounds]) -> Bounds:
    """Return what encloses the sum."""
    low, high = _constant(0), _constant(0)
    for each in found:
        low, high = _sum(low, each.low), _sum(high, each.high)
    return Bounds(low, high)


def _divided(operator: str, a: Bounds, by: int) -> Bounds:
    if operator == "mod":
        return Bounds(_constant(0), _constant(0 if a.divisible(by) else by - 1))
    share, rest = _constant(Fraction(1, by)), _constant(Fraction(by - 1, by))
    low, high = _product(a.low, share), _product(a.high, share)
    if not a.divisible(by) and operator == "div":
        low = _difference(low, rest)
        if never_negative(a.low) and not never_negative(low):
            low = _constant(0)
    elif not a.divisible(by):
        high = _sum(high, rest)
    scale = _constant(by if operator == "round_up" else 1)
    return Bounds(_product(low, scale), _product(high, scale))


def _extreme(operator: str, a: Bounds, b: Bounds) -> Bounds:
    """Return what encloses the smaller or the larger; where neither is known to be it, both are none below zero."""
    if at_least(a.low, b.high):
        return b if operator == "min" else a
    if at_least(b.low, a.high):
        return a if operator == "min" else b
    if not (never_negative(a.low) and never_negative(b.low)):
        raise Unbounded
    if operator == "min":
        return Bounds(_constant(0), a.high)
    return Bounds(a.low, _sum(a.high, b.high))


def _both(polynomial: Polynomial) -> Bounds:
    return Bounds(polynomial, polynomial)


def _constant(value: Fraction | int) -> Polynomial:
    return {(): Fraction(value)} if value else {}


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    added = {names: a.get(names, Fraction(0)) + b.get(names, Fraction(0)) for names in {**a, **b}}
    return {names: value for names, value in added.items() if value}


def _difference(a: Polynomial, b: Polynomial) -> Polynomial:
    return _sum(a, {names: -value for names, value in b.items()})


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for (names, value), (others, factor) in product(a.items(), b.items()):
        found = _sum(found, {tuple(sorted((*names, *others))): value * factor})
    return found
