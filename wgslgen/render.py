"""Spec → text. Pure: the result depends on the variant, the name of its bundle file and the templates."""

from __future__ import annotations

from collections.abc import Iterator

from wgslgen.environment import environment
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel

DIRECTIVES = {
    "shader-f16": "enable f16;",
    "subgroups": "enable subgroups;",
    "chromium-experimental-subgroup-matrix": "enable chromium_experimental_subgroup_matrix;",
}
"""What a text must enable for each feature."""


def render(variant: Kernel, source: str) -> str:
    """Return the web text of `variant`; `source` names the bundle file in its first lines."""
    template = environment().get_template(f"{variant.FOLDER}/{variant.NAME}.wgsl.j2")
    text = template.render(
        variant=variant,
        source=source,
        structure=[*_structure(variant)],
        directives=[DIRECTIVES[feature] for feature in variant.features()],
        **variant.template_values(),
    )
    return _tidy(text)


def _structure(variant: Kernel) -> Iterator[str]:
    """Say in words what the constants chose that no `const` states."""
    yield f"variant {variant_name(variant)}"
    for binding in variant.bindings():
        yield f"{binding.name}: {binding.doc}"


def _tidy(text: str) -> str:
    """Space out what stands at the margin: one empty line between declarations of different kinds.

    Jinja's line statements swallow the empty lines around them, so the spacing is made here for all texts.
    """
    lines: list[str] = []
    for line in (line.rstrip() for line in text.split("\n")):
        if not line:
            continue
        before = lines[-1] if lines else ""
        at_margin = not line[0].isspace() and line[0] not in "})"
        if at_margin and before and (before == "}" or _kind(before) not in (_kind(line), "//", "@compute")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _kind(line: str) -> str:
    return line.split("(", maxsplit=1)[0].split(maxsplit=1)[0]
