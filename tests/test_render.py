"""Rendering: pure, strict, readable, and the same text for both dialects but for one line."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2
import numpy as np
import pytest

from wgslgen.dialect import to_native
from wgslgen.environment import environment, number_literal, only_text_and_numbers
from wgslgen.errors import UsageProblem
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name, what_name
from wgslgen.paths import license_text, templates_dir
from wgslgen.render import render

ROOT = Path(__file__).parent.parent
BASE = Matvec(format="q2_0", group=64, route="float")


def changed(**constants: object) -> Matvec:
    return Matvec(**{**BASE.model_dump(), **constants})


def differing(a: str, b: str) -> Iterator[str]:
    for line in difflib.ndiff(a.splitlines(), b.splitlines()):
        if line[0] in "+-":
            yield line


def test_tuning_by_numbers_changes_the_header_alone() -> None:
    """Two variants that differ in a number differ in `const` lines and in their name."""
    lines = [*differing(render(BASE, "x.toml"), render(changed(workgroup_size=128), "x.toml"))]
    assert lines
    assert all("const " in line or "variant " in line for line in lines)


def test_native_text_is_the_web_text_with_one_line_blanked() -> None:
    web = render(changed(subgroups=True, activation="f16"), "x.toml")
    native = to_native(web)
    assert web.count("\n") == native.count("\n")
    assert [*differing(web, native)] == ["- enable subgroups;", "+ "]
    assert to_native(render(BASE, "x.toml")) == render(BASE, "x.toml")


def test_directives_come_first_and_only_when_needed() -> None:
    code = [line for line in render(changed(subgroups=True, output="f16"), "x.toml").splitlines() if line[:2] != "//"]
    assert code[:2] == ["enable f16;", "enable subgroups;"]
    assert "enable" not in render(BASE, "x.toml")


def test_every_text_says_where_it_comes_from() -> None:
    lines = render(BASE, "some.toml").splitlines()
    assert lines[0] == "// SPDX-License-Identifier: MIT"
    assert "some.toml" in lines[1]
    assert variant_name(BASE) in "\n".join(lines[:6])


def test_constants_stand_once_as_const() -> None:
    text = render(changed(n=6144, k=2048), "x.toml")
    for const in changed(n=6144, k=2048).all_consts:
        assert len(re.findall(rf"^const {const.name}: ", text, re.MULTILINE)) == 1
    assert "6144" not in text.split("\n\n@compute")[1]


def test_two_hash_seeds_give_the_same_bytes() -> None:
    program = (
        "from wgslgen.kernels.matvec import Matvec; from wgslgen.bundle import build; import hashlib;"
        "v=(Matvec(format='q1_0', route='float', subgroups=True), Matvec(format='q8_0', route='block',"
        " layout='ggml', step_words=1));"
        "print([hashlib.sha256(c).hexdigest() for c in build('b', v, 'b.toml').files.values()])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.parametrize("value", [True, None, 1.5, [1], {"a": 1}, np.float32(1.0), np.int64(3)])
def test_a_template_cannot_print_anything_but_text_and_whole_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="a template printed"):
        only_text_and_numbers(value)
    with pytest.raises(TypeError, match="a template printed"):
        environment().from_string("{{ value }}").render(value=value)


def test_an_undefined_name_in_a_template_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ nothing }}").render()


def test_c06_literals() -> None:
    """Numbers without a WGSL literal are refused; NumPy scalars are taken by value; no `np.float32(…)`."""
    for bad in (float("inf"), float("-inf"), float("nan"), 1e39, True, "1", None, 1e-45):
        with pytest.raises(UsageProblem):
            number_literal("f32", bad)  # type: ignore[arg-type]  # what must be refused
    assert number_literal("f32", np.float32(1e-6)) == "9.99999997e-07f"
    assert number_literal("f32", 0.0) == "0.0f"
    assert number_literal("f32", -3.4028234663852886e38) == "-340282346638528859811704183484516925440.0f"
    assert number_literal("f32", 2) == "2.0f"
    assert float(number_literal("f32", 0.1)[:-1]) == pytest.approx(0.1, rel=1e-8)
    assert number_literal("u32", 4294967295) == "4294967295u"
    assert number_literal("i32", -5) == "-5i"
    for wgsl, bad in (("u32", -1), ("u32", 2**32), ("i32", 2**31), ("u32", 1.0), ("u32", True)):
        with pytest.raises(UsageProblem):
            number_literal(wgsl, bad)


def test_f32_literals_round_trip(rng: np.random.Generator) -> None:
    bits = rng.integers(0x00800000, 0x7F7FFFFF, 2000, dtype=np.uint32)
    for value in bits.view(np.float32):
        text = number_literal("f32", value)
        assert text.endswith("f")
        assert np.float32(float(text[:-1])) == value


def test_names_are_different_for_different_variants_and_part_at_two_underscores() -> None:
    variants = [
        changed(**constants)
        for constants in (
            {},
            {"tile_rows": 8},
            {"subgroups": True},
            {"n": 64},
            {"k": 64},
            {"group": 128},
            {"activation": "f16"},
            {"output": "f16"},
            {"columns": 2},
            {"layout": "ggml"},
            {"step_words": 2},
        )
    ]
    names = [variant_name(variant) for variant in variants]
    assert len(set(names)) == len(names)
    assert all(name.split("__")[0] == what_name(v) for name, v in zip(names, variants, strict=True))
    assert what_name(changed(tile_rows=8)) == what_name(BASE)
    assert what_name(changed(group=128)) != what_name(BASE)


def test_bundles_carry_the_projects_licence() -> None:
    assert license_text() == (ROOT / "LICENSE").read_text()


def test_templates_keep_jinja_on_lines_of_its_own_or_in_expressions() -> None:
    """Block tags stand on `$$` lines; `{% … %}` is left for lists inside one line of WGSL."""
    for path in templates_dir().rglob("*.j2"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            inline = re.findall(r"{%.*?%}", line)
            assert len(inline) % 2 == 0, f"{path.name}:{number}: {line}"
