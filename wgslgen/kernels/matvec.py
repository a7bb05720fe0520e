"""`matvec`: y = W·x, one token (or up to four columns) at a time. W is [N, K], x [columns, K], y [columns, N].

How sums are made, and by which routes, stands in `product`. What becomes of them is the epilogue:

- `store`: y = W·x.
- `residual`: y += W·x, where y holds what is added to, say the hidden state in front of the block.
- `swiglu`: W holds 2N rows, N of the gate and then N of the up projection, and y[n] = silu(gate_n·x) (up_n·x). A
  workgroup makes the same rows of both, so both sums stay in f32 and reach no memory.

Projections of one x need no dispatch each: rows may be stacked, because the blocks of a row depend on no other row.
For q, k and v W is [q; k; v] and y [columns][q | k | v]. The rows are put together as the file's bytes and packed
then; planes that were packed before do not fit together where the blocks of a part are odd in number, since
`planar` keeps scales in pairs.

f16 results past +-65504 stay there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.product import SUMS, WRITERS, Product
from wgslgen.spec import F16_MAX, Alone, Binding, Case, Const, Constant, Rule, Tolerance, UniformField


class Matvec(Product):
    """Constants of `matvec`."""

    NAME = "matvec"
    SUMMARY = "y = W x for one token or a few columns"
    SIZES = ("N", "K")

    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    n: Annotated[int | None, Constant("rows of y, baked in; else a uniform", "what", "n{}", "N")] = None
    k: Annotated[int | None, Constant("columns of W, baked in; else a uniform", "what", "k{}", "K")] = None
    epilogue: Annotated[
        Literal["store", "residual", "swiglu"], Constant("what becomes of W x", "what", unsaid="store")
    ] = "store"

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        yield from self.baked_refusals(self.n, self.k)

    @property
    def matrices(self) -> Literal[1, 2]:
        """How many matrices of N rows stand in the weights, one behind the other."""
        return 2 if self.epilogue == "swiglu" else 1

    def consts(self) -> Iterator[Const]:
        """Yield geometry and sums, and where f16 ends."""
        yield from super().consts()
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations and result."""
        added = self.epilogue == "residual"
        result = Binding(
            name="y",
            access="read_write",
            element=self.output,
            length="COLUMNS * N",
            doc="added to, and result [columns][N]" if added else "result [columns][N]",
            kept=added,
        )
        return (*self.weight_bindings(), *self.activation_bindings(), result)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        rows = UniformField(name="n", type="u32", value="N", doc="rows of y")
        columns = UniformField(name="k", type="u32", value="K", doc="columns of W")
        return (*((rows,) if self.n is None else ()), *((columns,) if self.k is None else ()))

    def alone(self) -> Alone | None:
        """Return that floats are read as they are; what is packed needs its pass in front."""
        packed = self.route in WRITERS
        return None if packed else Alone(op="linear", sizes=self.SIZES, fixed={"M": self.columns})

    def tolerance(self) -> Tolerance:
        """Return the bound of f32 sums or of a product of two, or of one rounding to f16 behind them."""
        wide = SUMS
        if self.epilogue == "swiglu":
            wide = Tolerance(
                nmse=1e-11,
                element=2.0**-19,
                derivation=(
                    "two sums with the errors of `store`, 2^-20 of their magnitudes G and U: silu(g) u moves by at "
                    "most 1.1 dg |u| + |silu(g)| du + 1.1 dg du, the slope of silu being under 1.1; exp (WGSL: "
                    "3 + 2 |x| ulp), division and products move it by less than 2^-20 |g| |u|, and |g| is at most G. "
                    "Few rows outweigh the others in a sum of squared products, so NMSE averages over fewer"
                ),
            )
        if self.output == "f16":
            return Tolerance(
                nmse=1e-6,
                element=wide.element,
                rounding=2.0**-10,
                derivation="as for f32 output, and behind it the rounding to f16: either neighbour, 2^-10 of the value",
            )
        return wide

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (*super().rules(), *self.baked_rules(self.n, self.k))

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes."""
        if self.n is not None and self.k is not None:
            return (Case(name="baked", sizes={"N": self.n, "K": self.k}),)
        shapes = self.shapes().items()
        return tuple(Case(name=name, sizes={"N": self.n or n, "K": self.k or k}) for name, (n, k) in shapes)

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(**self.plain_product(), tile_rows=1, n=None, k=None)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of step and reduction, and the types at the end."""
        return {**super().template_values(), "narrow_type": self.output, "wide_type": "f32"}
