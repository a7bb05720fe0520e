"""What the kernels of rotary embedding share: the heads, the pairs, and how threads are laid over them.

A thread makes a **unit** of a head: two loads of VECTOR elements, which hold VECTOR pairs. With pairing `half` these
are loads u and u + ROTARY_UNITS, so that each lane of the one has its partner in the same lane of the other; with
`interleaved` they are neighbours, as they are behind ROTARY_DIM, where elements pass through. Nobody else reads or
writes a unit, so that a head may be rotated in place.

HEAD_THREADS threads make a head; a workgroup makes as many heads as it holds, up to four where their norms must be
folded. A token of 32 heads of 128 is 16 workgroups of 32 threads, and nothing in them is a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.heads import row_refusals
from wgslgen.kernels.reduction import Reduction
from wgslgen.spec import F16_MAX, Binding, Const, Constant, Kernel, Tolerance, UniformField, WorkgroupVariable

MOST_FOLDED = 4
"""Heads of a workgroup whose norms are folded: each is one more number for every thread to fold."""
MOST_ROUNDS = 16
"""Units of one head that a thread may make, as they are unrolled."""


class Rotary(Kernel):
    """Constants of a kernel that rotates the heads of queries and keys."""

    q_heads: Annotated[int, Constant("query heads", "what", "q{}", "Q_HEADS")]
    kv_heads: Annotated[int, Constant("key heads, and as many value heads", "what", "kv{}", "KV_HEADS")]
    head_dim: Annotated[int, Constant("elements of a head", "what", "hd{}", "HEAD_DIM")]
    rotary_dim: Annotated[
        int | None,
        Constant("elements of a head that rotate, its first; None: all", "what", "r{}", "ROTARY_DIM"),
    ] = None
    pairing: Annotated[
        Literal["half", "interleaved"],
        Constant("partner of element d: d + ROTARY_DIM / 2, or its neighbour", "what", "{}"),
    ] = "half"
    activation: Annotated[Literal["f32", "f16"], Constant("element type of q, k and v", "what", "x{}")] = "f32"
    vector: Annotated[Literal[1, 4], Constant("elements of a load", "how", "v{}", "VECTOR")] = 4
    workgroup_size: Annotated[
        Literal[32, 64, 128], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 32
    subgroups: Annotated[bool, Constant("add up by subgroup built-ins", "how", "sg")] = False

    # ---- what a subclass says -------------------------------------------------------------------

    @property
    def normed(self) -> bool:
        """Whether q and k are normalised before they rotate."""
        raise NotImplementedError

    @property
    def token_heads(self) -> int:
        """How many heads of a token there are to make."""
        raise NotImplementedError

    # ---- geometry -------------------------------------------------------------------------------

    @property
    def rotated(self) -> int:
        """Elements of a head that rotate."""
        return self.head_dim if self.rotary_dim is None else self.rotary_dim

    @property
    def units(self) -> int:
        """Units of a head."""
        return self.head_dim // (2 * self.vector)

    @property
    def head_threads(self) -> int:
        """Threads of a head: a power of two, so that a workgroup is whole heads."""
        enough = min(1 << (self.units - 1).bit_length(), self.workgroup_size)
        return max(enough, self.workgroup_size // MOST_FOLDED) if self.normed else enough

    @property
    def group_heads(self) -> int:
        """Heads of a workgroup."""
        return self.workgroup_size // self.head_threads

    @property
    def rounds(self) -> int:
        """Units of a head that a thread makes."""
        return -(-self.units // self.head_threads)

    @property
    def reduction(self) -> Reduction:
        """The sums of the squares of a workgroup's heads: each thread adds to its own head's."""
        return Reduction(self.workgroup_size, self.subgroups, values=self.group_heads)

    # ---- spec -----------------------------------------------------------------------------------

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        if self.head_dim <= 0 or self.head_dim % 8:
            yield f"head_dim {self.head_dim} is not a positive multiple of 8"
            return
        if self.kv_heads <= 0 or self.q_heads <= 0 or self.q_heads % self.kv_heads:
            yield f"q_heads {self.q_heads} is not a positive multiple of kv_heads {self.kv_heads}"
        yield from row_refusals(self.q_heads, self.head_dim)
        if self.rotated <= 0 or self.rotated % 2:
            yield f"rotary_dim {self.rotated} is not a positive even number"
        elif self.rotated > self.head_dim:
            yield f"rotary_dim {self.rotated} is above head_dim {self.head_dim}"
        elif self.rotated % (2 * self.vector):
            yield (
                f"rotary_dim {self.rotated} is not a multiple of {2 * self.vector}, as vector {self.vector} needs; "
                "vector 1 takes every even number"
            )
        if self.rounds > MOST_ROUNDS:
            yield (
                f"head_dim {self.head_dim} is above {MOST_ROUNDS * 2 * self.vector * self.head_threads}, the most "
                f"for vector {self.vector} and workgroup_size {self.workgroup_size}"
            )
        if self.subgroups and not self.normed:
            yield "subgroups without qk_norm: there is nothing to add up"

    def consts(self) -> Iterator[Const]:
        """Yield the geometry of units, and the numbers of the reduction."""
        if self.rotary_dim is None:
            yield Const(name="ROTARY_DIM", type="u32", value=self.rotated)
        yield Const(name="HEADS", type="u32", value=self.token_heads)
        yield Const(name="HEAD_LOADS", type="u32", value=self.head_dim // self.vector)
        yield Const(name="UNITS", type="u32", value=self.units)
        yield Const(name="ROTARY_UNITS", type="u32", value=self.rotated // (2 * self.vector))
        yield Const(name="HEAD_THREADS", type="u32", value=self.head_threads)
        yield Const(name="GROUP_HEADS", type="u32", value=self.group_heads)
        if self.normed:
            yield from self.reduction.consts()
        if self.narrows:
            yield F16_MAX

    @property
    def narrows(self) -> bool:
        """Whether a result is stored as f16."""
        return self.activation == "f16"

    def loaded(self, scalar: str) -> str:
        """Return the type of one load of elements of the type `scalar`."""
        return scalar if self.vector == 1 else f"vec4<{scalar}>"

    def tensor(
        self, name: str, access: Literal["read", "read_write"], heads: str, doc: str, kept: bool = False
    ) -> Binding:
        """Return the binding of a tensor [B][M][heads][HEAD_DIM] of activations."""
        count = f"B * M * {heads} * {self.head_dim // self.vector}"
        element = self.loaded(self.activation)
        return Binding(name=name, access=access, element=element, length=count, doc=doc, kept=kept)

    def rotary_bindings(self, below: str) -> tuple[Binding, ...]:
        """Return the table and the lengths, which are below `below`, and the norms' weights where there are some."""
        table = Binding(
            name="rope_table",
            access="read",
            element="vec2<f32>" if self.vector == 1 else "vec4<f32>",
            length=f"TABLE_ROWS * {self.rotated // (2 if self.vector == 1 else 4)}",
            doc="(cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32",
        )
        lengths = Binding(
            name="lengths",
            access="read",
            element="u32",
            length="B",
            doc="tokens of each sequence, those of this call among them [B]",
            below=below,
        )
        weight = Binding(
            name="norm_weight",
            access="read",
            element=self.loaded("f32"),
            length=str(2 * self.head_dim // self.vector),
            doc="weights of q's norm and of k's [2][HEAD_DIM], f32",
        )
        return (table, lengths, *((weight,) if self.normed else ()))

    def rotary_uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes of the batch, and EPS, which the caller gives, where there are norms."""
        eps = UniformField(name="eps", type="f32", value="EPS", doc="added to the mean square; above 0")
        return (
            UniformField(name="b", type="u32", value="B", doc="sequences"),
            UniformField(name="m", type="u32", value="M", doc="tokens of each sequence"),
            *((eps,) if self.normed else ()),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots() if self.normed else ()

    def workgroups(self) -> str:
        """Return as many workgroups as hold the heads of all tokens."""
        return "ceil_div(B * M * HEADS, GROUP_HEADS)"

    def tolerance(self) -> Tolerance:
        """Return the bound of a rotation, behind a norm if there is one, and of a rounding to f16."""
        rotation = (
            "a rotated element is two products and a sum, 2 * 2^-24 of |a cos| + |b sin| with a term of second order "
            "behind it; 2^-22 is twice that"
        )
        norm = (
            "the norm in front: its sum of squares is off by at most its chain of adds, 5 within a unit, 15 more units "
            "and 34 of the fold (two in a subgroup of 4, then 32 of them), half of it behind the root, and mean, root "
            "and products add 10 * 2^-24 (WGSL: 2.5 ulp for the division, 2 for inverseSqrt); with the rotation "
            "39 * 2^-24. 2^-18 is 64 * 2^-24"
        )
        narrow = "; results in f16 are either neighbour, 2^-10 of the value"
        return Tolerance(
            nmse=1e-6 if self.narrows else 1e-12,
            element=2.0**-18 if self.normed else 2.0**-22,
            rounding=2.0**-10 if self.narrows else 0.0,
            derivation=f"{rotation}{f'; {norm}' if self.normed else ''}{narrow if self.narrows else ''}",
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(vector=1, workgroup_size=64, subgroups=False)

    def template_values(self) -> dict[str, Any]:
        """Return the types of a load, and the structure of the reduction."""
        types = {"wide_type": self.loaded("f32"), "narrow_type": self.loaded("f16")}
        return {**types, **self.reduction.template_values()}
