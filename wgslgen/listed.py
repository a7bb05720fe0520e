"""Find the one class that a listed module defines, so that joining a list takes one line: the module's name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def classes(package: str, names: tuple[str, ...], base: type) -> tuple[Any, ...]:
    """Return, for each module name of `package`, the class there whose own name attribute is the module's.

    Formats call that attribute `name` and kernels `NAME`. Raises TypeError where a module has none or two.
    """
    return tuple(_class_of(f"{package}.{name}", name, base) for name in names)


def _class_of(module_name: str, name: str, base: type) -> type:
    members = vars(import_module(module_name)).values()
    found = [
        member
        for member in members
        if isinstance(member, type)
        and issubclass(member, base)
        and member.__module__ == module_name
        and getattr(member, "name", getattr(member, "NAME", None)) == name
    ]
    if len(found) != 1:
        raise TypeError(f"{module_name} defines {len(found)} classes called {name!r}, expected one")
    return found[0]
