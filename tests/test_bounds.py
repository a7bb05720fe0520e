"""Bounds of expressions: sound for every operator, sharp where they must be, and refused where there are none."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from wgslgen.bounds import Bounds, Polynomial, Size, Unbounded, at_least, bounds, positive, total
from wgslgen.selection import evaluate

SIZES = {"M": Size(1, 1), "K": Size(32, 1), "LAYER": Size(1, 0)}
STEPS = range(4)
"""The values of each t that expressions are tried at."""


def value(polynomial: Polynomial, t: dict[str, int]) -> Fraction:
    """Return a polynomial's value."""
    found = Fraction(0)
    for names, coefficient in polynomial.items():
        term = coefficient
        for name in names:
            term *= t[name]
        found += term
    return found


def expression(random: Random, depth: int) -> Any:
    """Return a random expression that `bounds` may enclose."""
    if depth == 0 or random.random() < 0.2:
        return random.choice([*SIZES, random.randrange(0, 70)])
    operator = random.choice(["add", "sub", "mul", "min", "max", "div", "ceil_div", "round_up", "mod"])
    divides = operator in ("div", "ceil_div", "round_up", "mod")
    right = random.choice([1, 2, 3, 4, 8, 32, 64]) if divides else expression(random, depth - 1)
    return [operator, expression(random, depth - 1), right]


def test_every_value_lies_between_the_bounds() -> None:
    """Of a thousand expressions of each depth those that have bounds have right ones, and most have some."""
    random = Random(1)
    enclosed = 0
    for depth in (1, 2, 3):
        for _ in range(1000):
            one = expression(random, depth)
            try:
                found = bounds(one, SIZES)
            except Unbounded:
                continue
            enclosed += 1
            for steps in product(STEPS, repeat=len(SIZES)):
                t = dict(zip(SIZES, steps, strict=True))
                sizes = {name: size.step * (size.least + t[name]) for name, size in SIZES.items()}
                got = evaluate(one, sizes)
                assert value(found.low, t) <= got <= value(found.high, t), (one, sizes)
                assert not positive(found.low) or got >= 1, (one, sizes)
    assert enclosed > 2000


@pytest.mark.parametrize(
    "one",
    [
        ["div", ["mul", "M", "K"], 32],
        ["ceil_div", "K", 16],
        ["round_up", ["mul", "M", 4], 4],
        ["mod", "K", 8],
        ["max", "K", "M"],
    ],
    ids=str,
)
def test_what_comes_out_even_is_exact(one: list[Any]) -> None:
    """Multiples of 32 divided by less leave nothing, so the bounds meet; but of K and M neither is the larger."""
    assert bounds(one, SIZES).exact == (one[0] != "max")


def test_the_larger_of_two_is_known_where_one_always_is() -> None:
    """K is at least 32 times (1 + t), and its half is never above it."""
    assert bounds(["max", "K", ["div", "K", 2]], SIZES) == bounds("K", SIZES)
    assert bounds(["min", "K", ["div", "K", 2]], SIZES) == bounds(["div", "K", 2], SIZES)


@pytest.mark.parametrize("one", [["div", 1, "M"], ["eq", "M", 1], ["mul", ["sub", "M", "K"], "M"]], ids=str)
def test_what_has_no_bounds_is_said_to_have_none(one: list[Any]) -> None:
    """A quotient by a size, a comparison, and a product with what may be negative."""
    with pytest.raises(Unbounded):
        bounds(one, SIZES)


def test_comparisons_hold_for_all_sizes_or_are_not_known() -> None:
    """K is above 31 and M is not; nothing is known of a difference that may be either."""
    k, m = bounds("K", SIZES), bounds("M", SIZES)
    assert at_least(k.low, {(): Fraction(31)}, 1)
    assert not at_least(k.low, {(): Fraction(32)}, 1)
    assert not at_least(m.low, k.high)
    assert positive(m.low)
    assert not positive(bounds("LAYER", SIZES).low)
    assert not positive(bounds(["sub", "M", "LAYER"], SIZES).low)
    assert total([m, k]) == bounds(["add", "M", "K"], SIZES)
    assert total([]) == Bounds({}, {})
