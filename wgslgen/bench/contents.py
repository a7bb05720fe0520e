"""What lies in the buffers of a measurement: a short run of bytes for each binding, to be repeated to its end.

Times depend on what numbers are like, not on what they are: so weights are random blocks under ordinary scales, ids
are spread over the table, sequences are as long as the cache, floats lie between -1 and 1, and nothing is subnormal.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wgslgen import expr, layouts, wgsltypes
from wgslgen.formats import Format
from wgslgen.kernels.weighted import Weighted
from wgslgen.spec import Binding, Kernel

RUN = 4096
"""Elements of a run, or a little more."""
MOST_IDS = 1 << 20


def run_of(variant: Kernel, binding: Binding, sizes: Mapping[str, int], rng: np.random.Generator) -> bytes:
    """Return bytes for `binding` that make sense when they follow one another over and over; a multiple of 4."""
    if binding.below is not None:
        return _bounded(binding, {**variant.const_values, **sizes}, rng).tobytes()
    if isinstance(variant, Weighted) and binding.name in {plane.name for plane in variant.weight_bindings()}:
        return _weights(variant, binding.name, rng).tobytes()
    if binding.name.endswith("_scales"):  # of a quantised cache: f16 in pairs
        return rng.uniform(0.01, 0.05, RUN).astype(np.float16).tobytes()
    scalar = wgsltypes.scalar_of(binding.element)
    if scalar in ("f32", "f16"):
        return _floats(rng).astype(wgsltypes.SCALARS[scalar]).tobytes()
    return rng.integers(0, 2**32, RUN, dtype=np.uint32).tobytes()


def _floats(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return numbers with magnitudes from 2^-10 to 1, of both signs."""
    return np.asarray(rng.uniform(2.0**-10, 1.0, RUN) * rng.choice([-1.0, 1.0], RUN))


def _bounded(binding: Binding, values: Mapping[str, int], rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return numbers that the binding allows: lengths the largest, ids spread evenly, each once where they must be."""
    most = max(expr.evaluate(str(binding.below), values), 1)
    if binding.name == "lengths":
        return np.full(1, most - 1, np.uint32)
    wanted = max(expr.evaluate(binding.length, values), 1)
    if binding.distinct:
        return rng.permutation(most)[:wanted].astype(np.uint32)
    return rng.integers(0, most, min(wanted, MOST_IDS), dtype=np.uint32)


def _weights(variant: Weighted, plane: str, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return a plane of a few rows of random weights: whole blocks and words, so that more of them may follow."""
    fmt = variant.weight_format
    if plane == layouts.GRID:
        grid = fmt.grid()
        if grid is None:
            raise TypeError(f"{fmt} has no table")  # its spec would not bind one
        return grid.copy()
    if variant.in_planes:  # a weight is +d, -d or neither, never both
        if plane == "scales":
            halves = rng.uniform(0.01, 0.05, RUN).astype(np.float16)
            return np.frombuffer(halves.tobytes(), np.uint32)
        every_other = np.uint32(0x55555555 if plane == "plus" else 0xAAAAAAAA)
        return rng.integers(0, 2**32, RUN, dtype=np.uint32) & every_other
    rows, columns = 8 * variant.row_tile, 16 * (fmt.group if fmt.quantised else 32)
    return layouts.pack(fmt, variant.layout, _sensible(fmt, rows, columns, rng), rows, columns)[plane]


def _sensible(fmt: Format, rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return random rows of the format, under scales from 0.01 to 0.05 where a block has one f16 of its own."""
    if not fmt.quantised:
        return fmt.quantise(rng.uniform(0.01, 1.0, (rows, columns)).astype(np.float32)).reshape(-1)
    raw = fmt.random_blocks(rows, columns, rng)
    if fmt.scale_offset is None:
        return raw.reshape(-1)
    blocks = raw.reshape(-1, fmt.block_bytes).copy()
    scales = rng.uniform(0.01, 0.05, len(blocks)).astype("<f2").view(np.uint8).reshape(-1, 2)
    blocks[:, fmt.scale_offset : fmt.scale_offset + 2] = scales
    return blocks.reshape(-1)
