"""`attention_merge`: the second pass of decode attention. What `attention_split` made of NUM_SPLITS parts becomes one.

With m and t the maximum and the sum of weights of a part, and M the largest of all m,

    y = sum of exp(m - M) * partials / sum of exp(m - M) * t, times sigmoid(gate) if asked for,

both sums in the order of the parts, so that two runs give the same bits. Parts without keys have m = F32_LOWEST
and weigh nothing; where no part has keys, y is 0. A gate may be any finite number. A thread makes four elements.
B = 0 is no dispatch.

y is f32 or f16, or the int8 activations that `quantize_q8` would make of it (q8_group and q8_stride), in groups
along the row of all heads: the output projection reads them without a pass of its own for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels import q8
from wgslgen.kernels.attention import LEAST_EXPONENT, HeadDim, Heads, head_refusals
from wgslgen.kernels.attention_split import Splits, split_bindings, split_refusals
from wgslgen.spec import (
    F16_MAX,
    Binding,
    Case,
    Const,
    Constant,
    Kernel,
    Tolerance,
    UniformField,
    WorkgroupVariable,
)


def gate_binding(tokens: str, q_heads: int, head_dim: int) -> Binding:
    """Return the gate of the attention's result."""
    return Binding(
        name="gate",
        access="read",
        element="vec4<f32>",
        length=f"B * {tokens} * {q_heads * head_dim // 4}",
        doc=f"gate [B][{tokens}][{q_heads}][{head_dim}], finite: its sigmoid is a factor of the result",
    )


class AttentionMerge(Kernel):
    """Constants of `attention_merge`."""

    NAME = "attention_merge"
    SUMMARY = "the attention of a token from what attention_split made of parts of its keys"
    SIZES = ("B",)

    q_heads: Heads
    head_dim: HeadDim
    num_splits: Splits
    activation: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "x{}")] = "f32"
    gate: Annotated[bool, Constant("multiply by sigmoid(gate)", "what", "gate")] = False
    q8_group: q8.Group = None
    q8_stride: q8.Stride = None
    workgroup_size: Annotated[Literal[64, 128], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = (
        64
    )

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from head_refusals(self.q_heads, self.head_dim)
        yield from split_refusals(self.num_splits)
        yield from q8.refusals(self.workgroup_size, self.q8_group, self.q8_stride)
        if self.q8_group is None:
            return
        if self.q_heads * self.head_dim % self.q8_group:
            yield f"a row of {self.q_heads * self.head_dim} elements is not whole groups of q8_group {self.q8_group}"
        if self.activation != "f32":
            yield "with q8_group there is no y; leave activation at f32"

    @property
    def packing(self) -> q8.Q8 | None:
        """How the result is stored as int8."""
        return q8.Q8.of(self.workgroup_size, self.q8_group, self.q8_stride)

    def consts(self) -> Iterator[Const]:
        """Yield the geometry, and the numbers that results are stored by."""
        yield Const(name="HEAD_FOURS", type="u32", value=self.head_dim // 4)
        yield LEAST_EXPONENT
        if self.packing is not None:
            yield from self.packing.consts()
        elif self.activation == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return the parts, the gate, and the result."""
        inputs = split_bindings(self.q_heads, self.head_dim, "read")
        row = self.q_heads * self.head_dim
        gates = (gate_binding("1", self.q_heads, self.head_dim),) if self.gate else ()
        shape = f"[B][1][{self.q_heads}][{self.head_dim}]"
        if self.packing is not None:
            return (*inputs, *gates, *self.packing.bindings(f"B * {row}", shape))
        y = Binding(
            name="y",
            access="read_write",
            element=f"vec4<{self.activation}>",
            length=f"B * {row // 4}",
            doc=f"attention {shape}",
        )
        return (*inputs, *gates, y)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the number of sequences."""
        return (UniformField(name="b", type="u32", value="B", doc="sequences"),)

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return what int8 results need; floats need nothing."""
        return () if self.packing is None else self.packing.workgroup_variables()

    def workgroups(self) -> str:
        """Return a thread for every four elements."""
        return f"ceil_div(B * {self.q_heads * self.head_dim // 4}, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return the bound of two short sums and their quotient."""
        return Tolerance(
            nmse=1e-6 if self.activation == "f16" else 1e-12,
            element=2.0**-17,
            rounding=2.0**-10 if self.activation == "f16" else 0.0,
            derivation=(
                "in units of 2^-24: exp is off by 6 + 4 |exponent| (WGSL: 3 + 2 |x| ulp), for the gate too; a sum by "
                "its 32 adds at most; quotients by 5 each. The oracle's magnitudes hold the exponents. 2^-17 is 128 "
                "units. An f16 result may be either neighbour, 2^-10 of its value; int8 results are exact, because "
                "the oracle's lie clear of ties"
            ),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; the heads' number and size are constants."""
        return tuple(Case(name=name, sizes={"B": b}) for name, b in (("one sequence", 1), ("a prime of them", 7)))

    def plain(self) -> Self:
        """Return the only other form."""
        return self.changed(workgroup_size=64)

    def template_values(self) -> dict[str, Any]:
        """Return the types of a result, and the byte order of an int8 one."""
        types = {"wide_type": "vec4<f32>", "narrow_type": f"vec4<{self.activation}>"}
        return {**types, **(self.packing.template_values() if self.packing is not None else {})}
