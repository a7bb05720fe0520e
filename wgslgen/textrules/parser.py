"""The reader of declarations and statements, on top of the reader of expressions."""

from __future__ import annotations

from typing import Final

from wgslgen.textrules.expressions import ExpressionReader
from wgslgen.textrules.tokens import Token, WgslSyntaxError
from wgslgen.textrules.tree import Node

_ASSIGNING: Final = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_DECLARING: Final = frozenset(("const", "let", "var", "override"))


def parse(tokens: list[Token]) -> Node:
    """Return the module node of a tokenized text. Raises WgslSyntaxError where it cannot be read."""
    return _Parser(tokens).module()


class _Parser(ExpressionReader):
    """Reads one text from its first token to its last."""

    def module(self) -> Node:
        module = Node("module", "", 0)
        while self._next.kind != "end":
            if not self._skip(";"):
                module.kids.append(self._global())
        return module

    def _global(self) -> Node:
        attrs = self._attributes()
        token = self._next
        if token.text in ("enable", "requires", "diagnostic"):
            node = self._directive()
        elif token.text == "fn":
            node = self._function()
        elif token.text == "struct":
            node = self._struct()
        elif token.text in _DECLARING:
            node = self._declaration()
            self._expect(";")
        elif token.text == "alias":
            self._take()
            name = self._word()
            self._expect("=")
            node = Node("alias", name.text, name.at, type=self._type())
            self._expect(";")
        elif token.text == "const_assert":
            node = Node("const_assert", self._take().text, token.at, [self._expression()])
            self._expect(";")
        else:
            raise WgslSyntaxError(token.at, f"no declaration starts with {token.text!r}")
        node.attrs = attrs
        return node

    def _directive(self) -> Node:
        token = self._take()
        node = Node("directive", token.text, token.at)
        while self._next.text != ";":
            part = self._take()
            if part.kind == "word":
                node.args.append(Node("name", part.text, part.at))
        self._expect(";")
        return node

    def _struct(self) -> Node:
        self._take()
        name = self._word()
        node = Node("struct", name.text, name.at)
        self._expect("{")
        while not self._skip("}"):
            node.kids.append(self._typed_name("field"))
            if not self._skip(","):
                self._expect("}")
                break
        return node

    def _typed_name(self, kind: str) -> Node:
        attrs = self._attributes()
        name = self._word()
        self._expect(":")
        return Node(kind, name.text, name.at, attrs=attrs, type=self._type())

    def _function(self) -> Node:
        self._take()
        name = self._word()
        node = Node("fn", name.text, name.at)
        self._expect("(")
        while not self._skip(")"):
            node.kids.append(self._typed_name("param"))
            if not self._skip(","):
                self._expect(")")
                break
        if self._skip("->"):
            self._attributes()
            node.type = self._type()
        node.kids.append(self._block())
        return node

    def _declaration(self) -> Node:
        kind = self._take().text
        space = []
        if kind == "var" and self._skip("<"):
            while not self._skip(">"):
                word = self._word()
                space.append(Node("name", word.text, word.at))
                self._skip(",")
        name = self._word()
        node = Node(kind, name.text, name.at, args=space)
        if self._skip(":"):
            node.type = self._type()
        if self._skip("="):
            node.kids.append(self._expression())
        return node

    def _block(self) -> Node:
        self._attributes()
        node = Node("block", "{", self._expect("{").at)
        while not self._at("}"):
            if not self._skip(";"):
                node.kids.append(self._statement())
        node.end = self._take().at
        return node

    def _statement(self) -> Node:
        attrs = self._attributes()
        token = self._next
        match token.text:
            case "{":
                return self._block()
            case "if":
                return self._if()
            case "for":
                return self._for()
            case "while":
                self._take()
                return Node("while", token.text, token.at, [self._expression(), self._block()], attrs=attrs)
            case "loop" | "continuing":
                self._take()
                return Node(token.text, token.text, token.at, [self._block()], attrs=attrs)
            case "switch":
                return self._switch()
            case _:
                node = self._simple()
                self._expect(";")
                return node

    def _if(self) -> Node:
        token = self._take()
        node = Node("if", token.text, token.at, [self._expression(), self._block()])
        if self._skip("else"):
            node.kids.append(self._if() if self._at("if") else self._block())
        return node

    def _for(self) -> Node:
        token = self._take()
        self._expect("(")
        nothing = Node("none", "", token.at)
        start = nothing if self._at(";") else self._simple()
        self._expect(";")
        condition = nothing if self._at(";") else self._expression()
        self._expect(";")
        step = nothing if self._at(")") else self._simple()
        self._expect(")")
        return Node("for", token.text, token.at, [start, condition, step, self._block()])

    def _switch(self) -> Node:
        token = self._take()
        node = Node("switch", token.text, token.at, [self._expression()])
        self._attributes()
        self._expect("{")
        while not self._skip("}"):
            case = Node("case", self._next.text, self._next.at)
            if not self._skip("default"):
                self._expect("case")
                while not self._at("{") and not self._at(":"):
                    if not self._skip("default"):
                        case.args.append(self._expression())
                    self._skip(",")
            self._skip(":")
            case.kids.append(self._block())
            node.kids.append(case)
        return node

    def _simple(self) -> Node:
        """A statement that a semicolon ends: a declaration, a jump, an assignment or a call."""
        token = self._next
        if token.text in _DECLARING:
            return self._declaration()
        if token.text == "return":
            self._take()
            return Node("return", "return", token.at, [] if self._at(";") else [self._expression()])
        if token.text == "const_assert":
            return Node("const_assert", self._take().text, token.at, [self._expression()])
        if token.text in ("break", "continue", "discard"):
            self._take()
            if token.text == "break" and self._skip("if"):
                return Node("breakif", "break if", token.at, [self._expression()])
            return Node(token.text, token.text, token.at)
        left = self._unary()
        at = self._next.at
        operator = self._operator(joined=_ASSIGNING)
        if operator in _ASSIGNING:
            self._take(3 if operator == ">>=" else 1)
            return Node("assign", operator, at, [left, self._expression()])
        if operator in ("++", "--"):
            self._take()
            return Node("assign", operator, at, [left])
        return left
