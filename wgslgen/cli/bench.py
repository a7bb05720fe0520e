"""`wgslgen bench`: how long variants, plans and whole models take, beside what the device can do at best."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from wgslgen import formats, presets, tables
from wgslgen.adapters import ADAPTERS, open_adapter
from wgslgen.bench import grid, page, run, text
from wgslgen.bench.jobs import Job, Refused, jobs, plans_of
from wgslgen.bench.machine import Backend, Machine
from wgslgen.bench.run import Run, Say
from wgslgen.bench.shapes import Shape, shapes
from wgslgen.cli import options
from wgslgen.cli.loading import load
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.formats import Format
from wgslgen.plan import Plan
from wgslgen.wording import nearest

FORMATS = (("q2_0", 64), ("q1_0", 128))
"""What is timed where no format is named, with its group."""
GPUS = ("dawn-gpu", "gpu")
"""The ways to the machine's own GPU, that of browsers first."""
PREFERRED = (*GPUS, "lavapipe", "dawn-swiftshader")
"""Adapters that are tried in this order where none is named."""


@click.command("bench")
@options.bundle_files
@click.option("--op", default=None, help="What is timed: linear (where nothing is named), attention, embedding, norm …")
@click.option("--shape", "given", multiple=True, metavar="SIZE=NUMBER[:NUMBER…],…", help="Sizes; repeatable.")
@click.option("--variants", "pattern", default="*", metavar="PATTERN", help="Names of variants or plans, as *int8*.")
@click.option("--format", "weight_format", help="Weight format, without a bundle file; else q2_0 and q1_0.")
@click.option("--group", type=int, help="Weights under one scale, where the format has several.")
@click.option("--model", help="A model whose shapes are known: one token and a prompt of it instead of an op.")
@click.option("--keys", type=click.IntRange(1), default=512, show_default=True, help="Keys in the cache of the token.")
@click.option("--tokens", type=click.IntRange(1), default=512, show_default=True, help="Tokens of the prompt.")
@click.option("--targets", is_flag=True, help="The table of targets instead of an op.")
@click.option("--adapter", "adapters", multiple=True, type=click.Choice([*ADAPTERS]), help="Where to run; repeatable.")
@click.option("--unchecked", is_flag=True, help="Through Dawn also without bounds checks, which no browser allows.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds of each time.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with plots, too.")
@options.as_json
def bench(
    bundle_files: tuple[Path, ...],
    op: str | None,
    given: tuple[str, ...],
    pattern: str,
    weight_format: str | None,
    group: int | None,
    model: str | None,
    keys: int,
    tokens: int,
    targets: bool,
    adapters: tuple[str, ...],
    unchecked: bool,
    rounds: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Time variants and plans, and say how far they are from what the device can do.

    Without a BUNDLE.toml: a grid of variants for the op. Without --adapter: the machine's GPU, else software; for the
    targets the GPU through both libraries, and through Dawn without checks, too.
    """
    asked = [word for word, is_asked in (("--targets", targets), ("--model", model), ("--op", op)) if is_asked]
    if len(asked) > 1 or (asked and asked[0] != "--op" and (bundle_files or given)):
        raise UsageProblem(
            f"{asked[0]} takes no {asked[1] if len(asked) > 1 else 'bundle file and no --shape'}",
            hint=f"wgslgen bench {asked[0]}{'' if asked[0] == '--targets' else ' …'}",
        )
    stored = _formats(weight_format, group)
    known = None if model is None else presets.get(model)
    todo, refused = ([], []) if targets or known else _jobs(bundle_files, op or "linear", given, pattern, stored)
    runs: list[Run] = []
    with tables.steps() as say:
        machines = [Machine(backend) for backend in _backends(adapters, unchecked, targets, say)]
        for machine in machines:
            one = run.start(machine, rounds, say)
            runs.append(one)
            if targets:
                run.time_targets(one, say)
            elif known is not None:
                run.time_model(one, str(model), known, stored[0], keys, tokens, say)
            else:
                one.refused += refused
                run.time_jobs(one, todo, say)
            run.end(one, say)
    run.require_any(runs)
    found = run.data(runs)
    if html is not None:
        html.write_text(page.page(found), encoding="utf-8")
    if as_json:
        tables.print_json(found)
    else:
        text.print_run(found)


def _formats(name: str | None, group: int | None) -> list[Format]:
    if name is None:
        if group is not None:
            raise UsageProblem("--group goes with --format", hint="--format q2_0 --group 64")
        return [formats.get(*each) for each in FORMATS]
    if name not in formats.names():
        meant = nearest(name, formats.names()) or FORMATS[0][0]
        raise UsageProblem(f"--format {name}; expected one of: {', '.join(formats.names())}", hint=f"--format {meant}")
    usual = dict(FORMATS).get(name)
    return [formats.get(name, usual if group is None else group)]


def _jobs(
    bundle_files: tuple[Path, ...], op: str, given: tuple[str, ...], pattern: str, stored: Iterable[Format]
) -> tuple[list[Job], list[Refused]]:
    """Return what is timed, and what refuses a shape: of the bundles, or of the grid for each format."""
    todo: list[Job] = []
    refused: list[Refused] = []
    own = _plans(bundle_files)
    for shape in shapes(op, given):
        found = own or [plan for each in stored for plan in _grid_plans(op, each, shape)]
        more, less = jobs(dict.fromkeys(found), op, shape, pattern)
        todo += more
        refused += less
    return todo, refused


def _plans(bundle_files: tuple[Path, ...]) -> list[Plan]:
    loaded = load(bundle_files) if bundle_files else []
    return [plan for one in loaded for plan in plans_of(one.grid.variants, one.file.facts)]


def _grid_plans(op: str, stored: Format, shape: Shape) -> tuple[Plan, ...]:
    return plans_of(grid.variants(op, stored, shape))


def _backends(adapters: tuple[str, ...], unchecked: bool, targets: bool, say: Say) -> list[Backend]:
    """Return where to measure: the adapters that are named, or the first that is there.

    For the targets: the GPU through both libraries, and through Dawn without its checks, too.
    """
    names = dict.fromkeys(adapters)
    if not names:
        there = list(itertools.islice(_there(), len(GPUS) if targets else 1))
        names = dict.fromkeys(name for name in there if name in GPUS or name == there[0])
        unchecked = unchecked or (targets and GPUS[0] in names)
    say(f"adapters: {', '.join(names)}")
    found = [Backend(name) for name in names]
    dawn = [backend for backend in found if ADAPTERS[backend.adapter].dialect == "web"]
    if unchecked and not dawn:
        raise UsageProblem(
            f"--unchecked is for Dawn, and {', '.join(names)} is none", hint="--adapter dawn-gpu --unchecked"
        )
    return [*found, *(Backend(backend.adapter, unchecked=True) for backend in dawn if unchecked)]


def _there() -> Iterator[str]:
    """Yield the adapters that are there, browsers' way to a GPU first; raise ToolMissing where there is none."""
    missing = True
    for name in PREFERRED:
        try:
            open_adapter(name)
        except ToolMissing:
            continue
        missing = False
        yield name
    if missing:
        raise ToolMissing(
            f"none of the adapters {', '.join(PREFERRED)} is there", hint="apt-get install mesa-vulkan-drivers"
        )
