"""The one jinja2 environment: strict, with WGSL's own text in front and Jinja on `$$` lines.

A template may print names (text) and whole numbers. Everything else that Jinja would happily print, from
`None` to a list, is refused, so that a slip in a template never becomes WGSL.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import jinja2
import numpy as np

from wgslgen.errors import UsageProblem
from wgslgen.paths import templates_dir
from wgslgen.spec import Const

SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
LARGEST = float(np.finfo(np.float32).max)


@cache
def environment() -> jinja2.Environment:
    """Return the environment; a template is read once a process, and again where its file has changed."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_dir()),
        undefined=jinja2.StrictUndefined,
        finalize=only_text_and_numbers,
        line_statement_prefix="$$",
        line_comment_prefix="$$#",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is WGSL, not HTML
    )
    env.filters["literal"] = const_literal
    return env


def only_text_and_numbers(value: Any) -> Any:
    """Pass what a template may print; raise TypeError for bool, None, float, NumPy values and containers."""
    if isinstance(value, str) or type(value) is int or isinstance(value, jinja2.Undefined):
        return value
    raise TypeError(
        f"a template printed {value!r} ({type(value).__name__}); expected text or a whole number, "
        "and numbers for WGSL through the filter `literal`"
    )


def const_literal(const: Const) -> str:
    """Return the value of `const` as a WGSL literal with its suffix."""
    return number_literal(const.type, const.value, const.name)


def number_literal(wgsl: str, value: float | np.generic, name: str = "value") -> str:
    """Return `value` as a literal of the scalar type `wgsl`.

    WGSL has no literal for infinities and NaN, and may flush f32 subnormals: both are refused, as are
    booleans and whole numbers out of range. NumPy scalars are taken by value.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageProblem(f"{name}: {value!r} is not a number; expected a literal of type {wgsl}")
    if wgsl == "f32":
        return _float_literal(float(value), name)
    low, high = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}[wgsl]
    if not isinstance(value, int) or not low <= value <= high:
        raise UsageProblem(f"{name}: {value!r} is not a {wgsl}; expected a whole number from {low} to {high}")
    return f"{value}{'u' if wgsl == 'u32' else 'i'}"


def _float_literal(value: float, name: str) -> str:
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise UsageProblem(f"{name}: {value!r} has no f32 literal; expected a finite number up to {LARGEST:.9g}")
    if 0 < abs(value) < SMALLEST_NORMAL:
        raise UsageProblem(
            f"{name}: {value!r} is subnormal in f32 and a device may read it as 0; expected 0 or at least "
            f"{SMALLEST_NORMAL:.9g}"
        )
    return f"{np.float32(value).item().__format__('.9g')}f" if not value.is_integer() else f"{value:.1f}f"
