"""Rules on values: literals, constructors, constants and types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wgslgen.textrules.text import Problem, Text, calls, integer, is_constant, rule
from wgslgen.textrules.tokens import suffix
from wgslgen.textrules.tree import Node
from wgslgen.textrules.types import Type, written
from wgslgen.textrules.words import MATRICES, SCALARS, SHORT_VECTORS, VECTORS

_COMPARING: Final = frozenset(("==", "!=", "<", ">", "<=", ">="))
_EXPONENT_32: Final = 0x7F800000
_INFINITIES_32: Final = frozenset((0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000))
_INFINITIES_16: Final = frozenset((0x7C00, 0xFC00, 0x7E00, 0xFE00))


@rule("C07")
def finite_bits(text: Text) -> Iterator[Problem]:
    """Implementations may assume that inf and NaN never occur, so their bits may be tested, not made."""
    for parent in text.nodes:
        testing = parent.kind == "binary" and (parent.text in _COMPARING or parent.text == "&")
        making = calls(parent, frozenset(("bitcast",)))
        for kid in parent.kids:
            value = integer(kid)
            if value is None or testing:
                continue
            low, high = value & 0xFFFF, value >> 16
            is_half = "x" in kid.text.lower() and (low in _INFINITIES_16 and high in (0, *_INFINITIES_16))
            is_made = making and value <= 0xFFFFFFFF and value & _EXPONENT_32 == _EXPONENT_32
            if value in _INFINITIES_32 or is_half or is_made:
                yield Problem(kid.at, f"`{kid.text}` is the bit pattern of inf or NaN: use a finite sentinel")


@rule("C08")
def no_self_compare(text: Text) -> Iterator[Problem]:
    """Fast arithmetic deletes `x != x`, so a NaN test is made on the bits."""
    for node in text.of_kind("binary"):
        if node.text in _COMPARING and _same(*node.kids):
            yield Problem(
                node.at,
                f"`{node.text}` compares a value with itself: test NaN by "
                "`(bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u`",
            )


def _same(left: Node, right: Node) -> bool:
    """Say whether two expressions are written alike."""
    return (
        (left.kind, left.text, len(left.kids), len(left.args))
        == (right.kind, right.text, len(right.kids), len(right.args))
        and all(map(_same, left.kids, right.kids))
        and all(map(_same, left.args, right.args))
    )


@rule("C51")
def typed_literals(text: Text) -> Iterator[Problem]:
    """Front ends differ on numbers without a type, so each has a suffix or a constructor to itself."""
    allowed: set[int] = set()
    for node in text.nodes:
        for attr in node.attrs:
            allowed.update(id(part) for part in attr.walk())
        allowed.update(id(arg) for arg in node.args if node.kind in ("name", "call"))
        if node.kind == "call" and _constructs_typed(node):
            allowed.update(id(_unsigned(kid)) for kid in node.kids)
    for node in text.of_kind("number"):
        if id(node) not in allowed and not suffix(node.text):
            typed = f"{node.text}f" if "." in node.text or "e" in node.text.lower() else f"{node.text}u"
            yield Problem(node.at, f"`{node.text}` has no type: write it with a suffix, as `{typed}`")


def _unsigned(node: Node) -> Node:
    return node.kids[0] if node.kind == "unary" and node.text == "-" else node


def _constructs_typed(node: Node) -> bool:
    """Say whether a call is a constructor whose text gives every argument its type."""
    if node.decl is not None:
        return node.decl.kind in ("struct", "alias")
    if node.text in VECTORS or node.text == "array":
        return bool(node.args)
    full_matrix = node.text in MATRICES and (bool(node.args) or node.text[-1] in "fh")
    return node.text in SCALARS or node.text in SHORT_VECTORS or full_matrix


@rule("C51")
def matching_constructors(text: Text) -> Iterator[Problem]:
    """Some front ends convert scalars inside a vector constructor and others refuse the text."""
    for node in text.of_kind("const", "let", "var"):
        text.types.of(node)  # in the order of the text, so that no chain of names is followed twice
    for node in text.of_kind("call"):
        made = written(node) if node.decl is None or node.decl.kind == "alias" else None
        if made is None or made.base != "vec":
            continue
        for kid in node.kids:
            given = text.types.of(kid)
            whole = given is not None and given.base == "vec" and len(node.kids) == 1
            if given is None or given.component is None or whole or given.component == made.component:
                continue
            yield Problem(
                kid.at,
                f"`{node.text}` of {made.component} gets a {given.component}: convert it with "
                f"`{made.component}(…)` first",
            )


@rule("C43")
def typed_arrays(text: Text) -> Iterator[Problem]:
    """An array without a written type stays abstract, and indexing it at run time fails in naga."""
    for node in text.of_kind("call"):
        if node.text == "array" and node.decl is None and not node.args:
            yield Problem(node.at, "`array(…)` has no type: write `array<f32, 4>(…)`")


@rule("C46")
def portable_pointers(text: Text) -> Iterator[Problem]:
    """Pointers into storage, uniform or workgroup memory as parameters are refused by one browser."""
    for function in text.functions:
        for param in function.kids[:-1]:
            named = param.type
            while named is not None and named.decl is not None and named.decl.kind == "alias":
                named = named.decl.type
            if named is None or named.text != "ptr" or not named.args:
                continue
            space = named.args[0].text
            if space in ("storage", "workgroup", "uniform"):
                yield Problem(
                    param.at,
                    f"parameter `{param.text}` is a ptr<{space}>: pass an index, and name the variable",
                )


@rule("C46")
def no_f16_bitcast(text: Text) -> Iterator[Problem]:
    """`bitcast` between integers and f16 does not exist in naga; the pack functions do the same."""
    for node in text.of_kind("call"):
        if not calls(node, frozenset(("bitcast",))) or not node.args or not node.kids:
            continue
        sides: list[Type | None] = [written(node.args[0]), text.types.of(node.kids[0])]
        if any(side is not None and side.component == "f16" for side in sides):
            yield Problem(node.at, "`bitcast` of f16: use `unpack2x16float` or `pack2x16float`")


@rule("C53")
def integer_atomics(text: Text) -> Iterator[Problem]:
    """Atomic sums of floats depend on the order of the invocations, and browsers have none."""
    for node in text.of_kind("name"):
        if node.text == "atomic" and node.args and node.args[0].text not in ("u32", "i32"):
            yield Problem(node.at, f"`atomic<{node.args[0].text}>`: only u32 and i32 are atomic")


@rule("C14")
def constant_lane(text: Text) -> Iterator[Problem]:
    """The lane of a broadcast must be known to the compiler; one front end takes others all the same."""
    for node in text.of_kind("call"):
        broadcast = calls(node, frozenset(("subgroupBroadcast", "quadBroadcast")))
        if broadcast and len(node.kids) > 1 and not is_constant(node.kids[1]):
            yield Problem(node.at, f"the lane of `{node.text}` is not constant: use subgroupShuffle")


RULES: Final = (
    finite_bits,
    no_self_compare,
    typed_literals,
    matching_constructors,
    typed_arrays,
    portable_pointers,
    no_f16_bitcast,
    integer_atomics,
    constant_lane,
)
