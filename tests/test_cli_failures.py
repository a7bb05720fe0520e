"""Full disks, interrupts and dying processes: nothing stays half-written, nothing stays running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cli_runs import SMALL, refused, run, snapshot, told

from wgslgen.manifest import MANIFEST

MANY = SMALL.replace("tile_rows = [1, 4]", "tile_rows = [1, 2, 4, 8]\nworkgroup_size = [32, 64, 128, 256]")
WGSLGEN = [sys.executable, "-m", "wgslgen"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a bundle file whose folder holds an older, smaller bundle."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("tile_rows = [1, 4]", "tile_rows = 1"))
    assert run("render", path).exit_code == 0
    path.write_text(SMALL)
    return path


# ---- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", range(0, 29, 4))
def test_an_interrupted_write_leaves_what_was_there(at: int, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the 29 files is being written."""
    before, write, written = snapshot(small.parent), Path.write_bytes, []

    def interrupted(path: Path, content: bytes) -> int:
        written.append(path)
        if len(written) > at:
            write(path, content[: len(content) // 2])
            raise KeyboardInterrupt
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    refused(run("render", small), 130, "interrupted")
    assert len(written) == at + 1
    assert snapshot(small.parent) == before


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), OSError(18, "Invalid cross-device link")])
@pytest.mark.parametrize("at", [0, 1])
def test_a_failed_exchange_of_folders_is_taken_back(
    at: int, problem: BaseException, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the old folder is moved away, then the new one comes in its place."""
    before, replace, moves = snapshot(small.parent), Path.replace, []

    def failing(path: Path, target: Path) -> Path:
        moves.append(path)
        if len(moves) == at + 1:
            raise problem
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    refused(run("render", small), 130 if isinstance(problem, KeyboardInterrupt) else 2)
    assert snapshot(small.parent) == before


@pytest.mark.parametrize("arguments", [["render", "small.toml"], ["init", "--preset", "bonsai-4b", "--format", "q1_0"]])
def test_a_full_disk_leaves_what_was_there(arguments: list[str], small: Path) -> None:
    """A limit on the size of files stands for the disk: the shell counts it in blocks of 512 or 1024 bytes."""
    (small.parent / "generated").mkdir()
    before = snapshot(small.parent)
    shell = ["sh", "-c", 'ulimit -f 2; exec "$@"', "sh", *WGSLGEN, *arguments]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(shell, cwd=small.parent, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    told(result.stderr, "file too large" if arguments[0] == "init" else "File too large")
    assert snapshot(small.parent) == before


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["validate"]])
def test_an_output_that_takes_nothing_is_told(arguments: list[str], small: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [*WGSLGEN, *arguments, str(small)]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    told(result.stderr, "no space left on device")


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["validate"]])
def test_a_closed_output_is_no_error(arguments: list[str], small: Path) -> None:
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *WGSLGEN, *arguments, str(small)]
    result = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_damaged_manifest_is_repaired(small: Path) -> None:
    assert run("render", small).exit_code == 0
    manifest = small.with_suffix("") / MANIFEST
    whole = manifest.read_bytes()
    for at in range(0, len(whole), len(whole) // 40):
        manifest.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert run("render", "--check", small).exit_code == 1
        result = run("render", small)
        assert result.exit_code == 0, (at, result.stderr)
        assert manifest.read_bytes() == whole


def test_a_manifest_of_someone_else_is_not_taken_for_a_damaged_one(small: Path) -> None:
    folder = small.with_suffix("")
    (folder / MANIFEST).write_text("{}")
    (folder / "manifest.schema.json").write_text("{}")
    others = "kernels/matvec.d.ts, kernels/matvec.js, manifest.json, manifest.schema.json"
    refused(run("render", small), 2, f"did not make: {others}")
    assert (folder / MANIFEST).read_text() == "{}"


# ---- processes -------------------------------------------------------------------------------------


def group(leader: int) -> dict[int, str]:
    """Return the processes of a group with their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end while it is looked at
            if os.getpgid(int(folder.name)) == leader:
                command = (folder / "cmdline").read_bytes().decode()
                if command:  # one that has ended and was not waited for has none
                    found[int(folder.name)] = command
    return found


def workers(leader: int) -> list[int]:
    return [process for process, command in group(leader).items() if "spawn_main" in command]


@pytest.fixture
def verifying(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a `verify` that takes a while, wait for its two workers, and see in the end that none is left."""
    path = tmp_path / "many.toml"
    path.write_text(MANY)
    command = [*WGSLGEN, "verify", str(path), "--adapter", "swiftshader", "--no-cache", "--jobs", "2"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        until = time.monotonic() + 60.0
        while len(workers(process.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(1.0)
        assert process.poll() is None
        yield process
        until = time.monotonic() + 10.0
        while group(process.pid) and time.monotonic() < until:
            time.sleep(0.1)
        assert not group(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("whom", ["all, by the terminal", "the command alone"])
def test_an_interrupted_verify_ends_at_once(whom: str, verifying: subprocess.Popen[str]) -> None:
    if whom == "the command alone":
        os.kill(verifying.pid, signal.SIGTERM)
    else:
        os.killpg(verifying.pid, signal.SIGINT)
    stdout, stderr = verifying.communicate(timeout=20.0)
    assert (verifying.returncode, stdout) == (130, "")
    told(stderr, "interrupted")


def test_a_worker_that_dies_is_told(verifying: subprocess.Popen[str]) -> None:
    os.kill(workers(verifying.pid)[0], signal.SIGKILL)
    stdout, stderr = verifying.communicate(timeout=20.0)
    assert (verifying.returncode, stdout) == (5, "")
    told(stderr, "its driver crashed, or memory ran out", "--jobs 1")


def test_the_folders_permissions_are_what_others_can_read(small: Path) -> None:
    assert run("render", small).exit_code == 0
    assert small.with_suffix("").stat().st_mode & 0o777 == 0o755
    assert (small.with_suffix("") / MANIFEST).stat().st_mode & 0o400
