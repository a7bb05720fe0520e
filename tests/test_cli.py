"""The commands: what each does, its exit codes, and what goes to stdout and what to stderr."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import HALF, SMALL, refused, run, run_apart, snapshot, strict_json, told

from wgslgen import judging, prove
from wgslgen.oracles import problem_maker
from wgslgen.render import render
from wgslgen.spec import Kernel


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """Return a bundle file whose only variant needs shader-f16, which SwiftShader lacks."""
    path = tmp_path / "half.toml"
    path.write_text(HALF)
    return path


# ---- init ------------------------------------------------------------------------------------------


def test_init_then_render(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("init", "--preset", "bonsai-4b", "--format", "q1_0")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert result.stderr == "wrote generated/bonsai-4b-q1_0.toml; next: wgslgen render generated/bonsai-4b-q1_0.toml\n"
    before = snapshot(tmp_path)
    refused(run("init", "--preset", "bonsai-4b", "--format", "q1_0"), 2, "never overwrites")
    assert snapshot(tmp_path) == before
    assert run("render").exit_code == 0
    assert (tmp_path / "generated" / "bonsai-4b-q1_0" / "manifest.json").is_file()


def test_init_from_a_real_model_file(smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "--gguf", smollm2).exit_code == 0
    assert run("init", "--gguf", smollm2, "--name", "other", "--file", "here.toml").exit_code == 0
    assert (tmp_path / "generated" / "smollm2-135m.toml").is_file()
    assert 'name = "other"' in (tmp_path / "here.toml").read_text()
    assert len(strict_json(run("list", "here.toml", "--json").stdout)[0]["variants"]) > 60


# ---- render ----------------------------------------------------------------------------------------


def test_render_writes_beside_the_bundle_file_and_checks(small: Path) -> None:
    result = run("render", small, "--json")
    assert result.exit_code == 0, result.stderr
    assert strict_json(result.stdout)[0]["variants"] == 5
    assert "5 variants, rendered" in result.stderr
    fresh = run("render", "--check", small)
    assert (fresh.exit_code, fresh.stdout) == (0, "")
    (small.with_suffix("") / "LICENSE").unlink()
    before = snapshot(small.parent)
    refused(run("render", "--check", small), 1, "1 of 1 bundles differ", f"hint: wgslgen render {small}")
    assert "missing: LICENSE" in run("render", "--check", small).stderr
    assert snapshot(small.parent) == before


def test_diff_goes_to_stdout_or_into_the_json(small: Path) -> None:
    assert run("render", small).exit_code == 0
    assert run("render", "--diff", small).stdout == ""
    (small.with_suffix("") / "LICENSE").unlink()
    shown = run("render", "--diff", small)
    assert shown.exit_code == 1
    assert shown.stdout.startswith("--- on disk/LICENSE\n+++ rendered/LICENSE\n")
    told(shown.stderr)
    result = run("render", "--diff", "--json", small)
    assert result.exit_code == 1
    assert strict_json(result.stdout)[0]["diff"] == shown.stdout
    assert strict_json(run("render", "--check", "--json", small).stdout)[0]["missing"] == ["LICENSE"]


def test_out_takes_one_bundle_file_and_an_own_folder(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SMALL)
    refused(run("render", small, other, "--out", tmp_path / "x"), 2, "--out takes one bundle file, got 2")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "precious.txt").write_text("mine")
    before = snapshot(tmp_path)
    refused(run("render", small, "--out", theirs), 2, "did not make: precious.txt", "hint: ")
    refused(run("render", small, "--out", small), 2, "is a file")
    refused(run("render", "--check", small, "--out", theirs), 1, f"--out {theirs}")
    assert snapshot(tmp_path) == before
    assert run("render", small, "--out", tmp_path / "new").exit_code == 0
    assert run("render", small, "--out", tmp_path / "new", "--check").exit_code == 0


def test_one_folder_of_someone_else_stops_all_bundles(small: Path, tmp_path: Path) -> None:
    (tmp_path / "z.toml").write_text(SMALL)
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "precious.txt").write_text("mine")
    before = snapshot(tmp_path)
    refused(run("render", small, tmp_path / "z.toml"), 2, "did not make: precious.txt")
    assert snapshot(tmp_path) == before


# ---- list and validate -----------------------------------------------------------------------------


def test_list_says_what_each_needs_and_what_was_pruned(tmp_path: Path) -> None:
    path = tmp_path / "pruned.toml"
    path.write_text(
        'name = "pruned"\n[[kernel]]\nkernel = "matvec"\nformat = "q4_0"\nroute = "float"\nprune = true\n'
        "tile_rows = [4, 8]\ncolumns = [1, 4]\n"
    )
    data = strict_json(run("list", path, "--json").stdout)[0]
    assert len(data["variants"]) == 3
    assert "at most 16 sums a thread" in data["pruned"][0]["reason"]
    shown = run("list", path)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "pruned: matvec" in shown.stdout
    assert shown.stdout.count("nothing") == 3


def test_validate_says_which_judges_ran(small: Path) -> None:
    result = run("validate", small, "--require", "naga,tint", "--json")
    assert result.exit_code == 0, result.stderr
    assert {judge["judge"] for judge in strict_json(result.stdout)["ran"]} == {"rules", "naga", "tint"}
    assert result.stderr == ""


@pytest.mark.parametrize("command", [["validate"], ["verify", "--adapter", "swiftshader", "--jobs", "1"]])
def test_a_missing_judge_is_told_and_fails_when_required(
    command: list[str], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    refused(run(*command, small, "--require", "naga"), 5, "WGSLGEN_NAGA=/nowhere/naga", "hint: cargo install naga-cli")
    result = run(*command, small)
    assert result.exit_code == 0
    assert "did not run: naga" in result.stdout


@pytest.mark.parametrize("command", [["validate"], ["verify", "--adapter", "swiftshader", "--jobs", "1"]])
def test_a_rejected_text_ends_with_3_and_the_judges_words(
    command: list[str], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(variant: Kernel, source: str) -> str:
        text = render(variant, source)
        return text.replace("fn main(", "fn main(,") if variant.NAME == "matvec" else text

    monkeypatch.setattr(prove, "render", broken)
    result = run(*command, small)
    assert result.exit_code == 3
    told(result.stderr, "4 of 5 texts rejected", f"then wgslgen {command[0]} {small}")
    place = "matvec_q4_0_planar_m1_xf32_yf32__w4_float_rows1_wg64:"
    for judge in ("rules", "naga", "tint"):
        assert any(line.startswith(place) and f"[{judge}]" in line for line in result.stderr.splitlines()), judge
    findings = strict_json(run(*command, small, "--json").stdout)
    findings = findings.get("report", findings)["findings"]
    assert sorted(len(found) > 0 for found in findings.values()) == [False, True, True, True, True]


# ---- verify ----------------------------------------------------------------------------------------


def test_verify_says_what_passed(small: Path) -> None:
    good = run("verify", small, "--adapter", "swiftshader", "--no-cache", "--jobs", "1", "--json")
    assert good.exit_code == 0, good.stderr
    outcomes: list[dict[str, Any]] = strict_json(good.stdout)["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == ["passed"] * 5
    assert "oracle runs" in good.stderr


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("8388616.0f", "8388615.0f", "y against the oracle"),
        ("= total_sum(", "= sqrt(-1.0f - f32(thread.index)) + total_sum(", "got nan"),
    ],
)
def test_a_wrong_kernel_ends_with_4(
    good: str, bad: str, said: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "render", lambda variant, source: render(variant, source).replace(good, bad))
    monkeypatch.setattr(judging, "_PLAIN", {})
    command = ["verify", str(small), "--adapter", "swiftshader", "--no-cache", "--jobs", "1"]
    result = run(*command)
    assert result.exit_code == 4
    told(result.stderr, "4 of 5 runs failed", said, f"hint: wgslgen verify {small} --adapter swiftshader")
    outcomes = strict_json(run(*command, "--json").stdout)["outcomes"]
    assert sum(outcome["status"] == "failed" for outcome in outcomes) == 4


def test_a_wrong_oracle_ends_with_4(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where kernel and oracle differ, nobody knows which is wrong: the exit code is the same."""

    def wrong(kernel: str) -> Any:
        def make(constants: Any, sizes: Any, rng: Any) -> Any:
            problem = problem_maker(kernel)(constants, sizes, rng)
            other = problem_maker(kernel)(constants, sizes, rng)  # the generator has moved on: other inputs
            return replace(problem, expected=other.expected)

        return make

    monkeypatch.setattr(judging, "problem_maker", wrong)
    result = run("verify", small, "--adapter", "swiftshader", "--no-cache", "--jobs", "1")
    assert result.exit_code == 4
    told(result.stderr, "5 of 5 runs failed", "against the oracle")


def test_an_adapter_without_the_feature_ends_with_5(half: Path, small: Path) -> None:
    """A run in which nothing ran must not look like a proof."""
    result = run("verify", half, "--adapter", "swiftshader", "--no-cache")
    assert result.exit_code == 5
    told(result.stderr, "no adapter ran matvec_q4_0", "(1 variants): swiftshader lacks shader-f16", "hint: name an")
    both = ["verify", str(half), str(small), "--adapter", "swiftshader", "--no-cache", "--jobs", "1"]
    passed = run(*both)
    assert passed.exit_code == 0, passed.stderr
    assert "5 of 6 passed; 1 variants need shader-f16, which it lacks" in passed.stdout
    required = run(*both, "--require-gpu")
    assert required.exit_code == 5
    told(required.stderr, "(1 variants): swiftshader lacks shader-f16")
    assert run("verify", half, "--adapter", "lavapipe", "--require-gpu", "--no-cache").exit_code == 0


@pytest.mark.parametrize("command", [["verify", "--adapter", "swiftshader"], ["verify", "--require-gpu"]])
def test_a_missing_adapter_ends_with_5_and_its_package(command: list[str], small: Path) -> None:
    result = run_apart(*command, small, WGSLGEN_SWIFTSHADER_ICD="/nowhere/icd.json")
    assert (result.returncode, result.stdout) == (5, "")
    told(result.stderr, "adapter swiftshader", "apt-get install chromium", "WGSLGEN_SWIFTSHADER_ICD")


def test_without_a_name_the_adapters_that_are_there_are_taken(small: Path) -> None:
    result = run_apart("verify", small, WGSLGEN_SWIFTSHADER_ICD="/nowhere/icd.json")
    assert result.returncode == 0, result.stderr
    assert "lavapipe: 5 of 5 passed" in result.stdout
    assert "swiftshader" not in result.stdout
    none = run_apart("verify", small, WGSLGEN_SWIFTSHADER_ICD="/nowhere/a", WGSLGEN_LAVAPIPE_ICD="/nowhere/b")
    assert (none.returncode, none.stdout) == (5, "")
    told(
        none.stderr, "no software adapter is installed", "adapter lavapipe", "adapter dawn-swiftshader", "--adapter gpu"
    )


@pytest.mark.parametrize(("module", "adapter"), [("wgpu", "lavapipe"), ("wgpudawn", "dawn-swiftshader")])
def test_a_missing_package_ends_with_5(module: str, adapter: str, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    refused(run("verify", small, "--adapter", adapter), 5, f"the Python package {module} is missing", "pip install")


def test_a_cache_that_cannot_be_written_is_done_without(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(small))
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    result = run("verify", small, "--adapter", "swiftshader", "--jobs", "1")
    assert result.exit_code == 0, (result.stderr, result.exception)


# ---- as processes ----------------------------------------------------------------------------------


def test_the_whole_way_as_processes(small: Path) -> None:
    """Data is on stdout alone and parses; what is said is on stderr, also what libraries print."""
    assert run_apart("render", small).returncode == 0
    for arguments in (
        ["render", "--check"],
        ["list"],
        ["validate", "--require", "rules,naga,tint"],
        ["verify", "--adapter", "lavapipe", "--adapter", "dawn-swiftshader", "--no-cache"],
    ):
        result = run_apart(*arguments, small, "--json")
        assert result.returncode == 0, result.stderr
        strict_json(result.stdout)
        assert "{" not in result.stderr


def test_a_reader_that_has_enough_is_no_error(small: Path) -> None:
    words = [sys.executable, "-m", "wgslgen", "list", "--json", str(small)]
    piped = f"{shlex.join(words)} | head -c 1"
    result = subprocess.run(["sh", "-c", piped], capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("[", "")


def test_help_names_every_command_and_no_arguments_show_it() -> None:
    shown = run("--help").stdout
    for command in ("init", "render", "list", "validate", "verify"):
        assert command in shown
        assert run(command, "--help").exit_code == 0
    assert run().output == shown
