"""The command line: parses, calls, prints. Data goes to stdout; talk, progress and errors to stderr.

A module holds one command; `loading`, `options`, `judges` and `repeat` know what commands are made of.
"""

from __future__ import annotations

import click

import wgslgen
from wgslgen.cli import bench, explain, init, listing, render, validate, verify
from wgslgen.commands import Commands


@click.group(
    "wgslgen",
    cls=Commands,
    commands=[
        init.init,
        render.render,
        listing.list_variants,
        explain.explain_choice,
        validate.validate,
        verify.verify,
        bench.bench,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(wgslgen.__version__)
def main() -> None:
    """Generate WGSL compute kernels for quantised language models, and prove them.

    Without a BUNDLE.toml a command takes every bundle file in generated/.
    """
