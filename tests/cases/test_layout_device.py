from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from cases.support import (
    ALL_FORMATS,
    SOURCE,
    Bytes,
    Floats,
    Probe,
    block,
    routes,
    rows,
    run_matvec,
    run_probe,
    runner,
    widest,
)
from wgslgen import formats, launch, layouts, wgsltypes
from wgslgen.adapters import Gpu
from wgslgen.errors import OracleMismatch, ShaderRejected, UsageProblem
from wgslgen.guarded import GUARD, UNWRITTEN
from wgslgen.harness import Runner
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.render import render
from wgslgen.spec import Binding, Case, Kernel
from wgslgen.verify import verify_on

TAILS = (1, 3, 31, 33, 65)


def run_get_rows(gpu: Gpu, variant: GetRows, data: Bytes, n: int, k: int, ids: list[int]) -> Floats:
    """Return rows `ids` [R, K] as the adapter reads them from `n` rows of weights."""
    inputs = {
        **layouts.pack(variant.weight_format, variant.layout, data, n, k),
        "ids": np.array(ids, np.int64).astype(np.uint32),
    }
    raw = runner(gpu, variant).run(inputs, {"N": n, "K": k, "R": len(ids), "FIRST_ROW": 0, "ROWS": n})["y"]
    return np.frombuffer(raw, np.float32).astype(np.float64).reshape(len(ids), k)


def layouts_of(fmt: str) -> tuple[str, ...]:
    return ("ggml", "planar") if formats.get(fmt, 64 if fmt == "q2_0" else None).quantised else ("ggml",)


# ---- C26, C27 --------------------------------------------------------------------------------------


def test_c26_an_upload_of_100_bytes_leaves_the_rest_alone(gpu: Gpu) -> None:
    """The harness uploads what an input has and not a byte of rounding: behind it lies poison, which reads as NaN."""
    count = 25
    body = f"for (var i = 0u; i < {count}u; i++) {{ y[i] = x1[i + {count - 1}u]; }}"
    words = np.arange(count, dtype=np.uint32)
    assert words.nbytes == 100
    assert run_probe(gpu, body, count, [words]) == [count - 1, *[0xFFFFFFFF] * (count - 1)]


@pytest.mark.parametrize("written", [26, 64])
def test_c26_writing_up_to_an_alignment_is_caught(written: int, gpu: Gpu) -> None:
    body = f"for (var i = 0u; i < {written}u; i++) {{ y[i] = i; }}"
    with pytest.raises(OracleMismatch, match=r"wrote outside y: \d+ bytes behind it, first at 0"):
        run_probe(gpu, body, 25)


def test_c26_bindings_have_no_byte_offset() -> None:
    """A view is what the caller binds, at an offset that WebGPU allows; no kernel is told of another one."""
    with pytest.raises(ValidationError, match="offset"):
        Binding.model_validate(
            {"name": "x", "access": "read", "element": "u32", "length": "N", "doc": "", "offset": 128}
        )
    assert GUARD % 256 == 0


def test_c27_three_f16_results_take_8_bytes(lavapipe: Gpu) -> None:
    data = rows(*[[block((row + 1) / 8, b"\x99" * 16)] for row in range(3)])
    for variant in routes("q4_0", output="f16"):
        x = np.full((1, 32), 127.0, np.float32)
        plan = launch.plan(variant, {"N": 3, "K": 32})
        assert plan.binding_bytes["y"] == 8
        np.testing.assert_array_equal(run_matvec(lavapipe, variant, data, x), [[508.0, 1016.0, 1524.0]])


def test_c27_what_pads_a_result_to_a_word_is_not_written(lavapipe: Gpu) -> None:
    variant = widest(Matvec, format="q4_0", route="block", layout="ggml", output="f16")
    inputs = layouts.pack(variant.weight_format, "ggml", rows([block(1.0, b"\x99" * 16)]), 1, 32)
    raw = runner(lavapipe, variant).run({**inputs, "x": np.ones(32, np.float32)}, {"N": 1, "K": 32})["y"]
    assert raw == np.float16(32).tobytes() + bytes([UNWRITTEN] * 2)


def test_c27_a_block_of_18_bytes_is_uploaded_as_20(gpu: Gpu) -> None:
    data = rows([block(0.5, b"\x99" * 16)])
    variant = widest(Matvec, format="q4_0", route="block", layout="ggml")
    assert launch.plan(variant, {"N": 1, "K": 32}).binding_bytes["weights"] == 20
    packed = layouts.pack(variant.weight_format, "ggml", data, 1, 32)["weights"]
    assert packed.tobytes() == data.tobytes() + b"\0\0"
    np.testing.assert_array_equal(run_matvec(gpu, variant, data, np.ones((1, 32), np.float32)), [[16.0]])


# ---- C28 -------------------------------------------------------------------------------------------

STRADDLING = {
    "q4_0": (3, 96, b"\x99" * 16, [24.0, 48.0, 72.0]),
    "q8_0": (5, 32, b"\x01" * 32, [4.0, 8.0, 12.0, 16.0, 20.0]),
    "q1_0": (5, 128, b"\xff" * 16, [16.0, 32.0, 48.0, 64.0, 80.0]),
}
"""Format → N, K, code bytes that make every weight d, and the sums for x = 1 and d = (row + 1)(block + 1) / 8."""


@pytest.mark.parametrize("fmt", STRADDLING)
def test_c28_blocks_on_two_byte_boundaries(fmt: str, gpu: Gpu) -> None:
    """For route int8 x is 127, which it holds exactly."""
    n, k, payload, expected = STRADDLING[fmt]
    blocks = k // formats.get(fmt).group
    data = rows(*[[block((r + 1) * (b + 1) / 8, payload) for b in range(blocks)] for r in range(n)])
    for variant in routes(fmt):
        x = 127.0 if variant.route == "int8" else 1.0
        y = run_matvec(gpu, variant, data, np.full((1, k), x, np.float32))
        np.testing.assert_array_equal(y, [x * np.array(expected)])
    weights = formats.get(fmt).unpack(formats.get(fmt).rows(data, n, k))
    for layout in layouts_of(fmt):
        found = run_get_rows(gpu, widest(GetRows, format=fmt, layout=layout), data, n, k, [*range(n)])
        np.testing.assert_array_equal(found, weights)
        np.testing.assert_array_equal(found.sum(axis=1), expected)


# ---- C29 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_c29_tails_of_matvec(columns: Literal[1, 2, 3, 4], gpu: Gpu) -> None:
    """Against the oracle; the harness sees that nothing behind the last row is written."""
    for tile_rows in {4, 8} if columns <= 2 else {4}:
        for variant in routes("q4_0", columns=columns, tile_rows=tile_rows)[::3]:
            outcome = verify_on(gpu, variant, [Case(name="C29", sizes={"N": n, "K": 256}) for n in TAILS])
            assert (outcome.status, outcome.runs) == ("passed", len(TAILS)), outcome.problem


@pytest.mark.parametrize("count", TAILS)
def test_c29_tails_of_the_other_kernels(count: int, gpu: Gpu) -> None:
    variants: list[tuple[Kernel, dict[str, int]]] = [
        (widest(GetRows, format="q2_0", group=64), {"N": count, "K": 320, "R": 7, "FIRST_ROW": 0, "ROWS": count}),
        (widest(GetRows, format="q4_1", layout="ggml"), {"N": 7, "K": 96, "R": count, "FIRST_ROW": 0, "ROWS": 7}),
        (RmsNorm(vector=1), {"M": count, "D": 65}),
        (RmsNorm(subgroups=True), {"M": 3, "D": 4 * count}),
    ]
    for variant, sizes in variants:
        outcome = verify_on(gpu, variant, [Case(name="C29", sizes=sizes)])
        assert outcome.status == "passed", outcome.problem


UNGUARDED: dict[str, tuple[Kernel, dict[str, str], dict[str, int], dict[str, NDArray[Any]]]] = {
    "matvec": (
        Matvec(format="f32", layout="ggml", route="float"),
        {" && row < n": ""},
        {"N": 3, "K": 64},
        {"weights": np.ones(192, np.float32), "x": np.ones(64, np.float32)},
    ),
    "get_rows": (
        GetRows(format="f32", layout="ggml"),
        {"row < params.r": "row <= params.r"},
        {"N": 3, "K": 64, "R": 2, "FIRST_ROW": 0, "ROWS": 3},
        {"weights": np.ones(192, np.float32), "ids": np.zeros(2, np.uint32)},
    ),
    "rms_norm": (
        RmsNorm(),
        {"row < params.m": "row <= params.m", "min(row, params.m - 1u)": "row"},
        {"M": 3, "D": 64},
        {"x": np.ones(192, np.float32), "weight": np.ones(64, np.float32)},
    ),
}
"""Kernel → variant, what to replace so that a row too many is written, sizes, inputs."""


@pytest.mark.parametrize("kernel", UNGUARDED)
def test_c29_a_store_without_its_guard_is_caught(kernel: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tile of 4 on 3 rows; or a workgroup too many, as a folded dispatch has."""
    variant, changes, sizes, inputs = UNGUARDED[kernel]
    text = wrong = render(variant, SOURCE)
    for good, bad in changes.items():
        assert text.count(good) == 1
        wrong = wrong.replace(good, bad)
    if kernel != "matvec":
        monkeypatch.setattr(type(variant), "workgroups", lambda _: "4")
    Runner(gpu, variant, text).run(inputs, sizes, {"EPS": 1e-6})
    with pytest.raises(OracleMismatch, match=rf"^{kernel}_.* on {gpu.name}: wrote outside y: \d+ bytes behind it"):
        Runner(gpu, variant, wrong).run(inputs, sizes, {"EPS": 1e-6})


# ---- C38 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fmt", "group"), ALL_FORMATS)
def test_c38_ids_out_of_range_give_zeros_and_the_last_row_is_right(fmt: str, group: int, gpu: Gpu) -> None:
    """-1 is 4294967295 as u32. Behind the weights lies poison, so another buffer's bytes would read as NaN."""
    chosen = formats.get(fmt, group)
    n, k = 5, 2 * max(group, 32)
    data = chosen.random_blocks(n, k, np.random.default_rng(38)).reshape(-1)
    last = chosen.unpack(chosen.rows(data, n, k))[n - 1]
    for layout in layouts_of(fmt):
        variant = widest(GetRows, format=fmt, group=group, layout=layout)
        y = run_get_rows(gpu, variant, data, n, k, [n - 1, n, 4294967294, -1, n - 1])
        np.testing.assert_allclose(y[[0, 4]], [last, last], rtol=2.0**-23, atol=2.0**-126)
        np.testing.assert_array_equal(y[1:4], 0.0)


@pytest.mark.parametrize("bad", [-1, 5, 4294967294])
def test_c38_ids_out_of_range_are_a_clear_error_on_the_host(bad: int) -> None:
    """Not part of every run: zeros are what the kernel promises, and the tests above ask for them."""
    variant, sizes = widest(GetRows, format="q8_0"), {"N": 5, "K": 32, "R": 3, "FIRST_ROW": 0, "ROWS": 5}
    launch.check_values(variant, {"ids": np.array([0, 4, 2])}, sizes)
    with pytest.raises(UsageProblem, match=rf"^get_rows_q8_0.*: ids\[1\] is {bad}; expected a number from 0 to 4"):
        launch.check_values(variant, {"ids": np.array([0, bad, 2])}, sizes)


# ---- C40 -------------------------------------------------------------------------------------------

BLOCK = widest(Matvec, format="q4_0", route="block", layout="ggml")
INVALID = {
    "syntax": ("fn main(", "fn main(("),
    "types": ("let tile = ", "let tile: f32 = "),
    "no entry point": ("fn main(", "fn other("),
    "another access": ("var<storage, read> x:", "var<storage, read_write> x:"),
    "a binding that the layout lacks": ("@binding(2)", "@binding(7)"),
    "a workgroup above the limit": ("@workgroup_size(WORKGROUP_SIZE)", "@workgroup_size(1024u)"),
    "a binding larger than what is bound": ("x: array<vec4<f32>>", "x: array<vec4<f32>, 100000>"),
}


@pytest.mark.parametrize("what", INVALID)
def test_c40_an_invalid_pipeline_or_dispatch_raises(what: str, gpu: Gpu) -> None:
    """At compiling, or at the dispatch for what shows only there; results never come back as zeros."""
    text = render(BLOCK, SOURCE)
    good, bad = INVALID[what]
    assert good in text
    inputs: dict[str, NDArray[Any]] = {"weights": np.zeros(5, np.uint32), "x": np.ones(32, np.float32)}
    with pytest.raises(ShaderRejected, match=f"^matvec_q4_0_ggml.* on {gpu.name}"):
        Runner(gpu, BLOCK, text.replace(good, bad)).run(inputs, {"N": 1, "K": 32})
    assert Runner(gpu, BLOCK, text).run(inputs, {"N": 1, "K": 32})["y"] == bytes(4)


# ---- C48 -------------------------------------------------------------------------------------------


class Echo(Probe):
    """The struct of C48."""

    FIELDS: ClassVar[dict[str, str]] = {"a": "u32", "b": "vec3<u32>", "c": "f32"}


class Mixed(Probe):
    """Each alignment behind a smaller one."""

    FIELDS: ClassVar[dict[str, str]] = {"a": "f32", "b": "vec2<i32>", "c": "i32", "d": "vec4<f32>", "e": "u32"}


def test_c48_struct_offsets() -> None:
    assert Echo().uniform_layout() == ({"a": 0, "b": 16, "c": 28}, 32)
    assert Mixed().uniform_layout() == ({"a": 0, "b": 8, "c": 16, "d": 32, "e": 48}, 64)
    with pytest.raises(UsageProblem, match=r"uniform field a: type array<u32, 3> is not allowed"):
        wgsltypes.struct_layout({"a": "array<u32, 3>"})


@pytest.mark.parametrize(
    ("kernel", "values"),
    [
        (Echo, {"a": 7, "b": (1, 2, 4294967295), "c": -0.5}),
        (Mixed, {"a": 0.25, "b": (-1, 2), "c": -3, "d": (1.5, -2.5, 3e38, 1e-30), "e": 9}),
    ],
)
def test_c48_every_field_comes_back(kernel: type[Probe], values: dict[str, Any], gpu: Gpu) -> None:
    expected: list[int] = []
    stores: list[str] = []
    for name, wgsl in kernel.FIELDS.items():
        lanes = wgsltypes.lanes(wgsl)
        expected += (
            np.atleast_1d(values[name]).astype(wgsltypes.SCALARS[wgsltypes.scalar_of(wgsl)]).view(np.uint32).tolist()
        )
        for lane in [""] if lanes == 1 else [f".{letter}" for letter in "xyzw"[:lanes]]:
            stores.append(f"y[{len(stores)}u] = bitcast<u32>(params.{name}{lane});")
    assert run_probe(gpu, "\n".join(stores), len(expected), kernel=kernel, parameters=values) == expected
