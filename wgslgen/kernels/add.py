"""`add`: y = a + b, element by element; with `in_place` y += b.

A thread makes one load of VECTOR elements. f16 is added in f32 and rounded once.

At the edges: COUNT is whole loads, and COUNT = 0 is no dispatch. a and b may be one buffer bound twice, since both
are only read; y must be another one, or the in-place form, in which y starts with a, is the one to take. f32 sums
must lie in f32's range; f16 results past +-65504 stay there. A device may flush subnormal elements and sums to 0.
NaN gives NaN in f32, and what it gives in f16 is not defined; nor is what infinities give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField


class Add(Kernel):
    """Constants of `add`."""

    NAME = "add"
    SUMMARY = "y = a + b, element by element"
    SIZES = ("COUNT",)

    activation: Annotated[Literal["f32", "f16"], Constant("element type of a, b and y", "what", "x{}")] = "f32"
    in_place: Annotated[bool, Constant("y += b: y is input and result", "what", "inplace")] = False
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[Literal[64, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = (
        64
    )

    def consts(self) -> Iterator[Const]:
        """Yield where f16 ends."""
        if self.activation == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return what is read alone, and the result, which may be input, too."""
        inputs = ("b",) if self.in_place else ("a", "b")
        length = "COUNT" if self.vector == 1 else f"COUNT // {self.vector}"
        element = self._of(self.activation)
        doc = "first summand and result [COUNT]" if self.in_place else "result [COUNT]"
        return (
            *(Binding(name=n, access="read", element=element, length=length, doc="summand [COUNT]") for n in inputs),
            Binding(name="y", access="read_write", element=element, length=length, doc=doc, kept=self.in_place),
        )

    def _of(self, scalar: str) -> str:
        """Return the type of one load."""
        return scalar if self.vector == 1 else f"vec{self.vector}<{scalar}>"

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the number of elements."""
        return (UniformField(name="count", type="u32", value="COUNT", doc="elements"),)

    def workgroups(self) -> str:
        """Return a thread for every load."""
        return "ceil_div(COUNT // VECTOR, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return the bound of one rounding; results are judged by what that rounding may give."""
        if self.activation == "f16":
            return Tolerance(nmse=1e-6, element=2.0**-10, derivation="the rounding to f16: either neighbour")
        return Tolerance(nmse=1e-14, element=2.0**-23, derivation="one sum in f32: either neighbour")

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        why = f"the elements must be whole loads of {self.vector}"
        return (Rule(expression=f"COUNT % {self.vector} == 0", why=why),) if self.vector > 1 else ()

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one load of every thread."""
        tile = self.vector * self.workgroup_size
        counts = {
            "one load": self.vector,
            "less than a tile": 5 * self.vector,
            "one tile": tile,
            "a multiple of a tile": 12 * tile,
            "a prime above a tile": 1031 * self.vector,
        }
        return tuple(Case(name=name, sizes={"COUNT": count}) for name, count in counts.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1, workgroup_size=64)

    def template_values(self) -> dict[str, Any]:
        """Return the types of a load."""
        return {"wide_type": self._of("f32"), "narrow_type": self._of(self.activation)}
