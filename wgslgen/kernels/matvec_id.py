"""`matvec_id`: mixture of experts for one token or a few. y[pair] = W[ids[pair]]·x, a product for each pair.

W holds EXPERTS matrices [N, K] one behind the other (for `swiglu` [2N, K], N of the gate and then N of the up
projection). Pair t * USED + s is use s of token t; x is [T, K], or with `x_of` pair [T * USED, K]; y is [T * USED, N].

A workgroup makes TILE_ROWS rows of one pair as `matvec` does, by the same routes, so weights are read once a pair: past
a few tokens `matmul_id` reads them once a tile. A pair whose id is from EXPERTS on gets a row of zeros, and no weight
is read for it. An expert may be named more than once by a token, or by none.

f16 results past +-65504 stay there. T = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels import experts
from wgslgen.kernels.experts import XOf
from wgslgen.kernels.matmul import behind
from wgslgen.kernels.product import SUMS, Product
from wgslgen.spec import F16_MAX, Alone, Binding, Case, Const, Constant, Rule, Tolerance, UniformField


class MatvecId(Product):
    """Constants of `matvec_id`."""

    NAME = "matvec_id"
    SUMMARY = "y = W x with an expert's W for each pair of token and expert"
    SIZES = experts.SIZES

    route: Annotated[Literal["float", "int8", "block"], Constant("how products are formed", "how")]
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    n: Annotated[int | None, Constant("rows of y, baked in; else a uniform", "what", "n{}", "N")] = None
    k: Annotated[int | None, Constant("columns of W, baked in; else a uniform", "what", "k{}", "K")] = None
    epilogue: Annotated[Literal["store", "swiglu"], Constant("what becomes of W x", "what", unsaid="store")] = "store"
    x_of: XOf = "token"

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        yield from self.baked_refusals(self.n, self.k)
        if self.columns != 1:
            yield "a pair is one column; leave columns at 1"
        if self.in_planes or self.row_tile > 1:
            yield f"experts are rows of one matrix; use layout planar instead of {self.layout}"

    @property
    def gathers(self) -> bool:
        """True: ids say which matrix it is."""
        return True

    @property
    def matrices(self) -> Literal[1, 2]:
        """How many matrices of N rows an expert has."""
        return 2 if self.epilogue == "swiglu" else 1

    @property
    def x_rows(self) -> str:
        """Rows of x, as an expression in the sizes."""
        return experts.x_rows(self.x_of)

    def _matrix_rows(self) -> str:
        """Return the rows of all experts' matrices, as an expression in the sizes."""
        return experts.matrix_rows(self.matrices)

    def consts(self) -> Iterator[Const]:
        """Yield geometry and sums, and where f16 ends."""
        yield from super().consts()
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations, ids and result."""
        return (*self.weight_bindings(), *self.activation_bindings(), experts.IDS, experts.result(self.output))

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        rows = UniformField(name="n", type="u32", value="N", doc="rows of y")
        columns = UniformField(name="k", type="u32", value="K", doc="columns of W")
        return (
            *experts.UNIFORMS,
            *((rows,) if self.n is None else ()),
            *((columns,) if self.k is None else ()),
        )

    def workgroups(self) -> str:
        """Return one workgroup for each TILE_ROWS rows of each pair."""
        return "T * USED * ceil_div(N, TILE_ROWS)"

    def alone(self) -> Alone | None:
        """Return that floats are read as they are; int8 needs its pass in front."""
        return None if self.route == "int8" else Alone(op="linear_id", sizes=self.SIZES)

    def tolerance(self) -> Tolerance:
        """Return the bound of f32 sums and of what is behind them."""
        return behind(SUMS, self.epilogue, self.output)

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (*super().rules(), *self.baked_rules(self.n, self.k), experts.SOME_EXPERT)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: numbers of tokens, of experts and of those that a token uses; N and K as ever."""
        shapes = self.shapes()
        pairs = {
            "one row, one block": (1, 1, 1),
            "less than a tile": (1, 8, 256),
            "a multiple of the tile": (5, 2, 3),
            "primes, many blocks": (3, 4, 8),
        }
        found = [(name, *pairs[name], n, k) for name, (n, k) in shapes.items()]
        return tuple(
            Case(name=name, sizes={"T": t, "USED": used, "EXPERTS": count, "N": self.n or n, "K": self.k or k})
            for name, t, used, count, n, k in found
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(**self.plain_product(), tile_rows=1, n=None, k=None)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of step and reduction, and the types at the end."""
        return {**super().template_values(), "narrow_type": self.output, "wide_type": "f32"}
