"""The page docs/kernels.md, made from the specs: `python -m wgslgen.kerneldocs` prints it.

What a kernel computes is its module's docstring; constants, bindings, limits and tolerance are read from the class
and from one variant of it, the first that the bundles under generated/ ship, whose text closes the section.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from wgslgen import bundlefile, plans
from wgslgen.expr import Expr
from wgslgen.kernels import KERNELS
from wgslgen.manifest import plan_entry
from wgslgen.naming import variant_name
from wgslgen.plan import Plan
from wgslgen.render import render
from wgslgen.spec import Kernel

HEAD = """# Kernels

This page is made from the specs in `wgslgen/kernels/` by `make docs`; change those instead. A *variant* is a kernel
with all constants fixed. Lengths, workgroups and rules are expressions in the sizes; `ceil_div`, `round_up`, `min`
and `max` mean what they say, and division rounds down.
"""


def page(folder: Path) -> str:
    """Return the page; `folder` holds the bundle files whose variants are shown.

    Raises LookupError for a kernel that no bundle ships.
    """
    loaded = [bundlefile.load(path) for path in sorted(folder.glob("*.toml"))]
    shipped = [variant for file in loaded for variant in bundlefile.expand(file).variants]
    derived = [plan for file in loaded for plan in plans.derive(bundlefile.expand(file).variants, file.facts)]
    lines = [HEAD, *(f"- [`{k.NAME}`](#{k.NAME}): {k.SUMMARY}" for k in KERNELS), "- [Plans](#plans)", ""]
    for kernel in KERNELS:
        lines += _section(kernel, _example(kernel, shipped))
    return "\n".join([*lines, *_plans(derived)]).rstrip() + "\n"


def _example(kernel: type[Kernel], shipped: Sequence[Kernel]) -> Kernel:
    """Return the first variant that needs no optional feature."""
    found = [variant for variant in shipped if type(variant) is kernel and not variant.features()]
    if not found:
        raise LookupError(f"no bundle ships a variant of {kernel.NAME} that needs no optional feature")
    return found[0]


def _section(kernel: type[Kernel], variant: Kernel) -> Iterator[str]:
    module = inspect.getmodule(kernel)
    yield f"## {kernel.NAME}\n"
    yield f"{inspect.cleandoc((module.__doc__ if module else None) or '')}\n"
    yield from _table(
        "Constants",
        ("constant", "values", "default", "in WGSL", "what it is"),
        (
            (f"`{name}`", *_range(kernel, name), f"`{note.wgsl}`" if note.wgsl else "", note.doc)
            for name, note in kernel.constants().items()
        ),
    )
    yield f"Sizes: {', '.join(f'`{size}`' for size in kernel.SIZES)}.\n"
    yield f"For example `{variant_name(variant)}`:\n"
    yield from _table(
        "Bindings",
        ("binding", "access", "elements", "length", "what it holds"),
        ((f"`{b.name}`", b.access, f"`{b.element}`", f"`{b.length}`", b.doc) for b in variant.bindings()),
    )
    yield from _table(
        "Uniforms",
        ("field", "type", "filled by", "what it is"),
        ((f"`{u.name}`", f"`{u.type}`", f"`{u.value}`", u.doc) for u in variant.uniforms()),
    )
    yield f"Workgroups: `{variant.workgroups()}` of {variant.threads()} threads.\n"
    yield from (f"- `{rule.expression}`, because {rule.why}" for rule in variant.rules())
    yield from ([""] if variant.rules() else [])
    wanted = variant.requirements
    limits = ", ".join(f"{name} {value}" for name, value in wanted.limits.items())
    yield f"It needs {', '.join(wanted.features) or 'no optional feature'}; {limits}.\n"
    tolerance = variant.tolerance()
    rounding = f", behind a rounding of {tolerance.rounding:.3g} of the result" if tolerance.rounding else ""
    yield (
        f"Tolerance: NMSE {tolerance.nmse:.3g}; each error at most {tolerance.element:.3g} of the magnitudes that "
        f"were added up{rounding}. Because: {tolerance.derivation}.\n"
    )
    yield f"It is run on: {', '.join(case.name for case in variant.cases())}.\n"
    yield f"```wgsl\n{render(variant, 'docs/kernels.md')}```\n"


def _plans(derived: Sequence[Plan]) -> Iterator[str]:
    yield "## Plans\n"
    yield f"{inspect.cleandoc(plans.__doc__ or '')}\n"
    shown: dict[str, Plan] = {}
    for plan in derived:
        if plan.op not in shown or len(plan.passes) > len(shown[plan.op].passes):
            shown[plan.op] = plan
    for op, plan in shown.items():
        said = plan_entry(plan)
        yield f"### {op}\n"
        yield f"{plan.doc[0].upper()}{plan.doc[1:]}. For example `{plan.name}`, in {len(plan.passes)} passes:\n"
        for number, step in enumerate(said.passes, 1):
            given = ", ".join(f"{binding} = `{buffer}`" for binding, buffer in step.buffers.items())
            yield f"{number}. `{step.variant}`: {given}"
        yield ""
        yield from _table(
            "Buffers",
            ("buffer", "role", "bytes", "what it holds"),
            ((f"`{b.name}`", b.role, f"`{_spelled(b.bytes)}`", b.doc) for b in plan.buffers),
        )


def _range(kernel: type[Kernel], name: str) -> tuple[str, str]:
    """Return the values that a constant takes, and its default."""
    field = kernel.model_fields[name]
    bounds = [str(note) for note in field.metadata if type(note).__name__ in ("Ge", "Le", "Gt", "Lt")]
    spelled = {"Ge": "from", "Le": "to", "Gt": "above", "Lt": "below"}
    limits = " ".join(re.sub(r"(\w+)\(\w+=(.*)\)", lambda m: f"{spelled[m[1]]} {m[2]}", bound) for bound in bounds)
    values = f"{_values(field.annotation)} {limits}".strip()
    return values, "" if field.is_required() else _value(field.default)


def _values(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        return _values(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return ", ".join(_value(value) for value in get_args(annotation))
    if annotation is type(None):
        return "none"
    if get_args(annotation):
        return ", ".join(_values(part) for part in get_args(annotation))
    return {int: "whole numbers", bool: "true, false", str: "names"}.get(annotation, str(annotation))


def _value(value: object) -> str:
    """Return a constant's value as a bundle file spells it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _spelled(expression: Expr) -> str:
    """Return an expression as a person writes it."""
    if not isinstance(expression, tuple):
        return str(expression)
    operator, *operands = expression
    words = [_spelled(operand) for operand in operands]  # type: ignore[arg-type]  # operands are Expr
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "//", "mod": "%"}
    if str(operator) in signs:
        return "(" + f" {signs[str(operator)]} ".join(words) + ")"
    return f"{operator}({', '.join(words)})"


def _table(caption: str, head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table in Markdown; nothing where it has no rows."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    if lines:
        yield f"{caption}:\n"
        yield "| " + " | ".join(head) + " |"
        yield "|" + " --- |" * len(head)
        yield from lines
        yield ""


if __name__ == "__main__":
    sys.stdout.write(page(Path("generated")))
