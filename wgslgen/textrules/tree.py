"""What a text is read into.

One node class serves all; what its fields hold depends on `kind`:

============  =========================  ================================================================
kind          text                       kids, args, type, attrs
============  =========================  ================================================================
directive     enable/requires/diagnostic args: the names in it
const var let its name                   kids: initial value if any; args: address space, access; type
override      its name                   the same
alias         its name                   type
struct        its name                   kids: field (type, attrs)
fn            its name                   kids: param (type, attrs) …, block; type: what it returns; attrs
block         ``{``                      kids: statements; `end`: offset of its last brace
if            ``if``                     kids: condition, block, then possibly if or block
for           ``for``                    kids: start, condition, step (kind none where absent), block
while loop    ``while``                  kids: condition, block; a loop's block may hold `continuing`
switch case   ``switch``                 kids: selector, case (args: values; kids: block)
assign        the operator               kids: left side, right side (absent for ++ and --)
call          the function or type       args: template list; kids: arguments
name          the name                   args: template list
number bool   as written
member        the member                 kids: base
index         ``[``                      kids: base, index
unary binary  the operator               kids: operands
============  =========================  ================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """A piece of the text; the module's docstring tells what the fields hold."""

    kind: str
    text: str
    at: int
    kids: list[Node] = field(default_factory=list)
    args: list[Node] = field(default_factory=list)
    attrs: list[Node] = field(default_factory=list)
    type: Node | None = None
    decl: Node | None = None
    end: int = 0

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, attributes and types included, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.kids)
            if node.type is not None:
                waiting.append(node.type)
            waiting += reversed(node.args)
            waiting += reversed(node.attrs)

    def attribute(self, name: str) -> Node | None:
        """Return the attribute `@name(…)`, its arguments as kids."""
        return next((attr for attr in self.attrs if attr.text == name), None)
