"""Checks of one constant's name and value, before a kernel sees them: messages about a single key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from wgslgen import formats
from wgslgen.errors import UsageProblem
from wgslgen.frozen import literals
from wgslgen.kernels.weighted import Weighted
from wgslgen.spec import Kernel
from wgslgen.tomltext import brief, key, toml
from wgslgen.wording import any_of, nearest, nearest_value

Scalar = bool | int | float | str

KINDS = {
    bool: "true or false",
    int: "a whole number from 0 to 4294967295",
    float: "a finite number",
    str: "a string",
}


def check_names(where: str, part: str, found: Iterable[str], known: Sequence[str]) -> None:
    """Raise UsageProblem for the first name that is not known, with the nearest one that is."""
    for name in found:
        if name not in known:
            at = f"{where}: {part}" if part else where
            meant = nearest(name, known)
            raise UsageProblem(
                f"{at}: unknown key {key(name)}; expected one of: {', '.join(known)}",
                hint=f"did you mean {meant}?" if meant else f"delete {key(name)}",
            )


def check_constant(where: str, kernel: type[Kernel], field: str, value: object) -> None:
    """Raise UsageProblem unless `value` may stand for the constant `field`; None means that it is missing."""
    kinds, legal = set(_kinds(kernel.model_fields[field].annotation)), choices(kernel, field)
    right = type(value) in kinds or (type(value) is int and float in kinds)
    if right and isinstance(value, int) and not 0 <= value < 2**32:
        right = False
    if right and isinstance(value, float) and not math.isfinite(value):
        right = False
    if right and (not legal or value in legal):
        return
    expected = any_of(toml(choice) for choice in legal) if legal else any_of(KINDS[kind] for kind in kinds)
    what = f"needs {field}" if value is None else f"{field} = {brief(value)}"
    raise UsageProblem(f"{where}: {what}; expected {expected}", hint=_hint(field, value, legal))


def choices(kernel: type[Kernel], field: str) -> tuple[Any, ...]:
    """Return the values that a constant may take; empty where any of its type may stand there."""
    if field == "format" and issubclass(kernel, Weighted):
        return formats.names()
    annotation = kernel.model_fields[field].annotation
    return (False, True) if annotation is bool else tuple(literals(annotation))


def _hint(field: str, value: object, legal: Sequence[Scalar]) -> str:
    if legal:
        return f"set {field} = {toml(nearest_value(value, legal))}"
    if isinstance(value, str) and value.isdigit():
        return f"set {field} = {value}, without quotes"
    if isinstance(value, float) and value.is_integer() and value >= 0:
        return f"set {field} = {int(value)}"
    return f"delete {field}, or give it such a value"


def _kinds(annotation: object) -> Iterator[type[Scalar]]:
    """Yield the types that an annotation's values have, looking into unions and literals."""
    if isinstance(annotation, type) and annotation in KINDS:
        yield annotation
    elif get_origin(annotation) is Literal:
        yield from (type(choice) for choice in get_args(annotation))
    else:
        for part in get_args(annotation):
            yield from _kinds(part)
