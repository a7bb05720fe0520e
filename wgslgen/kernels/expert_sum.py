"""`expert_sum`: what a token's experts made, weighted and added up: y[t] = sum over s of gates[t, s] x[t, s].

x is [T, USED, N], as `matmul_id` and `matvec_id` leave it, and y is [T, N]. Uses are added in their order, in f32. With
`residual` y holds what is added to, the hidden state in front of the block, say.

f16 results past +-65504 stay there. T = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Tolerance, UniformField


class ExpertSum(Kernel):
    """Constants of `expert_sum`."""

    NAME = "expert_sum"
    SUMMARY = "y = the weighted sum of what a token's experts made"
    SIZES = ("T", "USED", "N")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    residual: Annotated[bool, Constant("add to what y holds", "what", "residual")] = False
    workgroup_size: Annotated[
        Literal[32, 64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64

    def consts(self) -> Iterator[Const]:
        """Yield where f16 ends."""
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return results of experts, their weights, and the sums."""
        doc = "added to, and result [T][N]" if self.residual else "result [T][N]"
        return (
            Binding(name="x", access="read", element=self.activation, length="T * USED * N", doc="rows [T][USED][N]"),
            Binding(name="gates", access="read", element="f32", length="T * USED", doc="weight of each pair [T][USED]"),
            Binding(name="y", access="read_write", element=self.output, length="T * N", doc=doc, kept=self.residual),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        fields = (("tokens", "T", "tokens"), ("used", "USED", "experts of a token"), ("n", "N", "elements of a row"))
        return tuple(UniformField(name=name, type="u32", value=value, doc=doc) for name, value, doc in fields)

    def workgroups(self) -> str:
        """Return a thread for each element."""
        return "ceil_div(T * N, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return the bound of a short f32 sum, and of one rounding to f16 behind it."""
        derivation = "each product and each addition rounds once, 2^-24 of the magnitudes added: USED + 1 of them"
        if self.output == "f16":
            return Tolerance(
                nmse=1e-6,
                element=2.0**-20,
                rounding=2.0**-10,
                derivation=f"{derivation}; then to f16: either neighbour",
            )
        return Tolerance(nmse=1e-12, element=2.0**-20, derivation=derivation)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: elements in workgroups, and few and many experts."""
        size = self.workgroup_size
        shapes = {
            "one element": (1, 1, 1),
            "less than a workgroup": (1, 3, size - 1),
            "one workgroup": (2, 8, size // 2),
            "primes": (37, 5, 131),
        }
        return tuple(Case(name=name, sizes={"T": t, "USED": u, "N": n}) for name, (t, u, n) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64)

    def template_values(self) -> dict[str, Any]:
        """Return the types at the end."""
        return {"narrow_type": self.output, "wide_type": "f32"}
