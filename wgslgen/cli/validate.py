"""`wgslgen validate`: every text before the judges."""

from __future__ import annotations

from pathlib import Path

import click

from wgslgen import prove, tables
from wgslgen.cli import judges, options
from wgslgen.cli.loading import load, minified_of, variants_of


@click.command()
@options.bundle_files
@options.require
@options.as_json
def validate(bundle_files: tuple[Path, ...], require: str, as_json: bool) -> None:
    """Have every variant compiled by naga and Tint, and read by our own rules."""
    loaded = load(bundle_files)
    report = prove.validate_all(variants_of(loaded), judges.named(require), minified_of(loaded))
    if as_json:
        tables.print_json(report)
    else:
        tables.print_validation(report)
    judges.refuse_rejected(report, "validate", loaded)
