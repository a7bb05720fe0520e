"""Which constants are good where only one of many is taken, and which go with a weight format at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from wgslgen.formats import Format
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matvec import Matvec
from wgslgen.spec import Kernel

Rows = Mapping[str, Any]

LONG_ROW = 4096
"""Columns above which a row keeps more threads busy than a small workgroup has."""
STEP = 64
"""Weights of a step on the int8 route where a row has enough of them: a scale is applied once a step."""


def good_tile(k: int | None, rows: int = 4) -> dict[str, int]:
    """Return the tile of `matvec` for rows of `k` columns (None: any): the fastest, or close to it, on an H200."""
    return {"tile_rows": rows, "workgroup_size": 128 if k is not None and k > LONG_ROW else 32}


def good_matmul_tile(route: str, stored: Format, few: bool) -> dict[str, int]:
    """Return the tile of `matmul` on route tile or int8, for up to 31 tokens if `few`: good on an H200 at N = K = 4096.

    Few tokens are few tiles, so those are short along N. For int8 they are long along K, too: that took half the time
    of 64 rows and 64 columns (38 us for 78 us at 8 and 16 tokens), and three quarters of it in four parts of K. On
    route tile 32 rows took 124 us for the 180 of 64, and 52 for 63 in four parts; 64 columns of K would take 100 and
    48, but the tiles of gate and up have to fit into 16384 bytes together. Weights that are stored as floats take half
    of K at a time for that reason.
    """
    if route == "int8" and few:
        return {"tile_m": 16, "tile_n": 16, "tile_k": 128, "thread_m": 2, "thread_n": 1}
    tile_k = 32 if stored.quantised else 16
    if few:
        return {"tile_m": 16, "tile_n": 32, "tile_k": tile_k, "thread_m": 2, "thread_n": 2}
    if route == "int8":
        return {"tile_m": 64, "tile_n": 64, "tile_k": 64, "thread_m": 8, "thread_n": 4}
    return {"tile_m": 64, "tile_n": 64, "tile_k": tile_k, "thread_m": 4, "thread_n": 4}


def stored_as(stored: Format) -> dict[str, Any]:
    """Return the constants that name the format."""
    return {"format": stored.name, **({"group": stored.group} if len(stored.groups) > 1 else {})}


def matvec_constants(route: str, stored: Format, k: int | None = None) -> dict[str, Any] | None:
    """Return constants of `matvec` that the route accepts for this format; None where there are none.

    Planar comes before the file's own layout. On the float route a step is as short as it can be, which keeps
    registers free; on int8 it has STEP weights, or fewer where a row of `k` columns would leave more than a quarter
    of the threads idle.
    """
    groups: Iterable[int | None] = (128, 64, 32) if route == "int8" else (None,)
    for layout in ("planar", "ggml"):
        for words in _step_words(route, stored, k):
            for group in groups:
                constants = {"kernel": "matvec", **stored_as(stored), "layout": layout, "route": route}
                if words not in (None, Matvec.model_fields["step_words"].default):
                    constants["step_words"] = words
                if group is not None:
                    constants["activation_group"] = group
                if makes(Matvec, constants):
                    return constants
    return None


def matmul_constants(route: str, stored: Format) -> dict[str, Any] | None:
    """Return constants of `matmul` that the route accepts for this format, its tile aside; None where there are none.

    Planar comes before the file's own layout. A step is as short as it can be, so that a tile of K has enough of them.
    """
    groups: Iterable[int | None] = (64, 32) if route == "int8" else (None,)
    for layout in ("planar", "ggml"):
        for words in (None,) if stored.step else (1, 2, 4):
            for group in groups:
                constants = {"kernel": "matmul", **stored_as(stored), "layout": layout, "route": route}
                if words not in (None, Matmul.model_fields["step_words"].default):
                    constants["step_words"] = words
                if group is not None:
                    constants["activation_group"] = group
                if makes(Matmul, constants):
                    return constants
    return None


def _step_words(route: str, stored: Format, k: int | None) -> Sequence[int | None]:
    """Return step widths in u32 words, the best first; None for a format with steps of its own."""
    if stored.step is not None:
        return (None,)
    if route != "int8":
        return (1, 2, 4)
    busy = good_tile(k)["workgroup_size"] * 3 // 4
    most = STEP if k is None else min(STEP, k // busy)
    fitting = [words for words in (4, 2, 1) if words * 32 // stored.bits <= most]
    return [*fitting, *(words for words in (1, 2, 4) if words not in fitting)]


def makes(kernel: type[Kernel], constants: Rows) -> bool:
    """Tell whether the kernel accepts these constants."""
    try:
        kernel(**{name: value for name, value in constants.items() if name != "kernel"})
    except ValidationError:
        return False
    return True
