"""Expressions as a person writes them: the way back from `expr.parse`, without brackets and factors of 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from wgslgen.expr import CALLABLE, Expr

SIGNS = {
    "or": (1, "or"),
    "and": (2, "and"),
    "eq": (3, "=="),
    "ne": (3, "!="),
    "le": (3, "<="),
    "lt": (3, "<"),
    "ge": (3, ">="),
    "gt": (3, ">"),
    "add": (4, "+"),
    "sub": (4, "-"),
    "mul": (5, "*"),
    "div": (5, "//"),
    "mod": (5, "%"),
}
"""How strongly each operator binds, and its sign."""
WHOLE = 6
"""How strongly a name, a number or a call binds."""
ASSOCIATIVE = ("add", "mul", "and", "or")


def spell(expression: Expr) -> str:
    """Return an expression that `expr.parse` reads as one of the same value, and that a person reads more easily."""
    return _spell(expression)[1]


def _spell(expression: Expr) -> tuple[int, str]:
    """Return how strongly the expression binds, and its text."""
    if not isinstance(expression, tuple):
        return WHOLE, str(expression)
    operator = str(expression[0])
    operands = _factors(expression) if operator == "mul" else [_operand(part) for part in expression[1:]]
    if operator in CALLABLE:
        spelled = [spell(operand) for operand in operands]
        if operator in ("min", "max") and len(set(spelled)) == 1:
            return _spell(operands[0])
        return WHOLE, f"{operator}({', '.join(spelled)})"
    if len(operands) == 1:
        return _spell(operands[0])
    binds, sign = SIGNS[operator]
    first, *others = (_spell(operand) for operand in operands)
    words = [
        _bracketed(first, binds),
        *(_bracketed(other, _least(operator, part)) for other, part in zip(others, operands[1:], strict=True)),
    ]
    return binds, f" {sign} ".join(words)


def _least(operator: str, operand: Expr) -> int:
    """Return how strongly an operand behind the first must bind to need no brackets."""
    binds, _ = SIGNS[operator]
    same = isinstance(operand, tuple) and operand[0] == operator
    return binds if same and operator in ASSOCIATIVE else binds + 1


def _bracketed(spelled: tuple[int, str], least: int) -> str:
    binds, text = spelled
    return text if binds >= least else f"({text})"


def _factors(expression: Expr) -> list[Expr]:
    """Return the factors of a product, its numbers as one behind them all and left out where that is 1."""
    flat = [*_flat(expression)]
    number = prod(factor for factor in flat if isinstance(factor, int))
    named = [factor for factor in flat if not isinstance(factor, int)]
    return [*named, *([number] if number != 1 or not named else [])]


def _flat(expression: Expr) -> Iterator[Expr]:
    if isinstance(expression, tuple) and expression[0] == "mul":
        for part in expression[1:]:
            yield from _flat(_operand(part))
    else:
        yield expression


def _operand(part: object) -> Expr:
    """Return the operand as what it is; tuples hold objects by their type alone."""
    if not isinstance(part, int | str | tuple):
        raise TypeError(f"{part!r} is not an expression")
    return part
