"""Route `int8`: activations come from `quantize_q8`, four products are a `dot4I8Packed`, sums in registers.

A workgroup makes TILE_M x TILE_N results, THREAD_M x THREAD_N a thread, and walks along K in tiles of TILE_K. The
codes of a tile lie in workgroup memory as signed bytes, sixteen a vec4, with the scales beside them. Rows lie an odd
number of vec4s apart, so that all places of a thread are one register and constants. (With places exchanged by an
exclusive or, which needs no room, an H200 took a tenth more time: its integer units have the products to make.)

A *segment* is the stretch under one scale of the weights and one of the activations; its products are summed in i32,
exactly: 128 of at most 128 x 127 stay under 2^21. Then the scales make an f32 of it, and zero point and minimum come
in through the sum of the activations, which `quantize_q8` stores for each group; where a segment is shorter than the
group its sum is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wgslgen import wgsltypes
from wgslgen.kernels.matmul_routes.base import Route
from wgslgen.kernels.matmul_routes.tile import CHAIN, MOST_SUMS, tile_refusals
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.spec import Binding, Const, Tolerance, WorkgroupVariable

if TYPE_CHECKING:
    from wgslgen.kernels.matmul import Matmul

SHORT = 64
"""Weights of a segment below which sums have two levels, which takes a tenth more time."""
SUMS = Tolerance(
    nmse=1e-12,
    element=2.0**-20,
    derivation=(
        "products of a segment are summed as integers, exactly; scaling rounds three times, and a result adds them up "
        "in chains of K / segment, or of 512 / segment and then K / 512 where segments are short: at most 256 steps at "
        "K = 16384. Their errors have both signs: six standard deviations, 0.29 * 2^-24 a step of a sum that grows "
        "evenly, are 16 units of 2^-24 of the magnitudes added"
    ),
)


class Int8(Route):
    """Register tiles over signed bytes in workgroup memory."""

    name: ClassVar[str] = "int8"
    takes: ClassVar[Mapping[str, Any]] = {
        "tile_m": 64,
        "tile_n": 64,
        "tile_k": 64,
        "thread_m": 4,
        "thread_n": 4,
        "activation_group": 32,
    }
    decode: ClassVar[Literal["value4", "packed4"] | None] = "packed4"
    plain: ClassVar[Mapping[str, Any]] = {"tile_m": 8, "tile_n": 8, "tile_k": 128, "thread_m": 1, "thread_n": 1}
    what: ClassVar[frozenset[str]] = frozenset({"activation_group"})
    strided: ClassVar[bool] = False

    def refusals(self, v: Matmul) -> Iterator[str]:
        """Yield what the codes, the tile or the groups do not allow."""
        fmt, group = v.weight_format, v.activation_group or 1
        if fmt.int8_stride is None:
            yield f"{fmt.name} has no codes for route int8; use route tile"
            return
        if v.activation != "f32":
            yield "route int8 reads what quantize_q8 wrote; leave activation at f32 and choose it there"
        if fmt.group % group:
            yield f"activation_group {group} does not divide the block of {fmt.group} weights"
        if not v.whole_vectors:
            yield f"a step of {v.step_elements} weights of {fmt.name} is not whole vec4s of codes; use step_words 4"
        yield from tile_refusals(v)
        sums = v.matrices * v.size.thread_m * v.size.thread_n
        if sums > MOST_SUMS:
            yield f"a thread has {sums} sums; at most {MOST_SUMS}"

    def consts(self, v: Matmul) -> Iterator[Const]:
        """Yield how a tile is made up of vec4s, steps and segments."""
        segment = segment_of(v)
        numbers = {
            "TILE_VECTORS": v.size.k // 16,
            "TILE_STEPS": v.size.k // v.step_elements,
            "TILE_SEGMENTS": v.size.k // segment,
            "TILE_STRIDE": stride_of(v),
            "TILE_GROUPS": groups_of(v),
            "SEGMENTS_PER_GROUP": v.size.k // segment // groups_of(v),
            "SEGMENT_VECTORS": segment // 16,
            "THREADS_M": v.size.m // v.size.thread_m,
            "THREADS_N": v.size.n // v.size.thread_n,
        }
        if two_levels(v):
            numbers["SUM_TILES"] = max(1, CHAIN // v.size.k)
        for name, value in numbers.items():
            yield Const(name=name, type="u32", value=value)

    def activations(self, v: Matmul) -> tuple[Binding, ...]:
        """Return the buffers that `quantize_q8` writes."""
        x8 = Binding(
            name="x8",
            access="read",
            element="vec4<u32>",
            length=f"{v.x_rows} * K // 16",
            doc=f"int8 activations {v.x_shape} as quantize_q8 writes them with stride {v.weight_format.int8_stride}",
        )
        scale = Binding(
            name="x_scale",
            access="read",
            element="vec2<f32>",
            length=f"{v.x_rows} * K // ACTIVATION_GROUP",
            doc="scale and sum of the integers of each activation group",
        )
        return (x8, scale)

    def shared(self, v: Matmul) -> tuple[WorkgroupVariable, ...]:
        """Return codes and scales of both operands."""
        return tuple(
            WorkgroupVariable(name=name, element=element, length=length, count=count)
            for name, element, length, count in arrays_of(v, stride_of(v))
        )

    def threads(self, v: Matmul) -> int:
        """Return a thread for each THREAD_M x THREAD_N results."""
        return (v.size.m // v.size.thread_m) * (v.size.n // v.size.thread_n)

    def tolerance(self, v: Matmul) -> Tolerance:  # noqa: ARG002  # whatever the tile
        """Return the bound of sums of exact segments."""
        return SUMS

    def template_values(self, v: Matmul) -> dict[str, Any]:
        """Return which word of a step stands at each place of its vec4s, and how many segments a step reaches over."""
        words = sorted(range(len(v.four_offsets)), key=lambda at: v.four_offsets[at])
        segment = segment_of(v)
        return {
            "words": words,
            "step_segments": max(1, v.step_elements // segment),
            "opens": max(1, segment // v.step_elements),
            "two_levels": two_levels(v),
            "own_sums": v.needs_sum and segment < (v.activation_group or 1),
        }


def two_levels(v: Matmul) -> bool:
    """Return whether short segments make so many f32 additions that they are done in two levels."""
    return segment_of(v) < SHORT


def segment_of(v: Matmul) -> int:
    """Return the weights of a segment: as many as lie in one tile under one scale of either side."""
    return min(v.size.k, v.weight_format.scale_group, v.activation_group or 1)


def groups_of(v: Matmul) -> int:
    """Return the groups of activations that a tile reaches into."""
    return max(1, v.size.k // (v.activation_group or 1))


def stride_of(v: Matmul) -> int:
    """Return the vec4s from a row to the next: odd, so that a column of many rows meets all banks.

    Where the default limits hold the tile only with its rows close together, they are: a read in four steps costs
    less than to be refused.
    """
    close, odd = v.size.k // 16, v.size.k // 16 | 1
    most = DEFAULT_LIMITS["maxComputeWorkgroupStorageSize"]
    sizes = ({name: (element, count) for name, element, _, count in arrays_of(v, stride)} for stride in (close, odd))
    fits = [wgsltypes.workgroup_bytes(arrays) <= most for arrays in sizes]
    return close if fits == [True, False] else odd


def arrays_of(v: Matmul, stride: int) -> Iterator[tuple[str, str, str, int]]:
    """Yield name, element, length and number of elements of codes and scales, rows of codes `stride` vec4s apart."""
    segments, groups, of_w = v.size.k // segment_of(v), groups_of(v), v.matrices * v.size.n
    rows = "TILE_N" if v.matrices == 1 else f"{v.matrices}u * TILE_N"
    yield "x_tile", "vec4<u32>", "TILE_M * TILE_STRIDE", v.size.m * stride
    yield "w_tile", "vec4<u32>", f"{rows} * TILE_STRIDE", of_w * stride
    yield "x_scales", "vec2<f32>", "TILE_M * TILE_GROUPS", v.size.m * groups
    scale = "vec2<f32>" if v.weight_format.has_minimum else "f32"
    yield "w_scales", scale, f"{rows} * TILE_SEGMENTS", of_w * segments
