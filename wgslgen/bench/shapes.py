"""Shapes on the command line, M=1:8,N=4096,K=4096, and those of an op where none is given."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from wgslgen.errors import UsageProblem
from wgslgen.wording import nearest

Shape = dict[str, int]

USUAL: dict[str, tuple[Shape, ...]] = {
    "linear": ({"M": 1, "N": 4096, "K": 4096},),
    "linear_argmax": ({"N": 151936, "K": 4096},),
    "attention": ({"CAPACITY": 4096},),
    "attention_prefill": ({"M": 512, "CAPACITY": 512},),
    "embedding": ({"N": 151936, "K": 4096, "R": 512},),
    "norm": ({"M": 1, "D": 4096}, {"M": 512, "D": 4096}),
}
"""By op; others must be given."""


def shapes(op: str, given: Sequence[str]) -> list[Shape]:
    """Return the shapes that `given` names, or the usual ones of `op`; a number may be several with colons between."""
    if not given:
        if op not in USUAL:
            raise UsageProblem(
                f"op {op} has no usual shape; there is one for {', '.join(USUAL)}",
                hint=f"--op {nearest(op, USUAL) or 'linear'}, or say --shape SIZE=NUMBER,SIZE=NUMBER",
            )
        return [*USUAL[op]]
    return [shape for text in given for shape in _expanded(text)]


def _expanded(text: str) -> list[Shape]:
    axes: dict[str, list[int]] = {}
    for part in text.split(","):
        name, equals, numbers = (word.strip() for word in part.partition("="))
        values = numbers.split(":")
        if not name.isidentifier() or not equals or not all(value.isascii() and value.isdecimal() for value in values):
            raise UsageProblem(
                f"--shape {text}: {part!r} is not SIZE=NUMBER, nor SIZE=NUMBER:NUMBER…",
                hint="--shape M=1:8,N=4096,K=4096",
            )
        if name in axes:
            raise UsageProblem(f"--shape {text}: {name} is given twice", hint=f"--shape {name}={':'.join(values)}")
        axes[name] = [int(value) for value in values]
    return [dict(zip(axes, numbers, strict=True)) for numbers in product(*axes.values())]
