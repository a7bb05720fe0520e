"""The variants of an op that are timed where no bundle file says which: grids/<op>.toml, for one weight format.

A table is that of a bundle file, with two keys more: `constants = true` fills in how the format is read on the route,
as `choices` has it, under what the table says itself; `baked` names sizes that are baked in. Rows that a kernel refuses
are left out, and a whole table where the route does not take the format.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from wgslgen import choices, kernels
from wgslgen.bundlefile import BundleFile, expand
from wgslgen.bundlerows import read_table
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.product import Product
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.plans.linear import binarize_for, quantise_for
from wgslgen.spec import Kernel


def ops() -> list[str]:
    """Return the ops that there is a grid for, sorted."""
    folder = resources.files(__package__) / "grids"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def variants(op: str, stored: Format, sizes: Mapping[str, int]) -> tuple[Kernel, ...]:
    """Return the variants of the grid of `op` in the format, with `sizes` where they are baked, and those they need.

    Raises UsageProblem for an op without a grid.
    """
    if op not in ops():
        raise UsageProblem(
            f"there is no grid for op {op!r}; there are grids for {', '.join(ops())}",
            hint="name a bundle file that has variants for it",
        )
    name = f"grids/{op}.toml"
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    found: dict[Kernel, None] = {}
    for number, table in enumerate(tomllib.loads(text)["kernel"], 1):
        filled = _filled(table, stored, sizes)
        if filled is not None:
            found |= dict.fromkeys(_rows(name, number, filled))
    return tuple(dict.fromkeys((*found, *_needed(found))))


def _filled(table: Mapping[str, Any], stored: Format, sizes: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the table as a bundle file has it; None where the route does not take the format, or a size is missing."""
    own = {key: value for key, value in table.items() if key not in ("constants", "baked")}
    for size in table.get("baked", ()):
        if size.upper() not in sizes:
            return None
        own[size] = sizes[size.upper()]
    if not table.get("constants"):
        return own
    constants = _constants(table, stored, sizes.get("K"))
    return None if constants is None else {**constants, **own}


def _constants(table: Mapping[str, Any], stored: Format, k: int | None) -> dict[str, Any] | None:
    """Return how the kernel of the table reads weights of the format on the table's route."""
    if table["kernel"] == "get_rows":
        found = choices.matvec_constants("float", stored, k)
        kept = ("format", "group", "layout", "step_words")
        return None if found is None else {name: found[name] for name in kept if name in found}
    if table["route"] == "block":
        return choices.stored_as(stored) if stored.quantised and stored.step is None else None
    if issubclass(kernels.get(table["kernel"]), Matmul):
        return choices.matmul_constants(table["route"], stored)
    return choices.matvec_constants(table["route"], stored, k)


def _rows(name: str, number: int, table: dict[str, Any]) -> tuple[Kernel, ...]:
    read = read_table(name, number, {**table, "prune": True})
    limit = max(read.count, 1)
    try:
        return expand(BundleFile(file=name, name="bench", limit=limit, profiles=(), tables=(read,))).variants
    except UsageProblem:  # a table with every row refused: the format or the sizes do not suit it
        return ()


def _needed(found: Mapping[Kernel, None]) -> Iterator[Kernel]:
    """Yield what stands in front of products on packed activations, and behind sums in parts."""
    for variant in found:
        if isinstance(variant, Product | Matmul) and variant.route == "int8":
            yield quantise_for(variant)
        if isinstance(variant, Matvec) and variant.route == "popcount":
            yield binarize_for(variant)
        if isinstance(variant, Matmul) and variant.num_splits > 1:
            yield SumSplits.model_validate({"num_splits": variant.num_splits})
