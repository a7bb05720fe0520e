"""The manual names every command, option, adapter, exit code and variable; its examples work as it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import pytest
from cli_runs import run

from wgslgen import bundlefile, errors, layouts, plans, rope, textrules
from wgslgen.adapters import ADAPTERS
from wgslgen.cli import main
from wgslgen.kernels.top_k import TopK
from wgslgen.manifest import MANIFEST, SCHEMA, BufferEntry, PassEntry, PlanEntry, VariantEntry
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


def test_every_field_of_a_binding_and_of_a_plan_is_named() -> None:
    assert "`below`" in section("What a bundle holds")
    assert "`kept`" in section("What a bundle holds")
    text = section("Plans")
    for model in (PlanEntry, BufferEntry, PassEntry):
        assert {field for field in set(model.model_fields) - {"name", "doc"} if f"`{field}`" not in text} == set()
    for role in get_args(BufferEntry.model_fields["role"].annotation):
        assert f"\n| `{role}` | " in text


def test_every_op_is_named_with_the_kernels_of_its_passes() -> None:
    files = [bundlefile.load(path) for path in sorted((ROOT / "generated").glob("*.toml"))]
    found = [plan for file in files for plan in plans.derive(bundlefile.expand(file).variants, file.facts)]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", section("Plans"), re.MULTILINE)
    said = {op: passes for ops, passes in rows for op in re.findall(r"`(\w+)`", ops)}
    assert {plan.op for plan in found} <= said.keys()
    for plan in found:
        if not plan.op.startswith("decode"):
            principal = plan.passes[plan.principal].variant.NAME
            assert {f"`{principal}`", f"`{plan.passes[-1].variant.NAME}`"} <= {*re.findall(r"`\w+`", said[plan.op])}


def test_every_layout_is_named_with_its_planes() -> None:
    for name, planes in layouts.PLANES.items():
        assert f"\n| `{name}` | {', '.join(f'`{plane}`' for plane in planes)} | " in section("Layouts")


def test_every_scaling_of_angles_is_named_with_what_it_must_be_given() -> None:
    text = section("Tables of angles")
    for scaling in get_args(rope.Scaling):
        needed = [name for name, field in scaling.model_fields.items() if field.is_required()]
        assert f"\n- `{scaling.__name__}({', '.join(f'{name}=…' for name in needed)})`" in text


def test_top_k_takes_as_many_logits_as_the_text_says() -> None:
    said = re.search(r"enough for (\d+) logits with chunks of (\d+) and (\d+) results", section("Sampling"))
    assert said is not None
    most, chunk, results = (int(number) for number in said.groups())
    first = TopK.model_validate({"k_top": results, "chunk": chunk})
    (plan,) = plans.derive([first, first.merging()])
    plan.check_sizes({"M": 1, "N": most})
    with pytest.raises(errors.UsageProblem):
        plan.check_sizes({"M": 1, "N": most + 1})


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", MANUAL):
        path, _, heading = link.partition("#")
        text = (ROOT / "docs" / path).read_text() if path else MANUAL
        anchors = re.sub(r"[^\w\n #-]", "", text).replace(" ", "-").lower()
        assert not heading or re.search(f"^#+-{heading}$", anchors, re.MULTILINE), link


def test_every_exit_code_is_named() -> None:
    kinds = [error for error in vars(errors).values() if isinstance(error, type)]
    known = {error.exit_code for error in kinds if issubclass(error, errors.WgslgenError)} | {0}
    named = re.findall(r"^\| (\d+) \|", section("Messages and exit codes"), re.MULTILINE)
    assert sorted(int(code) for code in named) == sorted(known)


def test_the_number_of_our_own_rules_is_right() -> None:
    for text in (MANUAL, (ROOT / "CHANGELOG.md").read_text()):
        assert re.findall(r"(\d+) rules", text) == [str(len(textrules.RULES))]


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
