"""The weight formats: one module and one line in MODULES each."""

from __future__ import annotations

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Blocks, Format
from wgslgen.listed import classes

__all__ = ["FORMATS", "Blocks", "Format", "by_gguf_type", "get", "names"]

MODULES = (
    "f32",
    "f16",
    "bf16",
    "q1_0",
    "q2_0",
    "q4_0",
    "q4_1",
    "q8_0",
    "q4_K",
    "q5_0",
    "q5_1",
    "q2_K",
    "q3_K",
    "q5_K",
    "q6_K",
    "tq1_0",
    "tq2_0",
    "iq4_nl",
    "iq4_xs",
    "mxfp4",
    "nvfp4",
    "iq2_xxs",
    "iq2_xs",
    "iq2_s",
    "iq3_xxs",
    "iq3_s",
    "iq1_s",
    "iq1_m",
)
FORMATS: tuple[type[Format], ...] = classes(__name__, MODULES, Format)


def names() -> tuple[str, ...]:
    """Return the names of all formats, in the order of FORMATS."""
    return tuple(kind.name for kind in FORMATS)


def get(name: str, group: int | None = None) -> Format:
    """Return the format `name` with `group` weights a block; None takes the default where there is one.

    Raises UsageProblem for an unknown name, an illegal group, and a missing group where the format's
    files do not say which one they have (q2_0).
    """
    kind = next((kind for kind in FORMATS if kind.name == name), None)
    if kind is None:
        raise UsageProblem(f"there is no format {name!r}", hint=f"choose a format from: {', '.join(names())}")
    allowed = " or ".join(str(allowed) for allowed in kind.groups)
    chosen = kind.default_group if group is None else group
    if chosen is None:
        raise UsageProblem(
            f"{name} needs a group: files with different groups carry the same type id",
            hint=f"set group = {allowed}",
        )
    if isinstance(chosen, bool) or chosen not in kind.groups:
        raise UsageProblem(f"{name} has no group {group!r}", hint=f"set group = {allowed}")
    return kind(group=chosen)


def by_gguf_type(type_id: int) -> type[Format] | None:
    """Return the format of GGUF tensors with this type id, its group still open; None where none has it."""
    return next((kind for kind in FORMATS if kind.gguf_type == type_id), None)
