"""`quantize_q8`: activations x [M, K] become int8 with one f32 scale per group, as `matvec` route int8 reads them.

A workgroup makes one group; each of its GROUP / 4 threads holds four elements. In every group

- scale = (largest magnitude) * f32(1 / 127). A multiplication, because WGSL rounds it correctly, while its
  division may be off by 2.5 ulp: so the scale is the same on every device, and 127 has scale 1.
- integer = x / scale, rounded half to even, from -127 to 127. It is found in whole numbers from the floats'
  bits, for the same reason: no device moves a tie.
- x_scale holds the scale and the sum of the group's integers, which f32 holds exactly.

At the edges: a group whose largest magnitude is below SMALLEST = 127 * 2^-126 (zeros among them) gets scale 0,
zeros and sum 0, because its scale would be subnormal, which devices may flush. Subnormal elements beside a
larger one round like any others. x must be finite: what infinity and NaN give is not defined. M = 0 is no
dispatch; K is whole groups, so nothing is less than a tile.

Byte order: within every 4 * STRIDE elements, word i holds elements i, STRIDE + i, 2 * STRIDE + i and
3 * STRIDE + i in its bytes 0 to 3. STRIDE is the weight format's `int8_stride`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels import q8
from wgslgen.kernels.reduction import Reduction
from wgslgen.spec import (
    Binding,
    Case,
    Const,
    Constant,
    Kernel,
    Rule,
    Tolerance,
    UniformField,
    WorkgroupVariable,
)


class QuantizeQ8(Kernel):
    """Constants of `quantize_q8`."""

    NAME = "quantize_q8"
    SUMMARY = "x as int8 with a scale and a sum for each group"
    SIZES = ("M", "K")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    group: Annotated[Literal[32, 64, 128], Constant("elements under one scale", "what", "g{}", "GROUP")]
    stride: Annotated[Literal[1, 4, 8], Constant("distance between the elements of a word", "what", "s{}", "STRIDE")]
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    @property
    def reduction(self) -> Reduction:
        """The largest magnitude of a group, and the sum of its integers."""
        return Reduction(self.threads(), self.subgroups, ops=("max", "sum"))

    def consts(self) -> Iterator[Const]:
        """Yield the workgroup's size, and the numbers that the scale is made of."""
        yield Const(name="WORKGROUP_SIZE", type="u32", value=self.threads())
        yield from self.reduction.consts()
        yield from q8.scale_consts()

    def bindings(self) -> tuple[Binding, ...]:
        """Return activations, integers, and scales with sums."""
        return (
            Binding(
                name="x",
                access="read",
                element=f"vec4<{self.activation}>",
                length="M * K // 4",
                doc="activations [M][K], finite",
            ),
            *q8.outputs("M * K", "GROUP", self.stride, "[M][K]"),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows of x"),
            UniformField(name="k", type="u32", value="K", doc="columns of x"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the two reductions, and the words through which the integers change places."""
        words = (q8.words_variable("WORKGROUP_SIZE", self.threads()),) if self.stride > 1 else ()
        return (*self.reduction.slots(), *words)

    def workgroups(self) -> str:
        """Return one workgroup for each group."""
        return "M * K // GROUP"

    def threads(self) -> int:
        """Return the invocations of a workgroup: one for every four elements."""
        return self.group // 4

    def tolerance(self) -> Tolerance:
        """Return the bound of the scale; integers and sums are judged exactly."""
        return Tolerance(
            nmse=1e-12,
            element=2.0**-23,
            derivation=(
                "the scale is one correctly rounded product: either neighbour; sums are whole numbers below 2^24 "
                "and must be equal; integers are exact but for values within one ulp of a rounding tie"
            ),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return that rows are whole groups."""
        return (Rule(expression="K % GROUP == 0", why=f"a row must be whole groups of {self.group} elements"),)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a workgroup's tile is one group."""
        shapes = {
            "one group": (1, 1),
            "one row, a multiple": (1, 8),
            "one column of groups": (5, 1),
            "primes": (7, 11),
        }
        return tuple(Case(name=name, sizes={"M": m, "K": groups * self.group}) for name, (m, groups) in shapes.items())

    def plain(self) -> Self:
        """Return the form in workgroup memory."""
        return self.changed(subgroups=False)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of the reductions, and the byte order."""
        return {**self.reduction.template_values(), "q8_stride": self.stride}
