"""The manual names every command and option, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path

import click

from wgslgen import bundlefile
from wgslgen.adapters import ADAPTERS
from wgslgen.cli import main

MANUAL = (Path(__file__).parent.parent / "docs" / "manual.md").read_text()


def test_every_command_option_and_adapter_is_named() -> None:
    for name, command in main.commands.items():
        assert f"`wgslgen {name}" in MANUAL
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert max(parameter.opts, key=len) in MANUAL, f"{name} {parameter.opts}"
    for adapter in ADAPTERS:
        assert f"`{adapter}`" in MANUAL


def test_the_examples_expand_as_the_text_says() -> None:
    examples = re.findall(r"```toml\n(.*?)```", MANUAL, re.DOTALL)
    assert len(examples) == 1
    grid = bundlefile.expand(bundlefile.parse(examples[0], "manual.md"))
    assert len(grid.variants) == 4 + 4
    assert len(grid.pruned) == 4
