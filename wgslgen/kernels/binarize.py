"""`binarize`: activations x [M, K] become signs with one f32 scale per group, as `matvec` route popcount reads them.

A workgroup makes one group; each of its GROUP / 4 threads holds four elements. In every group

- bit = 1, which stands for +1, for elements from zero up, both zeros among them; 0, which stands for -1, for those
  below. It is taken from the float's bits, so that no device that flushes subnormals turns a sign around. Element i
  of a row is bit i % 32 of word i / 32.
- scale = the mean magnitude, which is the scale with the least squared error for given signs. Each magnitude is
  divided by the group (a power of two, so nothing rounds) before they are added up, so that sums stay in range.

At the edges: a group of zeros gets scale 0. Magnitudes below GROUP * 2^-126 may count as 0 in the mean, because the
division makes them subnormal, which devices may flush. x must lie under 2^126 in magnitude: a compiler may divide
behind the sum of a thread's four elements instead (lavapipe's does), which must not reach infinity. M = 0 is no
dispatch; K is whole groups, so nothing is less than a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

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


class Binarize(Kernel):
    """Constants of `binarize`."""

    NAME = "binarize"
    SUMMARY = "x as signs with a scale for each group"
    SIZES = ("M", "K")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    group: Annotated[Literal[32, 64, 128], Constant("elements under one scale", "what", "g{}", "GROUP")]
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    @property
    def reduction(self) -> Reduction:
        """The mean magnitude of a group."""
        return Reduction(self.threads(), self.subgroups)

    def consts(self) -> Iterator[Const]:
        """Yield the workgroup's size, the words of a group, and what a magnitude counts in its mean."""
        yield Const(name="WORKGROUP_SIZE", type="u32", value=self.threads())
        yield from self.reduction.consts()
        yield Const(name="GROUP_WORDS", type="u32", value=self.group // 32)
        yield Const(name="INVERSE_GROUP", type="f32", value=1.0 / self.group)

    def bindings(self) -> tuple[Binding, ...]:
        """Return activations, signs and scales."""
        return (
            Binding(
                name="x",
                access="read",
                element=f"vec4<{self.activation}>",
                length="M * K // 4",
                doc="activations [M][K], under 2^126 in magnitude",
            ),
            Binding(
                name="x1",
                access="read_write",
                element="u32",
                length="M * K // 32",
                doc="signs [M][K / 32], the first element in the lowest bit; 1 is +1 and 0 is -1",
            ),
            Binding(
                name="x_scale",
                access="read_write",
                element="f32",
                length="M * K // GROUP",
                doc="mean magnitude of each group",
            ),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows of x"),
            UniformField(name="k", type="u32", value="K", doc="columns of x"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction, and where the bits of eight threads become a word."""
        bits = WorkgroupVariable(name="nibbles", element="u32", length="WORKGROUP_SIZE", count=self.threads())
        return (*self.reduction.slots(), bits)

    def workgroups(self) -> str:
        """Return one workgroup for each group."""
        return "M * K // GROUP"

    def threads(self) -> int:
        """Return the invocations of a workgroup: one for every four elements."""
        return self.group // 4

    def tolerance(self) -> Tolerance:
        """Return the bound of the mean; signs are judged bit for bit."""
        return Tolerance(
            nmse=1e-12,
            element=2.0**-20,
            derivation=(
                "signs are exact; the division by the group rounds nothing, and the mean is a chain of at most 3 + 8 "
                "adds of magnitudes, each within 2^-24 of their sum"
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
        """Return the structure of the reduction."""
        return self.reduction.template_values()
