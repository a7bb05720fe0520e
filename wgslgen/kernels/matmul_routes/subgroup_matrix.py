"""Route `subgroup_matrix`: matrix units multiply, sums are f32. Chromium's experiment, so Tint alone knows the text.

A workgroup makes TILE_M x TILE_N results with SUBGROUP_M x SUBGROUP_N subgroups, each of which holds the results of
its share in matrices, and walks along K in tiles of TILE_K. Both operands of a tile lie in workgroup memory as the
matrices' component type, rows along K and ROW_PAD elements apart, so that a column of many rows meets all banks.
`matrix` names the shapes (`matrixconfigs`); the device must offer them, at their subgroup size.

With f16 components both operands are rounded: activations and weights past +-65504 stay there, and those under 2^-14
may count as zeros. With f32 components (Apple) nothing is rounded.

Results go through workgroup memory, a matrix of each subgroup at a time, and are stored element by element, with the
epilogue. (A matrix unit's own store to y would make Dawn ask for a y of one whole matrix at least.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from wgslgen.kernels.matmul_routes.base import Route
from wgslgen.kernels.matmul_routes.tile import narrow_sums
from wgslgen.matrixconfigs import CONFIGS, MatrixConfig
from wgslgen.spec import F16_MAX, Const, Tolerance, WorkgroupVariable

if TYPE_CHECKING:
    from wgslgen.kernels.matmul import Matmul

FEATURES = ("shader-f16", "subgroups", "chromium-experimental-subgroup-matrix")
MOST_MATRICES = 16
MOST_THREADS = 256
PAD_BYTES = 16


UNIT_SUMS = Tolerance(
    nmse=1e-9,
    row=1e-8,
    element=2.0**-14,
    derivation=(
        "operands are exact, but matrix units cut their f32 sums off where others round: up to 2^-23 of the magnitudes "
        "added and always to the same side, K / 16 times, 2^-14 at K = 8192. 5e-11 was seen on an H200 at K = 6144"
    ),
)


class SubgroupMatrix(Route):
    """Matrices of a subgroup over operands in workgroup memory."""

    name: ClassVar[str] = "subgroup_matrix"
    takes: ClassVar[Mapping[str, Any]] = {
        "tile_m": 64,
        "tile_n": 64,
        "tile_k": 32,
        "subgroup_m": 2,
        "subgroup_n": 2,
        "matrix": "f16_16x16x16",
        "operand": "f16",
    }
    plain: ClassVar[Mapping[str, Any]] = {"tile_m": 16, "tile_n": 16, "subgroup_m": 1, "subgroup_n": 1}
    what: ClassVar[frozenset[str]] = frozenset({"operand", "matrix"})
    uses_subgroups: ClassVar[bool] = True

    def defaults(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults, with the operands that the chosen matrices have."""
        config = CONFIGS.get(values.get("matrix") or self.takes["matrix"])
        return {**self.takes, "operand": config.component} if config else self.takes

    def refusals(self, v: Matmul) -> Iterator[str]:
        """Yield shares that are not whole matrices, and more of them than a subgroup holds."""
        config = matrices_of(v)
        if v.operand != config.component:
            yield f"matrices {v.matrix} are of {config.component}; operand {v.operand} does not fit"
        share_m, share_n = v.size.m // v.subgroups_m, v.size.n // v.subgroups_n
        if share_m % config.m or share_n % config.n or not share_m or not share_n:
            yield f"a subgroup's share of {share_m} x {share_n} is not whole matrices of {config.m} x {config.n}"
            return
        if v.size.k % config.k:
            yield f"tile_k {v.size.k} is not whole matrices of {config.k}"
        if v.size.k % v.step_span:
            yield (
                f"steps of {v.weight_format.name} fill runs of {v.step_span} weights; "
                f"tile_k {v.size.k} is not whole runs"
            )
        held = v.matrices * (share_m // config.m) * (share_n // config.n)
        if held > MOST_MATRICES:
            yield f"a subgroup holds {held} matrices of results; at most {MOST_MATRICES}"
        if self.threads(v) < max(v.size.k // 4, v.size.k // v.step_elements):
            yield f"{self.threads(v)} threads load less than a row of {v.size.k} columns; use more subgroups"
        if self.threads(v) > MOST_THREADS:
            yield f"the tile takes {self.threads(v)} threads; at most {MOST_THREADS} make a workgroup"

    def consts(self, v: Matmul) -> Iterator[Const]:
        """Yield the shapes of matrices and of rows in workgroup memory."""
        config = matrices_of(v)
        numbers = {
            "TILE_FOURS": v.size.k // 4,
            "TILE_STEPS": v.size.k // v.step_elements,
            "TILE_STRIDE": v.size.k + pad_of(config),
            "SHARE_M": v.size.m // v.subgroups_m,
            "SHARE_N": v.size.n // v.subgroups_n,
            "SUBGROUPS": v.subgroups_m * v.subgroups_n,
            "MATRIX_M": config.m,
            "MATRIX_N": config.n,
            "MATRIX_K": config.k,
        }
        for name, value in numbers.items():
            yield Const(name=name, type="u32", value=value)
        if config.component == "f16" and v.output != "f16":
            yield F16_MAX

    def shared(self, v: Matmul) -> tuple[WorkgroupVariable, ...]:
        """Return the operands' tiles, and a matrix of results for each subgroup."""
        config = matrices_of(v)
        stride, of_w = v.size.k + pad_of(config), v.matrices * v.size.n
        rows = "TILE_N" if v.matrices == 1 else f"{v.matrices}u * TILE_N"
        subgroups = v.subgroups_m * v.subgroups_n
        held = v.matrices * subgroups * config.m * config.n
        return tuple(
            WorkgroupVariable(name=name, element=element, length=length, count=count)
            for name, element, length, count in (
                ("x_tile", config.component, "TILE_M * TILE_STRIDE", v.size.m * stride),
                ("w_tile", config.component, f"{rows} * TILE_STRIDE", of_w * stride),
                ("results", "f32", f"{v.matrices}u * SUBGROUPS * MATRIX_M * MATRIX_N", held),
            )
        )

    def threads(self, v: Matmul) -> int:
        """Return the threads of all subgroups."""
        return v.subgroups_m * v.subgroups_n * matrices_of(v).subgroup_size

    def tolerance(self, v: Matmul) -> Tolerance:
        """Return the bound by what the operands are rounded to."""
        if v.weight_format.exact_in_f16 or v.operand != "f16":
            return UNIT_SUMS
        base = narrow_sums(v)
        said = f"{base.derivation}; and matrix units cut sums off where others round"
        return Tolerance(nmse=base.nmse, row=base.row, element=base.element, derivation=said)

    def features(self, v: Matmul) -> tuple[str, ...]:
        """Return the features of matrices and of their components."""
        return FEATURES if v.operand == "f16" else FEATURES[1:]

    def template_values(self, v: Matmul) -> dict[str, Any]:
        """Return how many matrices a subgroup holds, how many a tile has along K, and what a thread loads of a tile."""
        config, threads = matrices_of(v), self.threads(v)
        x_rows, w_rows = threads // (v.size.k // 4), threads // (v.size.k // v.step_elements)
        of_w = v.matrices * v.size.n
        return {
            "config": config,
            "held_m": v.size.m // v.subgroups_m // config.m,
            "held_n": v.size.n // v.subgroups_n // config.n,
            "along_k": v.size.k // config.k,
            "x_rows": x_rows,
            "w_rows": w_rows,
            "x_loads": -(-v.size.m // x_rows),
            "w_loads": -(-of_w // w_rows),
            "x_whole": v.size.m % x_rows == 0,
            "w_whole": of_w % w_rows == 0,
            "dense": v.step_span == v.step_elements,
            "whole_k": v.k is not None and v.k % v.size.k == 0,
        }


def matrices_of(v: Matmul) -> MatrixConfig:
    """Return the shapes that the variant multiplies."""
    return CONFIGS[v.matrix or "f16_16x16x16"]


def pad_of(config: MatrixConfig) -> int:
    """Return the elements between rows in workgroup memory."""
    return PAD_BYTES // (2 if config.component == "f16" else 4)
