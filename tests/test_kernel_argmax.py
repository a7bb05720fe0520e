from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.errors import UsageProblem
from wgslgen.kernels.argmax import KINDS, Argmax
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.best import BestReduction
from wgslgen.oracles import argmax as oracle
from wgslgen.oracles import argmax_merge
from wgslgen.oracles.argmax import f32_bits, row, winner, words

NAN, INF = float("nan"), float("inf")


class TestSpec:
    @pytest.mark.parametrize(
        ("kernel", "constants", "words"),
        [
            (Argmax, {"chunk": 512}, "chunk"),
            (Argmax, {"activation": "bf16"}, "activation"),
            (Argmax, {"workgroup_size": 32}, "workgroup_size"),
            (ArgmaxMerge, {"workgroup_size": 512}, "workgroup_size"),
            (ArgmaxMerge, {"chunk": 256}, "Extra inputs are not permitted"),
        ],
    )
    def test_constants_that_do_not_exist_are_refused(
        self, kernel: type[Argmax | ArgmaxMerge], constants: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(ValidationError, match=words):
            kernel(**constants)

    def test_a_row_without_elements_is_refused_and_c25_no_rows_are_no_dispatch(self) -> None:
        with pytest.raises(UsageProblem, match="a row without logits has no largest"):
            launch.plan(Argmax(), {"M": 1, "N": 0})
        with pytest.raises(UsageProblem, match="a row without slots has no best"):
            launch.plan(ArgmaxMerge(), {"M": 1, "SLOTS": 0})
        assert launch.plan(Argmax(), {"M": 0, "N": 4}).workgroups is None
        assert launch.plan(ArgmaxMerge(), {"M": 0, "SLOTS": 4}).workgroups is None

    def test_a_slot_is_a_workgroup_and_many_fold(self) -> None:
        plan = launch.plan(Argmax(chunk=256), {"M": 2, "N": 257})
        assert plan.workgroups == (4, 1, 1)
        assert plan.binding_bytes == {"logits": 2056, "best_value": 16, "best_index": 16}
        assert launch.plan(Argmax(chunk=256), {"M": 100, "N": 248320}).workgroups == (48500, 2, 1)

    def test_c27_three_halves_are_two_words_and_no_feature_is_needed(self) -> None:
        half = Argmax(activation="f16")
        assert launch.plan(half, {"M": 1, "N": 3}).binding_bytes["logits"] == 8
        assert half.requirements.features == ()

    def test_slots_are_one_for_each_thread_or_each_subgroup_of_four(self) -> None:
        assert Argmax(workgroup_size=256).requirements.limits["maxComputeWorkgroupStorageSize"] == 2048
        assert BestReduction(256, subgroups=True).slots()[0].count == 64

    def test_the_plain_twins_compute_the_same_and_need_nothing_more(self) -> None:
        tuned = Argmax(activation="f16", chunk=256, workgroup_size=256, subgroups=True)
        assert tuned.plain() == Argmax(activation="f16", chunk=256)
        assert ArgmaxMerge(value=True, workgroup_size=256, subgroups=True).plain() == ArgmaxMerge(value=True)


class TestOracle:
    @pytest.mark.parametrize(
        ("values", "index"),
        [
            ([1.0, NAN, 3.0], 2),
            ([NAN, 1.0, 3.0], 2),
            ([3.0, 1.0, 3.0], 0),
            ([NAN, NAN], 0),
            ([NAN, -INF], 1),
            ([-INF, -INF], 0),
            ([1.0, INF, INF], 1),
            ([-1.0, -0.0, 0.0], 1),
            ([7.0], 0),
        ],
    )
    def test_by_hand(self, values: list[float], index: int) -> None:
        assert winner(np.array(values), np.arange(len(values))) == index

    def test_the_lowest_index_wins_in_whatever_place_it_stands(self) -> None:
        assert winner(np.array([2.0, 2.0, 1.0]), np.array([9, 4, 0])) == 1
        assert winner(np.array([NAN, NAN]), np.array([9, 4])) == 1

    def test_bits_of_halves_are_those_of_the_same_number(self) -> None:
        numbers = np.array([1.0, -0.0, 65504.0, 2.0**-24, -INF], np.float16)
        assert f32_bits(numbers).view(np.float32).tolist() == numbers.tolist()
        nan = np.array([0xFE01, 0x7C01], np.uint16).view(np.float16)
        assert f32_bits(nan).tolist() == [0xFFC02000, 0x7F802000]

    def test_words_hold_two_halves_from_the_low_one_on(self) -> None:
        assert words(np.array([1.0, 2.0, 3.0], np.float16)).tolist() == [0x40003C00, 0x4200]

    def test_a_chunk_has_a_slot_of_its_own(self, rng: np.random.Generator) -> None:
        made = oracle.problem({"activation": "f32", "chunk": 4}, {"M": 1, "N": 10}, rng)
        index = made.expected["best_index"].values
        x = made.inputs["logits"].view(np.float32)
        assert index.tolist() == [[int(x[:4].argmax()), 4 + int(x[4:8].argmax()), 8 + int(x[8:].argmax())]]

    @pytest.mark.parametrize("dtype", [np.float32, np.float16])
    def test_rows_are_of_all_kinds(self, dtype: type[np.floating[Any]], rng: np.random.Generator) -> None:
        rows = [row(kind, 400, np.dtype(dtype), rng) for kind in range(KINDS)]
        nan = [np.isnan(x) for x in rows]
        assert [bool(x.all()) for x in nan] == [kind == 2 for kind in range(KINDS)]
        assert [kind for kind in range(KINDS) if nan[kind].any()] == [2, 6, 8]
        assert len({*rows[2].view(f"u{rows[2].itemsize}").tolist()}) > 100, "NaN of one kind of bits only"
        assert (rows[3] == -INF).all()
        assert {*np.signbit(rows[4]).tolist()} == {False, True}
        assert not rows[4].any()
        assert 0.0 < rows[5].max() < np.finfo(dtype).tiny
        assert (rows[7] == INF).sum() > 1
        assert rows[8][~nan[8]].max() == -INF
        assert rows[9].argmax() == 399
        assert rows[10].max() == np.finfo(dtype).min
        top = rows[11][rows[11] == rows[11].max()]
        assert {*np.signbit(top).tolist()} == {False, True}

    def test_indices_of_slots_stand_in_no_order(self, rng: np.random.Generator) -> None:
        made = argmax_merge.problem({"value": True}, {"M": 2, "SLOTS": 50}, rng)
        indices = made.inputs["best_index"]
        assert (np.diff(indices.astype(np.int64)) < 0).any()
        ties = made.inputs["best_value"].view(np.float32)[1]
        at = np.flatnonzero(ties == ties.max())
        assert at.size > 1, "no tie"
        assert made.expected["token"].values[1] == indices[1][at].min()
        assert made.expected["value"].values.shape == (2,)
