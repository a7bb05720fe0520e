from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import SOFTWARE, Gpu, open_adapter
from wgslgen.errors import OracleMismatch, UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.binarize import Binarize
from wgslgen.oracles.binarize import LARGEST, binarise, problem, words
from wgslgen.render import render
from wgslgen.spec import Kernel


def group_of(*values: float, dtype: type[np.floating[Any]] = np.float32) -> NDArray[Any]:
    """Return x [1, 32] that starts with `values` and goes on with -1."""
    x = np.full((1, 32), -1.0, dtype=dtype)
    x[0, : len(values)] = values
    return x


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "word"),
        [
            ({"group": 48}, "group"),
            ({"group": 32, "activation": "f64"}, "activation"),
            ({"group": 32, "workgroup_size": 64}, "workgroup_size"),
            ({}, "group"),
        ],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], word: str) -> None:
        with pytest.raises(ValidationError, match=word):
            Binarize(**constants)

    def test_part_groups_are_refused_with_the_rule(self) -> None:
        said = r"K = 96 breaks K % GROUP == 0, because a row must be whole groups of 64"
        with pytest.raises(UsageProblem, match=said):
            launch.plan(Binarize(group=64), {"M": 1, "K": 96})

    def test_a_group_is_a_workgroup_and_none_is_no_dispatch(self) -> None:
        assert launch.plan(Binarize(group=64), {"M": 3, "K": 128}).workgroups == (6, 1, 1)
        assert launch.plan(Binarize(group=64), {"M": 0, "K": 128}).workgroups is None

    def test_bytes_of_each_binding(self) -> None:
        plan = launch.plan(Binarize(group=64, activation="f16"), {"M": 3, "K": 128})
        assert plan.binding_bytes == {"x": 768, "x1": 48, "x_scale": 24}

    def test_the_plain_form_needs_no_feature(self) -> None:
        variant = Binarize(group=128, subgroups=True)
        assert variant.requirements.features == ("subgroups",)
        assert variant.plain().requirements.features == ()
        assert variant.plain().requirements.limits["maxComputeWorkgroupStorageSize"] == 128 + 128


class TestOracle:
    def test_zeros_of_both_signs_are_plus_one(self) -> None:
        binarised = binarise(group_of(0.0, -0.0, 2.0, -2.0, 1e-45, -1e-45), 32)
        assert binarised.signs[0, :6].tolist() == [1.0, 1.0, 1.0, -1.0, 1.0, -1.0]
        assert words(binarised.positive).tolist() == [[0b010111]]
        assert binarised.means.tolist() == [[(2 + 2 + 26) / 32 + 2 * 2.0**-149 / 32]]

    def test_the_first_element_is_the_lowest_bit(self) -> None:
        x = np.full((2, 64), -1.0)
        x[0, 0] = x[0, 33] = x[1, 31] = x[1, 63] = 1.0
        assert words(x > 0).tolist() == [[1, 2], [0x80000000, 0x80000000]]

    def test_the_mean_is_the_best_scale_for_given_signs(self, rng: np.random.Generator) -> None:
        x = rng.standard_normal((1, 128))
        binarised = binarise(x, 128)
        errors = [np.square(x - factor * binarised.means * binarised.signs).sum() for factor in (0.99, 1.0, 1.01)]
        assert errors[1] < min(errors[0], errors[2])


class TestProblem:
    @pytest.mark.parametrize("activation", ["f32", "f16"])
    @pytest.mark.parametrize("group", [32, 64, 128])
    def test_data_reach_both_ends_and_both_signs(self, activation: str, group: int, rng: np.random.Generator) -> None:
        x = problem({"activation": activation, "group": group}, {"M": 1, "K": 8 * group}, rng).inputs["x"]
        kinds = x.astype(np.float64).reshape(8, group)
        limits = np.finfo(x.dtype)
        assert not kinds[1].any()
        assert np.signbit(kinds[1]).any()
        assert not np.signbit(kinds[1]).all()
        assert np.abs(kinds[3]).max() > 0.9 * min(LARGEST, float(limits.max))
        assert 0 < np.abs(kinds[5]).max() < float(limits.tiny)
        assert (kinds[5] < 0).any()
        assert (kinds[6] < 0).all()

    def test_a_sign_and_a_mean_that_are_off_are_rejected(self, rng: np.random.Generator) -> None:
        made = problem({"activation": "f32", "group": 32}, {"M": 1, "K": 64}, rng)
        tolerance = Binarize(group=32).tolerance()
        right = binarise(made.inputs["x"], 32)
        bits = words(right.positive)
        assert made.expected["x1"].judge(bits.tobytes(), tolerance).problem is None
        assert made.expected["x_scale"].judge(right.scales.tobytes(), tolerance).problem is None
        for turned in (1 << 31, 1):
            assert made.expected["x1"].judge((bits ^ np.uint32(turned)).tobytes(), tolerance).problem is not None
        worse = right.scales * np.float32(1 + 2.0**-18)
        assert made.expected["x_scale"].judge(worse.tobytes(), tolerance).problem is not None


# ---- on devices ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return open_adapter(str(request.param))


def run(gpu: Gpu, variant: Kernel, x: NDArray[Any], text: str | None = None) -> tuple[list[int], list[float]]:
    """Return the words and the scales for x [M, K]."""
    raw = Runner(gpu, variant, text or render(variant, "test")).run({"x": x}, {"M": x.shape[0], "K": x.shape[1]})
    return np.frombuffer(raw["x1"], np.uint32).tolist(), np.frombuffer(raw["x_scale"], np.float32).tolist()


@pytest.mark.parametrize("subgroups", [False, True])
def test_by_hand(subgroups: bool, gpu: Gpu) -> None:
    """Element 8 i is bit 0 of thread 2 i's nibble; subnormals keep their sign."""
    x = np.full((2, 64), -2.0, np.float32)
    x[0, [0, 5, 33, 63]] = [4.0, 0.0, -0.0, 1.0]
    x[1, [31, 32, 40]] = [1e-40, -1e-40, 2.0]
    bits, scales = run(gpu, Binarize(group=64, subgroups=subgroups), x)
    assert bits == [0b100001, 0x80000002, 0x80000000, 0x00000100]
    assert scales == [(60 * 2 + 5) / 64, 124 / 64]


def test_surplus_workgroups_of_a_folded_dispatch_store_nothing(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness sees what is written behind an output."""
    monkeypatch.setattr(Binarize, "workgroups", lambda _: "M * K // GROUP + 3")
    variant, x = Binarize(group=32), np.ones((1, 64), np.float32)
    text = render(variant, "test")
    assert run(gpu, variant, x, text) == ([0xFFFFFFFF] * 2, [1.0] * 2)
    assert text.count("index < groups && ") == 1
    with pytest.raises(OracleMismatch, match=r"wrote outside x1: \d+ bytes behind it"):
        run(gpu, variant, x, text.replace("index < groups && ", ""))


@pytest.mark.parametrize("subgroups", [False, True])
def test_c53_twenty_runs_give_the_same_bits(subgroups: bool, gpu: Gpu, rng: np.random.Generator) -> None:
    variant = Binarize(group=128, subgroups=subgroups)
    x = (rng.standard_normal((3, 512)) * np.exp2(rng.uniform(-12.0, 12.0, (3, 512)))).astype(np.float32)
    runner = Runner(gpu, variant, render(variant, "test"))
    results = [runner.run({"x": x}, {"M": 3, "K": 512}) for _ in range(20)]
    assert all(result == results[0] for result in results)
