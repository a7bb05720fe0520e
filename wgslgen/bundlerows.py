"""The `[[kernel]]` tables of a bundle file: axes, their checks, and the rows that they multiply to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from wgslgen import kernels
from wgslgen.constants import Scalar, check_constant, check_names
from wgslgen.errors import UsageProblem
from wgslgen.spec import Frozen, Kernel
from wgslgen.tomltext import brief, key
from wgslgen.wording import nearest


class Axis(Frozen):
    """Constants that vary together: row i sets `fields` to `rows[i]`. A fixed constant is one row."""

    fields: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]


class Table(Frozen):
    """A `[[kernel]]` table; `number` counts them from 1 in the order of the file."""

    number: int
    kernel: str
    prune: bool
    axes: tuple[Axis, ...]

    @property
    def place(self) -> str:
        """How messages name the table."""
        return f"[[kernel]] {self.number} ({self.kernel})"

    @property
    def count(self) -> int:
        """The number of rows."""
        return math.prod(len(axis.rows) for axis in self.axes)

    def rows(self) -> Iterator[dict[str, Scalar]]:
        """Yield the constants of each row; the first axis varies slowest."""
        for chosen in itertools.product(*(axis.rows for axis in self.axes)):
            fields = (zip(axis.fields, row, strict=True) for axis, row in zip(self.axes, chosen, strict=True))
            yield dict(itertools.chain.from_iterable(fields))


def read_table(file: str, number: int, data: dict[str, Any]) -> Table:
    """Return the table number `number` of `file`; raise UsageProblem for a key that says nothing legal."""
    where = f"{file}: [[kernel]] {number}"
    kernel = _kernel(where, data.get("kernel"))
    where += f" ({kernel.NAME})"
    prune = data.get("prune", False)
    if not isinstance(prune, bool):
        raise UsageProblem(f"{where}: prune = {brief(prune)}; expected true or false", hint="set prune = true")
    axes = {word: _axis(where, kernel, word, data[word]) for word in data if word not in ("kernel", "prune")}
    setters: dict[str, str] = {}
    for word, axis in axes.items():
        for field in axis.fields:
            if field in setters:
                raise UsageProblem(
                    f"{where}: {field} is set by {key(setters[field])} and by {key(word)}; expected one of them",
                    hint=f"delete {key(word)}",
                )
            setters[field] = word
    for field, info in kernel.model_fields.items():
        if info.is_required() and field not in setters:
            check_constant(where, kernel, field, None)
    return Table(number=number, kernel=kernel.NAME, prune=prune, axes=tuple(axes.values()))


def _kernel(where: str, name: object) -> type[Kernel]:
    known = [kernel.NAME for kernel in kernels.KERNELS]
    if isinstance(name, str) and name in known:
        return kernels.get(name)
    what = "names no kernel" if name is None else f"kernel = {brief(name)}"
    meant = nearest(str(name), known) or known[0]
    raise UsageProblem(f"{where}: {what}; expected one of: {', '.join(known)}", hint=f'set kernel = "{meant}"')


def _axis(where: str, kernel: type[Kernel], word: str, value: object) -> Axis:
    """Return the axis that `word = value` stands for."""
    fields = tuple(part.strip() for part in word.split(","))
    check_names(where, "", fields, tuple(kernel.model_fields))
    if isinstance(value, list) and not value:
        raise UsageProblem(
            f"{where}: {key(word)} = []; expected at least one value",
            hint=f"delete {key(word)}, or give it values",
        )
    items: list[object] = value if isinstance(value, list) else [value]
    rows = [_row(where, word, fields, item) for item in items]
    for row in rows:
        for field, constant in zip(fields, row, strict=True):
            check_constant(where, kernel, field, constant)
    axis = Axis(fields=fields, rows=tuple(rows))
    if len(set(axis.rows)) < len(rows):
        raise UsageProblem(
            f"{where}: {key(word)} = {brief(value)} has a value twice; expected different ones",
            hint=f"delete one of the two in {key(word)}",
        )
    return axis


def _row(where: str, word: str, fields: tuple[str, ...], item: object) -> tuple[Any, ...]:
    """Return an item of an axis as one value for each of its fields."""
    if len(fields) == 1:
        return (item,)
    if isinstance(item, list) and len(item) == len(fields):
        return tuple(item)
    pattern = f"[{', '.join(fields)}]"
    raise UsageProblem(
        f"{where}: {key(word)} holds {brief(item)}; expected a list of {pattern} lists",
        hint=f"write {key(word)} = [{pattern}, …] with {len(fields)} values in each",
    )
