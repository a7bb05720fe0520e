"""The oracles: one module a kernel, in NumPy and float64, that knows neither kernels nor templates.

An oracle module offers `problem(constants, sizes, rng)`. It is found by the kernel's name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from wgslgen.oracles.problem import Problem


def problem_maker(kernel: str) -> Callable[..., Problem]:
    """Return the function that makes problems for the kernel of this name."""
    maker: Callable[..., Problem] = import_module(f"wgslgen.oracles.{kernel}").problem
    return maker
