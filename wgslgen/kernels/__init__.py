"""The kernels: one module and one line in MODULES each."""

from __future__ import annotations

from wgslgen.errors import UsageProblem
from wgslgen.listed import classes
from wgslgen.spec import Kernel

__all__ = ["KERNELS", "get"]

MODULES = (
    "matvec",
    "matmul",
    "sum_splits",
    "expert_rows",
    "matmul_id",
    "matvec_id",
    "expert_sum",
    "lm_head_argmax",
    "quantize_q8",
    "binarize",
    "get_rows",
    "set_rows",
    "rms_norm",
    "rope_cache_kv",
    "qk_norm_rope",
    "swiglu",
    "add",
    "softmax",
    "copy_strided",
    "argmax",
    "argmax_merge",
    "top_k",
    "attention_split",
    "attention_merge",
    "attention_prefill",
)
KERNELS: tuple[type[Kernel], ...] = classes(__name__, MODULES, Kernel)


def get(name: str) -> type[Kernel]:
    """Return the kernel `name`; raise UsageProblem that lists the others."""
    for kernel in KERNELS:
        if name == kernel.NAME:
            return kernel
    known = ", ".join(kernel.NAME for kernel in KERNELS)
    raise UsageProblem(f"there is no kernel {name!r}", hint=f"choose one of: {known}")
