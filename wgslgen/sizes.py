"""What a page loads of a bundle, in bytes, and the budget that a bundle file sets for it.

A page loads JavaScript: a module a kernel with its texts, the plans, the formats and the runtime. Raw bytes are
the same on every machine. Compressed bytes are what a server sends when it compresses each file with gzip at
level 9; another version of zlib may find a few bytes more or less, so a budget of them needs a little room.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field, ValidationError

from wgslgen.constants import check_names
from wgslgen.errors import UsageProblem
from wgslgen.spec import Frozen
from wgslgen.tomltext import brief

KERNELS = "kernels/"
SELF_TEST = "selftest.js"
"""The stored answers, which index.js does not import: a page loads them to test a device, once."""


class Size(Frozen):
    """Bytes of some files: raw, and each compressed by itself."""

    bytes: int
    gzip: int


class Budget(Frozen, strict=True):
    """The most bytes that the modules of a bundle may have together; None allows any number."""

    bytes: int | None = Field(default=None, gt=0)
    gzip: int | None = Field(default=None, gt=0)


def read_budget(file: str, data: object) -> Budget:
    """Return what the `[budget]` table of the bundle file `file` says; raise UsageProblem where it is wrong."""
    fields = tuple(Budget.model_fields)
    hint = "write [budget] and below it gzip = 100000"
    if not isinstance(data, dict) or not data:
        raise UsageProblem(f"{file}: budget = {brief(data)}; expected a table of {' and '.join(fields)}", hint=hint)
    check_names(file, "[budget]", data, fields)
    try:
        return Budget(**data)
    except ValidationError as problem:
        field = str(problem.errors()[0]["loc"][0])
        raise UsageProblem(
            f"{file}: [budget]: {field} = {brief(data[field])}; expected a whole number of bytes above 0", hint=hint
        ) from None


def size_of(contents: Iterable[bytes]) -> Size:
    """Return the size of these files together."""
    found = [*contents]
    return Size(bytes=sum(map(len, found)), gzip=sum(len(gzip.compress(content, mtime=0)) for content in found))


def kernel_sizes(files: Mapping[str, bytes]) -> dict[str, Size]:
    """Return the size of each kernel's module by the kernel's name, in the order of the names."""
    return {
        path.removeprefix(KERNELS).removesuffix(".js"): size_of([content])
        for path, content in sorted(files.items())
        if path.startswith(KERNELS) and path.endswith(".js")
    }


def module_size(files: Mapping[str, bytes]) -> Size:
    """Return the size of all that a page loads when it imports everything: the bundle's JavaScript but SELF_TEST."""
    return size_of(content for path, content in files.items() if path.endswith(".js") and path != SELF_TEST)


def check_budget(file: str, budget: Budget | None, files: Mapping[str, bytes]) -> None:
    """Raise UsageProblem where the modules among `files` exceed the budget of the bundle file `file`."""
    if budget is None:
        return
    found = module_size(files).model_dump()
    over: dict[str, Any] = {kind: most for kind, most in budget.model_dump().items() if most and found[kind] > most}
    if over:
        kind = next(iter(over))
        largest = sorted(kernel_sizes(files).items(), key=lambda item: -getattr(item[1], kind))[:3]
        raise UsageProblem(
            f"{file}: over its budget: "
            + ", ".join(f"{kind} {found[kind]}, expected at most {most}" for kind, most in over.items())
            + "; the largest kernels are "
            + ", ".join(f"{name} ({getattr(size, kind)})" for name, size in largest),
            hint=f"shorten their axes, or raise {' and '.join(over)} in [budget]; sizes: wgslgen list {file}",
        )
