from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.softmax import Softmax
from wgslgen.oracles.softmax import LOWEST, problem, softmax
from wgslgen.render import render

F64 = np.dtype(np.float64)
ONE = {"SCALE": 1.0}


@pytest.fixture(scope="module", params=["lavapipe", "swiftshader", "dawn-swiftshader"])
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return open_adapter(str(request.param))


def run(gpu: Gpu, variant: Softmax, scale: float, **inputs: NDArray[Any]) -> NDArray[Any]:
    """Return y [M, D] as the adapter computes it."""
    m, d = inputs["x"].shape
    raw = Runner(gpu, variant, render(variant, "test")).run(inputs, {"M": m, "D": d}, {"SCALE": scale})["y"]
    return np.frombuffer(raw, inputs["x"].dtype, count=m * d).reshape(m, d)


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"vector": 2}, "vector"),
            ({"workgroup_size": 32}, "workgroup_size"),
            ({"scale": 0.125}, "Extra inputs are not permitted"),
        ],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            Softmax(**constants)

    def test_sizes_are_checked(self) -> None:
        with pytest.raises(UsageProblem, match="a row must be whole loads of 4 elements"):
            launch.plan(Softmax(), {"M": 1, "D": 18}, ONE)
        with pytest.raises(UsageProblem, match="a row without elements has no largest"):
            launch.plan(Softmax(vector=1), {"M": 1, "D": 0}, ONE)
        with pytest.raises(UsageProblem, match=r"no value for SCALE \(uniform scale\)"):
            launch.plan(Softmax(), {"M": 1, "D": 16})

    def test_a_row_is_a_workgroup_and_c25_no_rows_are_no_dispatch(self) -> None:
        plan = launch.plan(Softmax(masked=True, activation="f16"), {"M": 65536, "D": 4}, {"SCALE": 0.5})
        assert plan.workgroups == (32768, 2, 1)
        assert plan.binding_bytes == {"x": 8 * 65536, "mask": 16 * 65536, "y": 8 * 65536}
        assert plan.uniform_bytes == struct.pack("<IIfI", 65536, 4, 0.5, 0)
        assert launch.plan(Softmax(), {"M": 0, "D": 4}, ONE).workgroups is None

    def test_slots_are_one_for_each_thread_or_each_subgroup_of_four(self) -> None:
        assert Softmax(workgroup_size=256).requirements.limits["maxComputeWorkgroupStorageSize"] == 2048
        lanes = Softmax(workgroup_size=256, subgroups=True).requirements
        assert lanes.limits["maxComputeWorkgroupStorageSize"] == 512
        assert lanes.features == ("subgroups",)

    def test_the_plain_twin_computes_the_same_and_needs_nothing_more(self) -> None:
        plain = Softmax(activation="f16", masked=True, workgroup_size=256, subgroups=True).plain()
        assert plain == Softmax(activation="f16", masked=True, vector=1)


class TestOracle:
    def test_by_hand(self) -> None:
        x = np.log(np.array([[1.0, 2.0, 5.0], [4.0, 4.0, 8.0]]))
        np.testing.assert_allclose(softmax(x, None, 1.0)[0], [[0.125, 0.25, 0.625], [0.25, 0.25, 0.5]], rtol=1e-15)
        mask = np.array([[0.0, -np.inf, 0.0], [0.0, 0.0, LOWEST]], np.float32)
        np.testing.assert_allclose(softmax(x, mask, 1.0)[0], [[1 / 6, 0.0, 5 / 6], [0.5, 0.5, 0.0]], rtol=1e-15)

    def test_scale_is_taken_as_f32_holds_it(self) -> None:
        y = softmax(np.array([[0.0, 1.0]]), None, 0.1)[0]
        assert y[0, 1] == pytest.approx(1 / (1 + np.exp(-np.float64(np.float32(0.1)))), rel=1e-15)

    def test_what_is_excluded_counts_for_nothing(self) -> None:
        x = np.array([[-np.inf, 1.0, 1.0], [-np.inf, -np.inf, LOWEST]], np.float32)
        values, magnitudes = softmax(x, None, 0.5)
        assert values.tolist() == [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
        assert magnitudes[1].tolist() == [0.0, 0.0, 0.0], "zeros are expected exactly"

    def test_rows_of_another_order_or_scale_are_rejected(self, rng: np.random.Generator) -> None:
        values, magnitudes = softmax(rng.standard_normal((3, 64)), None, 1.0)
        expected = Close(values, magnitudes, F64)
        assert expected.judge(values.tobytes(), Softmax().tolerance()).problem is None
        for wrong in (values[::-1], values[:, ::-1], 1.02 * values, np.full_like(values, 1 / 64)):
            assert expected.judge(np.ascontiguousarray(wrong).tobytes(), Softmax().tolerance()).problem is not None

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    def test_problems_hold_equal_large_excluded_and_fully_masked_rows(
        self, activation: str, rng: np.random.Generator
    ) -> None:
        made = problem({"activation": activation, "masked": True}, {"M": 9, "D": 64}, rng)
        x, mask = made.inputs["x"].astype(np.float64), made.inputs["mask"]
        assert (x[1] == x[1, 0]).all()
        assert x[1, 0] > (8e37 if activation == "f32" else 65503.0) * 0.999
        assert np.isneginf(x[5]).any()
        assert (x[6] <= LOWEST).all()
        assert (mask[3] <= LOWEST).all()
        assert {float("-inf"), LOWEST, 4.0} <= {*mask.ravel().tolist()}


class TestDevice:
    @pytest.mark.parametrize("vector", [1, 4])
    @pytest.mark.parametrize("subgroups", [False, True])
    @pytest.mark.parametrize("masked", [False, True])
    @pytest.mark.parametrize("broken", ["x", "mask"])
    def test_nan_stays_in_its_row(self, vector: Any, subgroups: bool, masked: bool, broken: str, gpu: Gpu) -> None:
        """Every result of that row is NaN, where an element is excluded too; the others keep their bits."""
        if broken == "mask" and not masked:
            broken = "x"
        variant = Softmax(vector=vector, subgroups=subgroups, masked=masked)
        rng = np.random.default_rng(3)
        x = rng.standard_normal((5, 132)).astype(np.float32)
        x[2, 7] = -np.inf
        inputs = {"x": x, "mask": np.zeros_like(x)} if masked else {"x": x}
        before = run(gpu, variant, 0.5, **inputs)
        inputs[broken][2, 100] = np.nan
        after = run(gpu, variant, 0.5, **inputs)
        assert np.isnan(after[2]).all()
        others = [0, 1, 3, 4]
        assert after[others].tobytes() == before[others].tobytes()

    @pytest.mark.parametrize("bits", [0x7FC00000, 0xFFC00000, 0xFF800001, 0xFFFFFFFF])
    def test_no_nan_counts_as_excluded(self, bits: int, gpu: Gpu) -> None:
        x = np.zeros((1, 8), np.float32)
        mask = np.zeros((1, 8), np.float32)
        mask.view(np.uint32)[0, 3] = bits
        assert np.isnan(run(gpu, Softmax(masked=True), 1.0, x=x, mask=mask)).all()

    def test_numbers_beside_the_lowest_are_no_exclusion(self, gpu: Gpu) -> None:
        """The largest score that is not excluded wins, however low it is."""
        x = np.full((1, 4), LOWEST, np.float32)
        x[0, 2] = -8e37
        np.testing.assert_array_equal(run(gpu, Softmax(), 1.0, x=x), [[0.0, 0.0, 1.0, 0.0]])

    @pytest.mark.parametrize("large", [1e3, 1e30, -8e37])
    def test_equal_elements_have_equal_results_at_any_magnitude(self, large: float, gpu: Gpu) -> None:
        """Not so where a device fuses the scaling with the subtraction of a rounded maximum."""
        x = np.full((2, 256), large, np.float32)
        np.testing.assert_array_equal(run(gpu, Softmax(), 0.3, x=x), np.full((2, 256), 1 / 256))

    def test_a_scale_of_zero_gives_equal_shares(self, gpu: Gpu) -> None:
        x = np.arange(16, dtype=np.float32)[None]
        np.testing.assert_array_equal(run(gpu, Softmax(), 0.0, x=x), np.full((1, 16), 1 / 16))


def test_more_than_65535_rows_fold() -> None:
    x = (np.arange(65537, dtype=np.float32) % 5)[:, None] * np.array([[0.0, 1.0, 0.0, 0.0]], np.float32)
    y = run(open_adapter("lavapipe"), Softmax(), 1.0, x=x)
    expected, magnitudes = softmax(x, None, 1.0)
    assert Close(expected, magnitudes, np.dtype(np.float32)).judge(y.tobytes(), Softmax().tolerance()).problem is None
