"""Route int8 of `matmul`: what it refuses, what a segment is, its oracle, and the plan with `quantize_q8`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.support import ALL_FORMATS, opened
from pydantic import ValidationError

from wgslgen import formats, plans
from wgslgen.adapters import SOFTWARE
from wgslgen.choices import good_matmul_tile, matmul_constants
from wgslgen.compare import Close
from wgslgen.kernels.matmul import TOKENS, Matmul
from wgslgen.kernels.matmul_routes.int8 import segment_of
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.oracles.matmul import problem
from wgslgen.oracles.matvec import int8_distance
from wgslgen.oracles.quantize_q8 import dequantised, quantise
from wgslgen.plan import Plan
from wgslgen.plans.linear import quantise_for
from wgslgen.render import render
from wgslgen.spec import Case
from wgslgen.verify import verify_on

CODES = [(name, group) for name, group in ALL_FORMATS if formats.get(name, group).int8_stride is not None]
"""Every format that has codes for the route, with each of its groups."""


def int8(fmt: str, group: int | None = None, **constants: Any) -> Matmul:
    """Return the variant of route int8; where four words of codes are more weights than a tile has, of one word."""
    kind = formats.get(fmt, group)
    words: dict[str, Any] = {"step_words": 1} if kind.bits <= 2 and kind.step is None else {}
    return Matmul(**{"format": fmt, "group": group, "route": "int8", **words, **constants})


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"format": "f32", "layout": "ggml"}, "f32 has no codes for route int8; use route tile"),
            ({"activation": "f16"}, "leave activation at f32 and choose it there"),
            ({"activation_group": 64}, "activation_group 64 does not divide the block of 32 weights"),
            ({"step_words": 1}, "a step of 8 weights of q4_0 is not whole vec4s of codes; use step_words 4"),
            ({"thread_m": 8, "thread_n": 8, "epilogue": "swiglu"}, "a thread has 128 sums; at most 64"),
            ({"tile_m": 4, "thread_m": 8}, "thread_m 8 does not divide tile_m 4"),
            ({"thread_m": 1, "thread_n": 1}, "the tile takes 4096 threads; from 1 to 256 make a workgroup"),
            (
                {"format": "q1_0", "step_words": 4, "activation_group": 128},
                "steps of q1_0 fill runs of 128 weights; tile_k 64 is not whole runs",
            ),
            ({"tile_k": 16}, "steps of q4_0 fill runs of 32 weights; tile_k 16 is not whole runs"),
            ({"operand": "f16"}, "route int8 has no operand; leave it out"),
            ({"num_splits": 4, "epilogue": "residual"}, "leave epilogue and output to sum_splits"),
            ({"format": "q4_K", "step_words": 4}, "q4_K has steps of 32 weights; leave step_words out"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            Matmul(**{"format": "q4_0", "route": "int8", **constants})

    @pytest.mark.parametrize(("fmt", "group"), CODES)
    def test_every_format_with_codes_has_a_variant_within_the_default_limits(self, fmt: str, group: int) -> None:
        for layout in ("planar", "ggml"):
            for tile in ({}, {"tile_m": 8, "thread_m": 1}, {"thread_m": 8, "thread_n": 8}):
                variant = int8(fmt, group, layout=layout, **tile)
                assert variant.threads() <= 256
                for limit, value in variant.requirements.limits.items():
                    assert value <= DEFAULT_LIMITS[limit], limit

    @pytest.mark.parametrize(("fmt", "group"), CODES)
    def test_no_sum_of_a_segment_leaves_i32_and_all_are_exact_in_f32(self, fmt: str, group: int) -> None:
        """The longest segment with the largest bytes, times the code's scale; and the zero point's part."""
        kind = formats.get(fmt, group)
        segment = min(128, kind.scale_group)
        products = segment * 128 * 127
        assert products < 2**31
        assert abs(kind.code_scale) * products < 2**24
        assert abs(kind.zero) * segment * 127 < 2**24

    def test_a_segment_ends_with_the_tile_the_scale_or_the_group(self) -> None:
        found = {
            segment_of(int8("q1_0", 128, activation_group=group, tile_k=tile_k))
            for group, tile_k in ((128, 128), (128, 64), (64, 128), (32, 128))
        }
        assert found == {128, 64, 32}
        assert segment_of(int8("q2_K", activation_group=128, tile_k=128)) == 16
        assert segment_of(int8("q4_K", activation_group=128, tile_k=128)) == 32

    @pytest.mark.parametrize(
        ("fmt", "group", "tile_k", "own"),
        [
            ("q4_0", 32, 64, False),  # the group's sum
            ("q8_0", 32, 64, False),  # none at all
            ("q2_0", 64, 32, True),  # the tile ends within the group
            ("q2_K", 32, 64, True),  # a minimum for 16
            ("q4_K", 32, 64, False),
            ("q4_K", 64, 64, True),
            ("iq2_xs", 128, 64, False),  # neither zero nor minimum
        ],
    )
    def test_a_segment_adds_up_its_activations_where_the_groups_sum_says_too_much(
        self, fmt: str, group: int, tile_k: int, own: bool
    ) -> None:
        text = render(int8(fmt, 64 if fmt == "q2_0" else None, activation_group=group, tile_k=tile_k), "x")
        assert ("0x01010101u)" in text.split("fn main")[1]) == own

    def test_rows_lie_an_odd_number_of_vectors_apart_unless_that_alone_breaks_a_limit(self) -> None:
        """Codes of 64 columns are 4 vec4s; of 64 tokens and 128 rows 12288 bytes, and 15360 with one between rows."""
        for constants, stride, raised in (
            ({}, 5, False),
            ({"tile_k": 32}, 3, False),
            ({"epilogue": "swiglu"}, 4, False),
            ({"tile_m": 128, "tile_n": 128, "thread_m": 8, "thread_n": 8}, 5, True),
        ):
            variant = int8("q8_0", **constants)
            assert variant.const_values["TILE_STRIDE"] == stride
            assert bool(variant.raised_limits) == raised

    def test_short_segments_are_summed_in_two_levels(self) -> None:
        for group, two in ((32, True), (64, False), (128, False)):
            variant = int8("q1_0", 128, activation_group=group, tile_k=128)
            assert ("SUM_TILES" in variant.const_values) == ("part_0_0_0" in render(variant, "x")) == two

    def test_all_numbers_of_tokens_are_shape_classes(self) -> None:
        variant = int8("q4_0")
        assert [case.sizes["M"] for case in variant.cases()] == [*TOKENS]
        assert any(case.sizes["N"] % 2 and case.sizes["N"] > 64 for case in variant.cases())
        assert any(case.sizes["M"] > case.sizes["K"] for case in variant.cases())

    def test_the_plain_twin_keeps_what_is_computed(self) -> None:
        variant = int8("q2_0", 64, activation_group=64, tile_m=16, thread_m=2, epilogue="swiglu", n=6, k=64)
        plain = variant.plain()
        assert (plain.layout, plain.activation_group, plain.epilogue) == ("ggml", 64, "swiglu")
        assert (plain.threads(), plain.n, plain.k) == (64, None, None)


class TestOracle:
    def test_activations_are_rounded_and_nothing_else(self, rng: np.random.Generator) -> None:
        sizes = {"M": 3, "N": 5, "K": 64, "X_STRIDE": 64}
        constants = int8("q8_0").model_dump()
        data = formats.get("q8_0").random_blocks(5, 64, rng)
        made = problem(constants, sizes, np.random.default_rng(1), data)
        exact = problem({**constants, "route": "tile", "operand": "f32"}, sizes, np.random.default_rng(1), data)
        x = exact.inputs["x"].reshape(3, 64)
        weights = formats.get("q8_0").unpack(data)
        expected, unrounded = made.expected["y"], exact.expected["y"]
        assert isinstance(expected, Close)
        assert isinstance(unrounded, Close)
        np.testing.assert_allclose(expected.values, dequantised(quantise(x, 32)) @ weights.T, rtol=1e-12)
        np.testing.assert_allclose(unrounded.values, x.astype(np.float64) @ weights.T, rtol=1e-12)
        assert not np.allclose(expected.values, unrounded.values, rtol=1e-6)

    @pytest.mark.parametrize("group", [32, 64, 128])
    def test_the_distance_of_int8_activations_from_the_exact_product(
        self, group: int, rng: np.random.Generator
    ) -> None:
        """A rounding is off by up to half a unit, a twelfth of its square on average; the unit is the largest / 127.

        So for normal activations NMSE is that of the activations: 3.0e-5, 3.6e-5 and 4.3e-5 for groups of 32, 64
        and 128, whatever M, N, K and the weights are.
        """
        x = rng.standard_normal((64, 1024)).astype(np.float32)
        largest = np.abs(x.reshape(64, -1, group)).max(axis=-1).astype(np.float64)
        share = float(np.square(largest / 127).mean() / 12 / np.square(x.astype(np.float64)).mean())
        assert share == pytest.approx({32: 3.0e-5, 64: 3.6e-5, 128: 4.3e-5}[group], rel=0.05)
        weights = rng.standard_normal((256, 1024))
        assert int8_distance(weights, x, group) == pytest.approx(share, rel=0.05)


# ---- the plan --------------------------------------------------------------------------------------


def made_from(variant: Matmul, *others: Any) -> tuple[Plan, ...]:
    """Return the plans `linear` of these variants and of the one that quantises for the first."""
    return tuple(plan for plan in plans.derive([variant, quantise_for(variant), *others]) if plan.op == "linear")


def test_the_plan_rounds_multiplies_and_adds_parts_up() -> None:
    one, parts = int8("q2_0", 64, activation_group=64), int8("q2_0", 64, activation_group=64, num_splits=4)
    found = made_from(one, parts, SumSplits(num_splits=4, epilogue="swiglu"), SumSplits(num_splits=2))
    kernels = [[step.variant.NAME for step in plan.passes] for plan in found]
    assert kernels == [["quantize_q8", "matmul"], ["quantize_q8", "matmul", "sum_splits"]]
    assert {step.variant for plan in found for step in plan.passes} >= {QuantizeQ8(group=64, stride=4)}


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize("splits", [1, 4])
def test_the_plan_holds_scratch_for_more_tokens_than_columns(splits: Any, adapter: str) -> None:
    """M > K: what is scratch grows with the tokens, for x as for the parts' sums; and no token is left out."""
    form: dict[str, Any] = {"num_splits": splits, "tile_m": 8, "tile_n": 16, "thread_m": 1, "thread_n": 2}
    sums = [SumSplits(num_splits=4, epilogue="residual")] if splits == 4 else []
    for variant in (int8("q4_1", **form), int8("q2_K", activation_group=128, **form)):
        (plan,) = made_from(variant, *sums)
        k = variant.block_size
        sizes = {"M": k + 37, "N": 19, "K": k}
        outcome = verify_on(opened(adapter), plan, [Case(name="M > K", sizes=sizes), *plan.cases()[:3]])
        assert outcome.status == "passed", outcome.problem


@pytest.mark.parametrize("route", ["tile", "int8"])
@pytest.mark.parametrize("few", [False, True])
def test_good_tiles_fit_every_format_of_their_route_within_the_default_limits(route: str, few: bool) -> None:
    for name, group in ALL_FORMATS:
        constants = matmul_constants(route, stored := formats.get(name, group))
        if constants is not None:
            fields: dict[str, Any] = {**constants, **good_matmul_tile(route, stored, few=few)}
            del fields["kernel"]
            variant = Matmul(**fields)
            assert variant.raised_limits == {}
            assert variant.threads() in (64, 128, 256)
