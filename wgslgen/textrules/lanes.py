"""How far an index reaches that is made from lanes or subgroups, and which arrays are too short for it.

What is known of an expression is the largest value that lanes and subgroups alone can give it: terms that the text
does not show count as 0, products with them as unknown. So a finding is certain, up to the guards: under a condition
`index < E` (or `<=`, `==`) the index reaches as far as E allows, and where E is unknown nothing is found.

A text is right for subgroups of 4 to 128 lanes, unless it states less by the constants SUBGROUP_MIN and
SUBGROUP_MAX. Values are followed through `let`, `var`, structs and the parameters of functions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from wgslgen.textrules.text import integer
from wgslgen.textrules.tree import Node

LEAST: Final = 4
MOST: Final = 128
_CONVERSIONS: Final = frozenset(("u32", "i32"))


class Reach(NamedTuple):
    """The largest value of an expression, and whether lanes or subgroups are in it."""

    most: int
    lanes: bool = False


class Short(NamedTuple):
    """An array's index that may reach to `most`, although the array has `length` elements."""

    node: Node
    length: int
    most: int


Bounds = dict[object, Reach | None]
"""What conditions say of names and members: how far they reach at most; None where the text does not show it."""


def number(node: Node) -> int | None:
    """Return the value of a const-expression of whole numbers; None for everything else."""
    if node.kind == "name" and node.decl is not None and node.decl.kind == "const" and node.decl.kids:
        return number(node.decl.kids[0])
    if node.kind == "call" and node.text in _CONVERSIONS and len(node.kids) == 1:
        return number(node.kids[0])
    if node.kind != "binary":
        return integer(node)
    left, right = map(number, node.kids)
    if left is None or right is None:
        return None
    match node.text:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left // right
        case "%" if right:
            return left % right
    return None


class Lanes:
    """The arrays of one text that lanes or subgroups may run past: `short`."""

    def __init__(self, module: Node) -> None:
        stated = {decl.text: number(decl.kids[0]) for decl in module.kids if decl.kind == "const" and decl.kids}
        least, most = stated.get("SUBGROUP_MIN") or LEAST, stated.get("SUBGROUP_MAX") or MOST
        functions = [decl for decl in module.kids if decl.kind == "fn"]
        subgroups = -(-max([_threads(function) for function in functions], default=1) // least)
        self._builtins = {
            "subgroup_invocation_id": Reach(most - 1, True),
            "subgroup_size": Reach(most, True),
            "subgroup_id": Reach(subgroups - 1, True),
            "num_subgroups": Reach(subgroups, True),
        }
        self._known: dict[object, Reach] = {}
        self.short: list[Short] = []
        before: object = None
        while before != (before := dict(self._known)):
            self.short.clear()
            for function in functions:
                self._statement(function.kids[-1], {})

    # --- Statements ---------------------------------------------------------------------------------

    def _statement(self, node: Node, bounds: Bounds) -> None:
        match node.kind:
            case "block":
                for statement in node.kids:
                    self._statement(statement, bounds)
            case "if":
                self._expression(node.kids[0], bounds)
                self._statement(node.kids[1], bounds | self._guards(node.kids[0], bounds))
                for other in node.kids[2:]:
                    self._statement(other, bounds)
            case "for":
                start, condition, step, body = node.kids
                self._statement(start, bounds)
                self._expression(condition, bounds)
                inner = bounds | self._guards(condition, bounds, start)
                self._statement(step, inner)
                self._statement(body, inner)
            case "while":
                self._expression(node.kids[0], bounds)
                self._statement(node.kids[1], bounds | self._guards(node.kids[0], bounds))
            case "loop" | "continuing" | "switch" | "case":
                for part in node.kids:
                    self._statement(part, bounds)
            case "let" | "var" if node.kids:
                self._expression(node.kids[0], bounds)
                self._note(id(node), self.reach(node.kids[0], bounds))
            case "assign":
                self._expression(node, bounds)
                target = node.kids[0].decl
                grows = any(part.decl is target for kid in node.kids[1:] for part in kid.walk())
                if node.text == "=" and node.kids[0].kind == "name" and target is not None and not grows:
                    self._note(id(target), self.reach(node.kids[1], bounds))
            case _:
                self._expression(node, bounds)

    def _guards(self, condition: Node, bounds: Bounds, start: Node | None = None) -> Bounds:
        """Return what a condition says where it holds; what a loop starts with runs up to the bound."""
        if condition.kind != "binary":
            return {}
        left, right = condition.kids
        if condition.text == "&&":
            return self._guards(left, bounds, start) | self._guards(right, bounds, start)
        key = _key(left)
        if key is None or condition.text not in ("<", "<=", "=="):
            return {}
        exact = number(right)
        limit = Reach(exact) if exact is not None else self._source(right)
        if limit is None:
            return {key: None}
        most = limit.most - (condition.text == "<")
        if start is not None and left.decl is start:
            return {key: Reach(most, limit.lanes)}
        known = self.reach(left, bounds)
        return {key: known and Reach(min(known.most, most), known.lanes)}

    def _expression(self, node: Node, bounds: Bounds) -> None:
        """Look at every index and every call in an expression."""
        for part in node.walk():
            if part.kind == "index":
                length, found = _length(part.kids[0]), self.reach(part.kids[1], bounds)
                if length is not None and found is not None and found.lanes and found.most >= length:
                    self.short.append(Short(part, length, found.most))
            elif part.kind == "call" and part.decl is not None and part.decl.kind in ("fn", "struct"):
                owner = part.decl
                taken = owner.kids[:-1] if owner.kind == "fn" else owner.kids
                for own, given in zip(taken, part.kids, strict=False):
                    self._note(id(own), self.reach(given, bounds))

    def _note(self, key: object, found: Reach | None) -> None:
        if found is not None:
            known = self._known.get(key, Reach(0))
            self._known[key] = Reach(max(known.most, found.most), known.lanes or found.lanes)

    # --- Expressions --------------------------------------------------------------------------------

    def reach(self, node: Node, bounds: Bounds) -> Reach | None:
        """Return how far an expression reaches; None where the text does not show it."""
        key = _key(node)
        if key is not None and key in bounds:
            return bounds[key]
        exact = number(node)
        if exact is not None:
            return Reach(exact)
        match node.kind:
            case "name" | "member":
                return self._source(node)
            case "binary":
                left, right = (self.reach(kid, bounds) for kid in node.kids)
                return _joined(node.text, left, right, number(node.kids[1]))
            case "call" if node.text in _CONVERSIONS and len(node.kids) == 1:
                return self.reach(node.kids[0], bounds)
            case "call" if node.decl is None and node.text in ("min", "clamp"):
                ends = [self.reach(kid, bounds) for kid in (node.kids if node.text == "min" else node.kids[2:])]
                known = [end for end in ends if end is not None]
                return min(known) if len(known) == len(ends) else None
            case "call" if node.decl is None and node.text in ("max", "select"):
                found = [end for kid in node.kids[:2] if (end := self.reach(kid, bounds)) is not None]
                return Reach(max(found).most, any(end.lanes for end in found)) if found else None
        return None

    def _source(self, node: Node) -> Reach | None:
        """Return what is known of a name or a member: a built-in value, or what was stored under it."""
        decl = node.decl
        if node.kind == "member":
            struct = type_of(node.kids[0])
            fields = struct.decl.kids if struct is not None and struct.decl is not None else []
            decl = next((field for field in fields if field.text == node.text), None)
        if decl is None:
            return None
        attr = decl.attribute("builtin")
        if attr is not None and attr.kids:
            return self._builtins.get(attr.kids[0].text)
        return self._known.get(id(decl))


def _joined(operator: str, left: Reach | None, right: Reach | None, exact: int | None) -> Reach | None:
    """Return the reach of a binary expression; `exact` is the value of its right side, where that is constant."""
    if operator in ("+", "|", "^") and (left is None or right is None):
        return left or right
    if left is None:
        return Reach(exact) if operator == "&" and exact is not None else None
    if right is None:
        return None
    lanes = left.lanes or right.lanes
    match operator:
        case "+" | "|" | "^":
            return Reach(left.most + right.most, lanes)
        case "*":
            return Reach(left.most * right.most, lanes)
    if exact is None:
        return None
    match operator:
        case "-":
            return Reach(left.most - exact, lanes)
        case "/" if exact:
            return Reach(left.most // exact, lanes)
        case "%" if exact:
            return Reach(min(left.most, exact - 1), lanes)
        case "&":
            return Reach(min(left.most, exact), lanes)
        case "<<" | ">>":
            return Reach(left.most << exact if operator == "<<" else left.most >> exact, lanes)
    return None


def _threads(function: Node) -> int:
    """Return the threads of an entry point's workgroup; 1 for other functions."""
    threads = 1
    size = function.attribute("workgroup_size")
    for axis in size.kids if size is not None else []:
        threads *= number(axis) or 1
    return threads


def _key(node: Node) -> object:
    """Return what tells a name, or a member of one, from others; None for other expressions."""
    if node.kind == "name" and node.decl is not None and node.decl.kind != "const":
        return id(node.decl)
    if node.kind == "member" and (base := _key(node.kids[0])) is not None:
        return (base, node.text)
    return None


def type_of(node: Node) -> Node | None:
    """Return the text of an expression's type, aliases followed: a declared name's, a member's, an element's."""
    found: Node | None = None
    if node.kind == "name" and node.decl is not None:
        found = node.decl.type or next((kid for kid in node.decl.kids if kid.kind == "call"), None)
    elif node.kind in ("member", "index"):
        base = type_of(node.kids[0])
        if base is not None and node.kind == "index":
            found = base.args[0] if base.text == "array" and base.args else None
        elif base is not None and base.decl is not None:
            found = next((field.type for field in base.decl.kids if field.text == node.text), None)
    while found is not None and found.decl is not None and found.decl.kind == "alias":
        found = found.decl.type
    return found


def _length(node: Node) -> int | None:
    """Return the elements of the array that an expression stands for; None where it has no written length."""
    found = type_of(node)
    return number(found.args[1]) if found is not None and found.text == "array" and len(found.args) > 1 else None
