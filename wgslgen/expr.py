"""Small integer expressions: shapes, dispatch sizes and rules as data.

A kernel states `"ceil_div(N, TILE_ROWS)"` once. Python evaluates it here; the manifest carries it as a JSON
prefix list (`["ceil_div", "N", 4]`) with the constants folded in, so that a page evaluates it without a
parser and without `eval`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from wgslgen.errors import UsageProblem

Expr = int | str | tuple[object, ...]
"""A number, a name, or (operator, operand, …)."""

Json = int | str | list[Any]
"""The same as JSON holds it: a number, a name, or [operator, operand, operand]."""

FUNCTIONS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "ceil_div": lambda a, b: -(-a // b),
    "round_up": lambda a, b: -(-a // b) * b,
    "min": min,
    "max": max,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "le": lambda a, b: int(a <= b),
    "lt": lambda a, b: int(a < b),
    "ge": lambda a, b: int(a >= b),
    "gt": lambda a, b: int(a > b),
    "and": lambda a, b: int(bool(a) and bool(b)),
    "or": lambda a, b: int(bool(a) or bool(b)),
}
CALLABLE = ("ceil_div", "round_up", "min", "max")
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "div",
    ast.Mod: "mod",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.LtE: "le",
    ast.Lt: "lt",
    ast.GtE: "ge",
    ast.Gt: "gt",
    ast.And: "and",
    ast.Or: "or",
}


@lru_cache(maxsize=4096)
def parse(text: str) -> Expr:
    """Parse `text`; raise UsageProblem where it holds anything else than the small language above."""
    try:
        return _convert(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError) as problem:
        raise UsageProblem(
            f"expression {text!r}: {problem}; expected names, whole numbers, + - * // %, one comparison, "
            f"`and`, `or` and calls of {', '.join(CALLABLE)}"
        ) from None


def _convert(node: ast.AST) -> Expr:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            return (OPERATORS[type(operator)], _convert(left), _convert(right))
        case ast.BoolOp(op=joint, values=operands):
            result = _convert(operands[0])
            for operand in operands[1:]:
                result = (OPERATORS[type(joint)], result, _convert(operand))
            return result
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in OPERATORS:
            return (OPERATORS[type(operator)], _convert(left), _convert(right))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in CALLABLE:
            return (name, _convert(left), _convert(right))
    raise ValueError(f"cannot use {ast.unparse(node)!r}")


def fold(expression: Expr, known: Mapping[str, Expr]) -> Expr:
    """Replace the known names by what they stand for, and compute what no longer depends on a name."""
    if isinstance(expression, str):
        return known.get(expression, expression)
    if isinstance(expression, int):
        return expression
    operator, *operands = expression
    folded = [fold(operand, known) for operand in operands]  # type: ignore[arg-type]  # operands are Expr
    if all(isinstance(operand, int) for operand in folded):
        return FUNCTIONS[str(operator)](*folded)
    return (operator, *folded)


def to_json(expression: Expr) -> Json:
    """Return an expression as JSON holds it: lists for tuples."""
    if not isinstance(expression, tuple):
        return expression
    return [to_json(part) for part in expression]  # type: ignore[arg-type]  # operands are Expr


def names(expression: Expr) -> set[str]:
    """Return the names that `expression` still depends on."""
    if isinstance(expression, str):
        return {expression}
    if isinstance(expression, int):
        return set()
    return set().union(*(names(operand) for operand in expression[1:]))  # type: ignore[arg-type]


def evaluate(text: str, values: Mapping[str, int]) -> int:
    """Evaluate the expression `text`; raise UsageProblem that lists the names without a value."""
    result = fold(parse(text), values)
    if isinstance(result, int):
        return result
    missing = ", ".join(sorted(names(result)))
    raise UsageProblem(f"expression {text!r}: no value for {missing}; expected one for each name")
