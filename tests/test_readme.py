"""The README keeps its word: what it shows is what lies in the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from wgslgen import bundlefile, plans
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
        path, _, heading = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not heading or f"\n## {heading.capitalize()}\n" in (ROOT / path).read_text(), link


def test_every_bundle_is_named() -> None:
    for path in (ROOT / "generated").glob("*.toml"):
        named = re.sub(r"-q\d_\d$", "", path.stem)
        assert f"`{named}`" in README


@pytest.mark.parametrize(("route", "passes"), [("float", 9), ("int8", 10)])
def test_the_passes_of_a_layer_are_those_of_the_plan(route: str, passes: int) -> None:
    said = re.findall(r"^\| [^|]+ \| `(\w+)` \| ", README.partition("## One token")[2], re.MULTILINE)
    file = bundlefile.load(ROOT / "generated" / "bonsai-1.7b-q2_0.toml")
    found = plans.derive(bundlefile.expand(file).variants, file.facts, ("decode",))
    names = [
        [step.variant.NAME for step in p.passes] for p in found if p.name.startswith(f"decode_layer.q2_0_g64_{route}")
    ]
    wanted = [kernel for kernel in said if route == "int8" or kernel != "quantize_q8"]
    assert len(wanted) == passes
    assert names == [wanted] * len(names) != []
    for kernel in ("get_rows", "lm_head_argmax", "argmax_merge"):
        assert any(kernel == step.variant.NAME for p in found for step in p.passes)


def test_the_example_table_expands() -> None:
    example = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert example is not None
    tomllib.loads(example[1])
    grid = bundlefile.expand(bundlefile.parse(f'name = "example"\n{example[1]}', "README.md"))
    assert len(grid.variants) == 8
