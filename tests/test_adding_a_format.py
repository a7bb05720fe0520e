"""The example in docs/adding-a-format.md is a real change: it applies, it is small, and its format passes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DIFF = re.compile(r"```diff\n(.*?)```", re.DOTALL)

PROGRAM = """
import numpy as np
from wgslgen.adapters import open_adapter
from wgslgen.kernels import get
from wgslgen.verify import verify_on

gpu = open_adapter("lavapipe")
matvec, get_rows = get("matvec"), get("get_rows")
for variant in (
    matvec(format="q4_n", route="float"),
    matvec(format="q4_n", route="float", layout="ggml", step_words=1, subgroups=True),
    matvec(format="q4_n", route="block", layout="ggml", step_words=1),
    get_rows(format="q4_n"),
    get_rows(format="q4_n", layout="ggml"),
):
    outcome = verify_on(gpu, variant)
    print(outcome.status, outcome.runs, outcome.problem)
"""


@pytest.fixture(scope="module")
def change() -> str:
    found = DIFF.findall((ROOT / "docs" / "adding-a-format.md").read_text())
    assert len(found) == 1
    return str(found[0])


@pytest.fixture(scope="module")
def changed_copy(change: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("wgslgen", "templates"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", "-"], input=change, text=True, cwd=copy, check=True)
    return copy


def test_the_change_is_two_new_files_and_one_line(change: str) -> None:
    assert change.count("new file mode") == 2
    old_file = change[change.index("diff --git a/wgslgen/formats/__init__.py") :].split("diff --git")[1]
    lines = [line for line in old_file.split("\n") if re.match(r"[+-](?![+-])", line)]
    assert lines == ['+    "q4_n",']
    assert change.count("diff --git") == 3


def test_the_new_format_passes_its_oracles(changed_copy: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(changed_copy)},
        cwd=changed_copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 5
    assert all(re.fullmatch(r"passed [1-9]\d* None", line) for line in lines), run.stdout


def test_without_the_change_the_format_is_unknown() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "there is no format 'q4_n'" in run.stderr
