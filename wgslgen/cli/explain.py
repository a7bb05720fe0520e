"""`wgslgen explain`: which plan a class of devices gets, and why."""

from __future__ import annotations

from pathlib import Path

import click

from wgslgen import explain, tables
from wgslgen.cli import options
from wgslgen.cli.loading import load


@click.command("explain")
@options.bundle_files
@click.option("--op", required=True, help="What is wanted: linear, linear_argmax, embedding, attention, norm …")
@click.option("--m", type=int, help="Tokens.")
@click.option("--n", type=int, help="Rows of the weights.")
@click.option("--k", type=int, help="Columns of the weights.")
@click.option("--size", "sizes", multiple=True, metavar="NAME=NUMBER", help="Any size; repeatable.")
@click.option("--want", "wants", multiple=True, metavar="NAME=VALUE", help="A constant, or rounding; repeatable.")
@click.option("--profile", "profile_name", default="core", show_default=True, help="A class of devices.")
@options.as_json
def explain_choice(
    bundle_files: tuple[Path, ...],
    op: str,
    m: int | None,
    n: int | None,
    k: int | None,
    sizes: tuple[str, ...],
    wants: tuple[str, ...],
    profile_name: str,
    as_json: bool,
) -> None:
    """Say which plan a class of devices gets for an op, what is ranked behind it, and why not the others."""
    given = {"M": m, "N": n, "K": k, **explain.pairs("--size", sizes)}
    want = explain.pairs("--want", wants)
    found = explain.explain([one.build(answered=False) for one in load(bundle_files)], op, given, profile_name, want)
    if as_json:
        tables.print_json(found)
    else:
        click.echo("\n".join(line for each in found for line in explain.lines(each)))
