"""The plans of a bundle: what its variants can do together. One module an op, and one line in MODULES each.

A module offers `plans(variants, model)`: it makes the plans whose principal pass is one of the variants, and
names the other passes by their constants. A plan counts only where all its variants are in the bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from wgslgen.model import Model
from wgslgen.plan import Plan
from wgslgen.spec import Kernel

MODULES = ("linear", "experts", "attention", "sampling", "decode")
Maker = Callable[[Sequence[Kernel], Model | None], Iterator[Plan]]


def derive(
    variants: Sequence[Kernel], model: Model | None = None, modules: Sequence[str] = MODULES
) -> tuple[Plan, ...]:
    """Return every plan of `modules` that `variants` alone can do, in the order of modules and of variants."""
    there = {*variants}
    makers: list[Maker] = [import_module(f"{__name__}.{module}").plans for module in modules]
    found = (plan for make in makers for plan in make(variants, model) if there.issuperset(plan.variants))
    return tuple(dict.fromkeys(found))
