"""`rms_norm`: y = x * weight / sqrt(mean(x * x) + EPS) for each of M rows of D elements.

A workgroup makes one row and goes over it twice: squares, then results. f16 input is squared in f32, so the sum
cannot leave the range there: D * 65504^2 is far inside f32.

At the edges: a row of zeros gives zeros, for EPS above 0, which the caller must see to. Squares of f32 input
below 1e-19 vanish beside EPS. The squares of an f32 row must sum up to less than 3.4e38, as they do for |x| to
1e17 and D to 32768; above it results are not defined. f16 results past +-65504 stay there. M = 0 is no dispatch.
D need not be a multiple of what the workgroup loads at once, only of VECTOR. y must be another buffer than x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.reduction import Reduction
from wgslgen.spec import (
    F16_MAX,
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

PRIME_ABOVE = {64: 67, 128: 131, 256: 257}


class RmsNorm(Kernel):
    """Constants of `rms_norm`."""

    NAME = "rms_norm"
    SUMMARY = "y = x weight / sqrt(mean(x x) + eps), row by row"
    SIZES = ("M", "D")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x and y", "what", "x{}")] = "f32"
    d: Annotated[int | None, Constant("elements of a row, baked in; else a uniform", "what", "d{}", "D")] = None
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("add up by subgroup built-ins", "how", "sg")] = False

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        if self.d is not None and (self.d <= 0 or self.d % self.vector):
            yield f"d {self.d} is not a positive multiple of vector {self.vector}"

    @property
    def reduction(self) -> Reduction:
        """The sum of a row's squares."""
        return Reduction(self.workgroup_size, self.subgroups)

    def consts(self) -> Iterator[Const]:
        """Yield the numbers of the reduction, and where f16 ends."""
        yield from self.reduction.consts()
        if self.activation == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return input, weight and result."""
        loads = "" if self.vector == 1 else f" // {self.vector}"
        return (
            Binding(
                name="x",
                access="read",
                element=self._of(self.activation),
                length=f"M * D{loads}",
                doc="input [M][D]",
            ),
            Binding(name="weight", access="read", element=self._of("f32"), length=f"D{loads}", doc="weight [D], f32"),
            Binding(
                name="y",
                access="read_write",
                element=self._of(self.activation),
                length=f"M * D{loads}",
                doc="result [M][D]",
            ),
        )

    def _of(self, scalar: str) -> str:
        """Return the type of one load."""
        return scalar if self.vector == 1 else f"vec{self.vector}<{scalar}>"

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked, and EPS, which the caller gives."""
        d = UniformField(name="d", type="u32", value="D", doc="elements of a row")
        return (
            UniformField(name="m", type="u32", value="M", doc="rows"),
            *((d,) if self.d is None else ()),
            UniformField(name="eps", type="f32", value="EPS", doc="added to the mean square; above 0"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each row."""
        return "M"

    def threads(self) -> int:
        """Return the invocations of a workgroup."""
        return self.workgroup_size

    def tolerance(self) -> Tolerance:
        """Return the bound of a sum of squares under a root, or of one rounding to f16 behind it."""
        if self.activation == "f16":
            return Tolerance(
                nmse=1e-6,
                element=2.0**-10,
                derivation="the rounding to f16, either neighbour; f32 errors are far below",
            )
        return Tolerance(
            nmse=1e-12,
            element=2.0**-18,
            derivation=(
                "squares add up without cancellation, so a sum is off by at most its chain of adds, "
                "D / (VECTOR * threads) + log2(threads) + 3, times 2^-24, half of it behind the root; mean, root and "
                "products add 10 * 2^-24 at most (WGSL: 2.5 ulp for the division, 2 for inverseSqrt). 2^-18 allows "
                "a chain of 100; D to 6144 for vector 1 and 64 threads"
            ),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        whole = Rule(expression=f"D % {self.vector} == 0", why=f"a row must be whole loads of {self.vector} elements")
        baked = Rule(expression=f"D == {self.d}", why="D is baked in")
        return (
            Rule(expression="D > 0", why="a row without elements has no mean"),
            *((whole,) if self.vector > 1 else ()),
            *((baked,) if self.d is not None else ()),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one load of every thread."""
        tile = self.vector * self.workgroup_size
        shapes = {
            "one row, one load": (1, self.vector),
            "less than a tile": (3, 5 * self.vector),
            "one tile": (8, tile),
            "a multiple of a tile": (4, 12 * tile),
            "a prime above a tile": (17, self.vector * PRIME_ABOVE[self.workgroup_size]),
        }
        return tuple(Case(name=name, sizes={"M": m, "D": self.d or d}) for name, (m, d) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1, workgroup_size=64, subgroups=False, d=None)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of the reduction and the types of a load."""
        return {
            **self.reduction.template_values(),
            "wide_type": self._of("f32"),
            "narrow_type": self._of(self.activation),
        }
