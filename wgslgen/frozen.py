"""The base of all models: frozen, closed, and exact about types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, model_validator


class Frozen(BaseModel):
    """A model that cannot be changed, refuses unknown fields and converts nothing silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _exact(cls, values: Any) -> Any:
        """Refuse what merely equals a choice: pydantic takes True for the literal 1, and 4.0 for 4."""
        for name, value in values.items() if isinstance(values, dict) else ():
            field = cls.model_fields.get(name)
            choices = [*literals(field.annotation)] if field else []
            if choices and value is not None and type(value) not in {type(choice) for choice in choices}:
                expected = ", ".join(repr(choice) for choice in choices)
                raise ValueError(f"{name} = {value!r} is of type {type(value).__name__}; expected one of {expected}")
        return values


def literals(annotation: object) -> Iterator[Any]:
    """Yield the values that an annotation lists, looking into unions."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from literals(part)
