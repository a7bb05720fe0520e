"""`wgslgen explain`: which plan of a bundle a device gets for an op, what else would do, and why the rest would not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wgslgen import profile, selection
from wgslgen.bundle import Bundle
from wgslgen.errors import UsageProblem


def pairs(option: str, given: Iterable[str]) -> dict[str, int | bool | str]:
    """Return NAME=VALUE pairs of a repeatable option: numbers, true and false, else words."""
    found: dict[str, int | bool | str] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name or not equals or not value:
            raise UsageProblem(f"{option} {pair}; expected NAME=VALUE", hint=f"{option} {name or 'NAME'}=…")
        words: dict[str, bool] = {"true": True, "false": False}
        number = value.removeprefix("-").isdecimal()
        found[name] = int(value) if number else words.get(value, value)
    return found


def explain(
    bundles: Sequence[Bundle], op: str, sizes: Mapping[str, object], profile_name: str, want: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return each bundle's selection as data: the plan's name and passes, what is ranked behind it, and the refusals.

    Bundles that do not know the op are left out, where others do. Raises UsageProblem for an op, profile or rounding
    that there is not, and for a size that is no whole number.
    """
    given: dict[str, int] = {}
    for name, value in sizes.items():
        if value is None:
            continue
        if type(value) is not int:
            raise UsageProblem(f"size {name} is {value!r}; expected a whole number", hint=f"--size {name}=1")
        given[name] = value
    known = [built for built in bundles if op in selection.ops(selection.kit_of(built.manifest))]
    return [_explain(built, op, given, profile_name, want) for built in known or bundles]


def _explain(
    built: Bundle, op: str, given: Mapping[str, int], profile_name: str, want: Mapping[str, Any]
) -> dict[str, Any]:
    found = selection.select(selection.kit_of(built.manifest), op, given, profile.get(profile_name).data(), want)
    passes = [] if found.plan is None else [step["variant"] for step in found.plan["passes"]]
    return {
        "bundle": built.name,
        "op": op,
        "sizes": dict(given),
        "profile": profile_name,
        "want": dict(want),
        "plan": found.plan and found.plan["name"],
        "passes": passes,
        "ranked": [{"name": each.name, "ns": each.ns} for each in found.ranked],
        "refused": [{"name": each.name, "reason": each.reason} for each in found.refused],
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what `explain` prints for a bundle."""
    sizes = ", ".join(f"{name} = {value}" for name, value in found["sizes"].items())
    yield f"{found['bundle']}: {found['op']} of {sizes or 'no sizes'} on {found['profile']}"
    if found["plan"] is None:
        yield "  nothing will do"
    for at, each in enumerate(found["ranked"]):
        yield f"  {'chosen' if at == 0 else 'dearer'}  {each['ns'] / 1000:.1f} us  {each['name']}"
    for each in found["refused"]:
        yield f"  refused  {each['name']}: {each['reason']}"
