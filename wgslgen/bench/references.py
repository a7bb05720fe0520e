"""What a device can do at best, measured by kernels that do nothing else: read, copy, and multiply on each unit.

They are specs as all kernels are, with templates under templates/bench, but no bundle ships them: their results mean
nothing and are there so that no compiler leaves the work out. Shares that `wgslgen bench` prints are of these figures,
from the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from wgslgen.matrixconfigs import CONFIGS, MatrixConfig
from wgslgen.spec import Binding, Const, Constant, Kernel, SubgroupRange, WorkgroupVariable

WorkgroupSize = Annotated[Literal[128, 256], Constant("threads of a workgroup", "how", "wg{}", "WORKGROUP_SIZE")]


class Reference(Kernel):
    """Base of the kernels that measure the device."""

    FOLDER: ClassVar[str] = "bench"
    workgroup_size: WorkgroupSize = 256

    def workgroups(self) -> str:
        """Return the number of workgroups, which the caller chooses."""
        return "GROUPS"


class ReadAll(Reference):
    """Every thread reads LOADS vec4s, all in flight, and writes one word, which is all that was read, folded."""

    NAME = "read_all"
    SUMMARY = "reads x, and writes a word for every LOADS vec4s of it"
    SIZES = ("GROUPS",)
    loads: Annotated[Literal[8, 16, 32], Constant("vec4s of a thread", "how", "l{}", "LOADS")] = 16

    def bindings(self) -> tuple[Binding, ...]:
        """Return what is read, and a word a thread."""
        threads = "GROUPS * WORKGROUP_SIZE"
        x = Binding(name="x", access="read", element="vec4<u32>", length=f"{threads} * LOADS", doc="anything")
        y = Binding(name="y", access="read_write", element="u32", length=threads, doc="each thread's words, folded")
        return (x, y)


class CopyAll(Reference):
    """Every thread copies LOADS vec4s."""

    NAME = "copy_all"
    SUMMARY = "y = x"
    SIZES = ("GROUPS",)
    loads: Annotated[Literal[1, 4, 8], Constant("vec4s of a thread", "how", "l{}", "LOADS")] = 4

    def bindings(self) -> tuple[Binding, ...]:
        """Return both ends."""
        length = "GROUPS * WORKGROUP_SIZE * LOADS"
        x = Binding(name="x", access="read", element="vec4<u32>", length=length, doc="anything")
        y = Binding(name="y", access="read_write", element="vec4<u32>", length=length, doc="the same")
        return (x, y)


class Rate(Reference):
    """Base of those that multiply numbers in registers: CHAINS sums a thread, UNROLLED * STEPS additions each."""

    SIZES = ("GROUPS",)
    SCALAR: ClassVar[str]
    PRODUCTS: ClassVar[int]
    """Multiply-adds of a thread for each addition to each sum."""
    steps: Annotated[Literal[1, 64, 256], Constant("rounds of the loop", "how", "s{}", "STEPS")] = 64
    chains: Annotated[Literal[4, 16], Constant("sums of a thread, each of which waits for none", "how", "c{}")] = 4
    unrolled: Annotated[Literal[16], Constant("additions to each sum in a round", "how", "u{}")] = 16

    def bindings(self) -> tuple[Binding, ...]:
        """Return the factor, and a number a thread."""
        x = Binding(name="x", access="read", element=f"vec4<{self.SCALAR}>", length="1", doc="factor")
        y = Binding(
            name="y", access="read_write", element=self.SCALAR, length="GROUPS * WORKGROUP_SIZE", doc="sum of the sums"
        )
        return (x, y)

    @property
    def products(self) -> int:
        """Multiply-adds of a thread."""
        return self.steps * self.unrolled * self.chains * self.PRODUCTS


class FmaRate(Rate):
    """sum = fma(sum, factor, sum), four floats at a time; three different operands may be too many to read at once."""

    NAME = "fma_rate"
    SUMMARY = "sums of f32, by fma"
    SCALAR = "f32"
    PRODUCTS = 4


class Dot4Rate(Rate):
    """sum += dot4I8Packed(sum, factor): four multiply-adds each."""

    NAME = "dot4_rate"
    SUMMARY = "sums of products of int8, four a dot4I8Packed"
    SCALAR = "u32"
    PRODUCTS = 4
    chains: Annotated[Literal[4, 16], Constant("sums of a thread, each of which waits for none", "how", "c{}")] = 16


class MatrixRate(Reference):
    """A subgroup adds ROWS x COLUMNS products of matrices to as many results, STEPS times; operands never change."""

    NAME = "matrix_rate"
    SUMMARY = "sums of products of subgroup matrices"
    SIZES = ("GROUPS",)
    workgroup_size: WorkgroupSize = 128
    matrix: Annotated[
        Literal["f16_16x16x16", "f16_8x16x16", "f32_8x8x8"], Constant("components and shape of the matrices", "how")
    ] = "f16_16x16x16"
    rows: Annotated[Literal[2], Constant("matrices of results along M", "how", "r{}")] = 2
    columns: Annotated[Literal[4], Constant("matrices of results along N", "how", "x{}")] = 4
    steps: Annotated[Literal[64, 512], Constant("additions to each result", "how", "s{}", "STEPS")] = 512

    @property
    def config(self) -> MatrixConfig:
        """The shapes."""
        return CONFIGS[self.matrix]

    @property
    def subgroup_matrix(self) -> MatrixConfig:
        """The matrices that the device must multiply."""
        return self.config

    @property
    def uses_subgroups(self) -> bool:
        """Whether the text asks which subgroup a thread is in: each stores its own results."""
        return True

    def subgroup_range(self) -> SubgroupRange:
        """Return the one size that the matrices need."""
        return SubgroupRange(min=self.config.subgroup_size, max=self.config.subgroup_size)

    def features(self) -> tuple[str, ...]:
        """Return what the text enables."""
        half = ("shader-f16",) if self.config.component == "f16" else ()
        return (*half, "subgroups", "chromium-experimental-subgroup-matrix")

    @property
    def subgroups_held(self) -> int:
        """Subgroups of a workgroup."""
        return self.workgroup_size // self.config.subgroup_size

    @property
    def products(self) -> int:
        """Multiply-adds of a workgroup."""
        config = self.config
        return self.subgroups_held * self.rows * self.columns * self.steps * config.m * config.n * config.k

    def consts(self) -> Iterator[Const]:
        """Yield the shapes."""
        config = self.config
        for name, value in (("MATRIX_M", config.m), ("MATRIX_N", config.n), ("MATRIX_K", config.k)):
            yield Const(name=name, type="u32", value=value)
        yield Const(name="SUBGROUPS", type="u32", value=self.subgroups_held)

    def bindings(self) -> tuple[Binding, ...]:
        """Return what operands are made of, and a number a thread."""
        x = Binding(name="x", access="read", element="f32", length="WORKGROUP_SIZE", doc="elements of the operands")
        y = Binding(name="y", access="read_write", element="f32", length="GROUPS * WORKGROUP_SIZE", doc="some results")
        return (x, y)

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the operands of all subgroups, and the results of each."""
        config = self.config
        depth = max(self.rows * config.m, self.columns * config.n)
        return (
            WorkgroupVariable(
                name="operands", element=config.component, length=f"{depth}u * MATRIX_K", count=depth * config.k
            ),
            WorkgroupVariable(
                name="results",
                element="f32",
                length="SUBGROUPS * MATRIX_M * MATRIX_N",
                count=self.subgroups_held * config.m * config.n,
            ),
        )

    def template_values(self) -> dict[str, Any]:
        """Return the shapes, and how many elements the operands have."""
        return {"config": self.config, "operand_count": self.workgroup_variables()[0].count}
