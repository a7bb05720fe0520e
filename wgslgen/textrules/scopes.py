"""Which declaration a name means."""

from __future__ import annotations

from wgslgen.textrules.tree import Node

Scope = dict[str, Node]


def resolve(module: Node) -> None:
    """Set `decl` of every name and call in `module` to its declaration; None where WGSL itself owns it.

    Names of the module's scope may be used before they are declared; inner ones hide outer ones.
    """
    scope = {decl.text: decl for decl in module.kids if decl.kind not in ("directive", "const_assert")}
    for decl in module.kids:
        if decl.kind == "fn":
            _function(decl, scope)
        elif decl.kind != "directive":
            _names(decl, scope)


def _function(function: Node, outer: Scope) -> None:
    scope = dict(outer)
    for attr in function.attrs:
        _names(attr, outer)
    if function.type is not None:
        _names(function.type, outer)
    for param in function.kids[:-1]:
        _names(param, outer)
        scope[param.text] = param
    _block(function.kids[-1], scope)


def _block(block: Node, outer: Scope) -> None:
    scope = dict(outer)
    for statement in block.kids:
        _statement(statement, scope)


def _statement(node: Node, scope: Scope) -> None:
    """Resolve one statement; a declaration enters `scope` after its own initial value is resolved."""
    match node.kind:
        case "block":
            _block(node, scope)
        case "if" | "while" | "loop" | "continuing" | "switch" | "case":
            for part in (*node.args, *node.kids):
                _statement(part, scope)
        case "for":
            inner = dict(scope)
            for part in node.kids:
                _statement(part, inner)
        case "const" | "let" | "var":
            _names(node, scope)
            scope[node.text] = node
        case _:
            _names(node, scope)


def _names(node: Node, scope: Scope) -> None:
    """Resolve the names of an expression, a type, or a statement that holds no other statement."""
    for part in node.walk():
        if part.kind in ("name", "call"):
            part.decl = scope.get(part.text)
