"""A weight above the limit of a binding, bound in chunks of its rows: where each chunk lies in each plane.

Offsets and sizes are those of `setBindGroup` over a buffer that holds the whole plane. Where the plane is above
maxBufferSize, too, each chunk takes a buffer of its own, filled from the same offset of the plane's bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from wgslgen import layouts
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.launch import stated_limit

ALIGNMENT = "minStorageBufferOffsetAlignment"
MOST = ("maxStorageBufferBindingSize", "maxBufferSize")


class RowChunk(NamedTuple):
    """Rows first_row to first_row + rows - 1, and of each plane by name the bytes to bind: (offset, size)."""

    first_row: int
    rows: int
    planes: dict[str, tuple[int, int]]


def row_chunks(
    fmt: Format, layout: str, n: int, k: int, limits: Mapping[str, int], multiple: int = 1
) -> list[RowChunk]:
    """Return `n` rows of `k` columns in as few chunks as the limits allow, as even as offsets let them be.

    Every chunk but the last has a multiple of `multiple` rows (the rows of a slot of `lm_head_argmax`, so that no slot
    spans two). No rows are no chunks.

    Raises UsageProblem for what the format or layout refuses, for limits that are not stated, and where the fewest
    rows that end at an aligned offset in every plane are above the limit already.
    """
    alignment, *mosts = (stated_limit(limits, name, "row chunks") for name in (ALIGNMENT, *MOST))
    most = min(mosts)
    if multiple <= 0:
        raise UsageProblem(f"row chunks: multiple is {multiple}; expected a positive number of rows")
    if n < 0:
        raise UsageProblem(f"row chunks: N = {n}; expected a number of rows")
    total = {plane: 4 * size.words for plane, size in layouts.plane_sizes(fmt, layout, n, k).items()}
    if n == 0:
        return []
    least = math.lcm(multiple, layouts.row_tile(layout))
    step = least * math.lcm(*(alignment // math.gcd(alignment, size) for size in _bytes(fmt, layout, least, k)))
    step_bytes = dict(zip(total, _bytes(fmt, layout, step, k), strict=True))
    steps = min(most // size for size in step_bytes.values())
    # Chunks beside the last are whole steps; what the last may hold decides how many there are.
    excess = {plane: max(0, size - most) for plane, size in total.items()}
    if steps == 0 and any(excess.values()):
        plane = max(step_bytes, key=lambda name: step_bytes[name])
        limit = min(MOST, key=lambda name: limits[name])
        raise UsageProblem(
            f"{fmt}, layout {layout}: rows of {k} columns reach offsets that are multiples of {alignment} bytes each "
            f"{step} rows, which are {step_bytes[plane]} bytes of plane {plane}, above the limit {limit} {most}",
            hint="request a larger limit of the device: adapters state theirs",
        )
    count = 1 + max(-(-size // (steps * step_bytes[plane])) if size else 0 for plane, size in excess.items())
    few, more = divmod(-(-n // step), count)
    # The last step may be short, so the chunks with a step more are the last ones.
    lengths = [(few + (index >= count - more)) * step for index in range(count)]
    starts = [sum(lengths[:index]) for index in range(count)]
    return [
        _chunk(first, min(rows, n - first), n, step, step_bytes, total)
        for first, rows in zip(starts, lengths, strict=True)
    ]


def _chunk(
    first: int, rows: int, n: int, step: int, step_bytes: Mapping[str, int], total: Mapping[str, int]
) -> RowChunk:
    """Return the chunk of `rows` rows from `first`; one that ends with the weight ends with its planes' last words."""
    offsets = {plane: first // step * size for plane, size in step_bytes.items()}
    ends = total if first + rows == n else {p: (first + rows) // step * size for p, size in step_bytes.items()}
    return RowChunk(first, rows, {plane: (at, ends[plane] - at) for plane, at in offsets.items()})


def _bytes(fmt: Format, layout: str, n: int, k: int) -> list[int]:
    """Return the bytes of each plane that `n` rows fill."""
    return [size.content_bytes for size in layouts.plane_sizes(fmt, layout, n, k).values()]
