"""Subgroup matrices that devices multiply: types, shapes and the subgroup size that each needs.

Sources: what Dawn reports on an NVIDIA H200; Dawn's Metal backend (f32 on f32 and f16 on f16, so nothing wider than
its operands, and f32 is the one with f32 sums); onnxruntime #24898 and #32306 for Intel Xe2 and Xe3.
"""

from __future__ import annotations

from typing import Literal

from wgslgen.frozen import Frozen


class MatrixConfig(Frozen):
    """A product [m, k] x [k, n] of `component`s that adds to a `result`; all threads of a subgroup make it together."""

    component: Literal["f16", "f32"]
    result: Literal["f32"]
    m: int
    n: int
    k: int
    subgroup_size: Literal[8, 16, 32, 64]

    def __str__(self) -> str:
        return f"{self.component} {self.m}x{self.n}x{self.k} to {self.result} by {self.subgroup_size} threads"


CONFIGS: dict[str, MatrixConfig] = {
    "f16_16x16x16": MatrixConfig(component="f16", result="f32", m=16, n=16, k=16, subgroup_size=32),
    "f16_8x16x16": MatrixConfig(component="f16", result="f32", m=8, n=16, k=16, subgroup_size=32),
    "f32_8x8x8": MatrixConfig(component="f32", result="f32", m=8, n=8, k=8, subgroup_size=32),
}
"""By name: NVIDIA and AMD RDNA3, Intel Xe2, Apple."""
