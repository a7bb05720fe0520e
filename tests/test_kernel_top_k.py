from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.errors import UsageProblem
from wgslgen.kernels.top_k import LOWEST_BITS, Stage, TopK
from wgslgen.oracles.top_k import NO_INDEX, best, order, problem, sparse_ids

NAN, INF = float("nan"), float("inf")


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"k_top": 0}, "k_top"),
            ({"k_top": 65}, "k_top"),
            ({"chunk": 512}, "chunk"),
            ({"activation": "f16", "indexed": True}, "activation f16 with indexed"),
            ({"subgroups": True}, "Extra inputs are not permitted"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            TopK(**constants)

    def test_a_row_without_logits_is_refused_and_c25_no_rows_are_no_dispatch(self) -> None:
        with pytest.raises(UsageProblem, match="a row without logits has no largest"):
            launch.plan(TopK(), {"M": 1, "N": 0})
        assert launch.plan(TopK(), {"M": 0, "N": 4}).workgroups is None

    @pytest.mark.parametrize("chunk", [256, 1024, 2048])
    def test_a_chunk_fits_the_default_workgroup_memory(self, chunk: Any) -> None:
        variant = TopK(chunk=chunk)
        assert variant.requirements.limits["maxComputeWorkgroupStorageSize"] == 8 * chunk <= 16384
        assert variant.raised_limits == {}
        assert variant.requirements.features == ()

    @pytest.mark.parametrize(("k_top", "block"), [(1, 1), (2, 2), (3, 4), (40, 64), (64, 64)])
    def test_blocks_are_powers_of_two(self, k_top: int, block: int) -> None:
        assert TopK(k_top=k_top).const_values["BLOCK"] == block

    def test_the_twin_and_the_later_stages(self) -> None:
        assert TopK(k_top=3, workgroup_size=256).plain() == TopK(k_top=3, workgroup_size=64)
        half = TopK(activation="f16", k_top=3, chunk=256)
        assert half.merging() == TopK(activation="f32", k_top=3, chunk=256, indexed=True)
        names = [binding.name for binding in half.merging().bindings()]
        assert names == ["logits", "ids", "values", "indices"]

    @pytest.mark.parametrize(
        ("k_top", "chunk", "columns", "stages"),
        [
            (64, 1024, 1, [(1, 1)]),
            (64, 1024, 1024, [(1024, 1)]),
            (64, 1024, 1025, [(1025, 2), (128, 1)]),
            (64, 1024, 248320, [(248320, 243), (15552, 16), (1024, 1)]),
            (1, 2048, 151669, [(151669, 75), (75, 1)]),
            (64, 256, 257, [(257, 2), (128, 1)]),
        ],
    )
    def test_stages_end_in_one_chunk(self, k_top: int, chunk: Any, columns: int, stages: list[tuple[int, int]]) -> None:
        assert TopK(k_top=k_top, chunk=chunk).stages(columns) == tuple(Stage(*stage) for stage in stages)

    def test_a_stage_writes_what_the_next_one_reads(self) -> None:
        variant = TopK(activation="f16", k_top=7, chunk=256)
        stages = variant.stages(99991)
        assert len(stages) == 3
        for stage, following in pairwise(stages):
            written = launch.plan(variant, {"M": 3, "N": stage.columns}).binding_bytes
            variant = variant.merging()
            read = launch.plan(variant, {"M": 3, "N": following.columns}).binding_bytes
            assert (written["values"], written["indices"]) == (read["logits"], read["ids"])


class TestOracle:
    def test_order_by_hand(self) -> None:
        values = np.array([NAN, 1.0, -INF, 3.0, NAN, INF, 3.0, -0.0, 0.0])
        assert order(values).tolist() == [5, 3, 6, 1, 7, 8, 2, 0, 4]

    def test_what_is_missing_is_filled_up_behind_nan(self) -> None:
        x = np.array([NAN, 5.0, -2.0, 9.0], np.float32)
        value, index = best(x, np.array([4, 6, 8, NO_INDEX], np.uint32), 5)
        assert index.tolist() == [6, 8, 4, NO_INDEX, NO_INDEX]
        assert value[:2].view(np.float32).tolist() == [5.0, -2.0]
        assert value[2] == x.view(np.uint32)[0]
        assert value[3:].tolist() == [LOWEST_BITS] * 2
        assert np.finfo(np.float32).min.view(np.uint32) == LOWEST_BITS

    def test_every_chunk_is_sorted_by_itself(self, rng: np.random.Generator) -> None:
        constants = {"activation": "f32", "k_top": 2, "chunk": 256, "indexed": False}
        made = problem(constants, {"M": 1, "N": 300}, rng)
        index = made.expected["indices"].values
        x = made.inputs["logits"].view(np.float32)
        assert index.shape == (1, 2, 2)
        assert index[0, 0].tolist() == np.argsort(-x[:256], kind="stable")[:2].tolist()
        assert index[0, 1].tolist() == (256 + np.argsort(-x[256:], kind="stable")[:2]).tolist()

    def test_ids_ascend_with_gaps_and_some_are_missing(self, rng: np.random.Generator) -> None:
        ids = sparse_ids(200, rng)
        known = ids[ids != NO_INDEX].astype(np.int64)
        assert 100 < known.size < 200
        assert np.diff(known).min() > 0
        assert np.diff(known).max() > 1
