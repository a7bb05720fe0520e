from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from cases.support import opened, runner
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.compare import Close
from wgslgen.kernels.expert_sum import ExpertSum
from wgslgen.oracles.expert_sum import problem

SIZES = {"T": 3, "USED": 2, "N": 70}


class TestSpec:
    @pytest.mark.parametrize("constants", [{"activation": "f64"}, {"output": "u32"}, {"workgroup_size": 512}])
    def test_other_types_and_workgroups_are_refused(self, constants: dict[str, Any]) -> None:
        with pytest.raises(ValidationError, match="Input should be"):
            ExpertSum(**constants)

    def test_a_thread_is_an_element_and_c25_nothing_is_no_dispatch(self) -> None:
        made = launch.plan(ExpertSum(activation="f16"), SIZES)
        assert made.workgroups == (4, 1, 1)
        assert made.binding_bytes == {"x": 840, "gates": 24, "y": 840}
        assert made.uniform_bytes == struct.pack("<IIII", 3, 2, 70, 0)
        assert launch.plan(ExpertSum(), {**SIZES, "T": 0}).workgroups is None

    def test_what_is_added_to_is_kept(self) -> None:
        assert [b.name for b in ExpertSum(residual=True).bindings() if b.kept] == ["y"]
        assert not any(b.kept for b in ExpertSum().bindings())

    def test_the_plain_twin_adds_up_the_same(self) -> None:
        tuned = ExpertSum(activation="f16", residual=True, workgroup_size=256)
        assert tuned.plain() == ExpertSum(activation="f16", residual=True)
        assert ExpertSum().requirements.features == ()


class TestOracle:
    @pytest.mark.parametrize("residual", [False, True])
    def test_sums_are_weighted(self, residual: bool, rng: np.random.Generator) -> None:
        made = problem(ExpertSum(residual=residual).model_dump(), SIZES, rng)
        x, gates = made.inputs["x"].astype(np.float64), made.inputs["gates"].astype(np.float64)
        assert gates[0, 0] == 0.0
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        for t in range(3):
            terms = [gates[t, s] * x[t, s] for s in range(2)]
            terms += [made.inputs["y"][t].astype(np.float64)] if residual else []
            np.testing.assert_allclose(expected.values[t], np.sum(terms, axis=0))
            np.testing.assert_allclose(expected.magnitudes[t], np.abs(terms).sum(axis=0))


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader", "dawn-swiftshader"])
def test_by_hand(adapter: str) -> None:
    """2 * 3 - 1 * 10, and 0 * 1 + 0.5 * 4; then the same upon 100 and -100."""
    inputs: dict[str, NDArray[Any]] = {
        "x": np.array([3.0, 10.0, 1.0, 4.0], np.float32),
        "gates": np.array([2.0, -1.0, 0.0, 0.5], np.float32),
    }
    sizes = {"T": 2, "USED": 2, "N": 1}
    for residual, expected in ((False, [-4.0, 2.0]), (True, [96.0, -98.0])):
        given = {**inputs, "y": np.array([100.0, -100.0], np.float32)}
        raw = runner(opened(adapter), ExpertSum(residual=residual)).run(given, sizes)["y"]
        assert np.frombuffer(raw, np.float32).tolist() == expected


def test_sums_are_f32_and_f16_results_stay_at_the_end_of_their_range() -> None:
    """60000 + 60000 - 60000 is right in f32, and 2 * 60000 is no f16."""
    x = np.full((2, 3, 1), 60000.0, np.float16)
    gates = np.array([[1.0, 1.0, -1.0], [1.0, 1.0, 0.0]], np.float32)
    variant = ExpertSum(activation="f16", output="f16")
    raw = runner(opened("lavapipe"), variant).run({"x": x, "gates": gates}, {"T": 2, "USED": 3, "N": 1})["y"]
    assert np.frombuffer(raw, np.float16, 2).tolist() == [60000.0, 65504.0]
