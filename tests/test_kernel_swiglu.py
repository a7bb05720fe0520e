from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import open_adapter
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.swiglu import Swiglu
from wgslgen.oracles.swiglu import activated, problem, sigmoid, slope
from wgslgen.render import render

F64 = np.dtype(np.float64)


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"d": 18}, "d 18 is not a positive multiple of vector 4"),
            ({"d": 0}, "d 0 is not a positive multiple of vector 4"),
            ({"vector": 2}, "vector"),
            ({"workgroup_size": 128}, "workgroup_size"),
            ({"gelu": True}, "Extra inputs are not permitted"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            Swiglu(**constants)

    def test_sizes_are_checked_against_vector_and_the_baked_size(self) -> None:
        with pytest.raises(UsageProblem, match="a row must be whole loads of 4 elements"):
            launch.plan(Swiglu(), {"M": 1, "D": 18})
        with pytest.raises(UsageProblem, match="D is baked in"):
            launch.plan(Swiglu(d=16), {"M": 1, "D": 20})
        assert launch.plan(Swiglu(vector=1), {"M": 1, "D": 17}).workgroups == (1, 1, 1)

    def test_a_thread_is_a_load_and_c25_nothing_is_no_dispatch(self) -> None:
        assert launch.plan(Swiglu(), {"M": 3, "D": 256}).workgroups == (3, 1, 1)
        assert launch.plan(Swiglu(), {"M": 3, "D": 260}).workgroups == (4, 1, 1)
        for sizes in ({"M": 0, "D": 256}, {"M": 3, "D": 0}):
            assert launch.plan(Swiglu(), sizes).workgroups is None

    def test_both_forms_bind_the_same_elements(self) -> None:
        assert launch.plan(Swiglu(), {"M": 3, "D": 8}).binding_bytes == {"gate": 96, "up": 96, "y": 96}
        packed = launch.plan(Swiglu(packed=True, activation="f16"), {"M": 3, "D": 8})
        assert packed.binding_bytes == {"gate_up": 96, "y": 48}
        assert packed.uniform_bytes == struct.pack("<IIII", 3, 8, 0, 0)

    def test_the_plain_twin_computes_the_same_and_needs_nothing_more(self) -> None:
        plain = Swiglu(activation="f16", packed=True, workgroup_size=256, d=64).plain()
        assert plain == Swiglu(activation="f16", packed=True, vector=1)
        assert Swiglu(workgroup_size=256).requirements.features == ()


class TestOracle:
    def test_by_hand(self) -> None:
        gate, up = np.array([0.0, np.log(3.0), -np.log(3.0), 2.0]), np.array([5.0, 2.0, 4.0, 0.0])
        values, magnitudes = activated(gate, up)
        np.testing.assert_allclose(values, [0.0, 1.5 * np.log(3.0), -np.log(3.0), 0.0], rtol=1e-15)
        assert (magnitudes == 0.0).tolist() == [True, False, False, True], "0 times anything is 0 exactly"

    def test_the_sigmoid_overflows_nowhere(self) -> None:
        np.testing.assert_array_equal(sigmoid(np.array([-1e300, -800.0, 0.0, 800.0, 1e300])), [0.0, 0.0, 0.5, 1.0, 1.0])

    def test_gelu_is_its_tanh_form(self) -> None:
        x = np.linspace(-5.0, 5.0, 101)
        expected = x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        np.testing.assert_allclose(activated(x, np.ones_like(x), gelu_tanh=True)[0], expected, atol=1e-15)
        assert np.isfinite(slope(np.array([1e30, -1e30]), gelu_tanh=True)).all()

    def test_a_result_that_is_flushed_may_be_0_and_one_that_is_not_may_not(self) -> None:
        gate, up = np.array([-88.0, -86.0]), np.array([1e30, 1e30])
        values, magnitudes = activated(gate, up)
        expected, tolerance = Close(values, magnitudes, F64), Swiglu().tolerance()
        assert expected.judge(np.array([0.0, values[1]]).tobytes(), tolerance).problem is None
        assert expected.judge(np.array([values[0], 0.0]).tobytes(), tolerance).problem is not None

    def test_the_wrong_half_first_is_rejected(self, rng: np.random.Generator) -> None:
        gate, up = rng.standard_normal((2, 4, 64))
        expected = Close(*activated(gate, up), F64)
        for wrong in (activated(up, gate)[0], 1.02 * activated(gate, up)[0]):
            assert expected.judge(wrong.tobytes(), Swiglu().tolerance()).problem is not None

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    def test_problems_hold_edges_large_gates_and_zeros(self, activation: str, rng: np.random.Generator) -> None:
        constants = {"activation": activation, "packed": False, "gelu_tanh": False}
        made = problem(constants, {"M": 8, "D": 64}, rng)
        gate, up = (made.inputs[name].astype(np.float64) for name in ("gate", "up"))
        assert np.abs(gate).max() > (1e33 if activation == "f32" else 6e3)
        assert {0.0, 12.0, -12.0, 89.0, -89.0, 200.0, -200.0} <= {*gate.ravel().tolist()}
        assert (up == 0.0).any()
        assert np.isfinite(gate).all()

    def test_packed_holds_the_gate_first_in_every_row(self) -> None:
        constants = {"activation": "f32", "gelu_tanh": False}
        apart, packed = (
            problem({**constants, "packed": both}, {"M": 2, "D": 3}, np.random.default_rng(1)) for both in (False, True)
        )
        np.testing.assert_array_equal(packed.inputs["gate_up"][:, :3], apart.inputs["gate"])
        np.testing.assert_array_equal(packed.inputs["gate_up"][:, 3:], apart.inputs["up"])


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader", "dawn-swiftshader"])
@pytest.mark.parametrize("gelu_tanh", [False, True])
def test_nan_stays_in_its_element(gelu_tanh: bool, adapter: str) -> None:
    variant = Swiglu(gelu_tanh=gelu_tanh)
    gate = np.array([[1.0, np.nan, 0.0, -100.0]], np.float32)
    inputs = {"gate": gate, "up": np.ones((1, 4), np.float32)}
    raw = Runner(open_adapter(adapter), variant, render(variant, "test")).run(inputs, {"M": 1, "D": 4})["y"]
    assert np.isnan(np.frombuffer(raw, np.float32)).tolist() == [False, True, False, False]


def test_more_than_65535_workgroups_fold_and_surplus_threads_store_nothing() -> None:
    variant, sizes = Swiglu(vector=1), {"M": 65537, "D": 64}
    assert launch.plan(variant, sizes).workgroups == (32769, 2, 1)
    rows = (np.arange(65537, dtype=np.float32) % 1024)[:, None] * np.ones(64, np.float32)
    inputs = {"gate": np.full_like(rows, 100.0), "up": rows}
    raw = Runner(open_adapter("lavapipe"), variant, render(variant, "test")).run(inputs, sizes)["y"]
    np.testing.assert_array_equal(np.frombuffer(raw, np.float32).reshape(rows.shape), 100.0 * rows)
