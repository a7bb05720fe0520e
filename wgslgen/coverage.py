"""The page docs/coverage.md: for each format, kernel and route how close the results came.

`python -m wgslgen.coverage run ADAPTER… > RECORD` runs a variant of each on software adapters (or a GPU) and prints
what came out as JSON; `python -m wgslgen.coverage page RECORD…` prints the page from such records.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from wgslgen import formats, verify
from wgslgen.naming import variant_name
from wgslgen.served import Served, groups, routes, served, weighted_kernels

RECORDS = Path("docs/measurements")
HEAD = """# Formats, kernels and routes

Made by `make docs` from the specs and from the records under [measurements](measurements/): change those instead.

Each number is the worst NMSE, the squared error over the squared result, of a whole output or of one of its rows,
over all layouts that the route takes, all shape classes of the variant, and these adapters: {adapters}. Weights are
raw random blocks with all codes and with edge scales. Routes int8 and popcount are compared with an oracle that
rounds the activations, too. A dash: the kernel refuses the pair, and says why. An empty cell: nothing ran it yet.
"""


class Cell(NamedTuple):
    """Where a figure stands: kernel, route ("" where there is but one) and format with its group."""

    kernel: str
    route: str
    format: str


def cell(found: Served) -> Cell:
    """Return where the figure of a variant stands."""
    return Cell(found.kernel, found.route or "", str(found.format))


def run(adapters: Sequence[str], jobs: int) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the NMSE of every variant of `served` that passed, by its name and then by adapter, and what failed."""
    variants = [found.variant for found in served()]
    outcomes = verify.verify(variants, adapters, jobs, verify.cache_folder())
    figures: dict[str, dict[str, float]] = {}
    for outcome in outcomes:
        if outcome.status == "passed":
            figures.setdefault(outcome.variant, {})[outcome.adapter] = float(f"{outcome.nmse:.1e}")
    return figures, [f"{o.variant} on {o.adapter}: {o.problem}" for o in outcomes if o.status == "failed"]


def page(records: Iterable[Mapping[str, Mapping[str, float]]]) -> str:
    """Return the page for the figures of these records, a later record before an earlier one."""
    figures: dict[str, dict[str, float]] = {}
    for record in records:
        for name, by_adapter in record.items():
            figures.setdefault(name, {}).update(by_adapter)
    worst: dict[Cell, float] = {}
    known: set[Cell] = set()
    for found in served():
        known.add(cell(found))
        for nmse in figures.get(variant_name(found.variant), {}).values():
            worst[cell(found)] = max(nmse, worst.get(cell(found), 0.0))
    adapters = sorted({adapter for by_adapter in figures.values() for adapter in by_adapter})
    lines = [HEAD.format(adapters=", ".join(f"`{name}`" for name in adapters) or "none yet"), *_table(worst, known)]
    return "\n".join(lines) + "\n"


def _table(worst: Mapping[Cell, float], known: set[Cell]) -> Iterator[str]:
    """Yield a table for each kernel: a row for each format, a column for each route."""
    for kernel in weighted_kernels():
        names = [route or "" for route in routes(kernel)]
        yield f"## {kernel.NAME}\n"
        yield f"| format | {' | '.join(name or 'NMSE' for name in names)} |"
        yield f"|---|{'---|' * len(names)}"
        for name, group in groups():
            row = [Cell(kernel.NAME, route, str(formats.get(name, group))) for route in names]
            shown = (f"{worst[at]:.1e}" if at in worst else "" if at in known else "—" for at in row)
            yield f"| {row[0].format} | {' | '.join(shown)} |"
        yield ""


def main(arguments: Sequence[str]) -> None:
    """Run, or print the page."""
    what, *rest = arguments
    if what == "run":
        figures, failed = run(rest, os.cpu_count() or 1)
        json.dump(figures, sys.stdout, indent=0, sort_keys=True)
        sys.stdout.write("\n")
        if failed:
            raise SystemExit("\n".join(failed))
    else:
        sys.stdout.write(page(json.loads(Path(path).read_text()) for path in rest))


if __name__ == "__main__":
    main(sys.argv[1:])
