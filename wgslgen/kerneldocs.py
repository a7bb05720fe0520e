"""The page docs/kernels.md, made from the specs: `python -m wgslgen.kerneldocs FILE` writes it (`make docs`).

What a kernel computes is its module's docstring, which is Markdown. Constants are read from the class; bindings,
limits and tolerance from one variant of it that the bundles under generated/ ship, whose text closes the section;
and which forms bind something else from the grids under tests/, too.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from wgslgen import bundlefile, formats, kernels, plans
from wgslgen.expr import parse
from wgslgen.exprtext import spell
from wgslgen.frozen import literals
from wgslgen.kernelforms import example, groups, parts_of, refusals, value_text
from wgslgen.kernels import KERNELS
from wgslgen.kernels.matmul_routes import ROUTES
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.plan import Pass, Plan
from wgslgen.render import render
from wgslgen.spec import Binding, Kernel

PAGE = "docs/kernels.md"
SHOWN, COMPARED = Path("generated"), Path("tests/grids")
"""Bundle files whose variants are shown, and more of them for what forms differ in."""
SHARED = ("experts", "product", "weighted", "attention", "rotary", "reduction", "best", "q8")
"""Modules beside the kernels that say what several of them share, from the particular to the general."""
LINKS = {
    **{kernel.NAME: f"[`{kernel.NAME}`](#{kernel.NAME})" for kernel in KERNELS},
    **{name: f"[`{name}`](#base-{name})" for name in SHARED},
}
"""How this page links to a section."""

HEAD = """# Kernels

Made from the specs in `wgslgen/kernels/` by `make docs`: change those, then make it anew. The words are those of
the [manual](manual.md).

Every section says what the kernel computes and what holds at the edges, then its constants, as a bundle file spells
them, and then shows one variant that needs no optional feature.

- Names in capitals are sizes or parameters, which a call gives, or a `const` of the text. In lengths, workgroups
  and rules `//` rounds down, `ceil_div` up, and `round_up(a, b)` is the next multiple of b. Lengths count elements.
- *when* says which forms have a binding or a uniform: those with all of the constants between two "or". Nothing there
  means every form. Element types follow the constants.
- A binding that is *kept* is read, or written in parts only, so what it held before matters.
- A tolerance bounds NMSE, the squared error over the squared result, and each error over the sum of the magnitudes
  that were added up for its element.
- *Refused* are changes of one constant of the variant that is shown, with what wgslgen says of them.
"""
PLANS = """## Plans

A plan is the passes that do an op together: variants in order, and the buffers between them. It stands in the manifest
of every bundle that holds all its variants. Of each op one plan is shown, the one with the most passes.
"""


def page(shown: Path, compared: Path) -> str:
    """Return the page; the bundle files in `shown` are shown, those in `compared` tell more forms apart.

    Raises LookupError for a kernel that no bundle ships.
    """
    loaded = [_loaded(path) for path in sorted(shown.glob("*.toml"))]
    shipped = [variant for variants, _ in loaded for variant in variants]
    more = [variant for path in sorted(compared.glob("*.toml")) for variant in _loaded(path)[0]]
    lines = [HEAD, *(f"- [`{k.NAME}`](#{k.NAME}): {literal(k.SUMMARY)}" for k in KERNELS)]
    lines += ["- [The routes of `matmul`](#routes)", "- [What several of them share](#shared)", "- [Plans](#plans)", ""]
    for kernel in KERNELS:
        lines += section(example(kernel, shipped), [*shipped, *more])
    lines.append("## Routes\n")
    for route in ROUTES:
        lines += [f"### Route `{route}` of `matmul`\n", f"{prose(f'{kernels.__name__}.matmul_routes.{route}')}\n"]
    lines.append("## Shared\n")
    for name in SHARED:
        module = f"{kernels.__name__}.{name}"
        lines += [f"### Base `{name}`\n", f"{prose(module, but=(name,))}\n", *_bases(module)]
    return "\n".join([*lines, *plan_sections(loaded)]).rstrip() + "\n"


def _loaded(path: Path) -> tuple[tuple[Kernel, ...], Model | None]:
    """Return the variants that a bundle file asks for, and its model."""
    file = bundlefile.load(path)
    return tuple(bundlefile.expand(file).variants), file.facts


def section(variant: Kernel, others: Sequence[Kernel]) -> Iterator[str]:
    """Yield the lines of a kernel's section, which shows `variant`; `others` are compared with it."""
    kernel = type(variant)
    yield f"## {kernel.NAME}\n"
    chosen = (value for field in kernel.model_fields.values() for value in literals(field.annotation))
    yield f"{prose(kernel.__module__, but=(kernel.NAME, *chosen))}\n"
    yield from _bases(kernel.__module__)
    yield from table(
        "Constants",
        ("constant", "values", "default", "in WGSL", "what it is"),
        (
            (f"`{name}`", values(kernel, name), default(kernel, name), f"`{note.wgsl}`" if note.wgsl else "", note.doc)
            for name, note in kernel.constants().items()
        ),
    )
    yield f"Sizes: {', '.join(f'`{size}`' for size in kernel.SIZES)}.\n"
    yield f"Variant shown: `{variant_name(variant)}`.\n"
    yield from table(
        "Bindings",
        ("binding", "access", "elements", "length", "when", "what it holds"),
        (_binding(binding, when) for binding, when in parts_of(variant, others, lambda v: v.bindings())),
    )
    yield from table(
        "Uniforms",
        ("field", "type", "filled by", "when", "what it is"),
        (
            (f"`{field.name}`", f"`{field.type}`", f"`{field.value}`", when, field.doc)
            for field, when in parts_of(variant, others, lambda v: v.uniforms())
        ),
    )
    yield f"Workgroups: `{spell(parse(variant.workgroups()))}` of {variant.threads()} threads.\n"
    yield from bullets("Rules", (f"`{spell(parse(rule.expression))}`: {rule.why}" for rule in variant.rules()))
    yield from bullets("Refused", (f"`{name}` {value}: {why}" for name, value, why in refusals(variant)))
    wanted = variant.requirements
    limits = ", ".join(f"{name} {value}" for name, value in wanted.limits.items())
    yield f"Needs: {', '.join(wanted.features) or 'no optional feature'}; limits {limits}.\n"
    tolerance = variant.tolerance()
    rounding = f", behind {tolerance.rounding:.3g} of the result" if tolerance.rounding else ""
    bounds = f"NMSE {tolerance.nmse:.3g}, each error {tolerance.element:.3g}{rounding}"
    yield f"Tolerance: {bounds}. Derivation: {literal(tolerance.derivation)}.\n"
    classes = (f"{case.name}: {_given(case.sizes)}" for case in variant.cases())
    yield from bullets("Shape classes that the oracle judges", classes)
    yield f"```wgsl\n{render(variant, PAGE)}```\n"


def plan_sections(loaded: Sequence[tuple[Sequence[Kernel], Model | None]]) -> Iterator[str]:
    """Yield the lines on plans: of each module what it says, and of each op the plan with the most passes."""
    yield PLANS
    for module in plans.MODULES:
        found = [plan for variants, model in loaded for plan in plans.derive(variants, model, (module,))]
        yield f"{prose(f'{plans.__name__}.{module}', but=[plan.op for plan in found])}\n"
        for op in dict.fromkeys(plan.op for plan in found):
            yield from _plan(max((plan for plan in found if plan.op == op), key=lambda plan: len(plan.passes)))


def _plan(plan: Plan) -> Iterator[str]:
    yield f"### Plan `{plan.op}`\n"
    yield f"{literal(plan.doc[0].upper() + plan.doc[1:])}. Sizes: {', '.join(f'`{size}`' for size in plan.sizes)}.\n"
    if plan.parameters:
        yield f"Parameters: {', '.join(f'`{name}`' for name in plan.parameters)}.\n"
    yield f"Plan shown: `{plan.name}`.\n"
    yield from table(
        "Passes",
        ("pass", "variant", "sizes that are not the plan's", "buffers that are not named as the binding"),
        (
            (str(number), f"`{variant_name(step.variant)}`", _sizes(step), _renamed(step))
            for number, step in enumerate(plan.passes, 1)
        ),
    )
    yield from table(
        "Buffers",
        ("buffer", "role", "bytes", "what it holds"),
        ((f"`{b.name}`", b.role, f"`{spell(b.bytes)}`", b.doc) for b in plan.buffers),
    )
    yield from bullets("Rules", (f"`{spell(parse(rule.expression))}`: {rule.why}" for rule in plan.rules))


def _sizes(step: Pass) -> str:
    spelled = {size: spell(parse(step.size(size))) for size in step.variant.SIZES}
    return ", ".join(f"`{size} = {text}`" for size, text in spelled.items() if size != text)


def _renamed(step: Pass) -> str:
    buffers = {binding.name: step.buffer(binding) for binding in step.variant.bindings()}
    return ", ".join(f"{binding} is `{buffer}`" for binding, buffer in buffers.items() if binding != buffer)


def _bases(module: str) -> Iterator[str]:
    if bases := [LINKS[name] for name in imported(module) if name in SHARED]:
        yield f"Builds on {', '.join(bases)}.\n"


def _binding(binding: Binding, when: str) -> tuple[str, ...]:
    access = f"{binding.access}, kept" if binding.kept else binding.access
    below = f"; each below `{spell(parse(binding.below))}`" if binding.below else ""
    length = f"`{spell(parse(binding.length))}`"
    return f"`{binding.name}`", access, f"`{binding.element}`", length, when, f"{binding.doc}{below}"


def _given(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{size} = {value}" for size, value in sizes.items())


# ---- constants ----------------------------------------------------------------------------------


def values(kernel: type[Kernel], name: str) -> str:
    """Return the values that a constant takes."""
    if name == "format":
        return ", ".join(formats.names())
    if name == "group" and "format" in kernel.model_fields:
        return ", ".join([*map(str, groups()), "none"])
    field = kernel.model_fields[name]
    spelled = {"Ge": "from", "Le": "to", "Gt": "above", "Lt": "below"}
    bounds = [
        f"{spelled[kind]} {getattr(note, kind.lower())}"
        for note in field.metadata
        if (kind := type(note).__name__) in spelled
    ]
    return " ".join([_values(field.annotation), *bounds])


def default(kernel: type[Kernel], name: str) -> str:
    """Return a constant's default; nothing where it must be given."""
    field = kernel.model_fields[name]
    return "" if field.is_required() else value_text(field.default)


def _values(annotation: Any) -> str:
    """Return the values of an annotation."""
    if get_origin(annotation) is Annotated:
        return _values(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return ", ".join(value_text(value) for value in get_args(annotation))
    if annotation is type(None):
        return "none"
    if get_args(annotation):
        return ", ".join(_values(part) for part in get_args(annotation))
    return {int: "whole numbers", bool: "true, false", str: "names"}[annotation]


# ---- Markdown -----------------------------------------------------------------------------------


def prose(module: str, but: Collection[object] = ()) -> str:
    """Return a module's docstring, which is Markdown, with links for the names of sections, all but those of `but`."""

    def link(found: re.Match[str]) -> str:
        return found[0] if found[1] in but else LINKS.get(found[1], found[0])

    text = inspect.cleandoc(import_module(module).__doc__ or "")
    lines = [line if line.startswith("    ") else re.sub(r"`(\w+)`", link, line) for line in text.split("\n")]
    return "\n".join(lines)


def literal(text: str) -> str:
    """Return plain text so that Markdown takes no star or underscore in it for stress."""
    return re.sub(r"(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def imported(module: str) -> list[str]:
    """Return the modules of wgslgen.kernels that the source of `module` imports, or imports from, in its order."""
    found: list[str] = []
    for node in ast.walk(ast.parse(inspect.getsource(import_module(module)))):
        if isinstance(node, ast.ImportFrom) and node.module == kernels.__name__:
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{kernels.__name__}."):
            found.append((node.module or "").rpartition(".")[2])
    return list(dict.fromkeys(found))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; nothing where it has no rows. Columns that are empty in all rows are left out."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    kept = [column for column in range(len(head)) if any(row[column] for row in body)]
    if body:
        yield f"{caption}:\n"
        yield _row([head[column] for column in kept])
        yield "|" + " --- |" * len(kept)
        yield from (_row([row[column] for column in kept]) for row in body)
        yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def bullets(caption: str, items: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a list; nothing where it is empty."""
    lines = [f"- {item}" for item in items]
    if lines:
        yield f"{caption}:\n"
        yield from lines
        yield ""


if __name__ == "__main__":
    made = page(SHOWN, COMPARED)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(made)
    else:
        sys.stdout.write(made)
