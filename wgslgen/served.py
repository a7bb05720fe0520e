"""What serves which weight format: every kernel that reads weights, on each of its routes, in each layout.

Nothing is stated here: constants are put into each kernel, and it refuses them or not. A format or a kernel that is
added appears by itself, in the table of the docs and among what the tests run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from pydantic import ValidationError

from wgslgen import formats
from wgslgen.formats import Format
from wgslgen.frozen import literals
from wgslgen.kernels import KERNELS
from wgslgen.kernels.weighted import Weighted

TRIED: dict[str, tuple[Any, ...]] = {"activation_group": (None, 32), "step_words": (4, None, 2, 1)}
"""Constants that a route or a format may need, and what they are tried with; the others keep their defaults."""


class Served(NamedTuple):
    """A variant for a format: its kernel's name, its route (None where the kernel has but one) and its layout."""

    kernel: str
    route: str | None
    format: Format
    layout: str
    variant: Weighted


def served() -> Iterator[Served]:
    """Yield a variant for each kernel, route, format with group, and layout that go together."""
    for kernel in weighted_kernels():
        for route, (stored, group), layout in product(routes(kernel), groups(), layouts_of(kernel)):
            given = {"format": stored, "group": group, "layout": layout, **({} if route is None else {"route": route})}
            variant = first_accepted(kernel, given)
            if variant is not None:
                yield Served(kernel.NAME, route, variant.weight_format, layout, variant)


def weighted_kernels() -> tuple[type[Weighted], ...]:
    """Return the kernels that read weights."""
    return tuple(kernel for kernel in KERNELS if issubclass(kernel, Weighted))


def routes(kernel: type[Weighted]) -> tuple[str | None, ...]:
    """Return the routes of a kernel; None stands for the only one."""
    field = kernel.model_fields.get("route")
    return (None,) if field is None else tuple(str(route) for route in literals(field.annotation))


def layouts_of(kernel: type[Weighted]) -> tuple[str, ...]:
    """Return the layouts that the kernel knows."""
    return tuple(str(layout) for layout in literals(kernel.model_fields["layout"].annotation))


def groups() -> tuple[tuple[str, int], ...]:
    """Return name and group of every format."""
    return tuple((kind.name, group) for kind in formats.FORMATS for group in kind.groups)


def first_accepted(kernel: type[Weighted], given: dict[str, Any]) -> Weighted | None:
    """Return the first variant with the constants `given` that the kernel accepts, or None."""
    tried = {name: values for name, values in TRIED.items() if name in kernel.model_fields}
    for values in product(*tried.values()):
        try:
            return kernel.model_validate({**given, **dict(zip(tried, values, strict=True))})
        except ValidationError:
            continue
    return None
