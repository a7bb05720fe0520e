"""The text of a bundle file for a model: which variants an app that runs it is likely to want.

Every format of the model gets `matvec` in its routes, the format with the most bytes in a full grid (tile,
threads, subgroups, activations, and the model's shapes baked in), the others in a short one. The embedding
gets `get_rows`, and each model `rms_norm` and what `quantize_q8` must write for the int8 routes. The result
is a start: a person edits it, so it is laid out and commented for reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from wgslgen import decoder
from wgslgen.bundlefile import MOST_VARIANTS
from wgslgen.choices import Rows, good_matmul_tile, good_tile, makes, matmul_constants, matvec_constants, stored_as
from wgslgen.formats import Format
from wgslgen.kernels.get_rows import GetRows
from wgslgen.model import Model, Weight
from wgslgen.tomltext import key, printable, toml

TILES = (1, 8)
ACTIVATIONS = {"float": "as they are", "int8": "as int8"}
ROLES = {
    "norm": "the norms of a layer",
    "qkv": "q, k and v, their rows stacked",
    "rope": "positions, and the write into the cache",
    "split": "attention over parts of the keys",
    "merge": "attention, the parts merged",
    "attention_output": "attn_output, added to the hidden state",
    "gate_up": "ffn_gate and ffn_up, their rows stacked, and SiLU",
    "quantise": "what ffn_down reads",
    "down": "ffn_down, added to the hidden state",
    "embedding": "the embedding",
    "output_norm": "the norm before the output projection",
    "lm_head": "the output projection with arg-max",
    "token": "the likeliest token",
}
"""What the roles of `decoder.wanted` are, in the comments of a bundle file."""
BOTH = (False, True)
FLOATS = ("f32", "f16")
EPILOGUES = ("store", "residual", "swiglu")
SPLITS = 4
"""Parts of K where M and N alone are few tiles."""
MOST_WIDE = 3
"""Formats up to which the first one gets its wide grid; with more of them 150 variants are soon spent."""
MOST_BAKED = 8
MOST_BAKED_WEIGHTS = 2**26
"""Past this a matrix is not baked in: its proof would take minutes, and rows gain nothing by being counted."""


@dataclass(frozen=True)
class Ask:
    """A `[[kernel]]` table: what it is for, its constants, and a comment behind each item of an axis."""

    comment: str
    constants: Rows
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The variants that the table asks for."""
        axes = (value for value in self.constants.values() if isinstance(value, list | tuple))
        return prod(len(axis) for axis in axes)

    def text(self) -> str:
        """Return the table as TOML."""
        lines = [f"# {printable(self.comment)}", "[[kernel]]"]
        for name, value in self.constants.items():
            if self.notes and isinstance(value, Sequence) and isinstance(value[0], tuple):
                items = zip(value, self.notes, strict=True)
                lines.append(f"{key(name)} = [")
                lines += [f"    {toml(item)}, # {printable(note)}" for item, note in items]
                lines.append("]")
            else:
                lines.append(f"{key(name)} = {toml(value)}")
        return "\n".join(lines) + "\n"


def bundle_toml(
    name: str, made_by: str, description: str, model: Model | None, weights: Sequence[Weight], hidden: int | None
) -> str:
    """Return the text of the bundle file `name`.

    Args:
        name: The bundle's name.
        made_by: The command that makes this file.
        description: One line on what the bundle is for.
        model: The facts for the `[model]` table, or None.
        weights: The matrices of the model; matrices of one name, shape and format stand once, with a count.
        hidden: Elements of a row that `rms_norm` sees, or None where the model has no norm.
    """
    lines = [
        "# SPDX-License-Identifier: MIT",
        f"# Made by: {printable(made_by)}",
        "# Now it is yours: a list is an axis, and a table's variants are the product of its axes.",
        "",
        f"name = {toml(name)}",
        f"description = {toml(printable(description))}",
    ]
    tables = [*asks(weights, hidden, model)]
    if (count := sum(ask.count for ask in tables)) > MOST_VARIANTS:
        lines.append(f"limit = {count}")
    if model is not None:
        facts = (f"{field} = {toml(value)}" for field, value in model.model_dump().items())
        lines += ["", "[model]", *facts]
    return "\n".join([*lines, "", *(ask.text() for ask in tables)])


def asks(weights: Sequence[Weight], hidden: int | None, model: Model | None = None) -> Iterator[Ask]:
    """Yield the tables of a bundle for these weights, in the order of the file: a token's passes, then the rest."""
    said: list[Rows] = []
    for ask in _asks(weights, hidden, model):
        if ask.constants not in said:
            said.append(ask.constants)
            yield ask


def _asks(weights: Sequence[Weight], hidden: int | None, model: Model | None) -> Iterator[Ask]:
    """Yield the tables, and some of them twice."""
    matrices = [weight for weight in weights if weight.role != "embedding"]
    decode = [*_decode(weights, model)]
    yield from decode
    by_bytes: dict[Format, int] = {}
    for weight in matrices:
        size = weight.count * weight.n * weight.format.row_bytes(weight.k)
        by_bytes[weight.format] = by_bytes.get(weight.format, 0) + size
    activations: dict[tuple[int, int], None] = {}
    for rank, stored in enumerate(sorted(by_bytes, key=lambda stored: -by_bytes[stored])):
        mine = [weight for weight in matrices if weight.format == stored]
        yield from _matvec(stored, mine, wide=rank == 0 and len(by_bytes) <= MOST_WIDE, baked=rank == 0 and not decode)
        yield from _matmul(stored, mine, wide=rank == 0 and len(by_bytes) <= MOST_WIDE)
        for int8 in (matvec_constants("int8", stored), matmul_constants("int8", stored)):
            if int8 is not None:
                activations[int8["activation_group"], stored.int8_stride or 1] = None
    for group, stride in sorted(activations):
        there = any(ask.constants.get("group") == group and ask.constants.get("stride") == stride for ask in decode)
        yield Ask(
            "Activations as the int8 routes read them.",
            {
                "kernel": "quantize_q8",
                "activation": "f16" if there else FLOATS,
                "group": group,
                "stride": stride,
                "subgroups": BOTH,
            },
        )
    for stored, k in dict.fromkeys((weight.format, weight.k) for weight in weights if weight.role == "embedding"):
        yield from _get_rows(stored, None if decode else k)
    if hidden is not None:
        yield from _rms_norm(hidden, baked=not decode)


# ---- one token -----------------------------------------------------------------------------------


def _decode(weights: Sequence[Weight], model: Model | None) -> Iterator[Ask]:
    """Yield the tables of the passes that a token takes; nothing where no route of ours runs the model.

    Layers whose matrices differ in format have none: the rows of q, k and v are stacked, and of gate and up.
    """
    layers = [*{weight.format for weight in weights if weight.role == "linear"}]
    ends = [*{weight.format for weight in weights if weight.role != "linear"}]
    if model is None or len(layers) != 1 or len(ends) != 1:
        return
    for route in decoder.ROUTES:
        for role, constants in (decoder.wanted(model, layers[0], ends[0], route) or {}).items():
            yield Ask(f"One token, activations {ACTIVATIONS[route]}: {ROLES[role]}.", {**constants, **_axes(constants)})


def _axes(constants: Rows) -> Rows:
    """Return the axes that a role leaves open: subgroups or none, and for compatibility mode less threads."""
    values: Rows = {"subgroups": BOTH, "cache": FLOATS}
    axes = decoder.axes(constants)
    if "workgroup_size" not in axes:
        return {axis: values[axis] for axis in axes}
    wide = decoder.WIDE[constants["kernel"]]
    return {"workgroup_size,subgroups": [(wide, False), (wide, True), (decoder.NARROW, False)]}


# ---- the kernels ----------------------------------------------------------------------------------


def _matvec(stored: Format, weights: Sequence[Weight], wide: bool, baked: bool) -> Iterator[Ask]:
    """Yield the tables of one format: a grid for any N and K, the baseline, and the model's own shapes."""
    grid: Rows = {"tile_rows": TILES, "workgroup_size": (32, 128)}
    floating, int8, block = (matvec_constants(route, stored) for route in ("float", "int8", "block"))
    if floating is not None:
        yield Ask(
            f"{stored}: activations as they are, any N and K.",
            {**floating, "activation": FLOATS, **(grid if wide else good_tile(None)), "subgroups": BOTH},
        )
    if int8 is not None:
        yield Ask(
            f"{stored}: int8 activations from quantize_q8, any N and K.",
            {**int8, **(grid if wide else good_tile(None)), "subgroups": BOTH},
        )
    if floating is not None and stored.quantised:
        yield Ask(
            f"{stored}: over the file's own bytes, for weights that are uploaded unconverted.",
            {**floating, "layout": "ggml", **good_tile(None), "subgroups": BOTH},
        )
    if block is not None:
        yield Ask(
            f"{stored}: the plain design that the others are measured against.",
            {**block, "activation": FLOATS, "tile_rows": (1, 4) if wide else 1},
        )
    for route in (floating, int8):
        if route is not None:
            constants = {**route, **good_tile(None), "subgroups": BOTH}
            yield from _baked(stored, [w for w in weights if w.role == "linear"] if baked else [], constants)
            yield from _baked_k(stored, [w for w in weights if w.role == "head"], constants)


def _matmul(stored: Format, weights: Sequence[Weight], wide: bool) -> Iterator[Ask]:
    """Yield the tables for many tokens: without features, by tables of sums for one bit, and on matrix units."""
    many = "many tokens, any N and K"
    for route in ("tile", "int8"):
        constants = matmul_constants(route, stored)
        if constants is None:
            continue
        few, most = (good_matmul_tile(route, stored, few=few) for few in (True, False))
        # A tile of floats for many tokens has 256 threads, and compatibility mode 128.
        sizes = [(*size.values(),) for size in ((few, most) if wide or route == "tile" else (most,))]
        tile: Rows = {",".join(most): sizes, "epilogue": EPILOGUES if wide else "store"}
        yield Ask(
            f"{stored}: {many}, activations {ACTIVATIONS['int8' if route == 'int8' else 'float']}.",
            {**constants, **tile},
        )
        if wide and route == "tile":
            yield Ask(f"{stored}: the same for f16 activations.", {**constants, "activation": "f16", "output": FLOATS})
        if wide:
            parts = {**few, "num_splits": SPLITS}
            yield Ask(f"{stored}: a few tokens, summed in parts of K by sum_splits.", {**constants, **parts})
    lut = matmul_constants("lut", stored)
    if wide and lut is not None:
        yield Ask(f"{stored}: {many}, sums of four in tables.", {**lut, "tile_m,tile_k": [(8, 64), (16, 32)]})
    if wide:
        yield Ask("What adds up parts of K.", {"kernel": "sum_splits", "num_splits": SPLITS, "epilogue": EPILOGUES})
        yield from _matrix_units(stored, weights)


def _matrix_units(stored: Format, weights: Sequence[Weight]) -> Iterator[Ask]:
    """Yield the tables for browsers that offer subgroup matrices, K baked in where the shapes are known."""
    constants = matmul_constants("subgroup_matrix", stored)
    if constants is None:
        return
    columns = sorted({weight.k for weight in weights if weight.role == "linear"})
    wide = {"tile_m": 128, "tile_n": 128, "tile_k": 64, "subgroup_m": 4, "subgroup_n": 2}
    yield Ask(
        f"{stored}: many tokens on NVIDIA's matrix units (an experiment of Chromium's).",
        {**constants, **wide, "k": columns, "epilogue": ("store", "residual")},
    )
    gated = {**wide, "tile_m": 64, "tile_n": 64, "subgroup_m": 2}  # within 48 KiB, which is what NVIDIA's devices have
    yield Ask("The same for gate and up.", {**constants, **gated, "k": columns[:1], "epilogue": "swiglu"})
    yield Ask(
        "The same for a few tokens, summed in parts of K by sum_splits.",
        {**constants, "tile_m": 16, "subgroup_m": 1, "subgroup_n": 4, "tile_k": 64, "num_splits": SPLITS},
    )
    yield Ask(
        "The same on Intel's and on Apple's matrix units, any N and K.",
        {**constants, "matrix": ("f16_8x16x16", "f32_8x8x8"), "epilogue": EPILOGUES, "tile_n": 32},
    )


def _baked(stored: Format, weights: Sequence[Weight], constants: Rows) -> Iterator[Ask]:
    """Yield the table with N and K of these matrices, those with the most weights first."""
    names: dict[tuple[int, int], list[str]] = {}
    size: Counter[tuple[int, int]] = Counter()
    for weight in weights:
        if weight.n * weight.k <= MOST_BAKED_WEIGHTS:
            names.setdefault((weight.n, weight.k), []).append(weight.name)
            size[weight.n, weight.k] += weight.count * weight.n * weight.k
    shapes = [shape for shape, _ in size.most_common(MOST_BAKED)]
    if shapes:
        yield Ask(
            f"{stored}: activations {ACTIVATIONS[constants['route']]}, the model's shapes baked in.",
            {**constants, "n,k": shapes},
            tuple(", ".join(dict.fromkeys(names[shape])) for shape in shapes),
        )


def _baked_k(stored: Format, weights: Sequence[Weight], constants: Rows) -> Iterator[Ask]:
    """Yield the table with K of the output projection, whose N is as large as the vocabulary."""
    for k in dict.fromkeys(weight.k for weight in weights):
        yield Ask(
            f"{stored}: activations {ACTIVATIONS[constants['route']]}, K baked in, for the output projection.",
            {**constants, "k": k},
        )


def _get_rows(stored: Format, k: int | None) -> Iterator[Ask]:
    for layout in ("planar", "ggml") if stored.quantised else ("ggml",):
        constants = {"kernel": "get_rows", **stored_as(stored), "layout": layout}
        for words in (4, 2, 1) if stored.step is None else (None,):
            if makes(GetRows, {**constants, "step_words": words}):
                plain = words in (None, GetRows.model_fields["step_words"].default)
                step = {} if plain else {"step_words": words}
                base = {**constants, **step, "output": FLOATS}
                yield Ask(f"Embedding look-up in {stored}, layout {layout}.", base)
                if k is not None:
                    yield Ask("The same with K baked in.", {**base, "k": k})
                break


def _rms_norm(hidden: int, baked: bool) -> Iterator[Ask]:
    grid = {"kernel": "rms_norm", "activation": FLOATS}
    yield Ask(
        "Norms over rows of any length that is a multiple of 4.",
        {**grid, "workgroup_size": (64, 256), "subgroups": BOTH},
    )
    yield Ask("Norms over rows of any length.", {**grid, "vector": 1, "subgroups": BOTH})
    if not baked:
        return
    vector = {} if hidden % 4 == 0 else {"vector": 1}
    yield Ask(
        "Norms over the hidden state, its length baked in.",
        {**grid, "d": hidden, **vector, "workgroup_size": (64, 256), "subgroups": BOTH},
    )
