"""Finding the judges, their absence, naga's breakdowns, and what validation costs."""

from __future__ import annotations

import importlib
import itertools
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from wgsl_examples import TREE, kernel

from wgslgen import naga, tint
from wgslgen.dialect import to_native
from wgslgen.errors import ToolMissing
from wgslgen.report import Finding
from wgslgen.validate import JUDGES, validate

# --- Missing judges --------------------------------------------------------------------------------------


def test_a_missing_naga_is_told_and_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGSLGEN_NAGA", "/nowhere/naga")
    report = validate({"v": kernel("if (index < 32u) { workgroupBarrier(); }")}, judges=JUDGES)
    assert [run.judge for run in report.ran] == ["rules", "tint"]
    (missing,) = report.missing
    assert missing.judge == "naga"
    assert "WGSLGEN_NAGA=/nowhere/naga: no executable there" in missing.reason
    assert missing.hint.startswith("cargo install naga-cli --version '^29' --locked --root ")
    assert report.rejected == ("v",)
    with pytest.raises(ToolMissing, match=r"judge naga is required: naga 29, .*/nowhere/naga") as raised:
        validate({}, judges=("rules",), require=("naga",))
    assert raised.value.exit_code == 5
    assert raised.value.hint == missing.hint


def test_a_missing_tint_is_told_and_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wgpudawn", None)
    tint.open_tint.cache_clear()
    report = validate({"v": kernel("")}, judges=("rules", "tint"))
    assert [(item.judge, item.hint) for item in report.missing] == [("tint", "pip install 'wgslgen[gpu]'")]
    with pytest.raises(ToolMissing, match="judge tint is required: Tint is missing"):
        validate({}, require=("tint",))


def test_a_dawn_without_the_null_backend_is_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("Request adapter failed (3): no such backend")

    monkeypatch.setattr(importlib.import_module("wgpudawn").gpu, "request_adapter_sync", refuse)
    tint.open_tint.cache_clear()
    with pytest.raises(ToolMissing, match=r"Dawn has no Null backend .*no such backend"):
        tint.open_tint()


Script = Callable[[str], Path]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Return a maker of executables that stand for a naga."""
    numbers = itertools.count()

    def make(body: str) -> Path:
        path = tmp_path / f"naga{next(numbers)}"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.mark.parametrize(("body", "said"), [("echo 28.0.1", "version 28.0.1"), ("exit 3", "version unknown")])
def test_a_naga_of_another_version_is_missing(
    script: Script, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    path = script(body)
    monkeypatch.setenv("WGSLGEN_NAGA", str(path))
    with pytest.raises(ToolMissing, match=f"WGSLGEN_NAGA={path}: {said}"):
        naga.find_naga()


def test_naga_is_looked_for_in_the_cache_and_on_path(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("WGSLGEN_NAGA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    cached = tmp_path / "cache" / "wgslgen" / "naga-29" / "bin" / "naga"
    with pytest.raises(ToolMissing, match=f"{cached}: no executable there; PATH: no executable there"):
        naga.find_naga()
    on_path = tmp_path / "bin" / "naga"
    on_path.parent.mkdir()
    script("echo naga-cli 29.9.1").rename(on_path)
    assert naga.find_naga() == (on_path, "29.9.1")
    cached.parent.mkdir(parents=True)
    script("echo 29.0.4").rename(cached)
    assert naga.find_naga() == (cached, "29.0.4")


def test_the_major_version_is_that_inside_wgpu_native() -> None:
    native = importlib.import_module("wgpu.backends.wgpu_native")
    assert native.lib_version_info[0] == naga.NAGA_MAJOR


def test_a_text_that_breaks_naga_down_is_found_and_the_others_are_judged() -> None:
    deep = kernel("let x = " + "(" * 20000 + "1u" + ")" * 20000 + ";")
    texts = {"a": kernel(TREE), "deep": deep, "b": kernel("let x: f32 = 1u;"), "c": kernel("")}
    report = validate(texts, require=JUDGES)
    assert report.rejected == ("deep", "b")
    assert report.refused_by("deep") == {"rules", "naga", "tint"}
    said = {finding.judge: finding.message for finding in report.findings["deep"]}
    assert said["naga"].startswith("naga broke down (exit code -6):\n")
    assert "overflowed its stack" in said["naga"]


def test_a_refusal_without_a_diagnostic_is_a_refusal(script: Script) -> None:
    quiet = script("echo 'Validation failed for the following inputs:' >&2; echo \"  $3\" >&2; exit 1")
    found = naga.judge(naga.Naga(quiet, "29.0.4"), {"first": "", "second": ""})
    assert found == {
        "second": [Finding(judge="naga", severity="error", message="refused, and naga did not say why")],
    }


def test_a_naga_that_hangs_is_stopped(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naga, "_SECONDS", 0.2)
    (finding,) = naga.judge(naga.Naga(script("exec sleep 20"), "29.0.4"), {"v": ""})["v"]
    assert finding.message == "naga broke down (exit code -1):\nno verdict within 0.2 seconds"


@pytest.mark.parametrize("folder", ["/nowhere", None])
def test_texts_lie_on_disk_where_there_is_no_room_in_memory(
    monkeypatch: pytest.MonkeyPatch, folder: str | None
) -> None:
    size = 1 << 60
    if folder is not None:
        monkeypatch.setattr(naga, "_MEMORY", folder)
        size = 1
    assert naga._scratch(size) is None
    monkeypatch.setattr(naga, "_scratch", lambda _: None)
    assert validate({"v": kernel(TREE)}, judges=("naga",)).rejected == ()


# --- Speed -----------------------------------------------------------------------------------------------


def test_200_texts_cost_at_most_one_and_a_half_bulk_calls(tmp_path: Path) -> None:
    body = "\n".join(f"  partial_sums[index] = fma({i}.5f, partial_sums[index], {i}.0f);" for i in range(150))
    texts = {f"variant_{i}": kernel(f"{body}\n  let own = {i}u;\n{TREE}", enable="subgroups") for i in range(200)}
    files = [f"{index}.wgsl" for index in range(len(texts))]
    for file, text in zip(files, texts.values(), strict=True):
        (tmp_path / file).write_text(to_native(text))
    found = naga.find_naga()

    def bulk() -> None:
        subprocess.run([found.path, "--bulk-validate", *files], cwd=tmp_path, capture_output=True, check=True)

    def ours() -> None:
        assert validate(texts, judges=("naga",)).rejected == ()

    # The quickest of several rounds is what the work costs; the rest is the machine's other business.
    rounds = [(_seconds(bulk), _seconds(ours)) for _ in range(6)]
    bulk_seconds, our_seconds = map(min, zip(*rounds, strict=True))
    print(f"one bulk naga call {bulk_seconds:.3f} s, validate {our_seconds:.3f} s: {our_seconds / bulk_seconds:.2f}")  # noqa: T201
    assert our_seconds <= 1.5 * bulk_seconds


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_the_rules_are_quick_enough_for_the_longest_texts() -> None:
    body = "\n".join(f"  partial_sums[index] = fma({i}.5f, partial_sums[index], {i}.0f);" for i in range(900))
    text = kernel(f"{body}\n{TREE}")
    assert 50_000 < len(text) < 65_536
    start = time.process_time()
    assert validate({"long": text}, judges=("rules",)).rejected == ()
    assert time.process_time() - start < 2
