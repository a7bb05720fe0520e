"""`matvec`: y = W·x, one token (or up to four columns) at a time. W is [N, K], x [columns, K], y [columns, N].

A workgroup makes TILE_ROWS rows; its threads walk along K in steps and are added up at the end, so that any
subgroup size gives the same result. Rows past N read row N - 1 and store nothing: no thread leaves early.

Routes, which change how and never what:

- `float`: codes become floats by placing their bits, the scale is applied once a step.
- `int8`: `x` comes from `quantize_q8`; four products a `dot4I8Packed`, zero points taken off once a group.
- `block`: the plain design over the file's own bytes, a word at a time; the baseline of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen import wgsltypes
from wgslgen.kernels.reduction import Reduction
from wgslgen.kernels.weighted import Weighted
from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Rule, Tolerance, UniformField, WorkgroupVariable

MOST_ACCUMULATORS = 16


class Matvec(Weighted):
    """Constants of `matvec`."""

    NAME = "matvec"
    SUMMARY = "y = W x for one token or a few columns"
    SIZES = ("N", "K")

    columns: Annotated[Literal[1, 2, 3, 4], Constant("columns of x and y", "what", "m{}", "COLUMNS")] = 1
    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    n: Annotated[int | None, Constant("rows, baked in; else a uniform", "what", "n{}", "N")] = None
    k: Annotated[int | None, Constant("columns of W, baked in; else a uniform", "what", "k{}", "K")] = None
    route: Annotated[Literal["float", "int8", "block"], Constant("how products are formed", "how")]
    activation_group: Annotated[
        Literal[32, 64, 128] | None,
        Constant("int8 activations under one scale (route int8)", "how", "a{}", "ACTIVATION_GROUP"),
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
        if self.route == "block" and (self.layout != "ggml" or self.step_words != 1 or not fmt.quantised):
            yield "route block reads a quantised file's bytes a word at a time; use layout ggml and step_words 1"
        if self.route == "int8":
            yield from self._int8_refusals()
        elif self.activation_group is not None:
            yield f"activation_group belongs to route int8; leave it out with route {self.route}"
        if self.tile_rows * self.columns > MOST_ACCUMULATORS:
            yield f"tile_rows x columns is {self.tile_rows * self.columns}; at most {MOST_ACCUMULATORS} sums a thread"
        for name, value, unit in (("n", self.n, 1), ("k", self.k, self.block_size)):
            if value is not None and (value <= 0 or value % unit):
                yield f"{name} {value} is not a positive multiple of {unit}"

    def _int8_refusals(self) -> Iterator[str]:
        fmt = self.weight_format
        if fmt.int8_stride is None:
            yield f"{fmt.name} has no codes for route int8; use route float"
        if self.activation != "f32":
            yield "route int8 reads what quantize_q8 wrote; leave activation at f32 and choose it there"
        if self.activation_group is None:
            yield "route int8 needs activation_group"
        elif fmt.group % self.activation_group:
            yield f"activation_group {self.activation_group} does not divide the block of {fmt.group} weights"
        elif self.activation_group < self.step_elements:
            yield (
                f"a step of {self.step_elements} weights reaches over activation_group {self.activation_group}; "
                "use fewer step_words"
            )

    @property
    def decode(self) -> Literal["value4", "code4", "packed4"]:
        """Which of the format's decodes the route uses."""
        routes: dict[str, Literal["value4", "code4", "packed4"]] = {
            "float": "value4",
            "int8": "packed4",
            "block": "code4",
        }
        return routes[self.route]

    @property
    def needs_sum(self) -> bool:
        """Whether the sum of the activations enters the result."""
        fmt = self.weight_format
        if not fmt.quantised:
            return False
        return fmt.min_offset is not None or (self.route == "int8" and fmt.zero != 0)

    @property
    def reduction(self) -> Reduction:
        """The sums of a workgroup: one for each row of the tile and column."""
        return Reduction(self.workgroup_size, self.subgroups, self.tile_rows * self.columns)

    def consts(self) -> Iterator[Const]:
        """Yield geometry and the number of sums that a workgroup reduces."""
        yield from super().consts()
        yield from self.reduction.consts()
        if self.output == "f16":
            yield F16_MAX
        if self.activation_group is not None:
            steps = self.activation_group // self.step_elements
            yield Const(name="STEPS_PER_GROUP", type="u32", value=steps)

    def bindings(self) -> tuple[Binding, ...]:
        """Return weights, activations and result."""
        result = Binding(
            name="y",
            access="read_write",
            element=self.output,
            length="COLUMNS * N",
            doc="result [columns][N]",
        )
        if self.route != "int8":
            x = Binding(
                name="x",
                access="read",
                element=f"vec4<{self.activation}>",
                length="COLUMNS * K // 4",
                doc="activations [columns][K]",
            )
            return (*self.weight_bindings(), x, result)
        stride = self.weight_format.int8_stride
        x8 = Binding(
            name="x8",
            access="read",
            element="vec4<u32>" if self.wide_x8 else "u32",
            length=f"COLUMNS * K // {16 if self.wide_x8 else 4}",
            doc=f"int8 activations [columns][K] as quantize_q8 writes them with stride {stride}",
        )
        scale = Binding(
            name="x_scale",
            access="read",
            element="vec2<f32>",
            length="COLUMNS * K // ACTIVATION_GROUP",
            doc="scale and sum of the integers of each activation group",
        )
        return (*self.weight_bindings(), x8, scale, result)

    @property
    def wide_x8(self) -> bool:
        """Whether a step's int8 activations are whole aligned vec4s."""
        fours = len(self.step_fours)
        return fours % 4 == 0 and sorted(self.four_offsets) == list(range(fours))

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes that are not baked."""
        rows = UniformField(name="n", type="u32", value="N", doc="rows")
        columns = UniformField(name="k", type="u32", value="K", doc="columns of W")
        return (*((rows,) if self.n is None else ()), *((columns,) if self.k is None else ()))

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the slots of the reduction."""
        return self.reduction.slots()

    def workgroups(self) -> str:
        """Return one workgroup for each TILE_ROWS rows."""
        return "ceil_div(N, TILE_ROWS)"

    def threads(self) -> int:
        """Return the invocations of a workgroup."""
        return self.workgroup_size

    def tolerance(self) -> Tolerance:
        """Return the bound of f32 sums, or of one rounding to f16 behind them."""
        if self.output == "f16":
            return Tolerance(
                nmse=1e-6,
                element=2.0**-20,
                rounding=2.0**-10,
                derivation="as for f32 output, and behind it the rounding to f16: either neighbour, 2^-10 of the value",
            )
        return Tolerance(
            nmse=1e-12,
            element=2.0**-20,
            derivation=(
                "operands are exact in f32, so an error is at most (adds in a chain) * 2^-24 of the magnitudes "
                "added; chains are K / (threads * elements) + log2(threads)"
            ),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        baked = [(f"{s} == {v}", f"{s} is baked in") for s, v in (("N", self.n), ("K", self.k)) if v is not None]
        return (*super().rules(), *(Rule(expression=e, why=w) for e, w in baked))

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: K in blocks and steps, N in tiles."""
        if self.n is not None and self.k is not None:
            return (Case(name="baked", sizes={"N": self.n, "K": self.k}),)
        block, tile = self.block_size, self.tile_rows
        walk = self.step_elements * self.workgroup_size
        shapes = {
            "one row, one block": (1, block),
            "less than a tile": (max(1, tile - 1), 3 * block),
            "a multiple of the tile": (4 * tile, 2 * block),
            "primes, many blocks": (37, wgsltypes.round_up(max(walk + block, 11 * block), block)),
        }
        return tuple(Case(name=name, sizes={"N": self.n or n, "K": self.k or k}) for name, (n, k) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        route: dict[str, Any] = {"route": self.route}
        if self.route == "float" and self.weight_format.quantised:
            route = {"route": "block"}
        tuned = {"tile_rows": 1, "workgroup_size": 64, "subgroups": False, "n": None, "k": None}
        return self.changed(**self.plain_weights(), **route, **tuned)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of step, reduction and row loop."""
        return {
            **super().template_values(),
            **self.reduction.template_values(),
            "narrow_type": self.output,
            "wide_type": "f32",
        }
