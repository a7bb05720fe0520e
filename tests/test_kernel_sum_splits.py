from __future__ import annotations

import struct
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import expr, launch, plans
from wgslgen.adapters import SOFTWARE, Gpu, open_adapter
from wgslgen.compare import Close
from wgslgen.harness import Runner
from wgslgen.kernels.matmul import Matmul
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.oracles.sum_splits import problem, sums
from wgslgen.plan import Plan
from wgslgen.plans.linear import quantise_for
from wgslgen.render import render
from wgslgen.spec import Kernel
from wgslgen.verify import verify_on

Epilogue = Literal["store", "residual", "swiglu"]
EPILOGUES: tuple[Epilogue, ...] = ("store", "residual", "swiglu")
PARTS = Matmul(format="q4_0", route="tile", num_splits=4, tile_m=8, tile_n=32, thread_m=1, thread_n=2)
WHOLE = np.array([[[1.0, -2.0], [0.5, 8.0]], [[3.0, 2.0], [0.25, -8.0]]], np.float32)
"""Two parts of two tokens and two rows, with the sums 4 and 0, 0.75 and 0."""


def run(variant: SumSplits, partials: NDArray[np.float32], n: int, y: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return y [M, N] as lavapipe computes it."""
    inputs: dict[str, NDArray[Any]] = {"partials": partials, **({} if y is None else {"y": y})}
    m = partials.shape[1]
    raw = Runner(open_adapter("lavapipe"), variant, render(variant, "x")).run(inputs, {"M": m, "N": n})["y"]
    return np.frombuffer(raw, np.float16 if variant.output == "f16" else np.float32, m * n).reshape(m, n)


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({}, "num_splits"),
            ({"num_splits": 1}, "num_splits"),
            ({"num_splits": 3}, "num_splits"),
            ({"num_splits": 4, "epilogue": "relu"}, "epilogue"),
            ({"num_splits": 4, "workgroup_size": 128}, "workgroup_size"),
        ],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            SumSplits(**constants)

    def test_it_binds_what_matmul_writes(self) -> None:
        product = launch.plan(PARTS, {"M": 5, "N": 6, "K": 96, "X_STRIDE": 96})
        for epilogue in EPILOGUES:
            n = 3 if epilogue == "swiglu" else 6
            last = launch.plan(SumSplits(num_splits=4, epilogue=epilogue), {"M": 5, "N": n})
            assert last.binding_bytes == {"partials": product.binding_bytes["partials"], "y": 5 * n * 4}
            assert last.uniform_bytes == struct.pack("<IIII", 5, n, 0, 0)

    def test_a_thread_is_a_result_and_c25_nothing_is_no_dispatch(self) -> None:
        variant = SumSplits(num_splits=2)
        assert launch.plan(variant, {"M": 8, "N": 8}).workgroups == (1, 1, 1)
        assert launch.plan(variant, {"M": 5, "N": 13}).workgroups == (2, 1, 1)
        for sizes in ({"M": 0, "N": 3}, {"M": 3, "N": 0}):
            assert launch.plan(variant, sizes).workgroups is None

    def test_c20_it_folds(self) -> None:
        folded = launch.plan(SumSplits(num_splits=2), {"M": 129, "N": 40000}).workgroups
        assert folded is not None
        assert max(folded) <= 65535
        assert np.prod(folded) >= 129 * 40000 // 64

    def test_the_plain_twin_keeps_what_is_computed(self) -> None:
        tuned = SumSplits(num_splits=8, output="f16", epilogue="swiglu", workgroup_size=256)
        assert tuned.plain() == tuned.changed(workgroup_size=64)
        assert SumSplits(num_splits=8).requirements.features == ()


class TestOracle:
    def test_by_hand(self) -> None:
        values, magnitudes = sums(WHOLE.astype(np.float64))
        assert values.tolist() == [[4.0, 0.0], [0.75, 0.0]]
        assert magnitudes.tolist() == [[4.0, 4.0], [0.75, 16.0]]

    @pytest.mark.parametrize("epilogue", EPILOGUES)
    def test_rows_of_both_matrices_for_a_gate(self, epilogue: Epilogue, rng: np.random.Generator) -> None:
        made = problem(SumSplits(num_splits=4, epilogue=epilogue).model_dump(), {"M": 3, "N": 5}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        assert expected.values.shape == (3, 5)
        assert made.inputs["partials"].shape == (4, 3, 10 if epilogue == "swiglu" else 5)
        assert ("y" in made.inputs) == (epilogue == "residual")


class TestOnDevice:
    def test_sums_by_hand(self) -> None:
        assert run(SumSplits(num_splits=2), WHOLE, 2).tolist() == [[4.0, 0.0], [0.75, 0.0]]
        y = np.array([[1.0, -1.0], [2.0, 3.0]], np.float32)
        added = run(SumSplits(num_splits=2, epilogue="residual"), WHOLE, 2, y)
        assert added.tolist() == [[5.0, -1.0], [2.75, 3.0]]

    def test_a_row_holds_the_gate_and_then_up(self) -> None:
        """Two results of a token: gates 0 and 40, whose silu is itself in f32, times 7 and 3."""
        partials = np.array([[[0.0, 10.0, 3.0, 1.0]], [[0.0, 30.0, 4.0, 2.0]]], np.float32)
        assert run(SumSplits(num_splits=2, epilogue="swiglu"), partials, 2).tolist() == [[0.0, 120.0]]

    def test_parts_are_added_in_their_order(self) -> None:
        """1 is lost behind 2^24 and kept where 2^24 and -2^24 meet first, so the order shows."""
        big = 2.0**24
        late, early = ([1.0, big, -big, 0.0], [big, -big, 1.0, 0.0])
        partials = np.array([late, early], np.float32).T.reshape(4, 1, 2)
        assert run(SumSplits(num_splits=4), np.ascontiguousarray(partials), 2).tolist() == [[0.0, 1.0]]

    def test_f16_results_stay_at_the_end_of_their_range(self) -> None:
        partials = np.array([[[6e4, -6e4]], [[6e4, -6e4]]], np.float32)
        assert run(SumSplits(num_splits=2, output="f16"), partials, 2).tolist() == [[65504.0, -65504.0]]
        y = np.array([60000.0, -60000.0], np.float16)
        few = partials / np.float32(10.0)
        added = run(SumSplits(num_splits=2, output="f16", epilogue="residual"), few, 2, y)
        assert added.tolist() == [[65504.0, -65504.0]]


def derived(*variants: Kernel) -> tuple[Plan, ...]:
    return plans.derive([*variants])


class TestPlans:
    def test_parts_go_with_sums_of_as_many(self) -> None:
        assert derived(PARTS, SumSplits(num_splits=2)) == ()
        found = derived(PARTS, *(SumSplits(num_splits=4, epilogue=epilogue) for epilogue in EPILOGUES))
        assert [[step.variant.NAME for step in plan.passes] for plan in found] == [["matmul", "sum_splits"]] * 3

    def test_a_gate_has_twice_the_rows_and_an_odd_number_of_baked_rows_has_none(self) -> None:
        last = SumSplits(num_splits=4, epilogue="swiglu")
        (plan,) = derived(PARTS, last)
        sizes = {"M": 3, "N": 5, "K": 64}
        assert plan.passes[0].given(sizes) == {"M": 3, "N": 10, "K": 64, "X_STRIDE": 64}
        assert plan.passes[1].given(sizes) == {"M": 3, "N": 5}
        assert all(case.sizes["N"] >= 1 for case in plan.cases())
        (baked,) = derived(PARTS.changed(n=34), last)
        assert {case.sizes["N"] for case in baked.cases()} == {17}
        assert derived(PARTS.changed(n=35), last) == ()
        assert len(derived(PARTS.changed(n=35), SumSplits(num_splits=4))) == 1

    def test_the_bound_is_that_of_the_last_epilogue(self) -> None:
        plain, narrow = (SumSplits(num_splits=4, output=output) for output in ("f32", "f16"))
        found = derived(PARTS, plain, narrow)
        assert found[0].tolerance() == PARTS.tolerance()
        assert found[1].tolerance().rounding == 2.0**-10

    def test_rounding_is_done_by_the_form_that_is_there(self) -> None:
        product = Matmul(format="q4_0", route="int8", activation_group=32)
        plain = quantise_for(product)
        wide = QuantizeQ8(group=32, stride=plain.stride, subgroups=True)
        for there, chosen in (((plain, wide), plain), ((wide,), wide)):
            (plan,) = derived(product, *there)
            assert plan.passes[0].variant == chosen
        assert derived(product) == ()

    @pytest.mark.parametrize(("m", "k"), [(193, 64), (3, 640)])
    def test_scratch_is_what_the_passes_bind_for_more_tokens_than_columns_and_for_fewer(self, m: int, k: int) -> None:
        product = Matmul(format="q2_0", group=64, step_words=1, route="int8", activation_group=64, num_splits=4)
        (plan,) = derived(quantise_for(product), product, SumSplits(num_splits=4, epilogue="swiglu"))
        sizes = {"M": m, "N": 7, "K": k}
        held = {b.name: expr.fold(b.bytes, sizes) for b in plan.buffers if b.role == "scratch"}
        assert held == {"x8": m * k, "x_scale": m * k // 64 * 8, "partials": 4 * m * 14 * 4}

    @pytest.mark.parametrize("adapter", SOFTWARE)
    @pytest.mark.parametrize("epilogue", EPILOGUES)
    def test_every_epilogue_gives_the_oracles_result(self, epilogue: Epilogue, adapter: str) -> None:
        gpu: Gpu = open_adapter(adapter)
        (plan,) = derived(PARTS, SumSplits(num_splits=4, epilogue=epilogue))
        outcome = verify_on(gpu, plan)
        assert outcome.status == "passed", outcome.problem
        assert outcome.runs == 14

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    @pytest.mark.parametrize("epilogue", EPILOGUES)
    def test_f16_operands_give_it_too(self, epilogue: Epilogue, activation: Literal["f32", "f16"]) -> None:
        """Plans on matrix units have such operands and no software to run on; a tile of f16 takes the same bounds."""
        parts = PARTS.changed(operand="f16", activation=activation)
        (plan,) = derived(parts, SumSplits(num_splits=4, epilogue=epilogue))
        outcome = verify_on(open_adapter("lavapipe"), plan)
        assert outcome.status == "passed", outcome.problem
        assert outcome.runs == 14
