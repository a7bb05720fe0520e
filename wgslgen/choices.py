"""Which constants are good where only one of many is taken, and which go with a weight format at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from wgslgen.formats import Format
from wgslgen.kernels.matvec import Matvec
from wgslgen.spec import Kernel

Rows = Mapping[str, Any]

GOOD_TILE: dict[str, Rows] = {
    "float": {"tile_rows": 8, "workgroup_size": 64},
    "int8": {"tile_rows": 4, "workgroup_size": 32},
}
"""The tile of `matvec`: the fastest, or close to it, on an H200 at N x K of 4096 x 4096 and above."""


def stored_as(stored: Format) -> dict[str, Any]:
    """Return the constants that name the format."""
    return {"format": stored.name, **({"group": stored.group} if len(stored.groups) > 1 else {})}


def matvec_constants(route: str, stored: Format) -> dict[str, Any] | None:
    """Return the first constants of `matvec` that the route accepts for this format; None where none do.

    Wide loads come before narrow ones, and planar before the file's own layout.
    """
    groups: Iterable[int | None] = (128, 64, 32) if route == "int8" else (None,)
    for layout in ("planar", "ggml"):
        for words in (4, 2, 1):
            for group in groups:
                constants = {"kernel": "matvec", **stored_as(stored), "layout": layout, "route": route}
                if words != Matvec.model_fields["step_words"].default:
                    constants["step_words"] = words
                if group is not None:
                    constants["activation_group"] = group
                if makes(Matvec, constants):
                    return constants
    return None


def makes(kernel: type[Kernel], constants: Rows) -> bool:
    """Tell whether the kernel accepts these constants."""
    try:
        kernel(**{name: value for name, value in constants.items() if name != "kernel"})
    except ValidationError:
        return False
    return True
