"""`rms_norm`: y = x * weight / sqrt(mean(x * x) + EPS) for each of M rows of D elements.

A workgroup makes one row and goes over it twice: squares, then results. f16 input is squared in f32, so the sum
cannot leave the range there: D * 65504^2 is far inside f32.

- `residual`: the running sum of a decoder, [M][D], is read, x is added to it, and the sum is written back in its
  place; y is the norm of the sum as f32 holds it. This is the in-place form: residual is input and output, x only
  read. In f16, sums past +-65504 stay there, in residual; y is made from the sum before that.
- `q8_group` and `q8_stride`: instead of y the kernel stores x8 and x_scale, the int8 activations that `quantize_q8`
  would make of the f32 results, for `matvec` route int8. D is whole groups; f16 then bounds inputs only.

At the edges: a row of zeros gives zeros, for EPS above 0, which the caller must see to. Squares of f32 input
below 1e-19 vanish beside EPS. The squares of an f32 row must sum up to less than 3.4e38, as they do for |x| (or the
sum with residual) to 1e17 and D to 32768; above it results are not defined. f16 results past +-65504 stay there.
M = 0 is no dispatch. D need not be a multiple of what the workgroup loads at once, only of VECTOR, or of the group.
No two bindings may share memory: y must be another buffer than x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels import q8
from wgslgen.kernels.reduction import Reduction
from wgslgen.spec import (
    F16_MAX,
    Alone,
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

PRIME_ABOVE = {2: 3, 4: 5, 8: 11, 16: 17, 32: 37, 64: 67, 128: 131, 256: 257}
"""The first prime above each number of loads, or of groups, that a workgroup takes at once."""


class RmsNorm(Kernel):
    """Constants of `rms_norm`."""

    NAME = "rms_norm"
    SUMMARY = "y = x weight / sqrt(mean(x x) + eps), row by row"
    SIZES = ("M", "D")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x, residual and y", "what", "x{}")] = "f32"
    residual: Annotated[bool, Constant("add x to the running sum first, and keep it", "what", "res")] = False
    q8_group: q8.Group = None
    q8_stride: q8.Stride = None
    d: Annotated[int | None, Constant("elements of a row, baked in; else a uniform", "what", "d{}", "D")] = None
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("add up by subgroup built-ins", "how", "sg")] = False

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from q8.refusals(self.workgroup_size, self.q8_group, self.q8_stride)
        if self.q8_group is not None and self.vector != 4:
            yield f"int8 results are stored four a word; use vector 4 with q8_group, not {self.vector}"
        if self.d is not None and (self.d <= 0 or self.d % self.unit):
            unit = f"vector {self.vector}" if self.q8_group is None else f"q8_group {self.q8_group}"
            yield f"d {self.d} is not a positive multiple of {unit}"

    @property
    def reduction(self) -> Reduction:
        """The sum of a row's squares."""
        return Reduction(self.workgroup_size, self.subgroups)

    @property
    def int8(self) -> q8.Q8 | None:
        """How the result is stored as int8; None where it is stored as it is."""
        return q8.Q8.of(self.workgroup_size, self.q8_group, self.q8_stride)

    @property
    def unit(self) -> int:
        """What a row is whole multiples of: elements of a load, or of a group."""
        return self.q8_group or self.vector

    @property
    def narrows(self) -> bool:
        """Whether anything is stored as f16."""
        return self.activation == "f16" and (self.residual or self.int8 is None)

    def consts(self) -> Iterator[Const]:
        """Yield the numbers of the reduction and of int8 results, and where f16 ends."""
        yield from self.reduction.consts()
        if self.int8:
            yield from self.int8.consts()
        if self.narrows:
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return input, running sum, weight and result."""
        x = self._rows("x", "read", "input [M][D]")
        running = self._rows("residual", "read_write", "running sum [M][D]; x is added to it", kept=True)
        loads = "" if self.vector == 1 else f" // {self.vector}"
        weight = Binding(
            name="weight", access="read", element=self._of("f32"), length=f"D{loads}", doc="weight [D], f32"
        )
        result = (
            self.int8.bindings("M * D", "[M][D]") if self.int8 else (self._rows("y", "read_write", "result [M][D]"),)
        )
        return (x, *((running,) if self.residual else ()), weight, *result)

    def _rows(self, name: str, access: Literal["read", "read_write"], doc: str, kept: bool = False) -> Binding:
        """Return a binding of M rows of D elements of the activations' type."""
        length = "M * D" if self.vector == 1 else f"M * D // {self.vector}"
        element = self._of(self.activation)
        return Binding(name=name, access=access, element=element, length=length, doc=doc, kept=kept)

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
        """Return the slots of the reduction, and what int8 results take."""
        return (*self.reduction.slots(), *(self.int8.workgroup_variables() if self.int8 else ()))

    def alone(self) -> Alone | None:
        """Return the norm; a running sum and int8 results are for the passes of a decoder."""
        return None if self.residual or self.int8 else Alone(op="norm", sizes=self.SIZES)

    def workgroups(self) -> str:
        """Return one workgroup for each row."""
        return "M"

    def tolerance(self) -> Tolerance:
        """Return the bound of a sum of squares under a root, or of one rounding to f16 behind it.

        It holds for y, and for the scales of int8 results; their integers and sums are judged exactly, and so is the
        running sum, which is one rounding.
        """
        if self.activation == "f16" and self.int8 is None:
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
                "products add 10 * 2^-24 at most (WGSL: 2.5 ulp for the division, 2 for inverseSqrt), the running sum "
                "and an int8 scale 2 * 2^-24. 2^-18 allows a chain of 100; D to 6144 for vector 1 and 64 threads"
            ),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        parts = "loads" if self.q8_group is None else "groups"
        whole = Rule(expression=f"D % {self.unit} == 0", why=f"a row must be whole {parts} of {self.unit} elements")
        baked = Rule(expression=f"D == {self.d}", why="D is baked in")
        return (
            Rule(expression="D > 0", why="a row without elements has no mean"),
            *((whole,) if self.unit > 1 else ()),
            *((baked,) if self.d is not None else ()),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one load of every thread, made up of loads or of groups."""
        tile, unit = self.vector * self.workgroup_size, self.unit
        shapes = {
            f"one row, one {'load' if self.q8_group is None else 'group'}": (1, unit),
            "less than a tile": (3, min(5, tile // unit // 2) * unit),
            "one tile": (8, tile),
            "a multiple of a tile": (4, 12 * tile),
            "a prime above a tile": (17, unit * PRIME_ABOVE[tile // unit]),
        }
        return tuple(Case(name=name, sizes={"M": m, "D": self.d or d}) for name, (m, d) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1 if self.int8 is None else 4, workgroup_size=64, subgroups=False, d=None)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of the reduction and of int8 results, and the types of a load."""
        return {
            **self.reduction.template_values(),
            **(self.int8.template_values() if self.int8 else {}),
            "wide_type": self._of("f32"),
            "narrow_type": self._of(self.activation),
        }
