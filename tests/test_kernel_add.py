from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import open_adapter
from wgslgen.compare import Nearest
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.add import Add
from wgslgen.oracles.add import problem
from wgslgen.render import render


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [({"vector": 2}, "vector"), ({"workgroup_size": 32}, "workgroup_size"), ({"activation": "u32"}, "activation")],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            Add(**constants)

    def test_part_loads_are_refused_with_the_rule(self) -> None:
        with pytest.raises(
            UsageProblem, match="COUNT = 18 breaks COUNT % 4 == 0, because the elements must be whole loads of 4"
        ):
            launch.plan(Add(), {"COUNT": 18})
        assert launch.plan(Add(vector=1), {"COUNT": 18}).workgroups == (1, 1, 1)

    def test_a_thread_is_a_load_and_c25_nothing_is_no_dispatch(self) -> None:
        assert launch.plan(Add(), {"COUNT": 256}).workgroups == (1, 1, 1)
        assert launch.plan(Add(), {"COUNT": 260}).workgroups == (2, 1, 1)
        assert launch.plan(Add(), {"COUNT": 0}).workgroups is None

    def test_in_place_there_is_one_input_less(self) -> None:
        assert launch.plan(Add(), {"COUNT": 8}).binding_bytes == {"a": 32, "b": 32, "y": 32}
        plan = launch.plan(Add(activation="f16", in_place=True), {"COUNT": 8})
        assert plan.binding_bytes == {"b": 16, "y": 16}
        assert plan.uniform_bytes == struct.pack("<IIII", 8, 0, 0, 0)
        assert [binding.access for binding in Add(in_place=True).bindings()] == ["read", "read_write"]

    def test_the_plain_twin_computes_the_same(self) -> None:
        assert Add(activation="f16", in_place=True, workgroup_size=256).plain() == Add(
            activation="f16", in_place=True, vector=1
        )


class TestOracle:
    @pytest.mark.parametrize("in_place", [False, True])
    def test_sums_are_exact_and_half_sums_end_at_65504(self, in_place: bool, rng: np.random.Generator) -> None:
        made = problem({"activation": "f16", "in_place": in_place}, {"COUNT": 512}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Nearest)
        first, second = made.inputs["y" if in_place else "a"], made.inputs["b"]
        exact = first.astype(np.float64) + second.astype(np.float64)
        np.testing.assert_array_equal(expected.values, exact.clip(-65504.0, 65504.0))
        assert np.abs(exact).max() > 65504.0
        assert (exact == 0.0).any()

    def test_f32_sums_stay_in_range(self, rng: np.random.Generator) -> None:
        made = problem({"activation": "f32", "in_place": False}, {"COUNT": 4096}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Nearest)
        assert 3e38 < np.abs(expected.values).max() < float(np.finfo(np.float32).max)
        for wrong in (made.inputs["a"], made.inputs["a"] - made.inputs["b"]):
            assert expected.judge(wrong.tobytes(), Add().tolerance()).problem is not None


def test_more_than_65535_workgroups_fold_and_surplus_threads_store_nothing() -> None:
    variant, count = Add(vector=1, in_place=True), 64 * 65536 + 3
    assert launch.plan(variant, {"COUNT": count}).workgroups == (32769, 2, 1)
    inputs = {"y": np.arange(count, dtype=np.float32), "b": np.ones(count, np.float32)}
    raw = Runner(open_adapter("lavapipe"), variant, render(variant, "test")).run(inputs, {"COUNT": count})["y"]
    np.testing.assert_array_equal(np.frombuffer(raw, np.float32), np.arange(1, count + 1, dtype=np.float32))
