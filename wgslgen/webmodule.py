"""The ES module of a bundle: a module a kernel with its texts, the plans, the runtime, its self-test, types.

Files in memory, made from what the manifest says. Nothing is computed here that the manifest does not hold: a page
gets the same facts as a reader of `manifest.json`, less what only people read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wgslgen import formats, layouts
from wgslgen.costs import cost_rows
from wgslgen.environment import environment
from wgslgen.formats.base import Format, ScaledFormat
from wgslgen.kernels import get
from wgslgen.manifest import BindingEntry, PlanEntry, VariantEntry
from wgslgen.paths import templates_dir
from wgslgen.spec import Frozen

VARIANT_FIELDS = (
    "name",
    "computes",
    "kernel",
    "entry_point",
    "constants",
    "sizes",
    "alone",
    "workgroups",
    "uniforms",
    "requirements",
    "rules",
)
PLAN_FIELDS = ("name", "op", "sizes", "parameters", "fixed", "rules", "passes")
HEADER = """// SPDX-License-Identifier: MIT
// Made by wgslgen from {source}; change that file and run `wgslgen render` instead of editing here.

"""


class VariantModule(NamedTuple):
    """A variant as its module holds it: fields are (name, JSON)."""

    name: str
    fields: tuple[tuple[str, str], ...]
    text: str


class KernelModule(NamedTuple):
    """A kernel's module; `type` is the TypeScript name of the union of its variants."""

    name: str
    summary: str
    type: str
    variants: tuple[VariantModule, ...]


class FormatModule(NamedTuple):
    """A weight format as the module holds it: fields are (name, JavaScript)."""

    key: str
    fields: tuple[tuple[str, str], ...]


class PlanModule(NamedTuple):
    """A plan as the module holds it: fields are (name, JSON)."""

    name: str
    fields: tuple[tuple[str, str], ...]


def web_files(
    name: str,
    source: str,
    variants: Sequence[VariantEntry],
    plans: Sequence[PlanEntry],
    texts: Mapping[str, str],
    answers: Mapping[str, Any],
) -> dict[str, bytes]:
    """Return the module's files by their path in the bundle.

    `texts` gives the WGSL of each variant by its name, `answers` what `answers.answers` makes for the variants.
    """
    kernels = [*_kernels(variants, texts)]
    planned = [PlanModule(plan.name, (*_json_fields(plan, PLAN_FIELDS), _buffers(plan))) for plan in plans]
    values = {
        "source": source,
        "kernels": kernels,
        "plans": planned,
        "ops": sorted({plan.op for plan in plans}),
        "formats": [*_formats(variants)],
        "costs": [_json(row) for row in cost_rows()],
        "answers": {
            "arrays": answers["arrays"],
            "problems": [_json(problem) for problem in answers["problems"]],
            "variants": [(_json(variant), problem) for variant, problem in answers["variants"].items()],
        },
    }
    files = {f"runtime/{path}": HEADER.format(source=source) + text for path, text in _runtime().items()}
    for kernel in kernels:
        files[f"kernels/{kernel.name}.js"] = _render("kernel.js", kernel=kernel, **values)
        files[f"kernels/{kernel.name}.d.ts"] = _render("kernel.d.ts", kernel=kernel, **values)
    for module in ("formats", "plans", "selftest", "index"):
        for path in (f"{module}.js", f"{module}.d.ts"):
            files[path] = _render(path, **values)
    files["package.json"] = json.dumps(_package(name), indent=2) + "\n"
    return {path: text.encode() for path, text in files.items()}


def _kernels(variants: Sequence[VariantEntry], texts: Mapping[str, str]) -> Iterator[KernelModule]:
    """Yield the kernels in the order of their first variants."""
    for name in dict.fromkeys(variant.kernel for variant in variants):
        mine = tuple(
            VariantModule(
                json.dumps(v.name), (*_json_fields(v, VARIANT_FIELDS), _bindings(v)), _template_literal(texts[v.name])
            )
            for v in variants
            if v.kernel == name
        )
        yield KernelModule(name, get(name).SUMMARY, f"{name.title().replace('_', '')}Variant", mine)


def _formats(variants: Sequence[VariantEntry]) -> Iterator[FormatModule]:
    """Yield the weight formats of the variants, each once, by the names that `formatOf` in the runtime makes."""
    stored = [v.constants for v in variants if "format" in v.constants]
    for name, group in dict.fromkeys((str(each["format"]), each.get("group")) for each in stored):
        key = name if group is None else f"{name}_g{group}"
        yield FormatModule(key, tuple(_format_fields(formats.get(name, None if group is None else int(group)))))


def _format_fields(fmt: Format) -> Iterator[tuple[str, str]]:
    """Yield what `pack` must know: bytes of a block and where its codes are, the layouts, and what these need."""
    kinds = [layout for layout in layouts.LAYOUTS if layouts.refusal(fmt, layout) is None]
    yield "name", _json(str(fmt))
    yield "group", _json(fmt.group)
    yield "block", _json(fmt.block_bytes)
    yield "codes", _json({"offset": fmt.code_offset, "bytes": fmt.code_bytes})
    yield "layouts", _json(kinds)
    if "planes" in kinds and isinstance(fmt, ScaledFormat):
        slots = fmt.slot_elements()
        yield "bits", _json(fmt.bits)
        yield "times", _json([fmt.code_scale * code + fmt.zero for code in range(1 << fmt.bits)])
        yield "elements", _json(None if (slots == range(fmt.group)).all() else slots.tolist())
    grid = fmt.grid()
    if grid is not None:
        yield "grid", f"new Uint32Array({_json(grid.tolist())})"


def _json_fields(entry: Frozen, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    values = entry.model_dump(mode="json")
    return tuple((name, _json(values[name])) for name in names)


def _bindings(variant: VariantEntry) -> tuple[str, str]:
    """Return the bindings without what is for readers, and without what is usual."""
    return "bindings", _json([_binding(binding) for binding in variant.bindings])


def _binding(binding: BindingEntry) -> dict[str, Any]:
    return binding.model_dump(mode="json", exclude={"doc"}, exclude_defaults=True)


def _buffers(plan: PlanEntry) -> tuple[str, str]:
    return "buffers", _json([buffer.model_dump(mode="json", exclude={"doc"}) for buffer in plan.buffers])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _template_literal(text: str) -> str:
    """Return the text as it stands between the backquotes of a JavaScript literal."""
    return text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")


def _package(name: str) -> dict[str, Any]:
    """Return package.json: an ES module without side effects, so that a bundler drops what is not imported."""

    def typed(path: str) -> dict[str, str]:
        return {"types": f"./{path}.d.ts", "default": f"./{path}.js"}

    return {
        "name": name,
        "version": "0.0.0",  # of no meaning; packagers ask for one
        "private": True,
        "license": "MIT",
        "type": "module",
        "sideEffects": False,
        "exports": {
            ".": typed("index"),
            "./kernels/*": typed("kernels/*"),
            "./formats": typed("formats"),
            "./plans": typed("plans"),
            "./runtime": typed("runtime/index"),
            "./selftest": typed("selftest"),
            "./manifest.json": "./manifest.json",
            "./wgsl/*": "./wgsl/*",
        },
    }


def _runtime() -> dict[str, str]:
    """Return the runtime's files by name, as they stand in templates/web/runtime."""
    folder = templates_dir() / "web" / "runtime"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def _render(path: str, **values: Any) -> str:
    return environment().get_template(f"web/module/{path}.j2").render(**values)
