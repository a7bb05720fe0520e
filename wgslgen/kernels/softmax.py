"""`softmax`: y = exp(s - max(s)) / sum(exp(s - max(s))) with s = x * SCALE, for each of M rows of D elements.

With `masked` s = x * SCALE + mask, for a mask [M][D] in f32. A workgroup makes one row and goes over it three times:
the largest score, the sum, the results. Without a mask the largest x is taken off before SCALE is multiplied, so
that equal elements have equal results at any magnitude.

An element is excluded where x or mask is -inf or f32's lowest number, -3.4028235e38, told by the bits: it counts
for nothing, and its result is exactly 0. So are all results of a row in which everything is excluded.

At the edges: SCALE is 0 or above. x, x * SCALE, mask and s must lie under 2^126 = 8.5e37 in magnitude, so that no
difference overflows; in f16 every finite x does, as long as SCALE is below 1e33. NaN in x or mask makes the results
of its row NaN, and touches no other row. M = 0 is no dispatch. D need not be a multiple of what the workgroup loads
at once, only of VECTOR. y must be another buffer than x and mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.reduction import Reduction
from wgslgen.spec import Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField, WorkgroupVariable

PRIME_ABOVE = {64: 67, 128: 131, 256: 257}


class Softmax(Kernel):
    """Constants of `softmax`."""

    NAME = "softmax"
    SUMMARY = "y = exp(x scale - max) / sum, row by row"
    SIZES = ("M", "D")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x and y", "what", "x{}")] = "f32"
    masked: Annotated[bool, Constant("an f32 mask is added to the scores", "what", "masked")] = False
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[
        Literal[64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    @property
    def reduction(self) -> Reduction:
        """A row's largest score, and its sum."""
        return Reduction(self.workgroup_size, self.subgroups, ops=("max", "sum"))

    def consts(self) -> Iterator[Const]:
        """Yield the numbers of the reduction, and those that stand for excluded elements."""
        yield from self.reduction.consts()
        yield Const(name="LOWEST_BITS", type="u32", value=0xFF7FFFFF)
        yield Const(name="EXCLUDED", type="f32", value=-(2.0**126))

    def bindings(self) -> tuple[Binding, ...]:
        """Return scores, mask and result."""
        length = "M * D" if self.vector == 1 else f"M * D // {self.vector}"
        x, mask = self._of(self.activation), self._of("f32")
        doc = "added to the scores [M][D]; -inf or f32's lowest number excludes"
        return (
            Binding(name="x", access="read", element=x, length=length, doc="input [M][D]"),
            *((Binding(name="mask", access="read", element=mask, length=length, doc=doc),) if self.masked else ()),
            Binding(name="y", access="read_write", element=x, length=length, doc="result [M][D]"),
        )

    def _of(self, scalar: str) -> str:
        """Return the type of one load."""
        return scalar if self.vector == 1 else f"vec{self.vector}<{scalar}>"

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes, and SCALE, which the caller gives."""
        return (
            UniformField(name="m", type="u32", value="M", doc="rows"),
            UniformField(name="d", type="u32", value="D", doc="elements of a row"),
            UniformField(name="scale", type="f32", value="SCALE", doc="multiplies x; 0 or above"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the two reductions."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each row."""
        return "M"

    def tolerance(self) -> Tolerance:
        """Return the bound in units in the last place of f32, or one rounding to f16 behind it."""
        bound = Tolerance(
            nmse=1e-9,
            element=2.0**-23,
            derivation=(
                "the oracle's magnitude of an element counts its ulps of 2^-23: WGSL grants exp(-|t|) 3 + 2 |t|, "
                "once in the element and, weighed by the results, once in the sum; t has lost 1 |t| before, and with "
                "a mask half the two scores. The sum adds half its chain, D / (VECTOR * threads) + log2(threads) + 3, "
                "division and products 4: 64 allow a chain of 100 beside them, D to 6144 for vector 1 and 64 threads. "
                "NMSE is weighed by the largest results: 240 ulp squared are 8e-10; a mask's scores reach that at 480"
            ),
        )
        if self.activation == "f32":
            return bound
        return Tolerance(
            nmse=1e-6,
            element=bound.element,
            rounding=2.0**-10,
            derivation=f"the rounding to f16, either neighbour; before it {bound.derivation}",
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        whole = Rule(expression=f"D % {self.vector} == 0", why=f"a row must be whole loads of {self.vector} elements")
        return (
            Rule(expression="D > 0", why="a row without elements has no largest"),
            *((whole,) if self.vector > 1 else ()),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one load of every thread."""
        tile = self.vector * self.workgroup_size
        shapes = {
            "one row, one load": (1, self.vector),
            "less than a tile": (3, 5 * self.vector),
            "one tile": (9, tile),
            "a multiple of a tile": (4, 12 * tile),
            "a prime above a tile": (17, self.vector * PRIME_ABOVE[self.workgroup_size]),
        }
        return tuple(Case(name=name, sizes={"M": m, "D": d}) for name, (m, d) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1, workgroup_size=64, subgroups=False)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of the reductions and the types of a load."""
        return {
            **self.reduction.template_values(),
            "wide_type": self._of("f32"),
            "narrow_type": self._of(self.activation),
            "bits_type": self._of("u32"),
            "bool_type": self._of("bool"),
        }
