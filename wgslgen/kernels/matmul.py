"""`matmul`: Y = X·Wᵀ for many tokens. X is [M, K], W [N, K], Y [M, N]; sums are f32 whatever the operands are.

A workgroup makes a tile of TILE_M x TILE_N results. Rows of X past M read row M - 1, rows of W past N row N - 1, and
neither is stored; where K ends within a tile of K, what is behind it counts as zeros.

Routes, which change how and never what:

- `tile`: weights and activations of a tile lie decoded in workgroup memory, sums in registers.
- `int8`: the same for activations from `quantize_q8`, with four products a `dot4I8Packed`.
- `lut`: sums of four activations in a table, and a look-up for four weights of one bit or for two of ternary ones.
- `subgroup_matrix`: the matrix units of a GPU, where the browser offers them.

Each takes constants of its own; those that a route does not take are left out.

Epilogues are those of `matvec`: `store` (Y = X·Wᵀ), `residual` (Y += X·Wᵀ) and `swiglu` (W holds 2N rows, N of the
gate and then N of the up projection: Y = silu(gate) up).

With NUM_SPLITS above 1 a workgroup sums one of NUM_SPLITS parts of K, which keeps a GPU busy where M and N are few
tiles. Then `partials` [NUM_SPLITS][M][N] holds the sums of the parts, and `sum_splits` adds them up in a fixed order
and applies the epilogue; for SwiGLU N counts the rows of both matrices here.

f16 results past +-65504 stay there. M = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import model_validator

from wgslgen import wgsltypes
from wgslgen.kernels.matmul_routes import ROUTES, Route
from wgslgen.kernels.weighted import Weighted
from wgslgen.matrixconfigs import CONFIGS, MatrixConfig
from wgslgen.spec import (
    F16_MAX,
    Alone,
    Binding,
    Case,
    Const,
    Constant,
    Rule,
    SubgroupRange,
    Tolerance,
    UniformField,
    WorkgroupVariable,
)

TOKENS = (1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 129)
"""Numbers of tokens that every variant is run with."""

APART = (
    Rule(expression="X_STRIDE >= K", why="rows of x do not overlap"),
    Rule(expression="X_STRIDE % 4 == 0", why="x is read four elements at a time"),
)
TOGETHER = (Rule(expression="X_STRIDE == K", why="quantize_q8 writes rows one behind the other"),)


class TileSize(NamedTuple):
    """Tokens, rows of W and columns of a workgroup, tokens and rows of a thread; 1 where a route has none."""

    m: int
    n: int
    k: int
    thread_m: int
    thread_n: int


class Matmul(Weighted):
    """Constants of `matmul`."""

    NAME = "matmul"
    SUMMARY = "Y = X W^T for many tokens"
    SIZES: ClassVar[tuple[str, ...]] = ("M", "N", "K", "X_STRIDE")

    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    n: Annotated[int | None, Constant("rows of W, baked in; else a uniform", "what", "n{}", "N")] = None
    k: Annotated[int | None, Constant("columns of W, baked in; else a uniform", "what", "k{}", "K")] = None
    epilogue: Annotated[
        Literal["store", "residual", "swiglu"], Constant("what becomes of X W^T", "what", unsaid="store")
    ] = "store"
    route: Annotated[Literal["tile", "int8", "lut", "subgroup_matrix"], Constant("how products are formed", "how")]
    tile_m: Annotated[
        Literal[1, 4, 8, 16, 32, 64, 128] | None, Constant("tokens of a workgroup", "how", "m{}", "TILE_M")
    ] = None
    tile_n: Annotated[
        Literal[8, 16, 32, 64, 128, 256] | None, Constant("rows of W of a workgroup", "how", "n{}", "TILE_N")
    ] = None
    tile_k: Annotated[
        Literal[16, 32, 64, 128, 256] | None,
        Constant("columns that a workgroup takes at a time", "how", "k{}", "TILE_K"),
    ] = None
    thread_m: Annotated[Literal[1, 2, 4, 8] | None, Constant("tokens of a thread", "how", "t{}", "THREAD_M")] = None
    thread_n: Annotated[Literal[1, 2, 4, 8] | None, Constant("rows of W of a thread", "how", "x{}", "THREAD_N")] = None
    operand: Annotated[
        Literal["f32", "f16"] | None,
        Constant("what weights and activations are rounded to before they meet", "what", "op{}", unsaid="f32"),
    ] = None
    subgroup_m: Annotated[Literal[1, 2, 4, 8] | None, Constant("subgroups along M", "how", "sm{}")] = None
    subgroup_n: Annotated[Literal[1, 2, 4, 8] | None, Constant("subgroups along N", "how", "sn{}")] = None
    matrix: Annotated[
        Literal["f16_16x16x16", "f16_8x16x16", "f32_8x8x8"] | None,
        Constant("components and shape M x N x K of subgroup matrices", "how"),
    ] = None
    table: Annotated[
        Literal["full", "half"] | None, Constant("whether the complement of a nibble has an entry of its own", "how")
    ] = None
    activation_group: Annotated[
        Literal[32, 64, 128] | None, Constant("activations under one scale", "how", "a{}", "ACTIVATION_GROUP")
    ] = None
    num_splits: Annotated[
        Literal[1, 2, 4, 8, 16], Constant("parts of K, summed by sum_splits", "how", "split{}", "NUM_SPLITS")
    ] = 1

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, values: Any) -> Any:
        """Give each constant that the route takes what it is where nobody chose."""
        if not isinstance(values, dict) or values.get("route") not in ROUTES:
            return values
        taken = ROUTES[values["route"]].defaults(values)
        return {**values, **{name: default for name, default in taken.items() if values.get(name) is None}}

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        reasons = [*super().refusals()]
        yield from reasons
        if reasons:  # steps may be empty
            return
        for name in sorted({name for route in ROUTES.values() for name in route.takes} - {*self.way.takes}):
            if getattr(self, name) is not None:
                yield f"route {self.route} has no {name}; leave it out"
        for name, value, unit in (("n", self.n, self.row_tile), ("k", self.k, self.block_size)):
            if value is not None and (value <= 0 or value % unit):
                yield f"{name} {value} is not a positive multiple of {unit}"
        if self.num_splits > 1 and (self.epilogue != "store" or self.output != "f32"):
            yield "parts of K are stored as f32 sums; leave epilogue and output to sum_splits"
        if self.layout not in self.way.layouts:
            yield f"route {self.route} reads layouts {', '.join(self.way.layouts)}; it has no text for {self.layout}"
            return
        yield from self.way.refusals(self)

    @property
    def x_rows(self) -> str:
        """Rows of x, as an expression in the sizes."""
        return "M"

    @property
    def x_stride(self) -> str:
        """Elements from a row of x to the next, as an expression in the sizes."""
        return "X_STRIDE" if self.way.strided else "K"

    @property
    def x_shape(self) -> str:
        """The shape of x in words."""
        return "[M][K], rows X_STRIDE elements apart" if self.way.strided else "[M][K]"

    @property
    def size(self) -> TileSize:
        """The sizes of a tile."""
        chosen = (self.tile_m, self.tile_n, self.tile_k, self.thread_m, self.thread_n)
        return TileSize(*(1 if size is None else size for size in chosen))

    @property
    def subgroups_m(self) -> int:
        """Subgroups along M; 1 where a route has none."""
        return self.subgroup_m or 1

    @property
    def subgroups_n(self) -> int:
        """Subgroups along N; 1 where a route has none."""
        return self.subgroup_n or 1

    @property
    def uses_subgroups(self) -> bool:
        """Whether the text asks which subgroup a thread is in."""
        return self.way.uses_subgroups

    def subgroup_range(self) -> SubgroupRange:
        """Return the one size that the variant's matrices need."""
        size = self.subgroup_matrix.subgroup_size if self.subgroup_matrix else 4
        return SubgroupRange(min=size, max=size)

    @property
    def subgroup_matrix(self) -> MatrixConfig | None:
        """The matrices that the device must multiply; None where the route has none."""
        return None if self.matrix is None else CONFIGS[self.matrix]

    @property
    def way(self) -> Route:
        """What the route says of itself."""
        return ROUTES[self.route]

    @property
    def decode(self) -> Literal["value4", "code4", "packed4"] | None:
        """Which of the format's decodes the route uses."""
        return self.way.decode

    @property
    def matrices(self) -> Literal[1, 2]:
        """How many matrices of N rows stand in the weights, one behind the other."""
        return 2 if self.epilogue == "swiglu" else 1

    @property
    def step_span(self) -> int:
        """The run of weights that neighbouring steps fill together: a step, or a block where steps interleave."""
        if self.in_planes:
            return self.step_elements
        dense = sorted(self.four_offsets) == list(range(len(self.four_offsets)))
        return self.step_elements if dense else self.block_size

    @property
    def whole_vectors(self) -> bool:
        """Whether the codes of a step, four a word, are whole vec4s."""
        fours = len(self.step_fours)
        return fours % 4 == 0 and sorted(self.four_offsets) == list(range(fours))

    @property
    def needs_sum(self) -> bool:
        """Whether the sum of the activations enters a product of integers."""
        return self.weight_format.has_minimum or self.weight_format.zero != 0

    def consts(self) -> Iterator[Const]:
        """Yield geometry, the route's own numbers, and where f16 ends."""
        yield from super().consts()
        yield Const(name="WORKGROUP_SIZE", type="u32", value=self.threads())
        yield from self.way.consts(self)
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations and result."""
        added = self.epilogue == "residual"
        if self.num_splits > 1:
            result = Binding(
                name="partials",
                access="read_write",
                element="f32",
                length="NUM_SPLITS * M * N",
                doc="sums of each part of K [splits][M][N]",
            )
        else:
            result = Binding(
                name="y",
                access="read_write",
                element=self.output,
                length="M * N",
                doc="added to, and result [M][N]" if added else "result [M][N]",
                kept=added,
            )
        return (*self.weight_bindings(), *self.way.activations(self), result)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        n = UniformField(name="n", type="u32", value="N", doc="rows of W")
        k = UniformField(name="k", type="u32", value="K", doc="columns of W")
        apart = "elements from a row of x to the next"
        stride = UniformField(name="x_stride", type="u32", value=self.x_stride, doc=apart)
        return (
            UniformField(name="m", type="u32", value="M", doc="tokens"),
            *((stride,) if self.way.strided else ()),
            *((n,) if self.n is None else ()),
            *((k,) if self.k is None else ()),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return what the route keeps in workgroup memory."""
        return self.way.shared(self)

    def threads(self) -> int:
        """Return the invocations of a workgroup."""
        return self.way.threads(self)

    def features(self) -> tuple[str, ...]:
        """Return the WebGPU features that the text enables."""
        return tuple(dict.fromkeys((*super().features(), *self.way.features(self))))

    def alone(self) -> Alone | None:
        """Return that whole sums of floats need no other pass; rows of x then lie one behind the other."""
        whole = self.num_splits == 1 and self.route != "int8"
        return Alone(op="linear", sizes=("M", "N", "K"), given={"X_STRIDE": "K"}) if whole else None

    def workgroups(self) -> str:
        """Return one workgroup for each tile and each part of K."""
        return "NUM_SPLITS * ceil_div(M, TILE_M) * ceil_div(N, TILE_N)"

    def tolerance(self) -> Tolerance:
        """Return the bound of the route's sums, of the epilogue behind them, and of a rounding to f16."""
        return behind(self.way.tolerance(self), self.epilogue, self.output)

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        baked = (("N", self.n), ("K", self.k))
        return (
            *super().rules(),
            *(Rule(expression=f"{s} == {v}", why=f"{s} is baked in") for s, v in baked if v is not None),
            *(APART if self.way.strided else TOGETHER),
        )

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: all numbers of tokens, N in tiles and odd, K in blocks and tiles of K."""
        least, block = self.row_tile, self.block_size
        tile_n, tile_k = self.tile_n or 1, self.tile_k or block
        short, long = block, wgsltypes.round_up(max(2 * tile_k + 1, 3 * block), block)
        few, odd, many = least, wgsltypes.round_up(tile_n + 1, least) | (least == 1), 37 * least
        shapes = {
            "one token, one row, one block": (1, few, short, 0),
            "two tokens, a row past the tile": (2, odd, short, 4),
            "four tokens, primes, many blocks": (4, many, 11 * block, 0),
            "five tokens, a multiple of the tile": (5, 2 * tile_n, long, 0),
            "seven tokens, primes": (7, many, long, 64),
            "eight tokens, less than a tile": (8, max(least, tile_n - least), long, 0),
            "nine tokens, one row": (9, few, long, 0),
            "fifteen tokens": (15, odd, short, 0),
            "sixteen tokens": (16, tile_n, long, 0),
            "seventeen tokens, rows apart": (17, many, short, 4),
            "thirty-one tokens": (31, odd, long, 0),
            "thirty-three tokens": (33, few, 3 * block, 0),
            "sixty-four tokens": (64, tile_n, short, 0),
            "a hundred and twenty-nine tokens": (129, odd, short, 0),
        }
        if self.subgroup_matrix:  # software never runs these, so their cases may be as many tokens as prompts have
            shapes["five hundred and twelve tokens"] = (512, odd, long, 0)
        return tuple(self._case(name, *shape) for name, shape in shapes.items())

    def _case(self, name: str, m: int, n: int, k: int, gap: int) -> Case:
        """Return the case of these sizes, or of the baked ones, with `gap` elements between the rows of x."""
        n, k = self.n or n, self.k or k
        return Case(name=name, sizes={"M": m, "N": n, "K": k, "X_STRIDE": k + gap * self.way.strided})

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        what = self.way.what | ({"tile_k"} if self.num_splits > 1 else set())  # parts of K are whole tiles of it
        tuning = {name: self.way.plain.get(name) for name in self.way.takes if name not in what}
        if "tile_k" in tuning and tuning["tile_k"] is None:
            tuning["tile_k"] = max(self.way.takes["tile_k"], self.step_span)  # wide steps fill more than a usual tile
        layout = "planes" if self.in_planes else "ggml"
        return self.changed(**{**tuning, "layout": layout, "n": None, "k": None})

    def template_values(self) -> dict[str, Any]:
        """Return the structure of a step and of the route, and the types at the end."""
        types = {"narrow_type": self.output, "wide_type": "f32"}
        return {**super().template_values(), **types, **self.way.template_values(self)}


def behind(sums: Tolerance, epilogue: str, output: str) -> Tolerance:
    """Return the bound of what an epilogue makes of f32 sums with the bound `sums`."""
    if epilogue == "swiglu":
        sums = Tolerance(
            nmse=100 * sums.nmse,
            row=1e5 * (sums.nmse if sums.row is None else min(sums.row, 1e-9)),
            element=2 * sums.element,
            derivation=(
                f"two sums, each: {sums.derivation}. silu(g) u moves by at most 1.1 dg |u| + |silu(g)| du + 1.1 dg du, "
                "the slope of silu being under 1.1: that is the bound of each element. Of a token's squared products "
                "one outweighs all others now and then, and its own sums may cancel out to a three-hundredth: so NMSE "
                "of a token is bounded loosely"
            ),
        )
    if output == "f16":
        return Tolerance(
            nmse=max(1e-6, sums.nmse),
            row=None if sums.row is None else max(1e-6, sums.row),
            element=sums.element,
            rounding=2.0**-10,
            derivation="as for f32 output, and behind it the rounding to f16: either neighbour, 2^-10 of the value",
        )
    return sums
