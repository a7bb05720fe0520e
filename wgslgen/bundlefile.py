"""The bundle file: TOML in, variants out.

A `[[kernel]]` table asks for variants of one kernel. Each key is a constant; a list is an axis, and the
table's rows are the product of its axes. A key that names several constants, `"n,k"`, is one axis that sets
them together. Rows that a kernel refuses are errors, or with `prune = true` dropped with the reason kept.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wgslgen import kernels, profile
from wgslgen.bundlerows import Table, read_table
from wgslgen.constants import Scalar, check_names
from wgslgen.errors import UsageProblem
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.sizes import Budget, read_budget
from wgslgen.slugs import is_slug, slug
from wgslgen.spec import Frozen, Kernel
from wgslgen.tomltext import brief, toml
from wgslgen.wording import nearest

MOST_VARIANTS = 150
"""Variants of a bundle that sets no `limit`: more than this nobody reviews, and no page needs."""
MOST_ROWS = 20_000
"""Rows of a bundle before pruning; a product beyond it is a mistake, and expanding it would take minutes."""

TOP_KEYS = ("name", "description", "limit", "budget", "minify", "profiles", "model", "kernel")


class BundleFile(Frozen):
    """What a bundle file says, checked key by key; `expand` checks what the rows mean together."""

    file: str
    """The path as it was given: messages open with it."""
    name: str
    description: str = ""
    limit: int = MOST_VARIANTS
    budget: Budget | None = None
    minify: bool = False
    """Whether the texts ship without comments and spaces, and with short names (`wgslgen.minify`)."""
    profiles: tuple[str, ...]
    """Device classes on which every op must have a plan for all that it takes (`wgslgen.completeness`)."""
    facts: Model | None = None
    tables: tuple[Table, ...]

    @property
    def model(self) -> dict[str, int | float | bool | str] | None:
        """The `[model]` table as the manifest repeats it; None where the file has none."""
        return None if self.facts is None else self.facts.model_dump()


class PrunedRow(Frozen):
    """A row that a table with `prune = true` dropped, and why."""

    table: int
    kernel: str
    constants: dict[str, Scalar]
    reason: str


@dataclass(frozen=True)
class Grid:
    """The variants of a bundle in the order of its file, all different, and the rows that were pruned."""

    variants: tuple[Kernel, ...]
    pruned: tuple[PrunedRow, ...]


def load(path: str | Path) -> BundleFile:
    """Read and check the bundle file at `path`; raise UsageProblem that says where it is wrong."""
    file = str(path)
    try:
        text = Path(path).read_bytes().decode()
    except UnicodeDecodeError as problem:
        raise UsageProblem(f"{file}: not UTF-8 at byte {problem.start}", hint="save it as UTF-8") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageProblem(
            f"{file}: cannot be read: {reason}",
            hint="wgslgen init writes a bundle file: see wgslgen init --help",
        ) from None
    return parse(text, file)


def parse(text: str, file: str) -> BundleFile:
    """Return the bundle file with this text; `file` names it in messages."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise UsageProblem(
            f"{file}: not TOML: {problem}", hint="repair that line: strings stand in quotes, lists in []"
        ) from None
    check_names(file, "", data, TOP_KEYS)
    tables = data.get("kernel")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables) or not tables:
        what = "no kernels" if not tables else f"kernel = {brief(tables)}"
        raise UsageProblem(
            f"{file}: {what}; expected at least one [[kernel]] table",
            hint=f'write [[kernel]] and below it kernel = "{kernels.KERNELS[0].NAME}"',
        )
    return BundleFile(
        file=file,
        name=_name(file, data),
        description=_description(file, data),
        limit=_limit(file, data),
        budget=read_budget(file, data["budget"]) if "budget" in data else None,
        minify=_minify(file, data),
        profiles=_profiles(file, data),
        facts=_model(file, data["model"]) if "model" in data else None,
        tables=tuple(read_table(file, number, table) for number, table in enumerate(tables, 1)),
    )


def expand(bundle: BundleFile) -> Grid:
    """Return the variants that the bundle file asks for.

    Raises UsageProblem for a row that its kernel refuses and a variant that was asked for twice (unless the
    table prunes), for a table that prunes all its rows, and for more variants than the limit.
    """
    total = sum(table.count for table in bundle.tables)
    if total > MOST_ROWS:
        raise UsageProblem(
            f"{bundle.file}: its axes multiply to {total} rows; expected at most {MOST_ROWS}",
            hint="shorten the longest axes, or split the bundle",
        )
    found: dict[Kernel, str] = {}
    pruned: list[PrunedRow] = []
    for table in bundle.tables:
        before = len(found)
        for row in table.rows():
            refused = _add(bundle.file, table, row, found)
            if refused is not None:
                pruned.append(PrunedRow(table=table.number, kernel=table.kernel, constants=row, reason=refused))
        if len(found) == before:
            first = pruned[-table.count].reason
            raise UsageProblem(
                f"{bundle.file}: {table.place}: every row is pruned; the first because {first}",
                hint="change its constants, or delete the table",
            )
    if len(found) > bundle.limit:
        raise UsageProblem(
            f"{bundle.file}: {len(found)} variants; expected at most {bundle.limit}",
            hint=f"shorten the axes, or set limit = {len(found)} at the top of the file",
        )
    return Grid(tuple(found), tuple(pruned))


def _add(file: str, table: Table, row: dict[str, Scalar], found: dict[Kernel, str]) -> str | None:
    """Add the row's variant to `found` (variant → place); return the reason where the row is pruned."""
    where = f"{file}: {table.place}: {_spelled(row, table)}"
    try:
        variant = kernels.get(table.kernel)(**row)
    except UsageProblem as problem:
        raise UsageProblem(f"{where}: {problem.message}", hint=problem.hint) from None
    except ValidationError as problem:
        errors = problem.errors()
        reason, _, hint = "; ".join(_sentence(error) for error in errors).partition("\nhint: ")
        own = all(error["type"] == "value_error" and not error["loc"] for error in errors)
        if table.prune and own:
            return reason
        raise UsageProblem(
            f"{where}: {reason}",
            hint=hint or "change these constants, or set prune = true in the table to drop such rows",
        ) from None
    if variant in found:
        reason = f"{variant_name(variant)} is asked for already by {found[variant]}"
        if table.prune:
            return reason
        raise UsageProblem(
            f"{where}: {reason}",
            hint="take it out of one of the two, or set prune = true in the later table",
        )
    found[variant] = table.place
    return None


def _sentence(error: Any) -> str:
    """Return one of pydantic's errors in words; a kernel's own sentences stand as they are."""
    words = str(error["msg"]).removeprefix("Value error, ")
    if not error["loc"]:
        return words
    field = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{field} is missing"
    return f"{field} = {brief(error['input'])}: {words}"


def _spelled(row: dict[str, Scalar], table: Table) -> str:
    """Return the constants that tell this row from the others of its table; all where it has only one."""
    varying = {field for axis in table.axes if len(axis.rows) > 1 for field in axis.fields}
    shown = {name: value for name, value in row.items() if name in varying} or row
    return ", ".join(f"{name} = {toml(value)}" for name, value in shown.items()) or "its only row"


def _name(file: str, data: dict[str, Any]) -> str:
    name = data.get("name")
    if isinstance(name, str) and is_slug(name):
        return name
    what = "no name" if name is None else f"name = {brief(name)}"
    raise UsageProblem(
        f"{file}: {what}; expected a folder name of at most 64 lower-case letters, digits, '.', '_' and '-'",
        hint=f"set name = {toml(slug(str(name) if isinstance(name, str) else Path(file).stem))}",
    )


def _description(file: str, data: dict[str, Any]) -> str:
    text = data.get("description", "")
    if isinstance(text, str) and text.isprintable():
        return text
    raise UsageProblem(f"{file}: description = {brief(text)}; expected one line of text", hint='set description = "…"')


def _limit(file: str, data: dict[str, Any]) -> int:
    limit = data.get("limit", MOST_VARIANTS)
    if type(limit) is int and 0 < limit <= MOST_ROWS:
        return limit
    raise UsageProblem(
        f"{file}: limit = {brief(limit)}; expected a whole number from 1 to {MOST_ROWS}",
        hint=f"set limit = {MOST_VARIANTS}, or leave it out",
    )


def _minify(file: str, data: dict[str, Any]) -> bool:
    minify = data.get("minify", False)
    if isinstance(minify, bool):
        return minify
    raise UsageProblem(
        f"{file}: minify = {brief(minify)}; expected true or false", hint="set minify = true, or leave it out"
    )


def _profiles(file: str, data: dict[str, Any]) -> tuple[str, ...]:
    known = [*profile.profiles()]
    names = data.get("profiles", known)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageProblem(
            f"{file}: profiles = {brief(names)}; expected a list of device classes",
            hint='set profiles = ["core"], or leave it out for all of them',
        )
    for name in names:
        if name not in known:
            raise UsageProblem(
                f"{file}: profiles: {brief(name)} is not among {', '.join(known)}",
                hint=f"write {toml(nearest(name, known) or 'core')}, or leave profiles out for all of them",
            )
    return tuple(dict.fromkeys(names))


def _model(file: str, data: object) -> Model:
    if not isinstance(data, dict):
        raise UsageProblem(f"{file}: model = {brief(data)}; expected a table", hint="write [model]")
    fields = tuple(Model.model_fields)
    check_names(file, "[model]", data, fields)
    try:
        return Model(**data)
    except ValidationError as problem:
        what = "; ".join(_sentence(error) for error in problem.errors())
        raise UsageProblem(
            f"{file}: [model]: {what}", hint=f"[model] needs {', '.join(fields)}; or leave the table out"
        ) from None
