"""Which values and which control flow differ between the invocations of a workgroup.

Labels are sets of bits. `VARIES` says that a value may differ within the workgroup, `BUILTIN` that it is
made from a built-in value, and every parameter of a function and every function's call sites have a bit of
their own, replaced by what the callers pass once the whole text is read. So one helper may be called with
uniform and with varying values and neither call suffers.

The analysis is that of the WGSL specification (section "Uniformity analysis"), made plainer and stricter:
a variable has one label for its whole life, and subgroup sizes, subgroup ids and results of subgroup
operations vary, because older Tints treat them so (C18).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from wgslgen.textrules.tree import Node
from wgslgen.textrules.words import ATOMIC_FUNCTIONS, BARRIERS, MATRIX_FUNCTIONS, SUBGROUP_FUNCTIONS

VARIES: Final = 1
BUILTIN: Final = 2
_FIRST_FREE: Final = 4
# Control flow carries what varies; what a value is made of stays with the value.
_CONTROL: Final = ~BUILTIN

_UNIFORM_BUILTINS: Final = frozenset(("workgroup_id", "num_workgroups"))
_VARYING_FUNCTIONS: Final = ATOMIC_FUNCTIONS | SUBGROUP_FUNCTIONS | MATRIX_FUNCTIONS


class Event(NamedTuple):
    """A place that a rule asks about, with the label of its control flow or of its value.

    `kind` is barrier or subgroup (a call and its control flow) or private (an assignment to a
    `var<private>` and the label of the value).
    """

    kind: str
    node: Node
    label: int


class Escapes(NamedTuple):
    """Under which control flow a statement may leave: the function, the loop, the turn of the loop."""

    function: int = 0
    loop: int = 0
    turn: int = 0

    def __or__(self, other: tuple[int, ...]) -> Escapes:
        return Escapes(*(mine | theirs for mine, theirs in zip(self, other, strict=True)))


class Flow:
    """The labels of one text, found by walking it until they no longer change."""

    def __init__(self, module: Node) -> None:
        self._labels: dict[int, int] = {}
        self._bits: dict[int, int] = {}
        self._callers: dict[int, int] = {}
        self._loops: dict[int, int] = {}
        self._function = module
        self.events: list[Event] = []
        functions = [decl for decl in module.kids if decl.kind == "fn"]
        self._bit_count = 0
        for function in functions:
            for owner in (function, *function.kids[:-1]):
                self._bits[id(owner)] = _FIRST_FREE << self._bit_count
                self._bit_count += 1
        before: object = None
        while before != (before := (dict(self._labels), dict(self._callers), dict(self._loops))):
            self.events.clear()
            for function in functions:
                self._function = function
                self._block(function.kids[-1], self._bits[id(function)])

    def varies(self, label: int) -> bool:
        """Say whether what `label` belongs to may differ within a workgroup."""
        return bool(self.resolved(label) & VARIES)

    def resolved(self, label: int) -> int:
        """Return `label` with the bits of parameters and call sites replaced by what callers pass."""
        seen, waiting = 0, label
        while waiting & ~seen:
            seen |= waiting
            waiting = 0
            for bit, actual in self._callers.items():
                if seen & bit:
                    waiting |= actual
        return seen & (_FIRST_FREE - 1)

    # --- Statements: each returns under which control flow it may leave -----------------------------

    def _block(self, block: Node, control: int) -> Escapes:
        escapes = Escapes()
        for statement in block.kids:
            after = control | escapes.function | escapes.loop | escapes.turn
            escapes |= self._statement(statement, after)
        return escapes

    def _statement(self, node: Node, control: int) -> Escapes:
        match node.kind:
            case "block":
                return self._block(node, control)
            case "const" | "let" | "var":
                self._note(node, self._expression(node.kids[0], control) if node.kids else 0)
            case "assign":
                self._assign(node, control)
            case "if" | "switch":
                inner = control | (self._expression(node.kids[0], control) & _CONTROL)
                escapes = Escapes()
                for part in node.kids[1:]:
                    escapes |= self._statement(part.kids[0] if part.kind == "case" else part, inner)
                return escapes._replace(loop=0) if node.kind == "switch" else escapes
            case "for" | "while" | "loop":
                return self._loop(node, control)
            case "continuing":
                return self._block(node.kids[0], control)
            case "return":
                value = self._expression(node.kids[0], control) if node.kids else 0
                self._note(self._function, value | control)
                return Escapes(function=control)
            case "break":
                return Escapes(loop=control)
            case "breakif":
                return Escapes(loop=control | (self._expression(node.kids[0], control) & _CONTROL))
            case "continue":
                return Escapes(turn=control)
            case "none" | "const_assert" | "discard":
                pass
            case _:
                self._expression(node, control)
        return Escapes()

    def _loop(self, node: Node, control: int) -> Escapes:
        """A later turn runs under everything that may have ended an earlier one."""
        inner = control | self._loops.get(id(node), 0)
        *head, body = node.kids
        if node.kind == "for":
            self._statement(head[0], control)
        condition = head[-2] if node.kind == "for" else head[0] if head else None
        if condition is not None and condition.kind != "none":
            inner |= self._expression(condition, inner) & _CONTROL
        escapes = self._block(body, inner)
        if node.kind == "for":
            self._statement(head[2], inner)
        self._loops[id(node)] = self._loops.get(id(node), 0) | escapes.function | escapes.loop
        return Escapes(function=escapes.function)

    def _assign(self, node: Node, control: int) -> None:
        target = node.kids[0]
        before = self._expression(target, control)
        value = self._expression(node.kids[1], control) if len(node.kids) > 1 else 0
        root = _root(target)
        if root is not None and _space(root) == "private":
            self.events.append(Event("private", node, value))
        if root is not None and root.kind in ("var", "param", "let"):
            self._note(root, before | value | (control & _CONTROL))

    def _note(self, decl: Node, label: int) -> None:
        self._labels[id(decl)] = self._labels.get(id(decl), 0) | label

    # --- Expressions: each returns its label ---------------------------------------------------------

    def _expression(self, node: Node, control: int) -> int:
        match node.kind:
            case "name":
                return self._name(node)
            case "call":
                return self._call(node, control)
            case "member":
                return self._member(node, control)
            case "binary":
                left = self._expression(node.kids[0], control)
                if node.text in ("&&", "||"):
                    control |= left & _CONTROL
                return left | self._expression(node.kids[1], control)
            case _:
                label = 0
                for kid in node.kids:
                    label |= self._expression(kid, control)
                return label

    def _name(self, node: Node) -> int:
        decl = node.decl
        if decl is None or decl.kind in ("const", "override"):
            return 0
        if decl.kind == "param":
            own = _builtin_label(decl)
            if own is None:
                own = _struct_label(decl) | self._bits[id(decl)]
            return own | self._labels.get(id(decl), 0)
        if _space(decl) in ("workgroup", "private") or any(arg.text == "read_write" for arg in decl.args):
            return VARIES
        return self._labels.get(id(decl), 0)

    def _member(self, node: Node, control: int) -> int:
        base = node.kids[0]
        if base.kind == "name" and base.decl is not None and base.decl.kind == "param":
            own = next((_builtin_label(f) for f in _fields(base.decl) if f.text == node.text), None)
            if own is not None:
                return own
        return self._expression(base, control)

    def _call(self, node: Node, control: int) -> int:
        labels = [self._expression(argument, control) for argument in node.kids]
        joined = 0
        for label in labels:
            joined |= label
        function = node.decl
        if function is not None and function.kind == "fn":
            return self._user_call(function, node, labels, control)
        if function is None and node.text in BARRIERS:
            self.events.append(Event("barrier", node, control))
            return 0
        if function is None and node.text in SUBGROUP_FUNCTIONS | MATRIX_FUNCTIONS:
            self.events.append(Event("subgroup", node, control))
        if function is None and node.text == "arrayLength":
            return 0
        return joined | (VARIES if function is None and node.text in _VARYING_FUNCTIONS else 0)

    def _user_call(self, function: Node, node: Node, labels: list[int], control: int) -> int:
        """Give the callee's bits their values here; return the label of the result."""
        own = self._bits[id(function)]
        self._callers[own] = self._callers.get(own, 0) | (control & _CONTROL)
        params = function.kids[:-1]
        for param, label in zip(params, labels, strict=False):
            bit = self._bits[id(param)]
            self._callers[bit] = self._callers.get(bit, 0) | label
        for param, argument in zip(params, node.kids, strict=False):
            root = _root(argument.kids[0]) if argument.kind == "unary" and argument.text == "&" else None
            if root is not None and root.kind == "var":  # the callee may write through the pointer
                self._note(root, self._at_call(self._labels.get(id(param), 0), function, labels))
        return self._at_call(self._labels.get(id(function), 0), function, labels)

    def _at_call(self, label: int, function: Node, labels: list[int]) -> int:
        """Return a label of the callee as the caller sees it: its parameters' bits replaced by `labels`."""
        result = label & ~self._bits[id(function)]
        for param, actual in zip(function.kids[:-1], labels, strict=False):
            bit = self._bits[id(param)]
            if result & bit:
                result = (result & ~bit) | actual
        return result


def _space(decl: Node) -> str:
    """The address space of a `var` of the module; empty for locals and everything else."""
    return decl.args[0].text if decl.kind == "var" and decl.args else ""


def _root(node: Node) -> Node | None:
    """Return the declaration that an assignment to `node` writes to, pointers from `let` followed."""
    while node.kind in ("member", "index", "unary"):
        node = node.kids[0]
    decl = node.decl
    if decl is not None and decl.kind == "let" and decl.kids and decl.kids[0].kind == "unary":
        return _root(decl.kids[0])
    return decl


def _fields(param: Node) -> list[Node]:
    struct = param.type.decl if param.type is not None else None
    return struct.kids if struct is not None and struct.kind == "struct" else []


def _builtin_label(node: Node) -> int | None:
    """Return the label of a parameter or field that stands for a built-in value; None for others."""
    attr = node.attribute("builtin")
    if attr is None or not attr.kids:
        return None
    return BUILTIN if attr.kids[0].text in _UNIFORM_BUILTINS else BUILTIN | VARIES


def _struct_label(param: Node) -> int:
    label = 0
    for own in map(_builtin_label, _fields(param)):
        label |= own or 0
    return label
