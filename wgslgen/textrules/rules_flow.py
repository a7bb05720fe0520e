"""Rules on control flow and lanes: what all invocations of a workgroup must do together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wgslgen.textrules.flow import BUILTIN
from wgslgen.textrules.lanes import number, type_of
from wgslgen.textrules.text import Problem, Text, integer, rule
from wgslgen.textrules.tree import Node
from wgslgen.textrules.words import BARRIERS

_LOOPS: Final = frozenset(("for", "while", "loop"))
_LOCAL_IDS: Final = frozenset(("local_invocation_id", "local_invocation_index"))
# Divisors, masks and shifts that stand for a lane count of 32 or 64 once they meet a local id.
_LANE_NUMBERS: Final = {"/": (32, 64), "%": (32, 64), "&": (31, 63), ">>": (5, 6)}


@rule("C17")
def uniform_barriers(text: Text) -> Iterator[Problem]:
    """Where some invocations miss a barrier the others hang or read stale data, and naga does not look."""
    for event in text.flow.events:
        if event.kind == "barrier" and text.flow.varies(event.label):
            yield Problem(
                event.node.at,
                f"`{event.node.text}` is reached under a condition that differs between invocations of a "
                "workgroup: move it out",
            )


@rule("C18")
def uniform_subgroups(text: Text) -> Iterator[Problem]:
    """Stricter browsers refuse subgroup operations under what depends on lane, subgroup or its size."""
    if _is_off(text, "subgroup_uniformity"):
        return
    for event in text.flow.events:
        if event.kind == "subgroup" and text.flow.varies(event.label):
            yield Problem(
                event.node.at,
                f"`{event.node.text}` is reached under a condition that depends on lane or subgroup: move it "
                "out, or add `diagnostic(off, subgroup_uniformity);`",
            )


def _is_off(text: Text, name: str) -> bool:
    return any([arg.text for arg in decl.args] == ["off", name] for decl in text.declared("directive", "diagnostic"))


@rule("C19")
def no_early_return(text: Text) -> Iterator[Problem]:
    """Invocations that returned never reach the barrier, and some devices are lost waiting for them."""
    within = {
        id(function): [node for node in function.walk() if node.kind in ("call", "return", *_LOOPS)]
        for function in text.functions
    }
    waiting: set[int] = set()
    before: set[int] | None = None
    while waiting != before:
        before = waiting
        waiting = {key for key, nodes in within.items() if any(_waits(node, waiting) for node in nodes)}
    for function in text.functions:
        if id(function) not in waiting:
            continue
        last = max(_waited_until(within[id(function)], waiting))
        for node in within[id(function)]:
            if node.kind == "return" and node.at < last:
                yield Problem(node.at, f"`return` before the last barrier of `{function.text}`: use a condition")


def _waits(node: Node, waiting: set[int]) -> bool:
    """Say whether a node is a barrier or a call of a function (by its id) that contains one."""
    if node.kind != "call":
        return False
    return node.text in BARRIERS if node.decl is None else id(node.decl) in waiting


def _waited_until(nodes: list[Node], waiting: set[int]) -> Iterator[int]:
    """Yield the offsets up to which invocations are waited for: a barrier's, or its whole loop's end."""
    for node in nodes:
        if _waits(node, waiting):
            yield node.at
        elif node.kind in _LOOPS and any(_waits(part, waiting) for part in node.walk()):
            yield node.kids[-1].end


@rule("C18")
def no_private_builtins(text: Text) -> Iterator[Problem]:
    """A built-in value kept in a `var<private>` counts as different in every invocation."""
    for event in text.flow.events:
        if event.kind == "private" and text.flow.resolved(event.label) & BUILTIN:
            yield Problem(event.node.at, "a built-in value goes into a var<private>: pass it as a parameter")


@rule("C11", "C13")
def no_fixed_lanes(text: Text) -> Iterator[Problem]:
    """Subgroups have 4 to 128 lanes, and nothing says which local id is which lane."""
    if "subgroups" not in text.enabled:
        return
    holders = _holders_of_local_ids(text)
    for node in text.of_kind("binary"):
        if integer(node.kids[1]) in _LANE_NUMBERS.get(node.text, ()) and _is_local_id(node.kids[0], holders):
            yield Problem(
                node.at,
                f"`{node.text} {node.kids[1].text}` takes a lane out of a local id: use "
                "subgroup_invocation_id, subgroup_id and subgroup_size",
            )


def _holders_of_local_ids(text: Text) -> set[int]:
    """Return the fields of structs and the parameters (by their ids) that are given a local id anywhere."""
    holders: set[int] = set()
    before = -1
    while before != (before := len(holders)):
        for node in text.of_kind("call"):
            if node.decl is not None and node.decl.kind in ("fn", "struct"):
                taken = node.decl.kids[:-1] if node.decl.kind == "fn" else node.decl.kids
                given = zip(taken, node.kids, strict=False)
                holders.update(id(own) for own, value in given if _is_local_id(value, holders))
    return holders


def _is_local_id(node: Node, holders: set[int]) -> bool:
    """Say whether an expression is a local invocation's id, read directly, through a `let` or from a holder."""
    if node.kind == "member":
        struct = type_of(node.kids[0])
        fields = struct.decl.kids if struct is not None and struct.decl is not None else []
        own = any(_is_local(field) or id(field) in holders for field in fields if field.text == node.text)
        return own or _is_local_id(node.kids[0], holders)
    decl = node.decl
    if node.kind != "name" or decl is None:
        return False
    held = _is_local(decl) or id(decl) in holders
    return held or (decl.kind == "let" and bool(decl.kids) and _is_local_id(decl.kids[0], holders))


def _is_local(decl: Node) -> bool:
    attr = decl.attribute("builtin")
    return attr is not None and any(kid.text in _LOCAL_IDS for kid in attr.kids)


@rule("C13")
def flat_subgroups(text: Text) -> Iterator[Problem]:
    """Only in workgroups of one dimension do lanes follow local ids in practice."""
    if "subgroups" not in text.enabled:
        return
    for function in text.functions:
        size = function.attribute("workgroup_size")
        if size is not None and any(number(axis) != 1 for axis in size.kids[1:]):
            yield Problem(size.at, "a text with subgroups has a workgroup of more than one dimension")


RULES: Final = (
    uniform_barriers,
    uniform_subgroups,
    no_early_return,
    no_private_builtins,
    no_fixed_lanes,
    flat_subgroups,
)
