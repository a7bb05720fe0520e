from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import expr, launch
from wgslgen.adapters import open_adapter
from wgslgen.compare import Equal
from wgslgen.errors import UsageProblem
from wgslgen.kernels.expert_rows import TILES, ExpertRows
from wgslgen.oracles.expert_rows import problem, random_ids, rows_of
from wgslgen.spec import Case
from wgslgen.verify import verify_on

SIZES = {"T": 40, "USED": 4, "EXPERTS": 12}


class TestSpec:
    @pytest.mark.parametrize("constants", [{}, {"tile_m": 1}, {"tile_m": None}, {"tile_m": 8, "workgroup_size": 512}])
    def test_what_is_no_tile_or_workgroup_is_refused(self, constants: dict[str, Any]) -> None:
        with pytest.raises(ValidationError, match=r"tile_m|workgroup_size"):
            ExpertRows(**constants)

    def test_sizes_are_checked(self) -> None:
        variant = ExpertRows(tile_m=8)
        with pytest.raises(UsageProblem, match="EXPERTS = 257 breaks EXPERTS <= 256, because 256 experts have a place"):
            launch.plan(variant, {**SIZES, "EXPERTS": 257})
        with pytest.raises(UsageProblem, match="there is an expert to go to"):
            launch.plan(variant, {**SIZES, "EXPERTS": 0})
        with pytest.raises(UsageProblem, match="binding ids has 268435456 bytes, above the limit"):
            launch.plan(variant, {**SIZES, "T": 2**24})

    def test_one_workgroup_makes_all_and_c25_no_pairs_are_no_dispatch(self) -> None:
        made = launch.plan(ExpertRows(tile_m=16), SIZES)
        assert made.workgroups == (1, 1, 1)
        assert made.binding_bytes == {"ids": 640, "pairs": 640, "tiles": 16 * (10 + 13)}
        assert made.uniform_bytes == struct.pack("<IIII", 40, 4, 12, 0)
        for none in ({"T": 0}, {"USED": 0}):
            assert launch.plan(ExpertRows(tile_m=16), {**SIZES, **none}).workgroups is None

    def test_the_plain_twin_makes_the_same_tiles(self) -> None:
        assert ExpertRows(tile_m=64, workgroup_size=32).plain() == ExpertRows(tile_m=64)

    def test_c38_the_host_names_the_bad_id(self) -> None:
        with pytest.raises(UsageProblem, match=r"ids\[1\] is 12; expected a number from 0 to 11"):
            launch.check_values(ExpertRows(tile_m=8), {"ids": np.array([11, 12], np.uint32)}, SIZES)


class TestOracle:
    def test_by_hand(self) -> None:
        """Expert 1 has three pairs, so two tiles; expert 0 has none; the ids 3 and 2^32 - 1 come last, together."""
        ids = np.array([[1, 2], [3, 1], [2**32 - 1, 1]], np.uint32)
        pairs, tiles = rows_of(ids, 3, 2)
        assert pairs.tolist() == [0, 3, 5, 1, 2, 4]
        filled = [[1, 0, 2, 0], [1, 2, 1, 0], [2, 3, 1, 0], [3, 4, 2, 0]]
        assert tiles.tolist() == [*filled, *[[3, 0, 0, 0]] * 3]

    @pytest.mark.parametrize("tile_m", [1, 8, 16])
    @pytest.mark.parametrize("experts", [1, 3, 8, 256])
    def test_every_pair_is_in_one_tile_and_there_is_room_for_all(
        self, experts: int, tile_m: int, rng: np.random.Generator
    ) -> None:
        """The most tiles are made where each expert has one pair more than whole tiles."""
        worst = np.arange(experts + 1).repeat(tile_m + 1)
        for ids in (worst, rng.permutation(worst), np.full(5, experts), rng.integers(0, experts, 77)):
            pairs, tiles = rows_of(ids.astype(np.uint32)[:, None], experts, tile_m)
            sizes = {"T": ids.size, "USED": 1, "EXPERTS": experts, "TILE_M": tile_m}
            assert len(tiles) == expr.evaluate(TILES, sizes)
            named = [(expert, pairs[first + at]) for expert, first, count, _ in tiles for at in range(count)]
            assert sorted(pair for _, pair in named) == [*range(ids.size)]
            assert all(min(ids[pair], experts) == expert for expert, pair in named)
            assert tiles[:, 2].max() <= tile_m

    def test_ids_repeat_leave_out_and_go_past_the_end(self, rng: np.random.Generator) -> None:
        ids = random_ids(SIZES, rng)
        assert ids.shape == (40, 4)
        assert len({*ids[0].tolist()}) == 1
        assert {12, 2**31, 2**32 - 1} <= {*ids.ravel().tolist()}
        assert len({*range(12)} - {*ids.ravel().tolist()}) >= 3
        assert random_ids(SIZES, rng, beyond=False).max() < 12
        assert random_ids({"T": 1, "USED": 1, "EXPERTS": 1}, rng).tolist() == [[0]]

    def test_what_is_expected_is_exact(self, rng: np.random.Generator) -> None:
        made = problem({"tile_m": 8}, SIZES, rng)
        assert {*made.expected} == {"pairs", "tiles"}
        assert all(isinstance(expected, Equal) for expected in made.expected.values())
        wrong = np.roll(rows_of(made.inputs["ids"], 12, 8)[0], 1)
        assert made.expected["pairs"].judge(wrong.tobytes(), ExpertRows(tile_m=8).tolerance()).problem is not None


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader"])
def test_thousands_of_pairs(adapter: str) -> None:
    case = Case(name="many", sizes={"T": 1024, "USED": 8, "EXPERTS": 256})
    outcome = verify_on(open_adapter(adapter), ExpertRows(tile_m=32), [case])
    assert outcome.status == "passed", outcome.problem
