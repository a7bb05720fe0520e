"""`wgslgen list`: what the bundle files expand to."""

from __future__ import annotations

from pathlib import Path

import click

from wgslgen import tables
from wgslgen.cli import options
from wgslgen.cli.loading import load


@click.command("list")
@options.bundle_files
@options.as_json
def list_variants(bundle_files: tuple[Path, ...], as_json: bool) -> None:
    """List variants with what they need, rows that were pruned with the reason, and bytes a kernel."""
    loaded = load(bundle_files)
    if as_json:
        tables.print_json([tables.listing(one.file.name, one.grid, one.build(answered=False)) for one in loaded])
        return
    for one in loaded:
        tables.print_listing(one.file.name, one.grid, one.build(answered=False))
