"""`copy_strided`: y[DST_OFFSET + i0 D0 + i1 D1 + i2 D2 + i3 D3] = x[SRC_OFFSET + i0 A0 + i1 A1 + i2 A2 + i3 A3].

i runs over the shape S0 x S1 x S2 x S3; strides and offsets count elements. One kernel packs padded rows, permutes,
repeats (a source stride of 0), and spreads rows over a larger buffer. A thread moves one element, the last dimension
fastest: let that be the one whose strides are 1, for neighbouring threads to meet neighbouring elements.

From f32 to f16 numbers are rounded once, to either neighbour, and those past +-65504 stay there; from f16 to f32
they are exact. Between equal types they are moved as they are, but a device may change the bits of a NaN and flush
subnormal floats; as u32 nothing changes. u32 is copied to u32 alone.

At the edges: y is input and result, and what no index reaches stays as it is. A shape with a 0 in it is no dispatch.
Every index must lie inside its buffer (SRC_LENGTH and DST_LENGTH elements), and no element of y may be meant twice:
sizes are refused where a destination stride is 0 over several elements, or the shape has more elements than y, and
for strides that overlap in other ways it is not defined which element wins. x must be another buffer than y.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField

DIMENSIONS = range(4)
Four = tuple[int, int, int, int]


class CopyStrided(Kernel):
    """Constants of `copy_strided`."""

    NAME = "copy_strided"
    SUMMARY = "y[strided] = x[strided] over four dimensions"
    SIZES = (
        *(f"{what}{axis}" for what in "SAD" for axis in DIMENSIONS),
        "SRC_OFFSET",
        "DST_OFFSET",
        "SRC_LENGTH",
        "DST_LENGTH",
    )

    source: Annotated[Literal["f32", "f16", "u32"], Constant("element type of x", "what", "x{}")] = "f32"
    destination: Annotated[Literal["f32", "f16", "u32"], Constant("element type of y", "what", "y{}")] = "f32"
    workgroup_size: Annotated[Literal[64, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = (
        64
    )

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        if self.source != self.destination and "u32" in (self.source, self.destination):
            yield f"source {self.source} to destination {self.destination}: u32 is copied to u32 alone"

    def consts(self) -> Iterator[Const]:
        """Yield where f16 ends."""
        if self.narrows:
            yield F16_MAX

    @property
    def narrows(self) -> bool:
        """Whether numbers are rounded on the way."""
        return (self.source, self.destination) == ("f32", "f16")

    def bindings(self) -> tuple[Binding, ...]:
        """Return source and destination."""
        doc = "destination; what no index reaches stays"
        return (
            Binding(name="x", access="read", element=self.source, length="SRC_LENGTH", doc="source"),
            Binding(name="y", access="read_write", element=self.destination, length="DST_LENGTH", doc=doc, kept=True),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return shape, strides and offsets; no length, because the rules keep every index inside."""
        kinds = {"S": ("size", "elements of dimension"), "A": ("from", "source stride of dimension")}
        kinds["D"] = ("to", "destination stride of dimension")
        return (
            *(
                UniformField(name=f"{name}_{axis}", type="u32", value=f"{what}{axis}", doc=f"{doc} {axis}")
                for what, (name, doc) in kinds.items()
                for axis in DIMENSIONS
            ),
            UniformField(name="from_offset", type="u32", value="SRC_OFFSET", doc="first element of the source"),
            UniformField(name="to_offset", type="u32", value="DST_OFFSET", doc="first element of the destination"),
        )

    def workgroups(self) -> str:
        """Return a thread for every element."""
        return "ceil_div(S0 * S1 * S2 * S3, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return that elements are equal, or the bound of one rounding."""
        if self.narrows:
            return Tolerance(nmse=1e-6, element=2.0**-10, derivation="the rounding to f16: either neighbour")
        return Tolerance(nmse=0.0, element=0.0, derivation="elements are moved, or widened exactly")

    def rules(self) -> tuple[Rule, ...]:
        """Return that every index lies inside, and what can be said of elements that are meant twice."""
        none = "S0 * S1 * S2 * S3 == 0"
        last = {what: " + ".join(f"(max(S{axis}, 1) - 1) * {what}{axis}" for axis in DIMENSIONS) for what in "AD"}
        return (
            Rule(expression=f"{none} or SRC_OFFSET + {last['A']} < SRC_LENGTH", why="the source ends before that"),
            Rule(expression=f"{none} or DST_OFFSET + {last['D']} < DST_LENGTH", why="the destination ends before that"),
            *(
                Rule(expression=f"S{axis} <= 1 or D{axis} > 0", why="elements would be written over each other")
                for axis in DIMENSIONS
            ),
            Rule(expression="S0 * S1 * S2 * S3 <= DST_LENGTH", why="elements would be written over each other"),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: shape, source strides and offset, destination strides and offset."""
        shapes: dict[str, tuple[Four, Four, int, Four, int]] = {
            "one element": ((1, 1, 1, 1), (0, 0, 0, 0), 0, (0, 0, 0, 0), 0),
            "contiguous, one workgroup": ((1, 1, 1, 64), (64, 64, 64, 1), 0, (64, 64, 64, 1), 0),
            "padded rows are packed": ((1, 2, 3, 67), (0, 417, 131, 1), 5, (402, 201, 67, 1), 0),
            "packed rows are spread": ((1, 1, 5, 31), (0, 0, 31, 1), 0, (0, 0, 40, 1), 3),
            "permuted": ((3, 4, 5, 7), (1, 3, 12, 60), 0, (140, 35, 7, 1), 0),
            "repeated": ((2, 3, 4, 5), (0, 5, 0, 1), 2, (60, 20, 5, 1), 1),
            "one element repeated": ((1, 1, 1, 300), (0, 0, 0, 0), 0, (0, 0, 0, 2), 0),
            "transposed into a larger one": ((1, 1, 37, 41), (0, 0, 1, 37), 0, (0, 0, 1, 43), 11),
        }
        return tuple(
            Case(name=name, sizes=sizes_of(shape, source, destination, offsets=(start, to), behind=3))
            for name, (shape, source, start, destination, to) in shapes.items()
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64)

    def template_values(self) -> dict[str, Any]:
        """Return the types of an element."""
        return {"wide_type": "f32", "narrow_type": self.destination}


def sizes_of(
    shape: Four, source: Four, destination: Four, offsets: tuple[int, int] = (0, 0), behind: int = 0
) -> dict[str, int]:
    """Return the sizes for a shape, strides and offsets, with buffers that end `behind` elements after the last."""
    groups = zip("SAD", (shape, source, destination), strict=True)
    sizes = {f"{letter}{axis}": numbers[axis] for letter, numbers in groups for axis in DIMENSIONS}
    for name, strides, offset in zip(("SRC", "DST"), (source, destination), offsets, strict=True):
        last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        sizes |= {f"{name}_OFFSET": offset, f"{name}_LENGTH": offset + last + 1 + behind}
    return sizes
