"""Expressions: what they may hold, folding, and the JSON form that a page evaluates."""

from __future__ import annotations

import itertools

import pytest

from wgslgen import expr
from wgslgen.errors import UsageProblem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ceil_div(N, TILE_ROWS)", 38),
        ("N * K // 16", 1200),
        ("round_up(N, 64)", 192),
        ("min(N, K) - max(3, 2)", 125),
        ("K % 32 == 0", 1),
        ("K % 32 == 0 and N > 200", 0),
        ("N != 150 or K >= 128 or 0", 1),
        ("N + 1 < K", 0),
    ],
)
def test_values(text: str, value: int) -> None:
    assert expr.evaluate(text, {"N": 150, "K": 128, "TILE_ROWS": 4}) == value


def test_folding_leaves_the_unknown_names() -> None:
    folded = expr.fold(expr.parse("ceil_div(N, TILE_ROWS * 2)"), {"TILE_ROWS": 4})
    assert folded == ("ceil_div", "N", 8)
    assert expr.names(folded) == {"N"}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "N.bit_length()",
        "N if K else 1",
        "1.5 * N",
        "True",
        "[N]",
        "ceil_div(N)",
        "a < b < c",
        "N +",
        "-N",
    ],
)
def test_nothing_else_parses(text: str) -> None:
    with pytest.raises(UsageProblem, match="expected names, whole numbers"):
        expr.parse(text)


def test_a_missing_name_is_named() -> None:
    with pytest.raises(UsageProblem, match="no value for K, M"):
        expr.evaluate("N * K + M", {"N": 1})


def test_ceil_div_and_round_up_agree_with_their_definition() -> None:
    for a, b in itertools.product(range(40), range(1, 9)):
        assert expr.FUNCTIONS["ceil_div"](a, b) == sum(1 for start in range(0, a, b))
        assert expr.FUNCTIONS["round_up"](a, b) == expr.FUNCTIONS["ceil_div"](a, b) * b
