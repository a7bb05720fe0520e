"""The commands: exit codes, what goes where, and messages instead of tracebacks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wgslgen import prove
from wgslgen.cli import main
from wgslgen.render import render
from wgslgen.spec import Kernel

SMALL = """
name = "small"
[[kernel]]
kernel = "matvec"
format = "q4_0"
route = "float"
tile_rows = [1, 4]
subgroups = [false, true]
[[kernel]]
kernel = "quantize_q8"
group = 32
stride = 1
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def refused(result: Result, code: int, *words: str) -> None:
    """Assert the exit code, a message on stderr that has the words, and no traceback."""
    assert result.exit_code == code, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr, result.stderr


def test_render_writes_beside_the_bundle_file_and_checks(small: Path) -> None:
    result = run("render", small, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)[0]["variants"] == 5
    assert "5 variants, rendered" in result.stderr
    assert run("render", "--check", small).exit_code == 0
    (small.with_suffix("") / "LICENSE").unlink()
    stale = run("render", "--check", small)
    refused(stale, 1, "missing: LICENSE", f"hint: wgslgen render {small}")
    shown = run("render", "--diff", small)
    assert shown.exit_code == 1
    assert "+++ rendered/LICENSE" in shown.stdout


def test_out_takes_one_bundle_file_and_an_own_folder(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SMALL)
    refused(run("render", small, other, "--out", tmp_path / "x"), 2, "--out takes one bundle file, got 2")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "precious.txt").write_text("mine")
    before = listing(tmp_path)
    refused(run("render", small, "--out", theirs), 2, "did not make: precious.txt", "hint: ")
    assert listing(tmp_path) == before
    assert run("render", small, "--out", tmp_path / "new").exit_code == 0
    refused(run("render", "--check", small, "--out", theirs), 1, f"--out {theirs}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("colour = 1", ["colour"]),
        ("tile_rows = true", ["tile_rows"]),
        ("tile_rows = 3", ["tile_rows", "expected 1, 2, 4 or 8"]),
        ("k = 33", ["k 33 is not a positive multiple of 32"]),
        ('format = "q9_9"', ["q9_9"]),
        ("tile_rows = [", ["TOML"]),
        ("step_words = 1.0", ["step_words"]),
        ("format = 'q2_0'", ["group"]),
    ],
)
def test_mistakes_in_a_bundle_file_are_told_and_nothing_is_written(
    change: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.toml"
    lines = ['name = "wrong"', "[[kernel]]", 'kernel = "matvec"', 'route = "float"', change]
    lines += [] if change.startswith("format") else ['format = "q4_0"']
    path.write_text("\n".join(lines))
    refused(run("render", path), 2, "wrong.toml", *words)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("name", ["Upper.toml", "a b.toml", "line\nbreak.toml"])
def test_a_bundle_files_name_must_be_safe(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SMALL)
    refused(run("render", tmp_path / name), 2, "names its folder", "hint: rename it")


def test_without_bundle_files_the_way_to_one_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run("render"), 2, "no bundle file", "hint: make one: wgslgen init")


def test_init_then_render(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("init", "--preset", "bonsai-4b", "--format", "q1_0")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert run("render").exit_code == 0
    assert (tmp_path / "generated" / "bonsai-4b-q1_0" / "manifest.json").is_file()
    refused(run("init", "--preset", "bonsai-4b", "--format", "q1_0"), 2, "bonsai-4b-q1_0.toml")
    refused(run("init", "--preset", "bonsai-5b", "--format", "q1_0"), 2, "bonsai-5b", "bonsai-4b")
    refused(run("init"), 2, "either --preset or --gguf")
    refused(run("init", "--preset", "bonsai-4b", "--format", "q3_9"), 2, "q3_9")
    refused(run("init", "--preset", "bonsai-4b", "--format", "q2_0", "--group", "77"), 2, "77")


def test_init_from_a_real_and_from_broken_model_files(
    smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--gguf", smollm2).exit_code == 0
    assert (tmp_path / "generated" / "smollm2-135m.toml").is_file()
    with smollm2.open("rb") as file:
        head = file.read(1000)
    for broken in (head, b"", b"GGUX" + head[4:]):
        (tmp_path / "broken.gguf").write_bytes(broken)
        refused(run("init", "--gguf", "broken.gguf", "--name", "broken"), 2, "broken.gguf")
    assert not (tmp_path / "generated" / "broken.toml").exists()
    refused(run("verify", "--gguf", "broken.gguf"), 2, "broken.gguf")


def test_list_says_what_each_needs_and_what_was_pruned(tmp_path: Path) -> None:
    path = tmp_path / "pruned.toml"
    path.write_text(
        'name = "pruned"\n[[kernel]]\nkernel = "matvec"\nformat = "q4_0"\nroute = "float"\nprune = true\n'
        "tile_rows = [4, 8]\ncolumns = [1, 4]\n"
    )
    data = json.loads(run("list", path, "--json").stdout)[0]
    assert len(data["variants"]) == 3
    assert "at most 16 sums a thread" in data["pruned"][0]["reason"]
    shown = run("list", path).stdout
    assert "pruned: matvec" in shown
    assert shown.count("nothing") == 3


def test_validate_says_which_judges_ran(small: Path) -> None:
    result = run("validate", small, "--require", "naga,tint", "--json")
    assert result.exit_code == 0, result.stderr
    assert {judge["judge"] for judge in json.loads(result.stdout)["ran"]} == {"rules", "naga", "tint"}
    refused(run("validate", small, "--require", "glslang"), 2, "glslang", "hint: choose from")


def test_a_missing_judge_is_told_and_fails_when_required(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    refused(run("validate", small, "--require", "naga"), 5, "naga", "hint: ")
    result = run("validate", small)
    assert result.exit_code == 0
    assert "did not run: naga" in result.stdout


def test_a_rejected_text_ends_with_3_and_the_judges_words(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(variant: Kernel, source: str) -> str:
        return render(variant, source).replace("fn main(", "fn main(,")

    monkeypatch.setattr(prove, "render", broken)
    result = run("validate", small)
    assert result.exit_code == 3
    assert "5 of 5 variants rejected" in result.stderr
    assert "matvec_q4_0_planar" in result.stderr
    assert "[naga]" in result.stderr
    assert "[tint]" in result.stderr


def test_verify_runs_and_a_wrong_kernel_ends_with_4(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = run("verify", small, "--adapter", "swiftshader", "--no-cache", "--jobs", "1", "--json")
    assert good.exit_code == 0, good.stderr
    outcomes: list[dict[str, Any]] = json.loads(good.stdout)["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == ["passed"] * 5

    def wrong(variant: Kernel, source: str) -> str:
        return render(variant, source).replace("8388616.0f", "8388615.0f")

    monkeypatch.setattr("wgslgen.verify.render", wrong)
    bad = run("verify", small, "--adapter", "swiftshader", "--no-cache", "--jobs", "1")
    assert bad.exit_code == 4
    assert "4 of 5 runs failed" in bad.stderr
    assert "y against the oracle" in bad.stderr


@pytest.mark.parametrize("command", [["verify", "--adapter", "swiftshader"], ["verify", "--require-gpu"]])
def test_a_missing_adapter_ends_with_5_and_its_package(command: list[str], small: Path) -> None:
    run_ = subprocess.run(
        [sys.executable, "-m", "wgslgen", *command, str(small)],
        env={**os.environ, "WGSLGEN_SWIFTSHADER_ICD": "/nowhere/icd.json"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run_.returncode == 5, run_.stderr
    assert "apt-get install chromium" in run_.stderr
    assert "Traceback" not in run_.stderr
    assert run_.stdout == ""


def test_verify_says_which_judge_did_not_run(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    result = run("verify", small, "--adapter", "swiftshader", "--jobs", "1")
    assert result.exit_code == 0, result.stderr
    assert "did not run: naga" in result.stdout


def test_a_cache_that_cannot_be_written_is_done_without(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(small))
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    result = run("verify", small, "--adapter", "swiftshader", "--jobs", "1")
    assert result.exit_code == 0, (result.stderr, result.exception)


def test_an_interrupted_verify_ends_at_once_and_leaves_no_process(small: Path) -> None:
    small.write_text(
        SMALL.replace("tile_rows = [1, 4]", "tile_rows = [1, 2, 4, 8]\nworkgroup_size = [32, 64, 128, 256]")
    )
    command = [sys.executable, "-m", "wgslgen", "verify", str(small), "--adapter", "swiftshader", "--no-cache"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(6.0)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=20.0)
    assert process.returncode != 0
    assert b"Aborted!" in stderr
    assert b"Traceback" not in stderr


def test_help_names_every_command() -> None:
    shown = run("--help").stdout
    for command in ("init", "render", "list", "validate", "verify"):
        assert command in shown
