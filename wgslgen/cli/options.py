"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path

import click

bundle_files = click.argument(
    "bundle_files",
    nargs=-1,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="[BUNDLE.toml]...",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print data as JSON.")
require = click.option("--require", default="", metavar="JUDGES", help="Judges that must run: rules,naga,tint.")
