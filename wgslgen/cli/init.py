"""`wgslgen init`: a first bundle file."""

from __future__ import annotations

from pathlib import Path

import click

from wgslgen import bundlefile, initialise
from wgslgen.cli.loading import GENERATED, check_name
from wgslgen.errors import UsageProblem


@click.command()
@click.option("--preset", help="A model whose shapes are known, as bonsai-1.7b.")
@click.option("--gguf", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A model file to read.")
@click.option("--format", "weight_format", help="Weight format of a preset: q1_0 or q2_0.")
@click.option("--group", type=int, help="Weights under one scale, where the format has several.")
@click.option("--name", help="Name of the bundle; by default model and format.")
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), help="Bundle file to write.")
def init(
    preset: str | None,
    gguf: Path | None,
    weight_format: str | None,
    group: int | None,
    name: str | None,
    file: Path | None,
) -> None:
    """Write a bundle file for a preset or for the model in a GGUF file."""
    if (preset is None) == (gguf is None):
        raise UsageProblem("give either --preset or --gguf", hint="wgslgen init --preset bonsai-1.7b --format q1_0")
    if gguf is None:
        chosen, text = initialise.from_preset(str(preset), weight_format, group, name)
    else:
        if weight_format is not None:
            raise UsageProblem(
                "--format goes with --preset; a GGUF file states its own formats", hint="leave --format out"
            )
        chosen, text = initialise.from_gguf(gguf, group, name)
    target = file or GENERATED / f"{chosen}.toml"
    check_name(target)
    try:
        bundlefile.expand(bundlefile.parse(text, str(target)))
    except UsageProblem as problem:  # a shape that no kernel takes
        raise UsageProblem(
            f"{gguf or preset} gives no bundle: {problem.message}",
            hint="pad that matrix, or write a bundle file by hand that leaves it out",
        ) from None
    initialise.write(target, text)
    click.echo(f"wrote {target}; next: wgslgen render {target}", err=True)
