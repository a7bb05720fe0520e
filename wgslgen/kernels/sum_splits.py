"""`sum_splits`: the second pass of a `matmul` that sums K in parts: adds the parts up and applies the epilogue.

`partials` [NUM_SPLITS][M][N] holds what each part of K gives, as `matmul` with NUM_SPLITS writes it. A thread adds up
one result, part after part in their order, so that equal inputs give equal bits. Epilogues and y are those of
`matmul`: `store`, `residual` (y += the sum) and `swiglu`, where a row of partials holds N sums of the gate and then N
of the up projection.

f16 results past +-65504 stay there. M = 0 and N = 0 are no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from wgslgen.kernels.matmul import behind
from wgslgen.spec import F16_MAX, Binding, Case, Const, Constant, Kernel, Tolerance, UniformField

SUMS = Tolerance(
    nmse=1e-12,
    element=2.0**-20,
    derivation="at most 16 numbers are added up one after the other: 15 roundings of 2^-24 of the magnitudes added",
)


class SumSplits(Kernel):
    """Constants of `sum_splits`."""

    NAME = "sum_splits"
    SUMMARY = "the sums of the parts of K, and what becomes of them"
    SIZES = ("M", "N")

    num_splits: Annotated[Literal[2, 4, 8, 16], Constant("parts of K", "what", "split{}", "NUM_SPLITS")]
    output: Annotated[Literal["f32", "f16"], Constant("element type of y", "what", "y{}")] = "f32"
    epilogue: Annotated[
        Literal["store", "residual", "swiglu"], Constant("what becomes of the sums", "what", unsaid="store")
    ] = "store"
    workgroup_size: Annotated[Literal[64, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = (
        64
    )

    @property
    def matrices(self) -> Literal[1, 2]:
        """How many sums a row of partials holds for a result."""
        return 2 if self.epilogue == "swiglu" else 1

    def consts(self) -> Iterator[Const]:
        """Yield where f16 ends."""
        if self.output == "f16":
            yield F16_MAX

    def bindings(self) -> tuple[Binding, ...]:
        """Return the parts' sums and the result."""
        added = self.epilogue == "residual"
        rows, shape = ("N", "N") if self.matrices == 1 else ("2 * N", "2][N")
        return (
            Binding(
                name="partials",
                access="read",
                element="f32",
                length=f"NUM_SPLITS * M * {rows}",
                doc=f"sums of each part of K [splits][M][{shape}]",
            ),
            Binding(
                name="y",
                access="read_write",
                element=self.output,
                length="M * N",
                doc="added to, and result [M][N]" if added else "result [M][N]",
                kept=added,
            ),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="m", type="u32", value="M", doc="tokens"),
            UniformField(name="n", type="u32", value="N", doc="results of a token"),
        )

    def workgroups(self) -> str:
        """Return a thread for every result."""
        return "ceil_div(M * N, WORKGROUP_SIZE)"

    def tolerance(self) -> Tolerance:
        """Return the bound of the sums, of the epilogue behind them, and of a rounding to f16."""
        return behind(SUMS, self.epilogue, self.output)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes; a tile is a result of every thread."""
        tile = self.workgroup_size
        shapes = {
            "one result": (1, 1),
            "less than a tile": (3, 7),
            "one tile": (2, tile // 2),
            "a multiple of a tile": (8, tile),
            "primes": (31, 37),
        }
        return tuple(Case(name=name, sizes={"M": m, "N": n}) for name, (m, n) in shapes.items())

    def plain(self) -> Self:
        """Return the plainest variant of the same computation."""
        return self.changed(workgroup_size=64)

    def template_values(self) -> dict[str, Any]:
        """Return the types at the end."""
        return {"narrow_type": self.output, "wide_type": "f32"}
