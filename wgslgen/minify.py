"""A web text made small: without comments and spaces, and with short names for what only the text itself uses.

The result has the tokens of the text one by one; only names that the text declares are others, and each name is
another name everywhere, so that scopes, shadowing and members mean what they meant. A caller's names stay: entry
points, resource variables (those with `@group` and `@binding`) and overrides. So do the first lines, which say licence
and origin, and a line for each directive, because the native dialect blanks one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, product
from string import ascii_letters

from wgslgen.textrules import RESERVED_WORDS
from wgslgen.textrules.tokens import Token, WgslSyntaxError, tokenize
from wgslgen.textrules.words import words

HEADER_LINES = 2
"""Lines at the top of a text that stay: the licence, and what made it."""

_DIRECTIVES = frozenset({"enable", "requires", "diagnostic"})
_DECLARING = frozenset({"fn", "struct", "alias", "let", "const", "var"})
_OUTWARD = frozenset({"compute", "vertex", "fragment", "group", "binding"})
"""Attributes of what a caller names."""
_NAMING_NOTHING = frozenset({"builtin", "diagnostic", "interpolate"})
"""Attributes whose operands are words of WGSL, even where the text declares the same name."""
_RESULT_MEMBERS = frozenset({"fract", "exp", "whole", "old_value", "exchanged"})
"""Members of what built-in functions return."""
_SWIZZLE = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}")
_JOINED = words("++ -- && || << <= >= >> == != -> += -= *= /= %= &= |= ^= // /*")
"""Pairs of characters that read as one token, or begin a comment."""


def minify(text: str) -> str:
    """Return the text that means the same in fewer bytes; what is no WGSL stays as it is, for the judges to refuse."""
    try:
        tokens = tokenize(text)[:-1]
    except WgslSyntaxError:
        return text
    names = short_names(tokens)
    fixed = _fixed(tokens)
    header = "\n".join(text.split("\n")[:HEADER_LINES])
    written = [t.text if at in fixed else names.get(t.text, t.text) for at, t in enumerate(tokens)]
    return f"{header}\n{''.join(_spaced(tokens, written))}"


def short_names(tokens: Sequence[Token]) -> dict[str, str]:
    """Return the new name of each name that `tokens` declare and may lose, the shortest for the most frequent."""
    used = Counter(token.text for token in tokens if token.kind == "word")
    private = _private(tokens)
    taken = RESERVED_WORDS | (used.keys() - private)
    fresh = (name for name in _names() if name not in taken and not _SWIZZLE.fullmatch(name))
    return {name: next(fresh) for name, _ in used.most_common() if name in private}


def _private(tokens: Sequence[Token]) -> set[str]:
    """Return the declared names that no caller and no rule of WGSL knows."""
    declared: set[str] = set()
    kept: set[str] = {*_RESULT_MEMBERS}
    outward = False
    for at, token in enumerate(tokens):
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.text == "@":
            outward = outward or after in _OUTWARD
        elif token.text == "override":
            kept.add(after)
        elif token.text in _DECLARING:
            name = _declared(tokens, at + 1)
            declared.add(name)
            if outward and token.text in ("fn", "var"):
                kept.add(name)
                outward = False
        elif token.kind == "word" and after == ":":  # a parameter, or a member of a struct
            declared.add(token.text)
    return {name for name in declared - kept - RESERVED_WORDS if not _SWIZZLE.fullmatch(name)}


def _declared(tokens: Sequence[Token], at: int) -> str:
    """Return the name behind a declaring word; `var` may have an address space in between."""
    if tokens[at].text == "<":
        while tokens[at].text != ">":
            at += 1
        at += 1
    return tokens[at].text


def _fixed(tokens: Sequence[Token]) -> set[int]:
    """Return where words of WGSL stand that a declared name may equal: in directives and attributes."""
    fixed: set[int] = set()
    until = ""
    for at, token in enumerate(tokens):
        opens = tokens[at - 1].text == "@" if at else False
        if not until and opens:
            fixed.add(at)
            until = ")" if token.text in _NAMING_NOTHING else ""
        elif not until and token.text in _DIRECTIVES:
            until = ";"
        if until:
            fixed.add(at)
            until = "" if token.text == until else until
    return fixed


def _spaced(tokens: Sequence[Token], texts: Sequence[str]) -> Iterator[str]:
    """Yield the tokens with the spaces that they need, and a line for each directive and declaration."""
    depth = 0
    for at, (token, text) in enumerate(zip(tokens, texts, strict=True)):
        yield text
        depth += (text in ("{", "(", "[")) - (text in ("}", ")", "]"))
        if at + 1 == len(tokens) or (depth == 0 and text in (";", "}")):
            yield "\n"
        elif _needs_space(token, tokens[at + 1]):
            yield " "


def _needs_space(token: Token, after: Token) -> bool:
    if token.kind != "mark" and after.kind != "mark":
        return True
    apart = after.at > token.at + len(token.text)
    return apart and token.text[-1] + after.text[0] in _JOINED


def _names() -> Iterator[str]:
    """Yield a, b, …, Z, aa, ab and so on without end."""
    for length in count(1):
        yield from map("".join, product(ascii_letters, repeat=length))
