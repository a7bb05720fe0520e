"""`set_rows`: rows x [R, K] into rows ids[r] of a tensor [ROWS, K], as f32, f16, q8_0 or q4_0: how a cache is written.

q8_0 and q4_0 lie as layout `planar` has them: a plane of codes, and a plane of f16 scales in pairs. A block of 32 is
quantised as the format's reference does, by the largest magnitude, with codes rounded half to even: q8_0 by 1/127 of
it, q4_0 by -1/8 of the weight that has it, so that this one becomes code 0. An f16 scale past +-65504 stays there. A
block of zeros, and one whose scale would be subnormal in f32, becomes scale 0, and zeros.

A thread makes a block, or four elements. Rows of an odd number of blocks share a word of scales with their neighbours:
each thread changes its half of the word by atomics, so no other row's is lost, whatever the order. What is not named by
an id stays as it is, bit for bit.

At the edges: an id at or above ROWS writes nothing. Ids must differ: of two rows with one id both would be written, in
part each. `launch.check_values` tests both on the host. f16 results past +-65504 stay there. R = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen import formats
from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField

BLOCK = 32
INVERSE_127 = Const(name="INVERSE_127", type="f32", value=1.0 / 127.0)
SMALLEST = Const(name="SMALLEST", type="f32", value=127.0 * 2.0**-126)


class SetRows(Kernel):
    """Constants of `set_rows`."""

    NAME = "set_rows"
    SUMMARY = "rows into a tensor by their ids, quantised if asked"
    SIZES = ("R", "K", "ROWS")

    format: Annotated[Literal["f32", "f16", "q8_0", "q4_0"], Constant("what the tensor holds", "what")]
    activation: Annotated[Literal["f32", "f16"], Constant("element type of x", "what", "x{}")] = "f32"
    workgroup_size: Annotated[
        Literal[32, 64, 128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64

    @property
    def quantised(self) -> bool:
        """Whether blocks are quantised."""
        return formats.get(self.format).quantised

    @property
    def unit(self) -> int:
        """Elements that a thread makes."""
        return BLOCK if self.quantised else 4

    def consts(self) -> Iterator[Const]:
        """Yield how much a thread makes, and the ends of numbers."""
        yield Const(name="UNIT", type="u32", value=self.unit)
        if self.quantised:
            yield INVERSE_127
            yield SMALLEST
        if self.format != "f32":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return rows, ids, and the tensor's planes."""
        x = Binding(name="x", access="read", element=f"vec4<{self.activation}>", length="R * K // 4", doc="rows [R][K]")
        ids = Binding(
            name="ids",
            access="read",
            element="u32",
            length="R",
            doc="row of the tensor for each row of x, all different; from ROWS on: none",
            below="ROWS",
            distinct=True,
        )
        if not self.quantised:
            element, length, doc = f"vec4<{self.format}>", "ROWS * K // 4", "tensor [ROWS][K]"
            tensor = Binding(name="y", access="read_write", element=element, length=length, doc=doc, kept=True)
            return (x, ids, tensor)
        bits = formats.get(self.format).bits
        codes = Binding(
            name="codes",
            access="read_write",
            element="u32",
            length=f"ROWS * K * {bits} // 32",
            doc=f"codes [ROWS][K * {bits} / 32] u32",
            kept=True,
        )
        scales = Binding(
            name="scales",
            access="read_write",
            element="atomic<u32>",
            length="ceil_div(ROWS * K // UNIT, 2)",
            doc="f16 scales in pairs, [ROWS][K / 32]",
            kept=True,
        )
        return (x, ids, codes, scales)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        fields = (("r", "R", "rows of x"), ("k", "K", "columns"), ("rows", "ROWS", "rows of the tensor"))
        return tuple(UniformField(name=name, type="u32", value=value, doc=doc) for name, value, doc in fields)

    def workgroups(self) -> str:
        """Return a thread for each unit of each row."""
        return "ceil_div(R * (K // UNIT), WORKGROUP_SIZE)"

    def rules(self) -> tuple[Rule, ...]:
        """Return that rows are whole units."""
        what = "blocks of 32" if self.quantised else "loads of four"
        return (Rule(expression="K % UNIT == 0", why=f"a row is whole {what}"),)

    def tolerance(self) -> Tolerance:
        """Return the bound of one rounding; codes are judged by what rounding may give."""
        said = "one rounding to f16: either neighbour; codes are equal"
        return Tolerance(nmse=1e-6, element=2.0**-10, derivation=said)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: rows of one unit, of an odd number and of many, and few and many rows."""
        unit = self.unit
        shapes = {
            "one row, one unit": (1, unit, 1),
            "every other row of one unit": (8, unit, 16),
            "rows of three units": (5, 3 * unit, 9),
            "a head of 128": (3, 128, 40),
            "primes": (37, 5 * unit, 41),
            "a row past many workgroups": (2, 31 * unit, 3),
        }
        return tuple(Case(name=name, sizes={"R": r, "K": k, "ROWS": rows}) for name, (r, k, rows) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=32)

    def template_values(self) -> dict[str, Any]:
        """Return the types at the end; words of neighbours need no other order."""
        return {"narrow_type": f"vec4<{self.format}>", "wide_type": "vec4<f32>", "q8_stride": 1}
