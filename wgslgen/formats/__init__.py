"""The weight formats: one module and one line in FORMATS each."""

from __future__ import annotations

from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Blocks, Format
from wgslgen.formats.f16 import F16
from wgslgen.formats.f32 import F32
from wgslgen.formats.q1_0 import Q1_0
from wgslgen.formats.q2_0 import Q2_0
from wgslgen.formats.q4_0 import Q4_0
from wgslgen.formats.q4_1 import Q4_1
from wgslgen.formats.q8_0 import Q8_0

__all__ = ["FORMATS", "Blocks", "Format", "by_gguf_type", "get", "names"]

FORMATS: tuple[type[Format], ...] = (
    F32,
    F16,
    Q1_0,
    Q2_0,
    Q4_0,
    Q4_1,
    Q8_0,
)


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
