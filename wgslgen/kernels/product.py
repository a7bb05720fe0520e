"""What kernels share that multiply a weight matrix with activations: routes, tiles, and how sums are made.

A workgroup makes TILE_ROWS rows; its threads walk along K in steps and are added up at the end, so that any
subgroup size gives the same result. Rows past N read row N - 1 and store nothing: no thread leaves early. The
partial matvec_tile holds that walk.

Routes, which change how and never what:

- `float`: codes become floats by placing their bits, the scale is applied once a step.
- `int8`: `x` comes from `quantize_q8`; four products a `dot4I8Packed`, zero points taken off once a group.
- `block`: the plain design over the file's own bytes, a word at a time; the baseline of the others.
- `popcount`: `x` comes from `binarize`, weights are ternary and lie in bit planes (layout `planes`); signs are counted
  where they agree, and nothing is multiplied within a step.

Layout `row4` is for routes float and int8: a load brings the same words of four rows, and N is a multiple of 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from wgslgen import wgsltypes
from wgslgen.kernels.reduction import Reduction
from wgslgen.kernels.weighted import STEP_TYPES, Weighted
from wgslgen.spec import Binding, Const, Constant, Rule, Tolerance, WorkgroupVariable

MOST_ACCUMULATORS = 16

WRITERS = {"int8": "quantize_q8", "popcount": "binarize"}
"""Routes that read activations in groups, and the kernels that write them so."""

SUMS = Tolerance(
    nmse=1e-12,
    element=2.0**-20,
    derivation=(
        "operands are exact in f32, so an error is at most (adds in a chain) * 2^-24 of the magnitudes "
        "added; chains are K / (threads * elements) + log2(threads). Route popcount sums a step exactly and "
        "rounds twice where the scales come in, so magnitudes are those of the sums of 32 weights"
    ),
)
"""How far the f32 sums of a row's products lie from the exact ones."""


class Product(Weighted):
    """Base of the kernels that make W·x: W is [N, K], x [columns, K], on any route."""

    columns: Annotated[Literal[1, 2, 3, 4], Constant("columns of x and y", "what", "m{}", "COLUMNS")] = 1
    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    route: Annotated[Literal["float", "int8", "block", "popcount"], Constant("how products are formed", "how")]
    activation_group: Annotated[
        Literal[32, 64, 128] | None,
        Constant("activations under one scale (routes int8 and popcount)", "how", "a{}", "ACTIVATION_GROUP"),
    ] = None
    tile_rows: Annotated[Literal[1, 2, 4, 8], Constant("rows of a workgroup", "how", "rows{}", "TILE_ROWS")] = 4
    workgroup_size: Annotated[
        Literal[32, 64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("add up by subgroup built-ins", "how", "sg")] = False

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together."""
        yield from super().refusals()
        fmt = self.weight_format
        if self.route == "block" and fmt.step is not None:
            yield f"route block reads words of codes, and {fmt.name} has steps of its own; use route float"
        elif self.route == "block" and (self.layout != "ggml" or self.step_words != 1 or not fmt.quantised):
            yield "route block reads a quantised file's bytes a word at a time; use layout ggml and step_words 1"
        if self.in_planes != (self.route == "popcount"):
            yield "layout planes and route popcount go together: use both, or neither"
        if self.tile_rows % self.row_tile:
            yield f"layout {self.layout} loads {self.row_tile} rows at once; use tile_rows {self.row_tile} or 8"
        if self.route in WRITERS:
            yield from self._packed_refusals()
        elif self.activation_group is not None:
            yield f"activation_group belongs to routes int8 and popcount; leave it out with route {self.route}"
        if self.sums > MOST_ACCUMULATORS:
            factors = "tile_rows x columns" if self.matrices == 1 else f"tile_rows x columns x {self.matrices} matrices"
            yield f"{factors} is {self.sums}; at most {MOST_ACCUMULATORS} sums a thread"

    def _packed_refusals(self) -> Iterator[str]:
        fmt = self.weight_format
        if self.route == "int8" and fmt.int8_stride is None:
            yield f"{fmt.name} has no codes for route int8; use route float"
        if self.activation != "f32":
            writer = WRITERS[self.route]
            yield f"route {self.route} reads what {writer} wrote; leave activation at f32 and choose it there"
        if self.activation_group is None:
            yield f"route {self.route} needs activation_group"
        elif fmt.group % self.activation_group:
            yield f"activation_group {self.activation_group} does not divide the block of {fmt.group} weights"
        elif self.activation_group < self.step_elements:
            yield (
                f"a step of {self.step_elements} weights reaches over activation_group {self.activation_group}; "
                "use fewer step_words"
            )

    def baked_refusals(self, n: int | None, k: int | None) -> Iterator[str]:
        """Yield what is wrong with baked sizes."""
        for name, value, unit in (("n", n, self.row_tile), ("k", k, self.block_size)):
            if value is not None and (value <= 0 or value % unit):
                yield f"{name} {value} is not a positive multiple of {unit}"

    @staticmethod
    def baked_rules(n: int | None, k: int | None) -> tuple[Rule, ...]:
        """Return that sizes are the baked ones."""
        baked = (("N", n), ("K", k))
        return tuple(Rule(expression=f"{s} == {v}", why=f"{s} is baked in") for s, v in baked if v is not None)

    @property
    def decode(self) -> Literal["value4", "code4", "packed4"] | None:
        """Which of the format's decodes the route uses; bit planes need none."""
        routes: dict[str, Literal["value4", "code4", "packed4"]] = {
            "float": "value4",
            "int8": "packed4",
            "block": "code4",
        }
        return routes.get(self.route)

    @property
    def needs_sum(self) -> bool:
        """Whether the sum of the activations enters the result."""
        fmt = self.weight_format
        if not fmt.quantised:
            return False
        return fmt.has_minimum or (self.route == "int8" and fmt.zero != 0)

    @property
    def sums_steps(self) -> bool:
        """Whether a step has to add up its activations itself: its scale ends before their group does."""
        return self.activation_group is not None and self.weight_format.scale_group < self.activation_group

    @property
    def x_rows(self) -> str:
        """Rows of x, as an expression in the sizes."""
        return "COLUMNS"

    @property
    def gathers(self) -> bool:
        """Whether a workgroup's matrix and its row of x follow from ids."""
        return False

    @property
    def sums(self) -> int:
        """The sums that each thread makes: one for each matrix, column and row of the tile."""
        return self.matrices * self.columns * self.tile_rows

    @property
    def reduction(self) -> Reduction:
        """How a workgroup adds up its threads' sums."""
        return Reduction(self.workgroup_size, self.subgroups, self.sums)

    def consts(self) -> Iterator[Const]:
        """Yield geometry and the number of sums that a workgroup reduces."""
        yield from super().consts()
        yield from self.reduction.consts()
        if self.activation_group is not None:
            steps = self.activation_group // self.step_elements
            yield Const(name="STEPS_PER_GROUP", type="u32", value=steps)

    def activation_bindings(self) -> tuple[Binding, ...]:
        """Return the activations as the route reads them."""
        if self.route == "popcount":
            return self._sign_bindings()
        if self.route != "int8":
            x = Binding(
                name="x",
                access="read",
                element=f"vec4<{self.activation}>",
                length=f"{self.x_rows} * K // 4",
                doc="activations [columns][K]",
            )
            return (x,)
        stride = self.weight_format.int8_stride
        x8 = Binding(
            name="x8",
            access="read",
            element="vec4<u32>" if self.wide_x8 else "u32",
            length=f"{self.x_rows} * K // {16 if self.wide_x8 else 4}",
            doc=f"int8 activations [columns][K] as quantize_q8 writes them with stride {stride}",
        )
        scale = Binding(
            name="x_scale",
            access="read",
            element="vec2<f32>",
            length=f"{self.x_rows} * K // ACTIVATION_GROUP",
            doc="scale and sum of the integers of each activation group",
        )
        return (x8, scale)

    def _sign_bindings(self) -> tuple[Binding, Binding]:
        signs = Binding(
            name="x1",
            access="read",
            element=STEP_TYPES[self.step_words or 1],
            length=f"{self.x_rows} * K // {self.step_elements}",
            doc="signs of the activations [columns][K / 32] u32 as binarize writes them",
        )
        scale = Binding(
            name="x_scale",
            access="read",
            element="f32",
            length=f"{self.x_rows} * K // ACTIVATION_GROUP",
            doc="scale of each activation group",
        )
        return (signs, scale)

    @property
    def wide_x8(self) -> bool:
        """Whether a step's int8 activations are whole aligned vec4s."""
        fours = len(self.step_fours)
        return fours % 4 == 0 and sorted(self.four_offsets) == list(range(fours))

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each TILE_ROWS rows."""
        return "ceil_div(N, TILE_ROWS)"

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return N and K of each shape class: K in blocks and steps, N in tiles, and all in what the layout stores."""
        block, tile, least = self.block_size, self.tile_rows, self.row_tile
        walk = self.step_elements * self.workgroup_size
        return {
            "one row, one block": (least, block),
            "less than a tile": (max(least, tile - least), 3 * block),
            "a multiple of the tile": (4 * tile, 2 * block),
            "primes, many blocks": (
                37 if least == 1 else 11 * least,
                wgsltypes.round_up(max(walk + block, 11 * block), block),
            ),
        }

    def plain_product(self) -> dict[str, Any]:
        """Return the constants of the plainest variant of the same product, its tile aside."""
        route: dict[str, Any] = {"route": self.route}
        if self.route == "float" and self.weight_format.quantised and self.step_words is not None:
            route = {"route": "block"}
        return {**self.plain_weights(), **route, "workgroup_size": 64, "subgroups": False}

    def template_values(self) -> dict[str, Any]:
        """Return the structure of step and reduction, and which partial forms products."""
        products = self.route if self.route in WRITERS else "float"
        return {**super().template_values(), **self.reduction.template_values(), "products": products}
