"""Route `tile`: weights and activations of a tile lie decoded in workgroup memory, sums in registers.

A workgroup makes TILE_M x TILE_N results, THREAD_M x THREAD_N a thread, and walks along K in tiles of TILE_K. Both
operands lie as rows of vec4s along K, whose place is exchanged by the low bits of the row, so that threads that read
one column of many rows meet different banks. A product of four is a `dot`, and a result is summed over 512 columns
before it joins the others, so no chain of additions is long.

`operand` is what they lie as. f32 holds every weight times activation that f32 can; f16 rounds both and takes half of
the memory: activations and weights past +-65504 stay there, and those under 2^-14 may count as zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from wgslgen.kernels.matmul_routes.base import Route
from wgslgen.spec import F16_MAX, Const, Tolerance, WorkgroupVariable

if TYPE_CHECKING:
    from wgslgen.kernels.matmul import Matmul

MOST_SUMS = 64
CHAIN = 512
"""Columns whose products are added up before they join the others."""
MOST_THREADS = 256
F32_SUMS = Tolerance(
    nmse=1e-12,
    element=2.0**-19,
    derivation=(
        "operands are exact in f32 but for a minimum's addition, so an error is at most (adds in a chain) * 2^-24 of "
        "the magnitudes added; chains are 128 and then K / 512 long, 160 at K = 16384. Their errors have both signs: "
        "six standard deviations, 0.29 * 2^-24 a step, are 22 units of 2^-24, and 2^-19 is 32"
    ),
)


def narrow_sums(v: Matmul) -> Tolerance:
    """Return the bound of f32 sums whose operands are rounded to f16, for activations that are f16 numbers already."""
    if v.weight_format.exact_in_f16:
        return F32_SUMS
    return Tolerance(
        nmse=1e-7,
        row=2.5e-7,
        element=2.0**-10,
        derivation=(
            "weights are rounded to f16, by up to 2^-11 of themselves and by 4.3e-8 of their square on average; sums "
            "are f32. The rounding of activations, as much again, is not counted: the oracle's are f16 numbers. A "
            "token's large products are few, so its own NMSE may be some times the average: 1.7e-7 is the most that "
            "exact sums of rounded weights gave, over all formats, where results that cancel are measured by their "
            "squared products"
        ),
    )


class Tile(Route):
    """Register tiles over operands in workgroup memory."""

    name: ClassVar[str] = "tile"
    takes: ClassVar[Mapping[str, Any]] = {
        "tile_m": 64,
        "tile_n": 64,
        "tile_k": 32,
        "thread_m": 4,
        "thread_n": 4,
        "operand": "f32",
    }
    plain: ClassVar[Mapping[str, Any]] = {
        "tile_m": 8,
        "tile_n": 8,
        "thread_m": 1,
        "thread_n": 1,
    }

    def refusals(self, v: Matmul) -> Iterator[str]:
        """Yield tiles that threads do not divide, and steps that reach over a K tile."""
        yield from tile_refusals(v)
        sums = v.matrices * v.size.thread_m * v.size.thread_n
        if sums > MOST_SUMS:
            yield f"a thread has {sums} sums; at most {MOST_SUMS}"

    def consts(self, v: Matmul) -> Iterator[Const]:
        """Yield how many fours of K a tile has, threads along M and N, and f16's end where operands are rounded."""
        yield Const(name="TILE_FOURS", type="u32", value=v.size.k // 4)
        yield Const(name="SUM_TILES", type="u32", value=max(1, CHAIN // v.size.k))
        yield Const(name="TILE_STEPS", type="u32", value=v.size.k // v.step_elements)
        yield Const(name="THREADS_M", type="u32", value=v.size.m // v.size.thread_m)
        yield Const(name="THREADS_N", type="u32", value=v.size.n // v.size.thread_n)
        if v.operand == "f16" and v.output != "f16":
            yield F16_MAX

    def shared(self, v: Matmul) -> tuple[WorkgroupVariable, ...]:
        """Return the operands' tiles."""
        element, fours = f"vec4<{v.operand}>", v.size.k // 4
        rows = "TILE_N" if v.matrices == 1 else f"{v.matrices}u * TILE_N"
        return (
            WorkgroupVariable(name="x_tile", element=element, length="TILE_M * TILE_FOURS", count=v.size.m * fours),
            WorkgroupVariable(
                name="w_tile", element=element, length=f"{rows} * TILE_FOURS", count=v.matrices * v.size.n * fours
            ),
        )

    def threads(self, v: Matmul) -> int:
        """Return a thread for each THREAD_M x THREAD_N results."""
        return (v.size.m // v.size.thread_m) * (v.size.n // v.size.thread_n)

    def tolerance(self, v: Matmul) -> Tolerance:
        """Return the bound by what the operands lie as."""
        return narrow_sums(v) if v.operand == "f16" else F32_SUMS

    def features(self, v: Matmul) -> tuple[str, ...]:
        """Return f16 where operands are rounded to it."""
        return ("shader-f16",) if v.operand == "f16" else ()


def tile_refusals(v: Matmul) -> Iterator[str]:
    """Yield tiles that threads do not divide, too many threads, and steps that reach over a K tile."""
    for tile, thread, name in ((v.size.m, v.size.thread_m, "m"), (v.size.n, v.size.thread_n, "n")):
        if tile % thread:
            yield f"thread_{name} {thread} does not divide tile_{name} {tile}"
    threads = (v.size.m // v.size.thread_m) * (v.size.n // v.size.thread_n)
    if not 1 <= threads <= MOST_THREADS:
        yield f"the tile takes {threads} threads; from 1 to {MOST_THREADS} make a workgroup"
    if v.size.k % v.step_span:
        yield f"steps of {v.weight_format.name} fill runs of {v.step_span} weights; tile_k {v.size.k} is not whole runs"
