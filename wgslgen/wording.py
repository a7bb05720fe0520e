"""How messages list what was expected, and guess what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def any_of(items: Iterable[str]) -> str:
    """Return "a", "a or b", "a, b or c"; for nothing, "nothing"."""
    words = list(items)
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} or {words[-1]}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` most likely means; None where nothing is close."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def nearest_value(value: object, choices: Sequence[bool | int | float | str]) -> bool | int | float | str:
    """Return the choice that `value` most likely means: the nearest number or word, else the first."""
    if all(isinstance(choice, str) for choice in choices):
        return nearest(str(value), [str(choice) for choice in choices]) or choices[0]
    try:
        number = float(str(int(value) if isinstance(value, bool) else value))
    except ValueError:
        return choices[0]
    return min(choices, key=lambda choice: abs(float(choice) - number))
