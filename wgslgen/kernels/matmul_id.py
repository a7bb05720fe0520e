"""`matmul_id`: mixture of experts for many tokens. Y[pair] = W[expert of pair]·x, for pairs that `expert_rows` sorted.

W holds EXPERTS matrices [N, K] one behind the other (for `swiglu` [2N, K], N of the gate and then N of the up
projection). x is [T, K], or with `x_of` pair [T * USED, K], as the second projection of an expert reads what the first
one made. Y [T * USED, N] has a row for each pair t * USED + s, whatever their order in `pairs`.

A workgroup makes a tile of up to TILE_M pairs of one expert by a route of `matmul`, with the same sums. A pair whose id
is from EXPERTS on gets a row of zeros, and no weight is read for it.

f16 results past +-65504 stay there. T = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from wgslgen import wgsltypes
from wgslgen.kernels import experts
from wgslgen.kernels.expert_rows import MOST_EXPERTS, TILES
from wgslgen.kernels.experts import XOf
from wgslgen.kernels.matmul import Matmul
from wgslgen.spec import Alone, Binding, Case, Constant, Rule, UniformField


class MatmulId(Matmul):
    """Constants of `matmul_id`."""

    NAME = "matmul_id"
    SUMMARY = "Y = X W^T with an expert's W for each pair of token and expert"
    SIZES: ClassVar[tuple[str, ...]] = experts.SIZES

    route: Annotated[Literal["tile", "int8", "subgroup_matrix"], Constant("how products are formed", "how")]
    tile_m: Annotated[
        Literal[8, 16, 32, 64, 128] | None,
        Constant("pairs of a tile of expert_rows", "what", "m{}", "TILE_M"),
    ] = None
    x_of: XOf = "token"

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        if self.num_splits > 1:
            yield "experts are tiles enough; leave num_splits out"
        if self.epilogue == "residual":
            yield "a token's experts are added up by expert_sum; use epilogue store or swiglu"

    @property
    def x_rows(self) -> str:
        """Rows of x, as an expression in the sizes."""
        return experts.x_rows(self.x_of)

    @property
    def x_stride(self) -> str:
        """Elements from a row of x to the next, as an expression in the sizes."""
        return "K"

    @property
    def x_shape(self) -> str:
        """The shape of x in words."""
        return "[T][K]" if self.x_of == "token" else "[T][USED][K]"

    def _matrix_rows(self) -> str:
        """Return the rows of all experts' matrices, as an expression in the sizes."""
        return experts.matrix_rows(self.matrices)

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations, what `expert_rows` made, and the result."""
        result = experts.result(self.output)
        return (*self.weight_bindings(), *self.way.activations(self), *self.row_bindings(), result)

    def row_bindings(self) -> tuple[Binding, ...]:
        """Return what says which rows go where."""
        return (
            Binding(name="pairs", access="read", element="u32", length="T * USED", doc="pairs, sorted by expert"),
            Binding(name="tiles", access="read", element="vec4<u32>", length=TILES, doc="expert, first, count and 0"),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        return (*experts.UNIFORMS, *(field for field in super().uniforms() if field.name != "m"))

    def workgroups(self) -> str:
        """Return one workgroup for each place of a tile and each tile of N, and none where there is no pair."""
        return f"min(T * USED, 1) * ({TILES}) * ceil_div(N, TILE_N)"

    def alone(self) -> Alone | None:
        """Return that `expert_rows` comes first."""
        return None

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (
            *(rule for rule in super().rules() if "X_STRIDE" not in rule.expression),
            Rule(expression=f"EXPERTS <= {MOST_EXPERTS}", why=f"expert_rows has a place for {MOST_EXPERTS}"),
            experts.SOME_EXPERT,
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: numbers of tokens, of experts and of those that a token uses; N and K as ever."""
        block, tile_n, tile_k = self.block_size, self.size.n, self.size.k
        long = wgsltypes.round_up(max(2 * tile_k + 1, 3 * block), block)
        shapes = {
            "one token, one expert": (1, 1, 1, 1, block),
            "two tokens, more experts than pairs": (2, 2, 8, tile_n + 1, block),
            "four tokens, primes, many blocks": (4, 2, 3, 37, 11 * block),
            "five tokens": (5, 1, 2, 2 * tile_n, long),
            "nine tokens, one row": (9, 3, 3, 1, long),
            "seventeen tokens, one expert for all": (17, 2, 1, 37, block),
            "thirty-three tokens, less than a tile": (33, 2, 5, max(1, tile_n - 1), long),
            "sixty-four tokens, many experts": (64, 4, 256, 5, block),
            "a hundred and twenty-nine tokens": (129, 1, 4, tile_n + 1, block),
        }
        return tuple(
            Case(name=name, sizes={"T": t, "USED": used, "EXPERTS": count, "N": self.n or n, "K": self.k or k})
            for name, (t, used, count, n, k) in shapes.items()
        )
