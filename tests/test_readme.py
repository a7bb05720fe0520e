"""The README keeps its word: what it shows is what lies in the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from wgslgen import bundlefile
from wgslgen.formats import names
from wgslgen.kernels import KERNELS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_kernel_shown_is_the_file_named() -> None:
    path = re.search(r"`(generated/\S+\.wgsl)`", README)
    shown = re.search(r"```wgsl\n(.*?)```", README, re.DOTALL)
    assert path is not None
    assert shown is not None
    assert shown[1] == (ROOT / path[1]).read_text()


def test_the_number_of_texts_is_right() -> None:
    said = re.search(r"one of the (\d+) texts", README)
    assert said is not None
    assert int(said[1]) == len([*(ROOT / "generated").rglob("*.wgsl")])


def test_every_kernel_and_format_is_named_and_no_other_link_is_broken() -> None:
    for kernel in KERNELS:
        assert f"`{kernel.NAME}`" in README
    for name in names():
        assert name in README
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_example_table_expands() -> None:
    example = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert example is not None
    tomllib.loads(example[1])
    grid = bundlefile.expand(bundlefile.parse(f'name = "example"\n{example[1]}', "README.md"))
    assert len(grid.variants) == 8
