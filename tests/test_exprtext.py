from __future__ import annotations

from pathlib import Path

import pytest

from wgslgen import bundlefile, expr, plans
from wgslgen.expr import Expr
from wgslgen.exprtext import spell

BUNDLES = sorted((Path(__file__).parent.parent / "generated").glob("*.toml"))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("N", "N"),
        ("7", "7"),
        ("((1 * K) // 4) * 16", "K // 4 * 16"),
        ("K // (4 * N)", "K // (N * 4)"),
        ("N * (K // 4)", "N * (K // 4)"),
        ("2 * N * 3 * K", "N * K * 6"),
        ("1 * 1", "1"),
        ("0 * N", "N * 0"),
        ("A - (B - C)", "A - (B - C)"),
        ("A - B - C", "A - B - C"),
        ("A + (B + C)", "A + B + C"),
        ("(A + B) * C", "(A + B) * C"),
        ("max(N * 2, 2 * N)", "N * 2"),
        ("max(N, 2 * N)", "max(N, N * 2)"),
        ("ceil_div(N, (M + 1))", "ceil_div(N, M + 1)"),
        ("A == 0 or (B < C and D % 2 != 1)", "A == 0 or B < C and D % 2 != 1"),
        ("(A or B) and C", "(A or B) and C"),
    ],
)
def test_brackets_and_factors_that_say_nothing_fall_away(text: str, spelled: str) -> None:
    assert spell(expr.parse(text)) == spelled
    values = {"A": 5, "B": 3, "C": 2, "D": 7, "K": 96, "M": 4, "N": 10}
    assert expr.evaluate(spelled, values) == expr.evaluate(text, values)


def test_what_no_expression_is_is_refused() -> None:
    with pytest.raises(TypeError, match=r"1\.5 is not an expression"):
        spell(("add", 1.5, 2))


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_every_expression_of_the_bundles_keeps_its_value(path: Path) -> None:
    file = bundlefile.load(path)
    variants = bundlefile.expand(file).variants
    found: set[Expr] = {buffer.bytes for plan in plans.derive(variants, file.facts) for buffer in plan.buffers}
    for variant in variants:
        texts = [
            variant.workgroups(),
            *(b.length for b in variant.bindings()),
            *(r.expression for r in variant.rules()),
        ]
        found |= {expr.parse(text) for text in texts}
    for expression in found:
        # Numbers that divide little, so that a bracket in the wrong place shows.
        values: dict[str, Expr] = {name: 641 + 97 * i for i, name in enumerate(sorted(expr.names(expression)))}
        assert expr.fold(expr.parse(spell(expression)), values) == expr.fold(expression, values), expression
