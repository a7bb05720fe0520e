"""The manual names every command, option, adapter, exit code and variable; its examples work as it shows."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from cli_runs import run

from wgslgen import bundlefile, errors
from wgslgen.adapters import ADAPTERS
from wgslgen.cli import main
from wgslgen.manifest import MANIFEST, SCHEMA, VariantEntry
from wgslgen.presets import PRESETS

ROOT = Path(__file__).parent.parent
MANUAL = (ROOT / "docs" / "manual.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", MANUAL, re.DOTALL)
SESSIONS = re.findall(r"```console\n\$ wgslgen (.*?)\n(.*?)```", MANUAL, re.DOTALL)
NUMBER = re.compile(r"\d[\d.e+-]*")


def section(title: str) -> str:
    return MANUAL.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_command_option_preset_and_adapter_is_named() -> None:
    commands = section("Commands")
    for name, command in main.commands.items():
        assert f"| `wgslgen {name}" in commands
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert max(parameter.opts, key=len) in commands, f"{name} {parameter.opts}"
    for preset in PRESETS:
        assert f"`{preset}`" in commands
    for adapter in ADAPTERS:
        assert f"`{adapter}`" in section("Adapters")


def test_every_file_and_field_of_a_bundle_is_named() -> None:
    text = section("What a bundle holds")
    for name in ("LICENSE", MANIFEST, SCHEMA, "files", "schema_version"):
        assert f"`{name}`" in text
    fields = {*VariantEntry.model_fields} - {"name", "kernel", "file", "entry_point", "workgroup_size"}
    assert {field for field in fields if f"`{field}`" not in text} == set()


def test_every_exit_code_is_named() -> None:
    kinds = [error for error in vars(errors).values() if isinstance(error, type)]
    known = {error.exit_code for error in kinds if issubclass(error, errors.WgslgenError)} | {0}
    named = re.findall(r"^\| (\d+) \|", section("Messages and exit codes"), re.MULTILINE)
    assert sorted(int(code) for code in named) == sorted(known)


def test_every_variable_is_named() -> None:
    sources = [*(ROOT / "wgslgen").rglob("*.py"), *(ROOT / ".ci").iterdir(), ROOT / "Makefile"]
    used = {name for path in sources for name in re.findall(r"\b(?:WGSLGEN|XDG_CACHE)_[A-Z_]+\b", path.read_text())}
    rows = re.findall(r"^\| (`.*?) \|", section("Environment"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert named == {*used, "CI"}


def test_the_example_expands_as_the_text_says() -> None:
    assert len(EXAMPLES) == 1
    grid = bundlefile.expand(bundlefile.parse(EXAMPLES[0], "manual.md"))
    matvecs = [variant for variant in grid.variants if variant.NAME == "matvec"]
    assert len(matvecs) == len(grid.pruned) == 2  # half of its rows
    with pytest.raises(errors.UsageProblem):
        bundlefile.expand(bundlefile.parse(EXAMPLES[0].replace("prune = true", ""), "manual.md"))


def shape(text: str) -> list[str]:
    """Return the lines of an output without progress bars; widths and numbers do not count."""
    lines = [" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("oracle runs")]


def test_the_sessions_print_what_the_manual_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("generated").mkdir()
    Path("generated/my-model.toml").write_text(EXAMPLES[0])
    codes = []
    for command, shown in SESSIONS:
        if "--check" in command:
            text = min(Path("generated").rglob("*.wgsl"))
            text.write_text(text.read_text() + "\n")
        result = run(*command.split())
        assert shape(result.output) == shape(shown), command
        codes.append(result.exit_code)
    assert [command.split()[0] for command, _ in SESSIONS] == ["list", "render", "validate", "verify", "render", "init"]
    assert codes == [0, 0, 0, 0, 1, 2]
