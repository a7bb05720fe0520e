"""The kernels: one module and one line in KERNELS each."""

from __future__ import annotations

from wgslgen.errors import UsageProblem
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.spec import Kernel

__all__ = ["KERNELS", "get"]

KERNELS: tuple[type[Kernel], ...] = (Matvec, QuantizeQ8, GetRows, RmsNorm)


def get(name: str) -> type[Kernel]:
    """Return the kernel `name`; raise UsageProblem that lists the others."""
    for kernel in KERNELS:
        if name == kernel.NAME:
            return kernel
    known = ", ".join(kernel.NAME for kernel in KERNELS)
    raise UsageProblem(f"there is no kernel {name!r}", hint=f"choose one of: {known}")
