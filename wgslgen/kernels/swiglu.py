"""`swiglu`: y = silu(gate) * up for M rows of D elements, or with `gelu_tanh` y = gelu(gate) * up.

silu(x) = x / (1 + exp(-x)), and gelu(x) = x / (1 + exp(-2 u)) with u = sqrt(2 / pi) * (x + 0.044715 x^3), which is
the tanh form of GELU without its tanh. Both go by way of exp(-|...|), which cannot overflow. f16 input is computed
in f32 and rounded once.

gate and up are two buffers [M][D], which may be one buffer bound twice, or with `packed` one buffer
gate_up [M][2 D]: in every row first the gate, then up. A thread makes one load of VECTOR elements.

At the edges: the activation is finite for all finite gates; a gate below -87.3 has a sigmoid below 2^-126, which a
device may flush to 0. The product with up must lie in f32's range; f16 results past +-65504 stay there. NaN gives
NaN in f32, and what it gives in f16 is not defined; nor is what infinities give. M = 0 and D = 0 are no dispatch.
D is whole loads. y must be another buffer than gate and up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np

from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField


class Swiglu(Kernel):
    """Constants of `swiglu`."""

    NAME = "swiglu"
    SUMMARY = "y = silu(gate) up, element by element"
    SIZES = ("M", "D")

    gelu_tanh: Annotated[bool, Constant("GELU in its tanh form in the place of SiLU", "what", "gelu")] = False
    activation: Annotated[Literal["f32", "f16"], Constant("element type of gate, up and y", "what", "x{}")] = "f32"
    packed: Annotated[bool, Constant("gate and up in one buffer, row by row", "what", "packed")] = False
    d: Annotated[int | None, Constant("elements of a row, baked in; else a uniform", "what", "d{}", "D")] = None
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[Literal[64, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = (
        64
    )

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        if self.d is not None and (self.d <= 0 or self.d % self.vector):
            yield f"d {self.d} is not a positive multiple of vector {self.vector}"

    def consts(self) -> Iterator[Const]:
        """Yield GELU's numbers, and where f16 ends."""
        if self.gelu_tanh:
            yield Const(name="GELU_SLOPE", type="f32", value=float(np.float32(2.0 * np.sqrt(2.0 / np.pi))))
            yield Const(name="GELU_CUBIC", type="f32", value=0.044715)
        if self.activation == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return the input, in one buffer or two, and the result."""
        loads = "" if self.vector == 1 else f" // {self.vector}"
        element = self._of(self.activation)
        result = Binding(name="y", access="read_write", element=element, length=f"M * D{loads}", doc="result [M][D]")
        if self.packed:
            both = "gate and up [M][2][D], in every row the gate first"
            length = f"2 * M * D{loads}"
            return (Binding(name="gate_up", access="read", element=element, length=length, doc=both), result)
        return (
            Binding(name="gate", access="read", element=element, length=f"M * D{loads}", doc="gate [M][D]"),
            Binding(name="up", access="read", element=element, length=f"M * D{loads}", doc="up [M][D]"),
            result,
        )

    def _of(self, scalar: str) -> str:
        """Return the type of one load."""
        return scalar if self.vector == 1 else f"vec{self.vector}<{scalar}>"

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        d = UniformField(name="d", type="u32", value="D", doc="elements of a row")
        return (UniformField(name="m", type="u32", value="M", doc="rows"), *((d,) if self.d is None else ()))

    def workgroups(self) -> str:
        """Return a thread for every load."""
        return "ceil_div(M * D // VECTOR, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return the bound in units in the last place of f32, or one rounding to f16 behind it."""
        bound = Tolerance(
            nmse=1e-9,
            element=2.0**-23,
            derivation=(
                "the oracle's magnitude of an element counts its ulps of 2^-23: WGSL grants exp(-|x|) 3 + 2 |x|, which "
                "weigh sigmoid(-x) in the result, GELU's argument 4 for each unit of it, the division 2.5, sum and "
                "products 2. At a gate of -87 these are 177 ulp, 2e-5, squared 5e-10"
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
        baked = Rule(expression=f"D == {self.d}", why="D is baked in")
        return (*((whole,) if self.vector > 1 else ()), *((baked,) if self.d is not None else ()))

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is one load of every thread."""
        tile = self.vector * self.workgroup_size
        shapes = {
            "one row, one load": (1, self.vector),
            "less than a tile": (3, 5 * self.vector),
            "one tile": (1, tile),
            "a multiple of a tile": (4, 3 * tile),
            "primes": (7, 67 * self.vector),
        }
        return tuple(Case(name=name, sizes={"M": m, "D": self.d or d}) for name, (m, d) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1, workgroup_size=64, d=None)

    def template_values(self) -> dict[str, Any]:
        """Return the types of a load."""
        return {"wide_type": self._of("f32"), "narrow_type": self._of(self.activation)}
