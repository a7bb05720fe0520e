"""WGSL text to tokens.

`>` is always a token of its own, so that the end of `array<vec4<u32>>` needs no second look; the parser
joins two that touch into a shift where an expression stands.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class WgslSyntaxError(Exception):
    """The text cannot be read as WGSL at offset `at`."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


class Token(NamedTuple):
    """One token: `kind` is word, number, mark or end; `at` is its offset in the text in characters."""

    kind: str
    text: str
    at: int


_TOKEN = re.compile(
    r"""
    (?P<space>  (?: \s+ | //[^\n]* )+ )
  | (?P<comment> /\* )
  | (?P<number> 0[xX] [0-9a-fA-F]* \.? [0-9a-fA-F]* [pP] [+-]? [0-9]+ [fh]?
              | 0[xX] (?: [0-9a-fA-F]+ \. [0-9a-fA-F]* | \. [0-9a-fA-F]+ )
              | 0[xX] [0-9a-fA-F]+ [iu]?
              | (?: [0-9]+ \. [0-9]* | \. [0-9]+ ) (?: [eE] [+-]? [0-9]+ )? [fh]?
              | [0-9]+ [eE] [+-]? [0-9]+ [fh]?
              | [0-9]+ [fhiu]? )
  | (?P<word>   [^\W\d] \w* )
  | (?P<mark>   << =? | <= | == | != | && | \|\| | -> | \+\+ | -- | [-+*/%&|^] =
              | [-+*/%&|^~!<>=.,;:@(){}\[\]] )
    """,
    re.VERBOSE,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def _comment_end(text: str, at: int) -> int:
    """Return the offset after the block comment that opens at `at`; block comments nest."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, at):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise WgslSyntaxError(at, "this comment is never closed")


def tokenize(text: str) -> list[Token]:
    """Return the tokens of `text` without spaces and comments, closed by one `end` token.

    Raises WgslSyntaxError at the first character that starts no token.
    """
    tokens = []
    at, matches = 0, _TOKEN.finditer(text)
    while (match := next(matches, None)) and match.start() == at:
        at = match.end()
        kind = match.lastgroup or ""
        if kind == "comment":
            at = _comment_end(text, match.start())
            matches = _TOKEN.finditer(text, at)
        elif kind != "space":
            tokens.append(Token(kind, match.group(), match.start()))
    if at < len(text):
        raise WgslSyntaxError(at, f"no WGSL token starts with {text[at]!r}")
    tokens.append(Token("end", "", len(text)))
    return tokens


def position(text: str, at: int) -> tuple[int, int]:
    """Return line and column of offset `at`, both counted from 1 in characters."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def suffix(number: str) -> str:
    """Return the letter that gives a numeric literal its type (u, i, f or h), or an empty string."""
    hexadecimal = number[:2] in ("0x", "0X") and "p" not in number.lower()
    return number[-1] if number[-1] in ("ui" if hexadecimal else "uifh") else ""
