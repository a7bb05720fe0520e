"""What the forms of a kernel differ in: a variant to show, and the constants that bring or remove a part of it.

Nothing is stated here: variants are compared, and constants of one are put into the other until a part comes or goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from wgslgen import formats
from wgslgen.frozen import literals
from wgslgen.spec import Binding, Kernel, UniformField

Part = TypeVar("Part", Binding, UniformField)
Parts = Callable[[Kernel], tuple[Part, ...]]
Change = dict[str, Any]
MOST_CHANGED = 3
"""Constants that are changed together in the search for why a part comes or goes."""
NEAREST = 3
"""Variants of each set of parts that are compared: those with the fewest differences."""
PROBES = (0, 3, 2**20)
"""What whole-number constants are tried with: nothing, a number that divides little, and one beyond all shapes."""


def example(kernel: type[Kernel], shipped: Sequence[Kernel]) -> Kernel:
    """Return the variant that needs no optional feature, runs on the most shape classes and bakes the fewest sizes.

    Raises LookupError where there is none.
    """
    found = [variant for variant in shipped if type(variant) is kernel and not variant.features()]
    if not found:
        raise LookupError(f"no bundle ships a variant of {kernel.NAME} that needs no optional feature")
    return max(found, key=lambda variant: (len(variant.cases()), -_baked(variant)))


def _baked(variant: Kernel) -> int:
    """Return how many of the problem's sizes are constants of the variant."""
    return sum(getattr(variant, size.lower(), None) is not None for size in variant.SIZES)


def parts_of(base: Kernel, others: Sequence[Kernel], parts: Parts[Part]) -> Iterator[tuple[Part, str]]:
    """Yield the parts of all forms, `base`'s first, each with a note which forms have it: empty for all of them."""
    mine = {part.name: part for part in parts(base)}
    near = [*_nearest(base, others, parts)]
    for name, part in mine.items():
        gone = _changes(base, near, parts, name, there=False)
        yield part, _when(base, gone, "not with") if gone else ""
    theirs = dict.fromkeys(name for variant in near for name in _names(variant, parts) if name not in mine)
    for name in theirs:
        come = _changes(base, near, parts, name, there=True)
        changed = base.changed(**come[0]) if come else next(v for v in near if name in _names(v, parts))
        part = next(part for part in parts(changed) if part.name == name)
        yield part, _when(base, come, "with") if come else "in other forms"


def refusals(base: Kernel) -> Iterator[tuple[str, str, str]]:
    """Yield (constant, value, sentence) for what a change of one constant of `base` meets, each sentence once."""
    said: set[tuple[str, str]] = set()
    for name in base.constants():
        field = type(base).model_fields[name]
        for value in [*literals(field.annotation)] or (PROBES if _is_whole(base, name) else ()):
            sentence = _refusal(base, {name: value})
            kind = (name, re.sub(r"\d+", "#", sentence))
            if sentence and kind not in said:
                said.add(kind)
                yield name, value_text(value), sentence


def value_text(value: object) -> str:
    """Return a constant's value as a bundle file spells it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def groups() -> tuple[int, ...]:
    """Return the groups of the formats that have several."""
    return tuple(sorted({group for kind in formats.FORMATS if len(kind.groups) > 1 for group in kind.groups}))


def _is_whole(base: Kernel, name: str) -> bool:
    value = getattr(base, name)
    annotation = str(type(base).model_fields[name].annotation)
    return name != "group" and (type(value) is int or "int" in annotation)


def _refusal(base: Kernel, change: Change) -> str:
    """Return the sentence that refuses the change, or nothing."""
    try:
        base.changed(**change)
    except ValidationError as problem:
        first = problem.errors()[0]
        if first["type"] == "value_error":  # the others say what the constant's type says already
            return str(first["msg"]).removeprefix("Value error, ").replace("\n", "; ")
    return ""


def _names(variant: Kernel, parts: Parts[Part]) -> tuple[str, ...]:
    return tuple(part.name for part in parts(variant))


def _nearest(base: Kernel, others: Sequence[Kernel], parts: Parts[Part]) -> Iterator[Kernel]:
    """Yield the variants of this kernel whose parts are not those of `base`, of each set of parts the nearest."""
    by_parts: dict[tuple[str, ...], list[Kernel]] = {}
    for variant in others:
        if type(variant) is type(base) and _names(variant, parts) != _names(base, parts):
            by_parts.setdefault(_names(variant, parts), []).append(variant)
    for variants in by_parts.values():
        yield from sorted(variants, key=lambda variant: len(_differences(base, variant)))[:NEAREST]


def _differences(base: Kernel, other: Kernel) -> Change:
    mine, theirs = base.model_dump(), other.model_dump()
    return {name: value for name, value in theirs.items() if value != mine[name]}


def _changes(base: Kernel, near: Sequence[Kernel], parts: Parts[Part], name: str, there: bool) -> list[Change]:
    """Return the smallest changes of `base`, none within another, behind which part `name` is there or is not."""

    def wanted(variant: Kernel) -> bool:
        return (name in _names(variant, parts)) == there

    found: list[Change] = []
    for size in range(1, MOST_CHANGED + 1):
        for variant in (variant for variant in near if wanted(variant)):
            for names in combinations(differing := _differences(base, variant), size):
                change = {name: differing[name] for name in names}
                if not any(_within(base, smaller, change) for smaller in found):
                    changed = _changed(base, change)
                    found += [change] if changed is not None and wanted(changed) else []
    return found


def _within(base: Kernel, smaller: Change, change: Change) -> bool:
    """Tell whether `change` says nothing that `smaller` does not say; where `base` has no value, any is the same."""
    return all(
        name in change and (value == change[name] or getattr(base, name) is None) for name, value in smaller.items()
    )


def _changed(base: Kernel, change: Change) -> Kernel | None:
    """Return the changed variant, or None where the kernel refuses it."""
    try:
        return base.changed(**change)
    except ValidationError:
        return None


def _when(base: Kernel, changes: Sequence[Change], word: Literal["with", "not with"]) -> str:
    """Return when a part is there, which the changes bring (`with`) or remove (`not with`), in words."""
    if len(changes) == 1 and len(changes[0]) == 1:
        ((name, value),) = changes[0].items()
        if value is None or value is False:
            return f"{'without' if word == 'with' else 'with'} `{name}`"
    return f"{word} {', or '.join(dict.fromkeys(_in_words(base, change) for change in changes))}"


def _in_words(base: Kernel, change: Change) -> str:
    """Return the constants of a change; where `base` has no value, any brings the same."""
    words = []
    for name, value in change.items():
        if value is None or value is False:
            words.append(f"no `{name}`")
        elif value is True or getattr(base, name) is None:
            words.append(f"`{name}`")
        else:
            words.append(f"`{name}` {value}")
    return ", ".join(words)
