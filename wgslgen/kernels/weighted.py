"""What kernels that read a weight matrix share: format, layout, and the step in which they read it.

A *step* is what one load brings: `step_words` u32 words of codes. Steps are numbered along the rows, and a
step never reaches over a block's end. The decode in templates/formats gives four neighbouring elements a
call, so a step is a list of (unit, four) pairs, in the order in which `step_fours` names them. In layout `planes` a
step is as many words of each plane, a bit a weight, and nothing decodes it. A format with several scales in a block
has steps of its own (`Format.step`): 16 or 32 weights in element order, which its WGSL loads as signed bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import model_validator

from wgslgen import formats, layouts
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.spec import Binding, Const, Constant, Kernel, Rule

STEP_TYPES = {1: "u32", 2: "vec2<u32>", 4: "vec4<u32>"}

FormatName = Annotated[str, Constant("weight format, as stored in the file", "what")]
Group = Annotated[
    int | None,
    Constant("weights under one scale; needed where the format has several", "what", tag="g{}"),
]
LAYOUT = Constant("how the weights lie on the GPU", "what")
Layout = Annotated[Literal["ggml", "planar", "row4", "planes"], LAYOUT]
StepWords = Annotated[
    Literal[1, 2, 4] | None,
    Constant("u32 words of codes that a thread loads at once; not for formats with steps of their own", "how", "w{}"),
]


class Weighted(Kernel):
    """Base of the kernels with a weight matrix [N, K]."""

    format: FormatName
    group: Group = None
    layout: Layout = "planar"
    step_words: StepWords = 4

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, values: Any) -> Any:
        """Fill in the only group of a format, and drop it where naming it says nothing."""
        if not isinstance(values, dict) or not isinstance(values.get("format"), str):
            return values
        try:
            chosen = formats.get(values["format"], values.get("group"))
        except UsageProblem as problem:
            raise ValueError(str(problem)) from None
        by_words = chosen.step is None or values.get("layout") == "planes" or values.get("step_words")
        own_steps = {} if by_words else {"step_words": None}
        return {**values, **own_steps, "group": chosen.group if len(chosen.groups) > 1 else None}

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together: format with layout, step with block."""
        fmt = self.weight_format
        if refused := layouts.refusal(fmt, self.layout):
            yield f"{refused.problem}; use layout {refused.instead}"
        if (fmt.step is None or self.in_planes) != (self.step_words is not None):
            own = f"{fmt.name} has steps of {fmt.step} weights; leave step_words out"
            yield own if fmt.step else f"{fmt.name} is loaded in words; step_words is 1, 2 or 4"
            return
        if self.step_words is None:
            return
        words, what = (fmt.group // 32, "words of a plane") if self.in_planes else (fmt.code_words, "code words")
        if fmt.quantised and words % self.step_words:
            yield f"a block of {fmt.name} has {words} {what}; step_words {self.step_words} does not fit"
        if self.step_words % fmt.unit_words:
            yield f"{fmt.name} is decoded {fmt.unit_words} words at a time; step_words {self.step_words} is less"

    @property
    def matrices(self) -> Literal[1, 2]:
        """How many matrices of N rows stand in the weights, one behind the other."""
        return 1

    @cached_property
    def weight_format(self) -> Format:
        """The format with its group fixed."""
        return formats.get(self.format, self.group)

    @property
    def in_planes(self) -> bool:
        """Whether the weights are bit planes."""
        return self.layout == "planes"

    @property
    def row_tile(self) -> int:
        """Rows that one load brings: those that the layout stores together."""
        return layouts.row_tile(self.layout)

    @cached_property
    def step_fours(self) -> tuple[tuple[int, int], ...]:
        """The (unit, four) pairs of a step in decoding order; a format's own step is one unit."""
        fmt = self.weight_format
        if self.step_words is None:
            return tuple((0, four) for four in range((fmt.step or 0) // 4))
        units = self.step_words // fmt.unit_words
        return tuple((unit, four) for unit in range(units) for four in range(fmt.unit_groups))

    @cached_property
    def four_offsets(self) -> tuple[int, ...]:
        """Where each pair's elements lie behind those of the step's first pair, in groups of four."""
        if self.step_words is None:
            return tuple(four for _, four in self.step_fours)
        return tuple(self.weight_format.unit_offset(unit, four) // 4 for unit, four in self.step_fours)

    @property
    def step_elements(self) -> int:
        """Weights in a step."""
        return 32 * (self.step_words or 0) if self.in_planes else 4 * len(self.step_fours)

    @property
    def block_size(self) -> int:
        """Weights in a block; a step counts as a block where nothing is scaled (1 where `refusals` finds it empty)."""
        return self.weight_format.group if self.weight_format.quantised else self.step_elements or 1

    def consts(self) -> Iterator[Const]:
        """Yield the geometry of blocks and steps, and how a code becomes a weight."""
        fmt = self.weight_format
        steps = self.block_size // self.step_elements
        units = (self.step_words or 0) // fmt.unit_words
        next_step = fmt.unit_offset(units, 0) if self.step_words else self.step_elements
        first_of_next = next_step // 4 if steps > 1 else 0
        numbers = {"BLOCK_SIZE": self.block_size, "STEPS_PER_BLOCK": steps}
        if not self.in_planes:
            numbers |= {"STEP_FOURS": len(self.step_fours), "STEP_STRIDE": first_of_next}
        if self.row_tile > 1:
            numbers["ROW_TILE"] = self.row_tile
        if fmt.quantised and self.layout == "ggml":
            numbers |= {"BLOCK_BYTES": fmt.block_bytes, "CODE_OFFSET": fmt.code_offset}
        if self.step_words is None:
            numbers |= {"CODE_WORDS": fmt.code_words, "HEADER_BYTES": fmt.header_bytes}
        for name, value in numbers.items():
            yield Const(name=name, type="u32", value=value)
        if fmt.quantised and self.decode not in ("value4", None):
            yield Const(name="CODE_SCALE", type="i32", value=fmt.code_scale)
            yield Const(name="CODE_ZERO", type="i32", value=fmt.zero)

    @property
    def chunk_rows(self) -> int | None:
        """What the rows of a chunk are a multiple of, where the weights may be bound in row chunks; None: they may not.

        A dispatch a chunk, with the chunk's rows as N, then makes what one dispatch over all rows makes.
        """
        return None

    def chunk_start(self, first_row: int) -> dict[str, int]:  # noqa: ARG002  # no chunks, nothing that depends on it
        """Return what the chunk that begins `first_row` rows on adds to the sizes that say where the weights begin."""
        return {}

    @property
    def decode(self) -> Literal["value4", "code4", "packed4"] | None:
        """Which of the format's decodes the text uses; None where it uses none."""
        return "value4"

    def weight_bindings(self) -> tuple[Binding, ...]:
        """Return the buffers of the weight matrix in this layout, and the table that its codes point into."""
        grid = self.weight_format.grid()
        if grid is None:
            return self._matrix_bindings()
        doc = f"the table of {self.weight_format.name}, the same for all weights"
        table = Binding(name=layouts.GRID, access="read", element="u32", length=str(grid.size), doc=doc)
        return (*self._matrix_bindings(), table)

    def _matrix_rows(self) -> str:
        """Return the rows of all matrices, as an expression in the sizes."""
        return "N" if self.matrices == 1 else f"{self.matrices} * N"

    def _matrix_bindings(self) -> tuple[Binding, ...]:
        fmt, step = self.weight_format, STEP_TYPES[self.step_words or 1]
        rows = self._matrix_rows()
        shape = rows.replace(" * ", "][")
        steps = f"{rows} * K // {self.step_elements}"
        if not fmt.quantised:
            return (Binding(name="weights", access="read", element=step, length=steps, doc=f"rows [{shape}][K]"),)
        if self.layout == "ggml":
            return (
                Binding(
                    name="weights",
                    access="read",
                    element="u32",
                    length=f"ceil_div({rows} * K // BLOCK_SIZE * {fmt.block_bytes}, 4)",
                    doc=f"blocks [{shape}][K / {fmt.group}] of {fmt.block_bytes} bytes, padded to a word at the end",
                ),
            )
        made = self._planes(rows, shape)
        return tuple(Binding(name=n, access="read", element=e, length=c, doc=d) for n, e, c, d in made)

    def _planes(self, rows: str, shape: str) -> Iterator[tuple[str, str, str, str]]:
        """Yield name, element, length and meaning of each plane of quantised weights with `rows` rows."""
        fmt, blocks = self.weight_format, f"{rows} * K // BLOCK_SIZE"
        if self.step_words is None:
            yield "codes", "u32", f"{blocks} * CODE_WORDS", f"codes [{shape}][K / {fmt.group}][{fmt.code_words}] u32"
            rest = f"what is not codes, [{shape}][K / {fmt.group}] of {fmt.header_bytes} bytes, padded to a word"
            yield "scales", "u32", f"ceil_div({blocks} * HEADER_BYTES, 4)", rest
            return
        what = "f16 scales in pairs" if fmt.min_offset is None else "f16 scale and minimum"
        if self.layout == "row4":
            heads = "vec2<u32>" if fmt.min_offset is None else "vec4<u32>"
            words = f"{rows} * K // {128 // fmt.bits}"
            yield "codes", "vec4<u32>", words, f"codes [{shape} / 4][K * {fmt.bits} / 32][4 rows] u32"
            yield "scales", heads, f"{blocks} // 4", f"{what}, [{shape} / 4][K / {fmt.group}][4 rows]"
            return
        step, steps = STEP_TYPES[self.step_words], f"{rows} * K // {self.step_elements}"
        if self.in_planes:
            for name, value in (("plus", "+d"), ("minus", "-d")):
                yield name, step, steps, f"a bit for each weight that is {value}, [{shape}][K / 32] u32"
        else:
            yield "codes", step, steps, f"codes [{shape}][K * {fmt.bits} / 32] u32"
        pairs = f"ceil_div({blocks}, 2)" if fmt.min_offset is None else blocks
        yield "scales", "u32", pairs, f"{what}, [{shape}][K / {fmt.group}]"

    def rules(self) -> tuple[Rule, ...]:
        """Return that rows are whole blocks, and N whole tiles of a layout that has them."""
        blocks = Rule(expression="K % BLOCK_SIZE == 0", why=f"a row must be whole blocks of {self.block_size} weights")
        tiles = Rule(expression="N % ROW_TILE == 0", why=f"layout {self.layout} stores {self.row_tile} rows together")
        return (blocks, tiles) if self.row_tile > 1 else (blocks,)

    def template_values(self) -> dict[str, Any]:
        """Return the step's structure."""
        fmt = self.weight_format
        letters = "xyzw"
        units = range((self.step_words or 0) // fmt.unit_words)
        whole = self.step_words == fmt.unit_words
        swizzles = ["" if whole else "." + letters[u * fmt.unit_words : (u + 1) * fmt.unit_words] for u in units]
        return {
            "format": fmt,
            "decode": self.decode,
            "own_steps": self.step_words is None,
            "row_tile": self.row_tile,
            "step_type": STEP_TYPES[self.step_words] if self.step_words else "array<u32, STEP_FOURS>",
            "scale_type": "vec2<f32>" if fmt.has_minimum else "f32",
            "step_fours": self.step_fours,
            "four_offsets": self.four_offsets,
            "unit_swizzle": swizzles,
        }

    def plain_weights(self) -> dict[str, Any]:
        """Return the weight constants of the plainest variant: the file's bytes or its planes, a unit at a time."""
        if self.in_planes:
            return {"step_words": 1}
        return {"layout": "ggml", "step_words": self.step_words and self.weight_format.unit_words}
