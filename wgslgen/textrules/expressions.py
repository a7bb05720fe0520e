"""The reader of expressions, types and attributes: tokens to nodes by recursive descent.

It is generous, because naga and Tint judge the grammar: it accepts every valid text and many that are not,
and keeps from each what the rules look at. Every method consumes what it is named after.
"""

from __future__ import annotations

from typing import Final

from wgslgen.textrules.tokens import Token, WgslSyntaxError
from wgslgen.textrules.tree import Node
from wgslgen.textrules.words import TEMPLATED

# Binary operators by how tightly they bind; `>` and its longer forms are joined from single tokens.
_BINDING: Final = {
    operator: power
    for power, operators in enumerate(("||", "&&", "|", "^", "&", "== != < > <= >=", "<< >>", "+ -", "* / %"), start=1)
    for operator in operators.split()
}


class ExpressionReader:
    """Holds the tokens and the place in them."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._next = tokens[0]

    def _take(self, count: int = 1) -> Token:
        """Consume `count` tokens and return the first of them."""
        token = self._next
        if token.kind == "end":
            raise WgslSyntaxError(token.at, "the text ends inside a declaration")
        self._index += count
        self._next = self._tokens[self._index]
        return token

    def _skip(self, text: str) -> bool:
        if self._next.text != text:
            return False
        self._take()
        return True

    def _at(self, text: str) -> bool:
        return self._next.text == text

    def _expect(self, text: str) -> Token:
        token = self._next
        if token.text != text:
            raise WgslSyntaxError(token.at, f"expected {text!r}, found {token.text or 'the end'!r}")
        return self._take()

    def _word(self) -> Token:
        token = self._next
        if token.kind != "word":
            raise WgslSyntaxError(token.at, f"expected a name, found {token.text or 'the end'!r}")
        return self._take()

    def _type(self) -> Node:
        name = self._word()
        return Node("name", name.text, name.at, args=self._template(name.text))

    def _template(self, word: str) -> list[Node]:
        if word not in TEMPLATED or not self._skip("<"):
            return []
        args = []
        while not self._skip(">"):
            args.append(self._expression(template=True))
            if not self._skip(","):
                self._expect(">")
                break
        return args

    def _operator(self, joined: frozenset[str] = frozenset((">>", ">="))) -> str:
        """Return the operator that comes next, joined from up to three `>` and `=` that touch."""
        token = self._next
        longest = token.text
        if token.text == ">":
            run = ">"
            for follower in self._tokens[self._index + 1 : self._index + 3]:
                if follower.at != token.at + len(run) or follower.text not in (">", "="):
                    break
                run += follower.text
                if run in joined:
                    longest = run
        return longest

    def _expression(self, template: bool = False, power: int = 1) -> Node:
        """An expression of operators that bind at least as tightly as `power`.

        In a template list (`template`) a `>` ends the list, and so does what starts with one.
        """
        left = self._unary()
        while True:
            at = self._next.at
            operator = self._operator()
            binding = _BINDING.get(operator, 0)
            if binding < power or (template and operator.startswith(">")):
                return left
            self._take(2 if operator in (">>", ">=") else 1)
            left = Node("binary", operator, at, [left, self._expression(template, binding + 1)])

    def _unary(self) -> Node:
        token = self._next
        if token.text in ("-", "!", "~", "&", "*"):
            self._take()
            return Node("unary", token.text, token.at, [self._unary()])
        if token.text == "--":  # `--x` is no decrement in an expression, but twice a minus
            raise WgslSyntaxError(token.at, "'--' stands before an expression")
        return self._postfix(self._primary())

    def _postfix(self, node: Node) -> Node:
        while self._next.text in (".", "["):
            mark = self._take()
            if mark.text == ".":
                node = Node("member", self._word().text, mark.at, [node])
            else:
                node = Node("index", "[", mark.at, [node, self._expression()])
                self._expect("]")
        return node

    def _primary(self) -> Node:
        token = self._take()
        if token.text == "(":
            inner = self._expression()
            self._expect(")")
            return inner
        if token.kind == "number":
            return Node("number", token.text, token.at)
        if token.text in ("true", "false"):
            return Node("bool", token.text, token.at)
        if token.kind != "word":
            raise WgslSyntaxError(token.at, f"expected an expression, found {token.text!r}")
        args = self._template(token.text)
        if self._at("("):
            return Node("call", token.text, token.at, self._arguments(), args)
        return Node("name", token.text, token.at, args=args)

    def _arguments(self) -> list[Node]:
        self._expect("(")
        arguments = []
        while not self._skip(")"):
            arguments.append(self._expression())
            if not self._skip(","):
                self._expect(")")
                break
        return arguments

    def _attributes(self) -> list[Node]:
        attrs = []
        while self._skip("@"):
            name = self._word()
            attrs.append(Node("attribute", name.text, name.at, self._arguments() if self._at("(") else []))
        return attrs
