"""What a rule is, and the text that rules look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from wgslgen.textrules.flow import Flow
from wgslgen.textrules.parser import parse
from wgslgen.textrules.scopes import resolve
from wgslgen.textrules.tokens import suffix, tokenize
from wgslgen.textrules.tree import Node
from wgslgen.textrules.types import Types


class Problem(NamedTuple):
    """What a rule found at offset `at` of the text."""

    at: int
    message: str


class Text:
    """A WGSL text, read once for all rules. Raises WgslSyntaxError when it cannot be read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.module = parse(self.tokens)
        resolve(self.module)
        self.nodes = list(self.module.walk())
        self.types = Types()

    @cached_property
    def enabled(self) -> frozenset[str]:
        """The extensions that the text enables."""
        return frozenset(arg.text for node in self.declared("directive", "enable") for arg in node.args)

    @cached_property
    def flow(self) -> Flow:
        """The uniformity of the text."""
        return Flow(self.module)

    @property
    def functions(self) -> list[Node]:
        """The functions of the text, entry points among them."""
        return [decl for decl in self.module.kids if decl.kind == "fn"]

    def declared(self, kind: str, name: str) -> list[Node]:
        """Return the module's declarations of this kind and name."""
        return [decl for decl in self.module.kids if decl.kind == kind and decl.text == name]

    def of_kind(self, *kinds: str) -> Iterator[Node]:
        """Yield the nodes of these kinds in the order of the text."""
        return (node for node in self.nodes if node.kind in kinds)


class Rule(NamedTuple):
    """One rule: its name in findings, the public cases behind it, why it is, and what checks it."""

    name: str
    cases: tuple[str, ...]
    why: str
    check: Callable[[Text], Iterator[Problem]]


def rule(*cases: str) -> Callable[[Callable[[Text], Iterator[Problem]]], Rule]:
    """Make the decorated function a rule: its name is the rule's, its docstring says why."""

    def enter(check: Callable[[Text], Iterator[Problem]]) -> Rule:
        why = " ".join((check.__doc__ or "").split())
        return Rule(check.__name__.replace("_", "-"), cases, why, check)

    return enter


def calls(node: Node, names: frozenset[str]) -> bool:
    """Say whether `node` calls one of WGSL's own functions `names` (a user's function may hide one)."""
    return node.kind == "call" and node.decl is None and node.text in names


def is_constant(node: Node) -> bool:
    """Say whether `node` is a const-expression: literals, `const` names and WGSL's functions of those."""
    if node.kind in ("number", "bool"):
        return True
    if node.kind == "name":
        return node.decl is not None and node.decl.kind == "const"
    if node.kind == "call" and node.decl is not None and node.decl.kind == "fn":
        return False
    return node.kind in ("call", "unary", "binary", "member", "index") and all(map(is_constant, node.kids))


def integer(node: Node) -> int | None:
    """Return the value of an integer literal; None for every other node."""
    if node.kind != "number" or suffix(node.text) in ("f", "h"):
        return None
    digits = node.text.rstrip("ui")
    try:
        return int(digits, 0)
    except ValueError:
        return None
