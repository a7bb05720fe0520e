"""Route `lut`: sums of four activations lie in a table, and a weight nibble is one look-up. Nothing is multiplied.

For each group of four columns and each token the sums of its activations under all signs are put into workgroup memory
once a tile of K; a thread owns a row of W and adds up what its nibbles point to, for TILE_M tokens at a time. The scale
of a block is applied to the block's sum. Weights are of one bit (q1_0), or ternary in bit planes (layout `planes`).

- One bit: an entry is x0, x1, x2, x3 with the signs of the nibble, 1 for plus. `table` half keeps the entries whose
  highest sign is plus: the complement of a nibble has the negative sum.
- Planes: an entry is the sum of the activations whose bits are set; a nibble of plus counts and one of minus is taken
  off. Weights that are zero so add no rounding error. Their table is full.

`operand` is the type of the entries: sums themselves are f32 always. As f16 they are rounded, so a sum of four
activations past +-65504 stays there: activations up to 16376 are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wgslgen.kernels.matmul_routes.base import Route
from wgslgen.spec import F16_MAX, Const, Tolerance, WorkgroupVariable

if TYPE_CHECKING:
    from wgslgen.kernels.matmul import Matmul

MOST_BYTES = 32768
F32_ENTRIES = Tolerance(
    nmse=1e-12,
    element=2.0**-19,
    derivation=(
        "weights are signs and their sums f32: 3 additions make an entry, 8 add up a word, and one each 32 columns or "
        "more joins the words, 523 at K = 16384. A rounding is of the sum so far, which grows to the magnitudes, and "
        "has both signs: the standard deviation is 0.29 * 2^-24 * sqrt(523 / 3). Six of them are 23 units of 2^-24, "
        "and 2^-19 is 32"
    ),
)
F16_ENTRIES = Tolerance(
    nmse=1e-7,
    row=4e-7,
    element=2.0**-10,
    derivation=(
        "entries are rounded to f16, by up to 2^-11 of themselves and by 4.3e-8 of their square on average; sums are "
        "f32. The errors of a token's few large results are few, so its own NMSE may be some times the average"
    ),
)


class Lut(Route):
    """Tables of sums of four activations."""

    name: ClassVar[str] = "lut"
    takes: ClassVar[Mapping[str, Any]] = {"tile_m": 8, "tile_n": 64, "tile_k": 64, "table": "full", "operand": "f32"}
    decode: ClassVar[Literal["value4", "packed4"] | None] = None
    plain: ClassVar[Mapping[str, Any]] = {"tile_m": 1, "tile_n": 32, "tile_k": 64, "table": "full"}
    layouts: ClassVar[tuple[str, ...]] = ("planar", "ggml", "planes")

    def refusals(self, v: Matmul) -> Iterator[str]:
        """Yield weights that are not made of signs, and tables that do not fit."""
        if not v.in_planes and (v.weight_format.bits != 1 or not v.weight_format.quantised):
            kinds = "signs, or ternary weights in layout planes"
            yield f"route lut reads {kinds}; use route tile for {v.weight_format.name} in layout {v.layout}"
            return
        if v.step_words != 1:
            yield "route lut reads a word of 32 weights at a time; use step_words 1"
        if v.in_planes and v.table == "half":
            yield "a table of half the entries needs a sign for every weight, and planes have zeros; use table full"
        if v.size.m not in (1, 4, 8, 16):
            yield f"tile_m {v.size.m} is not 1, 4, 8 or 16"
        if v.size.n < 32:
            yield f"tile_n {v.size.n} is less than 32 threads"
        if v.size.k < 32:
            yield f"tile_k {v.size.k} is less than a word of weights"
        if (size := self.table_bytes(v)) > MOST_BYTES:
            yield f"the table takes {size} bytes; at most {MOST_BYTES}"

    def table_bytes(self, v: Matmul) -> int:
        """Return the bytes of the table."""
        return v.size.k // 4 * entries_of(v) * v.size.m * (2 if v.operand == "f16" else 4)

    def consts(self, v: Matmul) -> Iterator[Const]:
        """Yield how many words, groups and entries a tile has."""
        numbers = {
            "TILE_STEPS": v.size.k // 32,
            "TILE_GROUPS": v.size.k // 4,
            "ENTRIES": entries_of(v),
            "LANES_M": max(1, v.size.m // 4),
        }
        for name, value in numbers.items():
            yield Const(name=name, type="u32", value=value)
        if v.operand == "f16" and v.output != "f16":
            yield F16_MAX

    def shared(self, v: Matmul) -> tuple[WorkgroupVariable, ...]:
        """Return the table."""
        element = f"vec4<{v.operand}>" if v.size.m > 1 else str(v.operand)
        count = v.size.k // 4 * entries_of(v) * max(1, v.size.m // 4)
        return (
            WorkgroupVariable(name="table", element=element, length="TILE_GROUPS * ENTRIES * LANES_M", count=count),
        )

    def threads(self, v: Matmul) -> int:
        """Return a thread for each row of W."""
        return v.size.n

    def tolerance(self, v: Matmul) -> Tolerance:
        """Return the bound by what the entries are."""
        return F16_ENTRIES if v.operand == "f16" else F32_ENTRIES

    def features(self, v: Matmul) -> tuple[str, ...]:
        """Return f16 where entries are rounded to it."""
        return ("shader-f16",) if v.operand == "f16" else ()

    def template_values(self, v: Matmul) -> dict[str, Any]:
        """Return the type of a sum and whether entries carry signs."""
        return {
            "sum_type": "vec4<f32>" if v.size.m > 1 else "f32",
            "entry_type": f"vec4<{v.operand}>" if v.size.m > 1 else v.operand,
            "lanes": max(1, v.size.m // 4),
            "signed": not v.in_planes,
        }


def entries_of(v: Matmul) -> int:
    """Return the entries of a group of four."""
    return 8 if v.table == "half" else 16
