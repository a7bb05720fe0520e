"""`wgslgen render`: bundles written, or compared with what lies there."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wgslgen import bundle, completeness, sizes, tables
from wgslgen.cli import options
from wgslgen.cli.loading import GENERATED, Loaded, choose, load, paths
from wgslgen.cli.repeat import repeat
from wgslgen.errors import Stale, UsageProblem
from wgslgen.watch import changes


@click.command()
@options.bundle_files
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Output folder, for one bundle file.")
@click.option("--check", is_flag=True, help="Compare with the folder and write nothing; exit code 1 if it differs.")
@click.option("--diff", is_flag=True, help="Like --check, and print the differences.")
@click.option("--watch", is_flag=True, help="Render, and again after each change, until Ctrl-C.")
@options.as_json
def render(
    bundle_files: tuple[Path, ...], out: Path | None, check: bool, diff: bool, watch: bool, as_json: bool
) -> None:
    """Write the bundles that the bundle files ask for."""
    chosen = choose(bundle_files)
    if out is not None and len(chosen) != 1:
        raise UsageProblem(
            f"--out takes one bundle file, got {len(chosen)}", hint="name one: wgslgen render BUNDLE.toml --out FOLDER"
        )
    if not watch:
        _render(load(bundle_files), out, check, diff, as_json)
        return
    for option, given in (("--check", check), ("--diff", diff), ("--json", as_json)):
        if given:
            raise UsageProblem(f"--watch writes bundles until Ctrl-C and takes no {option}", hint=f"leave {option} out")
    repeat(lambda: _render(load(bundle_files), out), changes(bundle_files or [GENERATED]))


def _render(
    loaded: Sequence[Loaded], out: Path | None, check: bool = False, diff: bool = False, as_json: bool = False
) -> None:
    """Write the bundles, or with `check` or `diff` compare them and raise Stale where they differ."""
    builds = [(one, out or one.folder, one.build()) for one in loaded]
    for one, _, built in builds:
        sizes.check_budget(str(one.path), one.file.budget, built.files)
        completeness.check(str(one.path), built.manifest, one.file.profiles)
    if not (check or diff):
        for _, folder, built in builds:
            bundle.refuse_foreign(built, folder)  # before the first of them is written
    stale: list[Loaded] = []
    report: list[dict[str, Any]] = []
    for one, folder, built in builds:
        differences = bundle.compare(built, folder) if check or diff else bundle.write(built, folder)
        shown = {"diff": bundle.diff(built, folder)} if diff else {}
        if diff and not as_json:
            click.echo(shown["diff"], nl=False)
        if differences and (check or diff):
            stale.append(one)
        done = "differs" if check or diff else "rendered"
        report.append(
            {
                "bundle": str(one.path),
                "folder": str(folder),
                "variants": len(built.variants),
                "changed": differences.changed,
                "missing": differences.missing,
                "orphaned": differences.orphaned,
                **shown,
            }
        )
        state = f"{done}: {len([*differences.lines()])} files" if differences else "up to date"
        click.echo(f"{folder}: {len(built.variants)} variants, {state}", err=True)
        if differences and check:
            click.echo("\n".join(f"  {line}" for line in [*differences.lines()][:20]), err=True)
    if as_json:
        tables.print_json(report)
    if stale:
        again = shlex.join(["wgslgen", "render", *paths(stale), *(["--out", str(out)] if out else [])])
        raise Stale(f"{len(stale)} of {len(loaded)} bundles differ from what would be rendered", hint=again)
