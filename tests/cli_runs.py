"""What the tests of the commands share: a small bundle file, ways to run commands, and what a refusal looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Never

from click.testing import CliRunner, Result

from wgslgen.cli import main

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
TINY = """
name = "tiny"
[[kernel]]
kernel = "quantize_q8"
group = 32
stride = [1, 4]
"""
HALF = """
name = "half"
[[kernel]]
kernel = "matvec"
format = "q4_0"
route = "float"
activation = "f16"
"""
C41 = ("storage", "type", "array", "texture", "packed", "ptr", "fn", "override", "buffer", "_", "__x", "f16", "select")
"""Words of WGSL and names that it refuses; case C41 lists them."""


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def run_apart(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m wgslgen` as a process of its own, with these environment variables on top."""
    return subprocess.run(
        [sys.executable, "-m", "wgslgen", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    """Return what lies in `folder`: the content of files, where links point, None for folders."""
    return {
        str(path.relative_to(folder)): (
            str(path.readlink()) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
        )
        for path in folder.rglob("*")
    }


def told(stderr: str, *words: str) -> None:
    """Assert that stderr ends in `error: …` and `hint: …`, has the words, and neither traceback nor usage lines."""
    lines = stderr.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith("error: ")), None)
    assert first is not None, stderr
    assert lines[-1].startswith("hint: "), stderr
    assert len(lines[-1]) > len("hint: ")
    assert "Traceback" not in stderr
    assert "Usage:" not in stderr
    for word in words:
        assert word in "\n".join(lines[first:]), stderr


def refused(result: Result, code: int, *words: str) -> None:
    """Assert the exit code, a message on stderr that has the words, and nothing on stdout."""
    assert result.exit_code == code, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    told(result.stderr, *words)


def strict_json(text: str) -> Any:
    """Return JSON as a browser reads it: NaN and Infinity are no JSON."""

    def no_json(word: str) -> Never:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=no_json)
