from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.adapters import open_adapter
from wgslgen.compare import Equal, Nearest
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.copy_strided import CopyStrided, sizes_of
from wgslgen.oracles.copy_strided import moved, places, problem
from wgslgen.render import render

PACK = sizes_of((1, 2, 3, 4), (0, 30, 10, 1), (0, 12, 4, 1), offsets=(5, 2))
"""Two planes of three rows of four elements out of rows of ten; both buffers end with the last element."""


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"source": "u32"}, "source u32 to destination f32: u32 is copied to u32 alone"),
            ({"destination": "u32"}, "source f32 to destination u32: u32 is copied to u32 alone"),
            ({"source": "i32"}, "source"),
            ({"workgroup_size": 128}, "workgroup_size"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            CopyStrided(**constants)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"SRC_LENGTH": 58}, "the source ends before that"),
            ({"SRC_OFFSET": 6}, "the source ends before that"),
            ({"A1": 31}, "the source ends before that"),
            ({"DST_LENGTH": 25}, "the destination ends before that"),
            ({"DST_OFFSET": 3}, "the destination ends before that"),
            ({"S2": 4}, "ends before that"),
            ({"D2": 0}, r"S2 <= 1 or D2 > 0, because elements would be written over each other"),
            ({"D1": 1, "D2": 1, "DST_LENGTH": 23}, r"S0 \* S1 \* S2 \* S3 <= DST_LENGTH, because elements would be"),
        ],
    )
    def test_indices_outside_and_overlaps_are_refused(self, change: dict[str, int], words: str) -> None:
        with pytest.raises(UsageProblem, match=words):
            launch.plan(CopyStrided(), {**PACK, **change})

    def test_a_thread_is_an_element_and_c25_a_shape_with_0_is_no_dispatch(self) -> None:
        plan = launch.plan(CopyStrided(), PACK)
        assert plan.workgroups == (1, 1, 1)
        assert plan.binding_bytes == {"x": 236, "y": 104}
        numbers = (1, 2, 3, 4, 0, 30, 10, 1, 0, 12, 4, 1, 5, 2, 0, 0)
        assert plan.uniform_bytes == struct.pack("<16I", *numbers)
        for axis in range(4):
            assert launch.plan(CopyStrided(), {**PACK, f"S{axis}": 0}).workgroups is None
        empty = {**PACK, "S2": 0, "SRC_LENGTH": 0, "DST_LENGTH": 0}
        assert launch.plan(CopyStrided(), empty).workgroups is None

    def test_c27_three_halves_are_a_buffer_of_eight_bytes(self) -> None:
        three = sizes_of((1, 1, 1, 3), (0, 0, 0, 1), (0, 0, 0, 1))
        plan = launch.plan(CopyStrided(destination="f16"), three)
        assert plan.binding_bytes == {"x": 12, "y": 8}

    def test_features_follow_the_types(self) -> None:
        assert CopyStrided().requirements.features == ()
        assert CopyStrided(source="u32", destination="u32").requirements.features == ()
        assert CopyStrided(source="f16").requirements.features == ("shader-f16",)
        assert CopyStrided(workgroup_size=256).plain() == CopyStrided()


class TestOracle:
    def test_places_by_hand(self) -> None:
        found = places(PACK, "A", "SRC_OFFSET")
        assert found.shape == (1, 2, 3, 4)
        assert found[0, 1, 2].tolist() == [55, 56, 57, 58]
        assert places(PACK, "D", "DST_OFFSET").ravel().tolist() == [*range(2, 26)]

    def test_what_no_index_reaches_stays(self) -> None:
        y = moved(np.arange(59, dtype=np.uint32), np.full(30, 7, np.uint32), PACK)
        assert y[:2].tolist() == [7, 7]
        assert y[2:6].tolist() == [5, 6, 7, 8]
        assert y[22:26].tolist() == [55, 56, 57, 58]
        assert y[26:].tolist() == [7, 7, 7, 7]

    @pytest.mark.parametrize("source", ["f32", "f16", "u32"])
    def test_gaps_of_the_source_are_poison(self, source: str, rng: np.random.Generator) -> None:
        destination = "u32" if source == "u32" else "f32"
        made = problem({"source": source, "destination": destination}, PACK, rng)
        meant = np.zeros(59, np.bool_)
        meant[places(PACK, "A", "SRC_OFFSET")] = True
        x = made.inputs["x"]
        poison = x == 0xFFFFFFFF if source == "u32" else np.isnan(x)
        np.testing.assert_array_equal(poison, ~meant)
        expected = made.expected["y"]
        assert isinstance(expected, Equal)
        assert expected.judge(made.inputs["y"].tobytes(), CopyStrided().tolerance()).problem is not None
        assert expected.judge(expected.values.tobytes(), CopyStrided().tolerance()).problem is None

    def test_narrowing_ends_at_65504_and_rounds(self, rng: np.random.Generator) -> None:
        made = problem({"source": "f32", "destination": "f16"}, PACK, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Nearest)
        assert np.abs(expected.values).max() == 65504.0
        right = expected.values.astype(np.float16)
        tolerance = CopyStrided(destination="f16").tolerance()
        assert expected.judge(right.tobytes(), tolerance).problem is None
        assert expected.judge(right[:, ::-1].tobytes(), tolerance).problem is not None


def test_more_than_65535_workgroups_fold_and_surplus_threads_store_nothing() -> None:
    variant, rows = CopyStrided(source="u32", destination="u32"), 65537
    sizes = sizes_of((1, 1, 64, rows), (0, 0, 1, 64), (0, 0, rows, 1))
    assert launch.plan(variant, sizes).workgroups == (32769, 2, 1)
    x = np.arange(64 * rows, dtype=np.uint32).reshape(rows, 64)
    runner = Runner(open_adapter("lavapipe"), variant, render(variant, "test"))
    raw = runner.run({"x": x, "y": np.zeros(64 * rows, np.uint32)}, sizes)["y"]
    np.testing.assert_array_equal(np.frombuffer(raw, np.uint32).reshape(64, rows), x.T)
