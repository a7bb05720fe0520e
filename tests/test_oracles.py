"""The oracles stand alone: what they import cannot carry a kernel's or a template's mistake into them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from wgslgen import oracles

MODULES = sorted(Path(oracles.__file__).parent.glob("*.py"))
ALLOWED = ("wgslgen.compare", "wgslgen.formats", "wgslgen.layouts", "wgslgen.oracles")


def imported(path: Path) -> set[str]:
    """Return the modules of this package that a file imports, by their full names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module == "wgslgen" else {str(node.module)}
    return {name for name in found if name.startswith("wgslgen")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_an_oracle_imports_formats_and_the_comparison_alone(path: Path) -> None:
    assert all(name.startswith(ALLOWED) for name in imported(path)), imported(path)


def test_the_look_at_imports_sees_them(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("import numpy\nfrom wgslgen import render, formats\nfrom wgslgen.kernels.matvec import Matvec\n")
    assert imported(file) == {"wgslgen.render", "wgslgen.formats", "wgslgen.kernels.matvec"}
