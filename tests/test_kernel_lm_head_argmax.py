from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import formats, launch, layouts
from wgslgen.compare import Close, Equal
from wgslgen.errors import UsageProblem
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name, what_name
from wgslgen.oracles.lm_head_argmax import decided, near_best, problem
from wgslgen.oracles.matvec import product
from wgslgen.render import render

WHOLE = {"FIRST_ROW": 0, "FIRST_SLOT": 0}


def variant(**constants: Any) -> LmHeadArgmax:
    return LmHeadArgmax(**{"format": "q2_0", "group": 64, "route": "float", **constants})


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"tile_rows": 8, "columns": 4}, "tile_rows x columns is 32; at most 16 sums a thread"),
            ({"tile_rows": 3}, "tile_rows"),
            ({"k": 96}, "k 96 is not a positive multiple of 64"),
            ({"n": 64}, "n\n  Extra inputs are not permitted"),
            ({"output": "f16"}, "output\n  Extra inputs are not permitted"),
            ({"epilogue": "store"}, "epilogue\n  Extra inputs are not permitted"),
            ({"route": "int8"}, "route int8 needs activation_group"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            variant(**constants)

    def test_the_rows_of_a_slot_are_what_is_computed(self) -> None:
        assert variant_name(variant(k=128)) == "lm_head_argmax_q2_0_g64_planar_m1_xf32_rows4_k128__w4_float_wg64"
        assert what_name(variant(tile_rows=8)) != what_name(variant())
        tuned = variant(tile_rows=8, subgroups=True, k=64, workgroup_size=256)
        plain = tuned.plain()
        assert plain == variant(tile_rows=8, route="block", layout="ggml", step_words=1)
        assert {case.name: case.sizes for case in plain.cases()}.keys() == {c.name for c in tuned.cases()}

    def test_a_chunk_must_fit_the_slots_and_rows_must_be_u32(self) -> None:
        fits = {"N": 9, "K": 64, "SLOTS": 5, "FIRST_ROW": 100, "FIRST_SLOT": 2}
        planned = launch.plan(variant(columns=2), fits)
        assert planned.workgroups == (3, 1, 1)
        assert planned.binding_bytes["best_value"] == planned.binding_bytes["best_index"] == 2 * 5 * 4
        assert planned.uniform_bytes == struct.pack("<5I12x", 9, 64, 5, 100, 2)
        for changed, words in (
            ({"SLOTS": 4}, "none may lie past SLOTS"),
            ({"FIRST_SLOT": 3}, "none may lie past SLOTS"),
            ({"N": 13, "SLOTS": 5}, "none may lie past SLOTS"),
            ({"FIRST_ROW": 2**32 - 8}, "a row is a u32"),
            ({"K": 96}, "whole blocks of 64 weights"),
        ):
            with pytest.raises(UsageProblem, match=words):
                launch.plan(variant(), {**fits, **changed})
        launch.plan(variant(), {**fits, "FIRST_ROW": 2**32 - 9})
        with pytest.raises(UsageProblem, match="K is baked in"):
            launch.plan(variant(k=128), fits)

    def test_c25_no_rows_are_no_dispatch(self) -> None:
        assert launch.plan(variant(), {"N": 0, "K": 64, "SLOTS": 1, **WHOLE}).workgroups is None

    def test_no_logit_is_bound_and_no_float_is_compared(self) -> None:
        text = render(variant(), "x")
        assert [b.name for b in variant().bindings()] == ["codes", "scales", "x", "best_value", "best_index"]
        assert "max(" not in text
        assert "order_key_of_bits(value) > order_key_of_bits(best)" in text

    def test_the_walk_is_that_of_matvec(self) -> None:
        """The tile stands in one partial, so the loops are the same to the letter."""
        loops = []
        for kernel in (LmHeadArgmax, Matvec):
            text = render(kernel(format="q2_0", group=64, route="float"), "x")
            loops.append(text[text.index("let row_steps") : text.index("reduce_sum(sums, thread);")])
        assert loops[0] == loops[1]


class TestOracle:
    def test_near_best_holds_equal_rows_and_what_rounding_may_lift(self) -> None:
        values = np.array([1.0, 3.0, 3.0 - 1e-6, 3.0, 2.9, -9.0])
        assert near_best(values, np.full(6, 4.0)).tolist() == [1, 2, 3]
        assert near_best(values, np.zeros(6)).tolist() == [1, 3]
        assert near_best(np.zeros(3), np.zeros(3)).tolist() == [0, 1, 2]

    @pytest.mark.parametrize("tile_rows", [1, 2, 8])
    def test_every_tile_is_decided_and_some_have_equal_rows_on_top(
        self, tile_rows: int, rng: np.random.Generator
    ) -> None:
        fmt = formats.get("q2_0", 64)
        x = rng.standard_normal((2, 64))
        data = decided(fmt, fmt.random_blocks(45, 64, rng), x, tile_rows)
        weights = fmt.unpack(data)
        values, magnitudes = product(weights, x)
        ties = 0
        for column in range(2):
            for first in range(0, 45, tile_rows):
                rows = slice(first, first + tile_rows)
                near = near_best(values[column, rows], magnitudes[column, rows])
                assert (weights[rows][near] == weights[rows][near[0]]).all()
                ties += len(near) > 1
        assert (ties >= 2) == (tile_rows > 1)

    def test_by_hand(self, rng: np.random.Generator) -> None:
        constants = LmHeadArgmax(format="f32", layout="ggml", route="float", tile_rows=2).model_dump()
        sizes = {"N": 5, "K": 4, "SLOTS": 6, "FIRST_ROW": 70, "FIRST_SLOT": 2}
        made = problem(constants, sizes, rng)
        weights = layouts.unpack(formats.get("f32", None), "ggml", {"weights": made.inputs["weights"]}, 5, 4)
        logits = weights.view("<f4").astype(np.float64) @ made.inputs["x"][0].astype(np.float64)
        value, index = made.expected["best_value"], made.expected["best_index"]
        assert isinstance(value, Close)
        assert isinstance(index, Equal)
        rows = [int(np.argmax(logits[first : first + 2])) + first for first in (0, 2, 4)]
        np.testing.assert_allclose(value.values[0, 2:5], logits[rows], rtol=1e-12)
        # The first tile of three holds two equal rows, of which the lower is named.
        assert index.values[0, 2:5].tolist() == [70, 70 + rows[1], 74]
        others = [0, 1, 5]
        assert not value.magnitudes[0, others].any()
        np.testing.assert_array_equal(value.values[0, others], made.inputs["best_value"].view("<f4")[0, others])
        np.testing.assert_array_equal(index.values[0, others], made.inputs["best_index"][0, others])
