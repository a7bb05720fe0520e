"""How results look on a terminal: plain tables on stdout, wide enough not to cut names in a pipe."""

from __future__ import annotations

import gzip
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from pydantic_core import to_json
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from wgslgen.bundle import Bundle
from wgslgen.bundlefile import Grid
from wgslgen.manifest import entry, variant_file
from wgslgen.naming import variant_name
from wgslgen.prove import Proof
from wgslgen.report import Report
from wgslgen.sizes import kernel_sizes, module_size
from wgslgen.verify import Outcome

SECONDS_OF_A_LINE = 5.0
"""Between two lines of `steps` where stderr is no terminal."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr while something long runs; yields the function that moves it on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show on stderr what something long is at; yields the function that takes the words.

    On a terminal they follow one another in one line; elsewhere a line is written every few seconds.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda words: status.update(escape(words))
        return
    last = -SECONDS_OF_A_LINE

    def say(words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_OF_A_LINE:
            click.echo(words, err=True)
            last = time.monotonic()

    yield say


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout; infinity and NaN, which JSON has no words for, become null."""
    click.echo(to_json(value, indent=1, inf_nan_mode="null").decode())


def screen() -> Console:
    """Return stdout as rich writes to it: wide in a pipe, so that names are not cut."""
    terminal = sys.stdout is not None and sys.stdout.isatty()  # None where the caller closed it
    return Console() if terminal else Console(width=200)


def new_table(*columns: str) -> Table:
    """Return a plain table with these columns, numbers behind the first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at == 0 else "right", overflow="fold")
    return table


def listing(name: str, grid: Grid, built: Bundle) -> dict[str, Any]:
    """Return what `list --json` prints for a bundle."""
    return {
        "bundle": name,
        "kernels": {kernel: size.model_dump() for kernel, size in kernel_sizes(built.files).items()},
        "module": module_size(built.files).model_dump(),
        "variants": [entry(variant).model_dump(mode="json") for variant in grid.variants],
        "pruned": [row.model_dump(mode="json") for row in grid.pruned],
    }


def print_listing(name: str, grid: Grid, built: Bundle) -> None:
    """Print variants with sizes and requirements, pruned rows with reasons, then what a page loads a kernel."""
    console = screen()
    table = new_table("variant", "bytes", "gzip", "threads", "workgroup bytes", "needs")
    for variant in grid.variants:
        content = built.files[variant_file(variant)]
        requirements = variant.requirements
        table.add_row(
            variant_name(variant),
            str(len(content)),
            str(len(gzip.compress(content, mtime=0))),
            str(variant.threads()),
            str(requirements.limits["maxComputeWorkgroupStorageSize"]),
            ", ".join([*requirements.features, *(f"{k} {v}" for k, v in variant.raised_limits.items())]) or "nothing",
        )
    total = sum(len(content) for content in built.files.values())
    console.print(f"{name}: {len(grid.variants)} variants, {total} bytes", highlight=False, markup=False)
    console.print(table, highlight=False, markup=False)
    for row in grid.pruned:
        said = " ".join(f"{key}={value}" for key, value in row.constants.items())
        console.print(f"pruned: {row.kernel} {said}: {row.reason}", highlight=False, markup=False)
    console.print(_modules(grid, built), highlight=False, markup=False)


def _modules(grid: Grid, built: Bundle) -> Table:
    """Return the table of the kernels' modules; the last line is all that a page can load."""
    count = Counter(variant.NAME for variant in grid.variants)
    table = new_table("module", "variants", "bytes", "gzip")
    for kernel, size in kernel_sizes(built.files).items():
        table.add_row(f"kernels/{kernel}.js", str(count[kernel]), str(size.bytes), str(size.gzip))
    everything = module_size(built.files)
    table.add_row("all, with the runtime", str(count.total()), str(everything.bytes), str(everything.gzip))
    return table


def print_validation(report: Report) -> None:
    """Print which judges ran, and how many texts each refused."""
    console = screen()
    table = new_table("judge", "version", "texts", "refused", "not judged")
    for run in report.ran:
        refused = sum(
            any(f.judge == run.judge and f.severity == "error" for f in found) for found in report.findings.values()
        )
        left = sum(item.judge == run.judge for item in report.not_judged)
        table.add_row(run.judge, run.version, str(len(report.findings)), str(refused), str(left))
    console.print(table, highlight=False, markup=False)
    _print_missing(console, report)


def _print_missing(console: Console, report: Report) -> None:
    for missing in report.missing:
        console.print(f"did not run: {missing.judge}: {missing.reason}", highlight=False, markup=False)


def print_proof(proof: Proof) -> None:
    """Print a line a kernel: variants, what the judges said, oracle runs, the worst errors; then a line an adapter."""
    console = screen()
    if any(outcome.tensor for outcome in proof.outcomes):
        _print_tensors(console, proof.outcomes)
    table = new_table(
        "kernel",
        "variants",
        "naga",
        "Tint",
        "oracle runs",
        "lacking",
        "failed",
        "NMSE f32",
        "NMSE f16",
        "error f32",
        "error f16",
    )
    kernels = sorted({outcome.kernel for outcome in proof.outcomes})
    for kernel in kernels:
        table.add_row(*_proof_row(kernel, [o for o in proof.outcomes if o.kernel == kernel], proof.report))
    table.add_row(*_proof_row("all", proof.outcomes, proof.report))
    console.print(table, highlight=False, markup=False)
    if proof.report is not None:
        _print_missing(console, proof.report)
    for adapter in proof.adapters:
        here = [outcome for outcome in proof.outcomes if outcome.adapter == adapter]
        lacking = [outcome for outcome in here if outcome.status == "lacking"]
        why = sorted({outcome.lacking or "" for outcome in lacking})
        note = f"; {len(lacking)} variants need {', '.join(why)}, which it lacks" if lacking else ""
        passed = sum(outcome.status == "passed" for outcome in here)
        console.print(f"{adapter}: {passed} of {len(here)} passed{note}", highlight=False, markup=False)
    if left := proof.for_gpus:
        said = f"{len(left)} variants multiply subgroup matrices that none of these adapters has: judged, but not run"
        console.print(said, highlight=False, markup=False)


def _print_tensors(console: Console, outcomes: Sequence[Outcome]) -> None:
    table = new_table("tensor", "variants", "oracle runs", "failed", "NMSE", "error")
    for tensor in dict.fromkeys(outcome.tensor or "" for outcome in outcomes):
        here = [outcome for outcome in outcomes if outcome.tensor == tensor]
        table.add_row(
            tensor,
            str(len({outcome.variant for outcome in here})),
            str(sum(outcome.runs for outcome in here)),
            str(sum(outcome.status == "failed" for outcome in here)),
            _worst("nmse", "f32", here),
            _worst("element", "f32", here),
        )
    console.print(table, highlight=False, markup=False)


def _proof_row(name: str, outcomes: Sequence[Outcome], report: Report | None) -> list[str]:
    variants = {outcome.variant for outcome in outcomes}
    return [
        name,
        str(len(variants)),
        _said("naga", variants, report),
        _said("tint", variants, report),
        str(sum(outcome.runs for outcome in outcomes)),
        str(sum(outcome.status == "lacking" for outcome in outcomes)),
        str(sum(outcome.status == "failed" for outcome in outcomes)),
        *(_worst(error, result, outcomes) for error in ("nmse", "element") for result in ("f32", "f16")),
    ]


def _worst(error: str, result: str, outcomes: Sequence[Outcome]) -> str:
    """Return the worst error among the runs whose results are of this element type."""
    seen = [getattr(outcome, error) for outcome in outcomes if outcome.result == result and outcome.runs]
    return f"{max(seen):.1e}" if seen else "-"


def _said(judge: str, variants: set[str], report: Report | None) -> str:
    """Return how many of the texts a judge accepted; plans, which have none, do not count."""
    variants = variants & report.findings.keys() if report else variants
    if report is None or not variants or judge not in {run.judge for run in report.ran}:
        return "-"
    left = {item.text for item in report.not_judged if item.judge == judge}
    refused = {
        name
        for name, found in report.findings.items()
        if name in variants and any(f.judge == judge and f.severity == "error" for f in found)
    }
    if refused:
        return f"{len(refused)} refused"
    return f"{len(variants - left)} ok"
