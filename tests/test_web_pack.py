"""`pack` of a bundle's module gives Python's planes, byte for byte, for every format and layout."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from node import node

from wgslgen import bundle, formats, layouts
from wgslgen.errors import UsageProblem
from wgslgen.served import served

EVERY = [(kind.name, group) for kind in formats.FORMATS for group in kind.groups]
"""Formats with their groups."""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a bundle whose kernels read every format."""
    variants = [one.variant for one in served() if one.kernel == "get_rows" and one.layout == "ggml"]
    folder: Path = tmp_path_factory.mktemp("bundle") / "all"
    bundle.write(bundle.build("all", tuple(variants), "all.toml"), folder)
    return folder


def packed(module: Path, asked: list[dict[str, Any]]) -> list[Any]:
    """Return planes by name as base64, or {refused}, for each {key, layout, bytes in base64, n, k}."""
    script = (
        f'const {{ formats, pack }} = await import("{module.as_uri()}/index.js");\n'
        "const text = (plane) => Buffer.from(plane.buffer, plane.byteOffset, plane.byteLength).toString('base64');\n"
        "const result = given.map(({ key, layout, bytes, n, k }) => attempt(() => Object.fromEntries(\n"
        "  Object.entries(pack(formats[key], layout, Buffer.from(bytes, 'base64'), n, k))\n"
        "    .map(([name, plane]) => [name, text(plane)]))));"
    )
    found: list[Any] = node(script, asked)
    return found


def asked_of(name: str, group: int, layout: str, data: np.ndarray[Any, Any], n: int, k: int) -> dict[str, Any]:
    raw = base64.b64encode(data.tobytes()).decode()
    several = len(formats.get(name, group).groups) > 1
    return {"key": f"{name}_g{group}" if several else name, "layout": layout, "bytes": raw, "n": n, "k": k}


def test_planes_are_python_s(module: Path, rng: np.random.Generator) -> None:
    asked: list[dict[str, Any]] = []
    wanted: list[dict[str, str] | None] = []
    for name, group in EVERY:
        fmt = formats.get(name, group)
        for layout in layouts.LAYOUTS:
            for n, k in ((4, group * 4), (8, group * 3), (12, group)):
                data = fmt.random_blocks(n, k, rng)
                asked.append(asked_of(name, group, layout, data, n, k))
                try:
                    planes = layouts.pack(fmt, layout, data, n, k)
                except UsageProblem:
                    wanted.append(None)
                else:
                    words = {plane: base64.b64encode(words.tobytes()).decode() for plane, words in planes.items()}
                    wanted.append(words)
    for given, found, expected in zip(asked, packed(module, asked), wanted, strict=True):
        where = (given["key"], given["layout"], given["n"], given["k"])
        if expected is None:
            assert "refused" in found, where
        else:
            assert found == expected, where
    taken = {(given["key"], given["layout"]) for given, expected in zip(asked, wanted, strict=True) if expected}
    assert len({key for key, _ in taken}) == len(EVERY)
    assert {layout for _, layout in taken} == {*layouts.LAYOUTS}


def test_ternary_weights_pass_into_planes_and_others_are_named(module: Path) -> None:
    fmt = formats.get("q2_0", 64)
    ternary = np.tile(np.frombuffer(b"\x00\x3c" + b"\x24" * 16, np.uint8), 4)  # codes 0, 1, 2, 0
    beyond = ternary.copy()
    beyond[18 + 2] = 0xE4  # row 0, the second block: its fourth code is 3
    asked = [asked_of("q2_0", 64, "planes", data, 2, 128) for data in (ternary, beyond)]
    good, bad = packed(module, asked)
    expected = layouts.pack(fmt, "planes", ternary, 2, 128)
    assert {plane: base64.b64decode(raw) for plane, raw in good.items()} == {
        p: w.tobytes() for p, w in expected.items()
    }
    assert bad["refused"] == ("q2_0 with group 64: row 0, column 67 is 2d, and layout planes holds -d, 0 and +d")


def test_what_does_not_fit_is_said(module: Path) -> None:
    block = np.zeros(18, np.uint8)
    asked = [
        asked_of("q2_0", 64, "rows", block, 1, 64),
        asked_of("q2_0", 64, "planar", block, 1, 96),
        asked_of("q2_0", 64, "planar", block, 2, 64),
        asked_of("q2_0", 64, "row4", block, 1, 64),
        asked_of("f32", 1, "planar", np.zeros(4, np.float32), 1, 4),
    ]
    said = [found["refused"] for found in packed(module, asked)]
    assert said == [
        "q2_0 with group 64: no layout rows; expected ggml or planar or row4 or planes",
        "q2_0 with group 64: 1 rows of 96 columns; expected rows of whole blocks of 64",
        "q2_0 with group 64: 18 bytes; 2 rows of 64 columns have 36",
        "q2_0 with group 64: layout row4 stores 4 rows together, and N = 1 is none",
        "f32: no layout planar; expected ggml",
    ]


def test_the_table_of_a_format_comes_along(module: Path, rng: np.random.Generator) -> None:
    fmt = formats.get("iq3_s")
    data = fmt.random_blocks(1, 256, rng)
    (found,) = packed(module, [asked_of("iq3_s", 256, "planar", data, 1, 256)])
    grid = fmt.grid()
    assert grid is not None
    assert base64.b64decode(found["grid"]) == grid.tobytes()
