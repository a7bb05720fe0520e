"""The only maker of names: what a variant computes, `__`, how it is tuned."""

from __future__ import annotations

from typing import Literal

from wgslgen.spec import Kernel


def variant_name(variant: Kernel) -> str:
    """Return the variant's name; it is a file name, too, and two different variants never share one."""
    return f"{what_name(variant)}__{'_'.join(_spelled(variant, 'how')) or 'only'}"


def what_name(variant: Kernel) -> str:
    """Return the part of the name that says what is computed: equal for variants that may replace each other."""
    return "_".join([variant.NAME, *_spelled(variant, "what")])


def _spelled(variant: Kernel, part: Literal["what", "how"]) -> list[str]:
    notes = variant.constants()
    words = [note.spell(getattr(variant, name)) for name, note in notes.items() if note.part == part]
    return [word for word in words if word]


def plan_name(op: str, *variants: Kernel) -> str:
    """Return the name of the plan that does `op` with these variants, the principal one first."""
    return f"{op}.{'+'.join(variant_name(variant) for variant in variants)}"
