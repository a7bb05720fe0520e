"""Values as TOML text, for bundle files that wgslgen writes and for messages about those that it reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def toml(value: object) -> str:
    """Return `value` as TOML, on one line: what to write in a file to mean it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(_escape(letter) for letter in value)}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key(str(name))} = {toml(item)}' for name, item in value.items())}}}"
    return repr(value) if isinstance(value, int | float) else str(value)


def key(name: str) -> str:
    """Return `name` as a TOML key, in quotes where it needs them."""
    return name if BARE_KEY.fullmatch(name) else toml(name)


def brief(value: object, most: int = 60) -> str:
    """Return `value` as TOML, cut to `most` characters for a message."""
    text = toml(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def printable(text: str) -> str:
    """Return foreign text fit for a comment: one line, without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _escape(letter: str) -> str:
    if letter in ESCAPES:
        return ESCAPES[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if 0xD800 <= code <= 0xDFFF:  # half of a pair: TOML has no way to write it
        return "?"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
