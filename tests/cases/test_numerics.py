from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from cases.support import (
    ALL_FORMATS,
    block,
    routes,
    rows,
    run_matvec,
    run_probe,
    runner,
    widest,
)
from wgslgen import formats, kernels, launch
from wgslgen.adapters import Gpu
from wgslgen.compare import Close, Nearest, compare
from wgslgen.environment import number_literal
from wgslgen.errors import UsageProblem
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.oracles.matvec import int8_distance, problem, product
from wgslgen.oracles.quantize_q8 import dequantised, quantise
from wgslgen.oracles.rms_norm import normalised
from wgslgen.render import render
from wgslgen.spec import Const, Tolerance
from wgslgen.verify import verify_on

BROKEN = [float("inf"), float("-inf"), float("nan"), 1e39, True]


# ---- C01 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_c01_a_result_above_65504_is_exact_in_f32(columns: Literal[1, 2, 3, 4], gpu: Gpu) -> None:
    """The matvec part, M = 1 to 4; M = 8 waits for `matmul`."""
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 4)
    x = np.full((columns, 128), 100.0, np.float32)
    for variant in routes("q4_0", columns=columns):
        y = run_matvec(gpu, variant, data, x)
        if variant.route != "int8":
            np.testing.assert_array_equal(y, np.full((columns, 4), 89600.0))
            continue
        # 100 = scale * 127, and the scale is rounded to f32: the oracle quantises the activations too.
        expected, magnitudes = product(np.full((4, 128), 7.0), dequantised(quantise(x, 32)))
        verdict = compare(y, expected, magnitudes, variant.tolerance())
        assert verdict.problem is None, verdict.problem
        assert np.abs(y - 89600.0).max() < 0.1


@pytest.mark.parametrize("columns", [1, 4])
def test_c01_int8_is_exact_where_its_activations_are(columns: Literal[1, 4], gpu: Gpu) -> None:
    """127 has scale 1, so nothing rounds: 128 * 7 * 127."""
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 4)
    x = np.full((columns, 128), 127.0, np.float32)
    for variant in routes("q4_0", columns=columns):
        np.testing.assert_array_equal(run_matvec(gpu, variant, data, x), np.full((columns, 4), 113792.0))


def test_c01_f16_activations_are_added_up_in_f32(lavapipe: Gpu) -> None:
    data = rows(*[[block(1.0, b"\xff" * 16)] * 4] * 4)
    x = np.full((1, 128), 100.0, np.float16)
    for variant in routes("q4_0"):
        if variant.route != "int8":
            half = widest(Matvec, **{**variant.model_dump(), "activation": "f16"})
            np.testing.assert_array_equal(run_matvec(lavapipe, half, data, x), np.full((1, 4), 89600.0))


# ---- C02 -------------------------------------------------------------------------------------------


def squares_overflow(dtype: type[np.floating[Any]], large: float) -> NDArray[Any]:
    """Return x [2, 4096]: a row of 300, and ones behind a first element of `large`."""
    x = np.ones((2, 4096), dtype)
    x[0] = 300.0
    x[1, 0] = large
    return x


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("subgroups", [False, True])
def test_c02_squares_do_not_overflow(subgroups: bool, residual: bool, gpu: Gpu) -> None:
    """In f32 input on all adapters, and in f16 where there is f16: on the others the f32 form must do.

    With `residual`, the rows are the sums of two halves, and come back in the running sum's place.
    """
    types = {"f32": np.float32} | ({"f16": np.float16} if "shader-f16" in gpu.features else {})
    for name, dtype in types.items():
        x = squares_overflow(dtype, 800.0)
        variant = widest_norm(name, subgroups, residual)
        weight = np.ones(4096, np.float32)
        halves = {"x": x / dtype(2), "residual": x / dtype(2)} if residual else {"x": x}
        outputs = runner(gpu, variant).run({**halves, "weight": weight}, {"M": 2, "D": 4096}, {"EPS": 1e-6})
        assert outputs.get("residual", x.tobytes()) == x.tobytes()
        raw = outputs["y"]
        y = np.frombuffer(raw, dtype).astype(np.float64).reshape(2, 4096)
        np.testing.assert_array_equal(y[0], 1.0)
        assert y[1, 0] == pytest.approx(63.796, rel=2e-3)
        np.testing.assert_allclose(y[1, 1:], 0.079745, rtol=2e-3)
        expected = normalised(x, weight, 1e-6)
        assert Close(expected, np.abs(expected), np.dtype(dtype)).judge(raw, variant.tolerance()).problem is None
        # Finite and wrong, as an f16 sum gives it, is no pass.
        absorbed = np.zeros_like(x)
        assert np.isfinite(absorbed).all()
        verdict = Close(expected, np.abs(expected), np.dtype(dtype)).judge(absorbed.tobytes(), variant.tolerance())
        assert verdict.problem is not None


@pytest.mark.parametrize("subgroups", [False, True])
def test_c02_an_f16_running_sum_stays_at_the_end_of_its_range(subgroups: bool, lavapipe: Gpu) -> None:
    """60000 + 60000 is no f16. The sum stays finite, and the result is that of the true sum."""
    x = np.full((2, 64), 60000.0, np.float16) * np.array([[1.0], [-1.0]], np.float16)
    inputs: dict[str, NDArray[Any]] = {"x": x, "residual": x, "weight": np.ones(64, np.float32)}
    outputs = runner(lavapipe, widest_norm("f16", subgroups, True)).run(inputs, {"M": 2, "D": 64}, {"EPS": 1e-6})
    for name, value in (("residual", 65504.0), ("y", 1.0)):
        wanted = np.full((2, 64), value) * [[1.0], [-1.0]]
        np.testing.assert_array_equal(np.frombuffer(outputs[name], np.float16).reshape(2, 64), wanted)


def widest_norm(activation: str, subgroups: bool, residual: bool = False) -> RmsNorm:
    return RmsNorm.model_validate({"activation": activation, "subgroups": subgroups, "residual": residual})


@pytest.mark.parametrize("subgroups", [False, True])
@pytest.mark.parametrize("stride", [1, 4, 8])
def test_c02_quantize_q8_on_devices(stride: Literal[1, 4, 8], subgroups: bool, gpu: Gpu) -> None:
    for activation in ("f32", "f16") if "shader-f16" in gpu.features else ("f32",):
        variant = QuantizeQ8.model_validate(
            {"activation": activation, "group": 64, "stride": stride, "subgroups": subgroups}
        )
        outcome = verify_on(gpu, variant)
        assert outcome.status == "passed", outcome.problem


@pytest.mark.parametrize(("fmt", "group"), ALL_FORMATS)
def test_c02_get_rows_on_devices(fmt: str, group: int, gpu: Gpu) -> None:
    for layout in ("ggml", "planar") if formats.get(fmt, group).quantised else ("ggml",):
        for output in ("f32", "f16") if "shader-f16" in gpu.features else ("f32",):
            variant = widest(GetRows, format=fmt, group=group, layout=layout, output=output)
            outcome = verify_on(gpu, variant)
            assert outcome.status == "passed", outcome.problem


# ---- C05 -------------------------------------------------------------------------------------------


def test_c05_tolerances_follow_k_and_tell_wrong_from_right(rng: np.random.Generator, lavapipe: Gpu) -> None:
    n, k = 5120, 3072
    float_route, int8_route = (
        widest(Matvec, format="q8_0", columns=2, subgroups=True, tile_rows=8, **way)
        for way in ({"route": "float"}, {"route": "int8", "activation_group": 32})
    )
    fmt = float_route.weight_format
    data = fmt.quantise(rng.standard_normal((n, k)).astype(np.float32))
    weights = fmt.unpack(data)
    for variant in (float_route, int8_route):
        asked = problem(variant.model_dump(), {"N": n, "K": k}, np.random.default_rng(5), weights=data)
        raw = runner(lavapipe, variant).run(asked.inputs, {"N": n, "K": k})["y"]
        expected = asked.expected["y"]
        assert isinstance(expected, Close)
        tolerance = variant.tolerance()
        assert expected.judge(raw, tolerance).problem is None
        y = np.frombuffer(raw, np.float32).astype(np.float64).reshape(2, n)
        if variant is float_route:
            x = asked.inputs["x"]
            bound = 1e-4 * np.sqrt(k) * np.sqrt(np.square(x).mean()) * np.sqrt(np.square(weights).mean())
            assert np.abs(y - expected.values).max() <= bound
        swapped = y.copy()
        swapped[:, [100, 101]] = y[:, [101, 100]]
        for wrong in (swapped, y[:, ::-1], y[::-1], 1.02 * y):
            verdict = compare(wrong, expected.values, expected.magnitudes, tolerance)
            assert verdict.problem is not None
    # The exact product is no oracle for int8 activations: they alone are further away than any bound here.
    x = np.random.default_rng(6).standard_normal((2, k)).astype(np.float32)
    assert 1e-6 < int8_distance(weights, x, 32) < 1e-3


def test_c05_packed_f16_may_round_to_either_neighbour() -> None:
    expected = Nearest(np.array([[1.00048828125]]), np.dtype(np.float16))
    exact = Tolerance(nmse=0.0, element=0.0, derivation="the rule is the tolerance")
    for value, right in ((1.0, True), (1.0009765625, True), (0.99951171875, False), (1.001953125, False)):
        assert (expected.judge(np.float16(value).tobytes(), exact).problem is None) == right


# ---- C06 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", kernels.KERNELS)
@pytest.mark.parametrize("value", [*BROKEN, np.float32(1e-6), np.int64(64), 1e-45])
def test_c06_spec_fields_take_no_floats_booleans_or_numpy_scalars(value: Any, kernel: type[Any]) -> None:
    good = {"format": "q4_0", "route": "float", "group": 32, "stride": 1}
    good |= {"q_heads": 4, "kv_heads": 2, "head_dim": 64, "num_splits": 2, "tile_m": 16}
    good |= {"route": "tile", "num_splits": 1} if issubclass(kernel, Matmul) else {}
    base = {name: good[name] for name in kernel.model_fields if name in good}
    kernel(**base)
    for name, field in kernel.model_fields.items():
        if field.annotation is not bool or value is not True:
            with pytest.raises(ValidationError, match=name):
                kernel(**{**base, name: value})


@pytest.mark.parametrize("value", [*BROKEN, -1e39])
def test_c06_constants_and_uniforms_refuse_what_f32_cannot_hold(value: float) -> None:
    with pytest.raises(ValidationError, match=r"EPS|value"):
        Const(name="EPS", type="f32", value=value)
    with pytest.raises(UsageProblem, match="EPS"):
        number_literal("f32", value, "EPS")
    with pytest.raises(UsageProblem, match="eps"):
        launch.plan(RmsNorm(), {"M": 1, "D": 64}, {"EPS": value})


def test_c06_subnormals_are_refused_as_literals() -> None:
    with pytest.raises(UsageProblem, match="1e-45 is subnormal in f32"):
        number_literal("f32", 1e-45)
    assert number_literal("f32", 0.0) == "0.0f"


def test_c06_numpy_scalars_and_mask_sentinels_are_plain_finite_decimals() -> None:
    values: list[Any] = [np.float32(1e-6), -3.4028234e38, -65504.0, np.float32(-3.4028235e38), np.float64(0.1)]
    for value in values:
        text = number_literal("f32", value)
        assert re.fullmatch(r"-?\d+\.\d+f|-?\d(\.\d+)?e[+-]\d+f", text), text
        assert np.float32(text[:-1]) == np.float32(value)


# ---- C30 -------------------------------------------------------------------------------------------


def one_hot(at: int, k: int, value: float) -> NDArray[np.float32]:
    return np.where(np.arange(k) == at, value, 0.0).astype(np.float32)[None]


def test_c30_zero_points_are_taken_off_in_signed_numbers(gpu: Gpu) -> None:
    """All of x is 127, which int8 holds exactly; so results are 127 times those for 1."""
    zeros = {("q4_0", 32): (0.25, 16, -64.0), ("q2_0", 64): (0.5, 16, -32.0), ("q1_0", 128): (0.5, 16, -64.0)}
    for (fmt, group), (d, payload, expected) in zeros.items():
        x = np.full((1, group), 127.0, np.float32)
        for variant in routes(fmt, group):
            y = run_matvec(gpu, variant, rows([block(d, bytes(payload))]), x)
            np.testing.assert_array_equal(y, [[127 * expected]])


@pytest.mark.parametrize(("at", "expected"), [(1, 4.0), (17, -5.0), (0, 0.0), (16, 0.0)])
def test_c30_a_nibble_is_where_q4_0_has_it(at: int, expected: float, gpu: Gpu) -> None:
    payload = bytearray(b"\x88" * 16)
    payload[1] = 0x3C
    for variant in routes("q4_0"):
        y = run_matvec(gpu, variant, rows([block(0.5, bytes(payload))]), one_hot(at, 32, 127.0))
        np.testing.assert_array_equal(y, [[127 * 0.5 * expected]])


# ---- C54 -------------------------------------------------------------------------------------------


def test_c54_the_packed_dot_product_is_signed(gpu: Gpu) -> None:
    """At run time and as a constant.

    All three front ends have it without a `requires` line, so no kernel has a portable form beside it: route
    int8 always calls it.
    """
    body = """
      y[0] = bitcast<u32>(dot4I8Packed(x1[0], x2[0]));
      y[1] = bitcast<u32>(dot4I8Packed(0x80808080u, 0x7f7f7f7fu));"""
    words = [np.full(2, word, np.uint32) for word in (0x80808080, 0x7F7F7F7F)]
    expected = int(np.int32(-65024).view(np.uint32))
    assert run_probe(gpu, body, 2, words) == [expected, expected]


def test_c54_route_int8_multiplies_the_least_by_the_largest_code(gpu: Gpu) -> None:
    text = render(widest(Matvec, format="q8_0", route="int8", activation_group=32), "tests")
    assert "dot4I8Packed" in text
    assert "requires" not in text
    x = np.full((1, 32), 127.0, np.float32)
    for variant in routes("q8_0"):
        y = run_matvec(gpu, variant, rows([block(0.5, b"\x80" * 32)]), x)
        np.testing.assert_array_equal(y, [[0.5 * 32 * -128 * 127]])
