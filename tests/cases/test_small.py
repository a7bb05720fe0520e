"""Cases that the small kernels stand for: softmax, swiglu, add and copy_strided, and the barriers of folds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases.support import SOURCE, Floats, block, routes, rows, run_matvec, runner
from wgslgen.adapters import Gpu
from wgslgen.compare import Close, compare
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.add import Add
from wgslgen.kernels.copy_strided import CopyStrided, sizes_of
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.kernels.softmax import Softmax
from wgslgen.kernels.swiglu import Swiglu
from wgslgen.oracles.rms_norm import normalised
from wgslgen.oracles.softmax import LOWEST, softmax
from wgslgen.plan import Pass, Plan
from wgslgen.render import render
from wgslgen.session import Session
from wgslgen.spec import Kernel

TYPES: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f16": np.float16}


def activations(gpu: Gpu) -> list[str]:
    """Return the types of activations that the adapter has."""
    return ["f32", "f16"] if "shader-f16" in gpu.features else ["f32"]


def softmaxes(activation: str, masked: bool = False, vectors: tuple[int, ...] = (1, 4)) -> Iterator[Softmax]:
    """Yield softmax with subgroups and without, for each width of a load."""
    for vector in vectors:
        for subgroups in (False, True):
            constants = {"activation": activation, "masked": masked, "vector": vector, "subgroups": subgroups}
            yield Softmax.model_validate(constants)


def run_softmax(gpu: Gpu, variant: Softmax, scale: float = 1.0, **inputs: NDArray[Any]) -> NDArray[Any]:
    """Return y [M, D] as the adapter computes it."""
    m, d = inputs["x"].shape
    raw = runner(gpu, variant).run(inputs, {"M": m, "D": d}, {"SCALE": scale})["y"]
    return np.frombuffer(raw, inputs["x"].dtype, count=m * d).reshape(m, d)


# ---- C03 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5])
def test_c03_one_large_score_takes_all(count: int, gpu: Gpu) -> None:
    """Scores 100, 0 and -100 against values 1, 2 and 3; in f16 exp would overflow from 11.09 on."""
    for activation in activations(gpu):
        x = np.array([[100.0, 0.0, -100.0]] * count, TYPES[activation])
        for variant in softmaxes(activation, vectors=(1,)):
            y = run_softmax(gpu, variant, x=x).astype(np.float64)
            np.testing.assert_array_equal(y @ np.array([1.0, 2.0, 3.0]), np.ones(count))
        wide = np.concatenate([x, np.full((count, 1), -100.0, x.dtype)], axis=1)
        for variant in softmaxes(activation):
            y = run_softmax(gpu, variant, scale=0.5, x=2 * wide).astype(np.float64)
            np.testing.assert_array_equal(y @ np.array([1.0, 2.0, 3.0, 4.0]), np.ones(count))


# ---- C04 -------------------------------------------------------------------------------------------

GATES = [-200.0, -100.0, -89.0, -88.0, 0.0, 88.0, 89.0, 100.0, 200.0, -3e38, 3e38, -1e4]


def run_swiglu(gpu: Gpu, variant: Swiglu, gate: NDArray[Any]) -> Floats:
    """Return y [D] for one row of gates, with up = 1."""
    up = np.ones_like(gate)
    inputs = {"gate_up": np.concatenate([gate, up])} if variant.packed else {"gate": gate, "up": up}
    raw = runner(gpu, variant).run(inputs, {"M": 1, "D": gate.size})["y"]
    return np.frombuffer(raw, gate.dtype, count=gate.size).astype(np.float64)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("vector", [1, 4])
def test_c04_silu_is_finite_for_every_gate(vector: Any, packed: bool, gpu: Gpu) -> None:
    y = run_swiglu(gpu, Swiglu(vector=vector, packed=packed), np.array(GATES, np.float32))
    expected = np.maximum(np.array(GATES, np.float32).astype(np.float64), 0.0)
    assert np.isfinite(y).all()
    assert (np.abs(y[expected == 0.0]) < 1e-30).all()
    np.testing.assert_array_equal(y[expected > 0.0], expected[expected > 0.0])


@pytest.mark.parametrize("packed", [False, True])
def test_c04_silu_in_f16_goes_by_way_of_f32(packed: bool, lavapipe: Gpu) -> None:
    gate = np.array([-12.0, 12.0, 65504.0, -65504.0], np.float16)
    y = run_swiglu(lavapipe, Swiglu(activation="f16", packed=packed), gate)
    assert y[0] == pytest.approx(-7.373e-5, rel=2.0**-10)
    assert y[1:].tolist() == [12.0, 65504.0, 0.0]


@pytest.mark.parametrize("vector", [1, 4])
def test_c04_gelu_is_finite_for_every_gate(vector: Any, gpu: Gpu) -> None:
    """Its tanh argument is cubic, and has overflowed an exponential from -13.2 on."""
    gate = np.array([-13.24, -100.0, 0.0, 13.24, 100.0, -3e38, 3e38, -1e4], np.float32)
    for activation in activations(gpu):
        given = gate.clip(-65504.0, 65504.0).astype(TYPES[activation])
        y = run_swiglu(
            gpu, Swiglu.model_validate({"gelu_tanh": True, "activation": activation, "vector": vector}), given
        )
        expected = np.maximum(given.astype(np.float64), 0.0)
        assert (np.abs(y[expected == 0.0]) < 1e-30).all()
        np.testing.assert_array_equal(y[expected > 0.0], expected[expected > 0.0])


# ---- C09 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sentinel", [-np.inf, LOWEST])
def test_c09_a_fully_masked_row_is_zero(sentinel: float, gpu: Gpu) -> None:
    """T = 33: everything is masked for query 0 and query 32. The attention part is with the attention kernels."""
    rng = np.random.default_rng(9)
    x = rng.standard_normal((33, 33)) * 8.0
    mask = np.where(np.tri(33) > 0, 0.0, sentinel).astype(np.float32)
    mask[[0, 32]] = sentinel
    for activation in activations(gpu):
        given = x.astype(TYPES[activation])
        values, magnitudes = softmax(given, mask, 0.125)
        for variant in softmaxes(activation, masked=True, vectors=(1,)):
            y = run_softmax(gpu, variant, scale=0.125, x=given, mask=mask)
            assert not y[[0, 32]].any()
            expected = Close(values, magnitudes, np.dtype(given.dtype))
            assert expected.judge(y.tobytes(), variant.tolerance()).problem is None
            # A NaN on one side only is a failure, whichever side it is.
            broken = y.astype(np.float64)
            broken[0] = np.nan
            for one, other in ((broken, values), (values, broken)):
                assert compare(one, other, magnitudes, variant.tolerance()).problem is not None


# ---- C39 -------------------------------------------------------------------------------------------


def plan_of(variant: Kernel, sizes: tuple[str, ...], **buffers: str) -> Plan:
    """Return the plan of one pass, with these buffers for its bindings."""
    step = Pass(variant=variant, buffers=buffers)
    return Plan(name="one", op="small", doc="one pass", sizes=sizes, outputs=(), passes=(step,))


def test_c39_two_read_only_inputs_may_be_one_buffer(gpu: Gpu) -> None:
    x = np.array([1.0, -2.0, 3.0, 0.5], np.float32)
    for variant, sizes, names, expected in (
        (Add(), {"COUNT": 4}, {"a": "x", "b": "x"}, 2.0 * x),
        (Swiglu(), {"M": 1, "D": 4}, {"gate": "x", "up": "x"}, x * x / (1.0 + np.exp(-x))),
    ):
        plan = plan_of(variant, tuple(sizes), **names)
        session = Session(gpu, plan.variants)
        session.hold_inputs(plan, sizes, {"x": x})
        session.add(plan, sizes)
        session.submit()
        np.testing.assert_allclose(session.read("y", np.float32), expected, rtol=1e-6)


def test_c39_adding_in_place_is_a_variant_of_its_own(gpu: Gpu) -> None:
    x, b = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    refused = plan_of(Add(), ("COUNT",), a="x", y="x")
    session = Session(gpu, refused.variants)
    session.hold_inputs(refused, {"COUNT": 4}, {"x": x, "b": b})
    with pytest.raises(UsageProblem, match=r"bindings a and y share bytes of buffer x[\s\S]*works in place"):
        session.add(refused, {"COUNT": 4})
    allowed = plan_of(Add(in_place=True), ("COUNT",), y="x")
    session = Session(gpu, allowed.variants)
    session.hold_inputs(allowed, {"COUNT": 4}, {"x": x, "b": b})
    session.add(allowed, {"COUNT": 4})
    session.submit()
    np.testing.assert_array_equal(session.read("x", np.float32), [1.0, 2.0, 3.0, 4.0])


# ---- C49 -------------------------------------------------------------------------------------------


def folding(rng: np.random.Generator) -> Iterator[tuple[Kernel, dict[str, NDArray[Any]], dict[str, float], Close]]:
    """Yield variants of 256 threads over 64 rows of 1100 elements: inputs, parameters and what must come out."""
    x = (rng.standard_normal((64, 1100)) * 4.0).astype(np.float32)
    weight = rng.standard_normal(1100).astype(np.float32)
    dtype, norm = np.dtype(np.float32), normalised(x, weight, 1e-6)
    for vector in (1, 4):
        for subgroups in (False, True):
            ways = {"workgroup_size": 256, "vector": vector, "subgroups": subgroups}
            inputs = {"x": x, "weight": weight}
            yield RmsNorm.model_validate(ways), inputs, {"EPS": 1e-6}, Close(norm, np.abs(norm), dtype)
            yield Softmax.model_validate(ways), {"x": x}, {"SCALE": 1.0}, Close(*softmax(x, None, 1.0), dtype)


def test_c49_folds_give_the_same_bits_in_50_runs(rng: np.random.Generator, lavapipe: Gpu) -> None:
    """Eight lanes a subgroup, so 32 of them fold in a workgroup, where a missing barrier shows."""
    for variant, inputs, parameters, expected in folding(rng):
        run = runner(lavapipe, variant)
        results = {run.run(inputs, {"M": 64, "D": 1100}, parameters)["y"] for _ in range(50)}
        assert len(results) == 1
        assert expected.judge(results.pop(), variant.tolerance()).problem is None


def test_c49_a_text_without_barriers_is_caught(rng: np.random.Generator, lavapipe: Gpu) -> None:
    for variant, inputs, parameters, expected in folding(rng):
        text = render(variant, SOURCE).replace("workgroupBarrier();", "")
        raw = Runner(lavapipe, variant, text).run(inputs, {"M": 64, "D": 1100}, parameters)["y"]
        assert expected.judge(raw, variant.tolerance()).problem is not None


# ---- C52 -------------------------------------------------------------------------------------------

K = 64
COPY = CopyStrided()


def pack(gpu: Gpu, x: NDArray[np.float32], sizes: dict[str, int]) -> NDArray[np.float32]:
    """Return what copy_strided packs [columns, K]."""
    y = np.zeros(sizes["DST_LENGTH"], np.float32)
    raw = runner(gpu, COPY).run({"x": np.ravel(x)[: sizes["SRC_LENGTH"]], "y": y}, sizes)["y"]
    return np.frombuffer(raw, np.float32).reshape(-1, K)


def check_products(gpu: Gpu, x: NDArray[np.float32], factors: list[float]) -> None:
    """Check that matvec gives each column of x, which is a constant, that constant times the rows' sums."""
    data = rows(*[[block(0.5, bytes(range(row, row + 16))), block(1.0, b"\x9a" * 16)] for row in range(4)])
    [variant, *_] = routes("q4_0", columns=1)
    base = variant.weight_format.unpack(variant.weight_format.rows(data, 4, K)).sum(axis=1)
    assert base.all()
    assert x.shape == (len(factors), K)
    for variant in routes("q4_0", columns=len(factors)):
        y = run_matvec(gpu, variant, data, x)
        np.testing.assert_allclose(y, np.outer(factors, base), rtol=1e-5 if variant.route == "int8" else 0.0)


def test_c52_a_padded_batch_stride(gpu: Gpu) -> None:
    """Batch 3 over shared weights: x[b] = b + 1, behind every row 64 elements of NaN."""
    x = np.full((3, K + 64), np.nan, np.float32)
    x[:, :K] = np.arange(1, 4)[:, None]
    packed = pack(gpu, x, sizes_of((1, 1, 3, K), (0, 0, K + 64, 1), (0, 0, K, 1)))
    check_products(gpu, packed, [1.0, 2.0, 3.0])


def test_c52_two_batch_dimensions_with_permuted_strides(gpu: Gpu) -> None:
    """x[i][j] = 1 + 2 i + j lies at [j][i], in rows padded with NaN."""
    x = np.full((2, 2, K + 64), np.nan, np.float32)
    x[..., :K] = np.array([[1.0, 3.0], [2.0, 4.0]])[..., None]
    stride = K + 64
    packed = pack(gpu, x, sizes_of((1, 2, 2, K), (0, stride, 2 * stride, 1), (0, 2 * K, K, 1)))
    check_products(gpu, packed, [1.0, 2.0, 3.0, 4.0])


def test_c52_a_stride_of_zero_repeats(gpu: Gpu) -> None:
    """Batch 2 x 2, of which the second dimension has stride 0."""
    x = np.repeat(np.array([5.0, 7.0], np.float32), K)
    packed = pack(gpu, x, sizes_of((1, 2, 2, K), (0, K, 0, 1), (0, 2 * K, K, 1)))
    check_products(gpu, packed, [5.0, 5.0, 7.0, 7.0])
