"""What products of experts share: sizes, ids' pairs, rows of activations and of results, whatever the kernel.

A pair is a use of an expert by a token: pair t * USED + s is use s of token t. EXPERTS matrices lie one behind the
other, and Y has a row for each pair.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from wgslgen.spec import Binding, Constant, Rule, UniformField

SIZES: Final = ("T", "USED", "EXPERTS", "N", "K")
"""Tokens, experts of a token, experts, rows of Y, columns."""

XOf = Annotated[Literal["token", "pair"], Constant("what x has a row for", "what", "of_{}", unsaid="token")]
"""The second projection of an expert reads what the first one made: a row for each pair."""

SOME_EXPERT: Final = Rule(expression="EXPERTS >= 1", why="there is an expert to go to")

IDS: Final = Binding(
    name="ids",
    access="read",
    element="u32",
    length="T * USED",
    doc="expert of each pair [T][USED]; from EXPERTS on: none",
    below="EXPERTS",
)

UNIFORMS: Final = (
    UniformField(name="tokens", type="u32", value="T", doc="tokens"),
    UniformField(name="used", type="u32", value="USED", doc="experts of a token"),
    UniformField(name="experts", type="u32", value="EXPERTS", doc="experts"),
)


def x_rows(x_of: str) -> str:
    """Return the rows of x, as an expression in the sizes."""
    return "T" if x_of == "token" else "T * USED"


def matrix_rows(matrices: int) -> str:
    """Return the rows of all experts' matrices, as an expression in the sizes."""
    return "EXPERTS * N" if matrices == 1 else f"EXPERTS * {matrices} * N"


def result(output: str) -> Binding:
    """Return Y, whose elements are `output`."""
    return Binding(name="y", access="read_write", element=output, length="T * USED * N", doc="result [T][USED][N]")
