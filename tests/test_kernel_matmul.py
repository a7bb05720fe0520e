from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import formats, launch, layouts, plans
from wgslgen.adapters import MATRICES, open_adapter
from wgslgen.compare import Close
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.matmul import TOKENS, Matmul
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.naming import what_name
from wgslgen.oracles.matmul import apart, narrow_distance, problem, split_products, within_f16
from wgslgen.oracles.matvec import int8_distance
from wgslgen.plans.linear import quantise_for
from wgslgen.render import render
from wgslgen.spec import Case, Kernel
from wgslgen.verify import verify_on

Q2: dict[str, Any] = {"format": "q2_0", "group": 64, "step_words": 1}
Q1: dict[str, Any] = {"format": "q1_0", "step_words": 1}
MATRIX: dict[str, Any] = {**Q2, "route": "subgroup_matrix"}


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({**Q2, "route": "tile", "tile_m": 16, "thread_m": 8, "thread_n": 8, "tile_n": 8}, None),
            ({**Q2, "route": "tile", "tile_m": 4, "thread_m": 8}, "thread_m 8 does not divide tile_m 4"),
            ({**Q2, "route": "tile", "thread_m": 1}, "the tile takes 1024 threads; from 1 to 256"),
            ({**Q2, "route": "tile", "thread_m": 8, "thread_n": 8, "epilogue": "swiglu"}, "has 128 sums; at most 64"),
            ({**Q2, "route": "tile", "step_words": 4}, "fill runs of 64 weights; tile_k 32 is not whole runs"),
            ({**Q2, "route": "tile", "table": "full"}, "route tile has no table; leave it out"),
            ({**Q2, "route": "tile", "matrix": "f16_16x16x16"}, "route tile has no matrix; leave it out"),
            ({**Q2, "route": "tile", "layout": "row4"}, "route tile reads layouts planar, ggml"),
            ({**Q2, "route": "tile", "layout": "planes"}, "route tile reads layouts planar, ggml"),
            ({**Q2, "route": "tile", "k": 100}, "k 100 is not a positive multiple of 64"),
            ({**Q2, "route": "tile", "num_splits": 4, "output": "f16"}, "leave epilogue and output to sum_splits"),
            ({**Q2, "route": "int8", "activation": "f16"}, "route int8 reads what quantize_q8 wrote"),
            ({**Q2, "route": "int8", "activation_group": 128}, "activation_group 128 does not divide the block of 64"),
            ({"format": "q4_0", "step_words": 2, "route": "int8"}, "is not whole vec4s of codes; use step_words 4"),
            ({"format": "f16", "layout": "ggml", "route": "int8"}, "f16 has no codes for route int8; use route tile"),
            ({**Q2, "route": "lut"}, "use route tile for q2_0 in layout planar"),
            ({**Q1, "route": "lut", "step_words": 2}, "reads a word of 32 weights at a time; use step_words 1"),
            ({**Q2, "route": "lut", "layout": "planes", "table": "half"}, "planes have zeros; use table full"),
            ({**Q1, "route": "lut", "tile_m": 16, "tile_k": 256}, "the table takes 65536 bytes; at most 32768"),
            ({**Q1, "route": "lut", "tile_m": 32}, "tile_m 32 is not 1, 4, 8 or 16"),
            ({**MATRIX, "tile_m": 16}, "a subgroup's share of 8 x 32 is not whole matrices of 16 x 16"),
            ({**MATRIX, "tile_m": 128, "tile_n": 128}, "a subgroup holds 16 matrices"),
            ({**MATRIX, "operand": "f32"}, "matrices f16_16x16x16 are of f16; operand f32 does not fit"),
            ({**MATRIX, "tile_k": 128, "subgroup_m": 1, "subgroup_n": 1, "tile_m": 16, "tile_n": 16}, None),
            (
                {"format": "q4_K", "route": "tile", "step_words": 4},
                "q4_K has steps of 32 weights; leave step_words out",
            ),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str | None) -> None:
        if words is None or "holds 16" in words:
            Matmul(**constants)
            return
        with pytest.raises(ValidationError, match=words):
            Matmul(**constants)

    def test_what_a_route_takes_is_filled_in(self) -> None:
        tile = Matmul(**Q2, route="tile")
        assert (tile.tile_m, tile.tile_n, tile.tile_k, tile.operand, tile.table) == (64, 64, 32, "f32", None)
        assert Matmul(**MATRIX).operand == "f16"
        assert Matmul(**MATRIX, matrix="f32_8x8x8").operand == "f32"

    def test_default_forms_need_no_feature_and_no_raised_limit(self) -> None:
        ways: list[dict[str, Any]] = [{**Q2, "route": "tile"}, {**Q2, "route": "int8"}, {**Q1, "route": "lut"}]
        for constants in ways:
            variant = Matmul(**constants)
            assert variant.requirements.features == ()
            assert variant.raised_limits == {}

    def test_c42_f16_tables_of_sixteen_tokens_are_16384_bytes(self) -> None:
        full = Matmul(**Q1, route="lut", tile_m=16, tile_k=128, operand="f16")
        assert full.requirements.limits["maxComputeWorkgroupStorageSize"] == 16384
        wide = Matmul(**Q1, route="lut", tile_m=16, tile_k=128)
        assert wide.raised_limits == {"maxComputeWorkgroupStorageSize": 32768}

    def test_every_variant_meets_all_numbers_of_tokens(self) -> None:
        ways: list[dict[str, Any]] = [{**Q2, "route": "tile"}, {**Q2, "route": "int8"}, {**Q1, "route": "lut"}, MATRIX]
        for constants in ways:
            cases = Matmul(**constants).cases()
            many = {512} if constants is MATRIX else set()
            assert {case.sizes["M"] for case in cases} == {*TOKENS} | many
            assert any(case.sizes["N"] % 2 for case in cases)
            assert max(case.sizes["K"] for case in cases) >= 11 * 64

    def test_sizes_are_checked(self) -> None:
        variant = Matmul(**Q2, route="tile", n=8, k=128)
        good = {"M": 3, "N": 8, "K": 128, "X_STRIDE": 128}
        assert launch.plan(variant, good).workgroups == (1, 1, 1)
        for wrong, words in (
            ({"N": 9}, "N is baked in"),
            ({"X_STRIDE": 124}, "rows of x do not overlap"),
            ({"X_STRIDE": 130}, "x is read four elements at a time"),
        ):
            with pytest.raises(UsageProblem, match=words):
                launch.plan(variant, {**good, **wrong})
        with pytest.raises(UsageProblem, match="quantize_q8 writes rows one behind the other"):
            launch.plan(Matmul(**Q2, route="int8"), {"M": 1, "N": 1, "K": 64, "X_STRIDE": 68})

    def test_c25_no_tokens_are_no_dispatch(self) -> None:
        for route in ("tile", "int8"):
            sizes = {"M": 0, "N": 8, "K": 64, "X_STRIDE": 64}
            assert launch.plan(Matmul(**Q2, route=route), sizes).workgroups is None

    def test_c20_tiles_fold(self) -> None:
        sizes = {"M": 9, "N": 151669, "K": 64, "X_STRIDE": 64}
        many = launch.plan(Matmul(**Q2, route="tile", tile_m=1, thread_m=1, tile_n=8, thread_n=1), sizes).workgroups
        assert many is not None
        assert many[0] * many[1] * many[2] >= 9 * 18959
        assert max(many) <= 65535

    def test_subgroup_matrices_are_a_requirement_that_software_lacks(self) -> None:
        variant = Matmul(**MATRIX)
        assert {*variant.requirements.features} == {"shader-f16", "subgroups", MATRICES}
        assert variant.requirements.subgroups is not None
        assert (variant.requirements.subgroups.min, variant.requirements.subgroups.max) == (32, 32)
        assert str(variant.requirements.subgroup_matrix) == "f16 16x16x16 to f32 by 32 threads"
        assert Matmul(**MATRIX, matrix="f32_8x8x8").requirements.features == ("subgroups", MATRICES)
        with pytest.raises(ToolMissing, match=r"shader-f16|chromium-experimental-subgroup-matrix"):
            Runner(open_adapter("swiftshader"), variant, render(variant, "x"))


class TestOracle:
    def test_by_hand(self) -> None:
        """q8_0 weights 1..32 and 2..64 under d = 0.5, x = ones and one at column 3."""
        codes = np.stack([np.arange(1, 33), 2 * np.arange(1, 33)]).astype(np.int8)
        data = np.concatenate([np.full((2, 2), [0x00, 0x38], np.uint8), codes.view(np.uint8)], axis=1)
        variant = Matmul(format="q8_0", route="tile", num_splits=1)
        sizes = {"M": 2, "N": 2, "K": 32, "X_STRIDE": 36}
        made = problem(variant.model_dump(), sizes, np.random.default_rng(0), weights=data.reshape(-1))
        x = made.inputs["x"]
        assert x.size == 36 + 32
        assert np.isnan(x[32:36]).all()
        weights = formats.get("q8_0").unpack(data)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        rows = np.stack([x[:32], x[36:]]).astype(np.float64)
        assert np.allclose(expected.values, rows @ weights.T, rtol=1e-12)

    def test_parts_of_k_add_up(self, rng: np.random.Generator) -> None:
        weights, x = rng.standard_normal((5, 352)), rng.standard_normal((3, 352))
        parts, magnitudes = split_products({"num_splits": 4, "tile_k": 32}, weights, x)
        assert parts.shape == magnitudes.shape == (12, 5)
        assert np.allclose(parts.reshape(4, 3, 5).sum(axis=0), x @ weights.T)
        few, _ = split_products({"num_splits": 16, "tile_k": 128}, weights, x)
        assert (few.reshape(16, -1) == 0).all(axis=1).sum() == 13

    def test_rows_for_f16_are_of_one_magnitude(self, rng: np.random.Generator) -> None:
        for name in ("q8_0", "q4_K", "iq3_s", "f32"):
            fmt = formats.get(name)
            for k in (fmt.group, 16384 // fmt.group * fmt.group):  # few blocks, and so many that some scale is large
                largest = np.abs(fmt.unpack(within_f16(fmt, 5, k, rng))).max(axis=1)
                assert largest.shape == (5,)
                assert largest.max() < 65504
            data = within_f16(fmt, 33, 3 * max(fmt.group, 32), rng)
            largest = np.abs(fmt.unpack(data)).max(axis=1)
            assert len(data) == 33
            assert largest.max() <= 16 * largest.min()
            assert largest.max() < 65504

    def test_apart(self) -> None:
        x = np.arange(6.0).reshape(2, 3)
        assert np.array_equal(apart(x, 4), [0, 1, 2, np.nan, 3, 4, 5], equal_nan=True)

    def test_how_far_rounded_activations_are_from_exact_ones(self, rng: np.random.Generator) -> None:
        """Stated distances: f16 within 1e-7 in NMSE, int8 in groups of 64 within 1e-4."""
        fmt = formats.get("q2_0", 64)
        weights = fmt.unpack(fmt.quantise(rng.standard_normal((256, 4096)).astype(np.float32)))
        x = rng.standard_normal((17, 4096)).astype(np.float32)
        assert 1e-9 < narrow_distance(weights, x) < 1e-7
        assert 1e-6 < int8_distance(weights, x, 64) < 1e-4


LONG = [
    Matmul(**Q2, route="tile", tile_m=16, thread_m=2),
    Matmul(**Q1, route="tile", tile_m=8, thread_m=1),
    Matmul(format="q4_K", route="tile", tile_m=16, thread_m=2),
    Matmul(format="f32", layout="ggml", route="tile", tile_m=16, thread_m=2),
    Matmul(**Q2, route="int8", tile_m=16, thread_m=2),
    Matmul(format="q6_K", route="int8", tile_m=16, thread_m=2),
    Matmul(**Q1, route="lut", tile_m=16, tile_k=32),
    Matmul(**Q2, layout="planes", route="lut"),
]


@pytest.mark.parametrize(("k", "bar"), [(4096, 1e-12), (16384, 1e-11)])
@pytest.mark.parametrize("variant", LONG, ids=what_name)
def test_long_rows_stay_exact(variant: Matmul, k: int, bar: float) -> None:
    case = Case(name="long", sizes={"M": 17, "N": 67, "K": k, "X_STRIDE": k})
    outcome = verify_on(open_adapter("lavapipe"), variant, [case])
    assert outcome.status == "passed", outcome.problem
    assert outcome.nmse <= bar


@pytest.mark.parametrize("route", ["tile", "lut"])
def test_long_rows_of_f16_operands_are_within_1e_7(route: Literal["tile", "lut"]) -> None:
    way: dict[str, Any] = Q1 if route == "lut" else {"format": "q8_0"}
    tile: dict[str, Any] = {"tile_k": 128} if route == "lut" else {"thread_m": 2}
    variant = Matmul(**way, route=route, operand="f16", tile_m=16, **tile)
    case = Case(name="long", sizes={"M": 17, "N": 67, "K": 4096, "X_STRIDE": 4096})
    outcome = verify_on(open_adapter("lavapipe"), variant, [case])
    assert outcome.status == "passed", outcome.problem
    assert outcome.nmse <= 1e-7


# ---- the ends of f16 --------------------------------------------------------------------------------

PLAIN: dict[str, Any] = {"format": "f32", "layout": "ggml", "route": "tile", "tile_m": 8, "thread_m": 1}


@pytest.mark.parametrize(("operand", "end"), [("f32", 1e5), ("f16", 65504.0)])
def test_f16_operands_stay_at_the_end_of_their_range(operand: Literal["f32", "f16"], end: float) -> None:
    """Both of the activations and of the weights: an identity matrix, and one with a weight of 1e5."""
    variant = Matmul(**PLAIN, operand=operand)
    weights = np.eye(4, dtype=np.float32)
    weights[2, 2] = -1e5
    x = np.array([[1e5, -1e5, 1.0, 0.0]], np.float32)
    runner = Runner(open_adapter("lavapipe"), variant, render(variant, "x"))
    raw = runner.run({"weights": weights, "x": x}, {"M": 1, "N": 4, "K": 4, "X_STRIDE": 4})["y"]
    assert np.frombuffer(raw, np.float32).tolist() == [end, -end, -end, 0.0]


@pytest.mark.parametrize(("operand", "result"), [("f32", 128 * 2e4), ("f16", 32 * 65504.0)])
def test_f16_tables_stay_at_the_end_of_their_range(operand: Literal["f32", "f16"], result: float) -> None:
    """Four activations of 2e4 under one sign are past it, and a row of 128 weights has 32 such sums."""
    variant = Matmul(**Q1, route="lut", operand=operand)
    data = np.frombuffer(np.float16(1).tobytes() + b"\xff" * 16 + np.float16(1).tobytes() + b"\x00" * 16, np.uint8)
    inputs = {**layouts.pack(variant.weight_format, variant.layout, data, 2, 128), "x": np.full(128, 2e4, np.float32)}
    runner = Runner(open_adapter("lavapipe"), variant, render(variant, "x"))
    raw = runner.run(inputs, {"M": 1, "N": 2, "K": 128, "X_STRIDE": 128})["y"]
    assert np.frombuffer(raw, np.float32).tolist() == [result, -result]


@pytest.mark.parametrize(("epilogue", "x"), [("store", 1e6), ("residual", 70000.0), ("swiglu", 1e4)])
def test_f16_results_of_every_epilogue_stay_at_the_end_of_their_range(
    epilogue: Literal["store", "residual", "swiglu"], x: float
) -> None:
    n = 1 if epilogue == "swiglu" else 2
    inputs: dict[str, Any] = {"weights": np.eye(4, dtype=np.float32)[[0, 0]], "x": np.full((3, 4), x, np.float32)}
    inputs |= {"y": np.array([-1.0, 60000.0] * 3, np.float16)} if epilogue == "residual" else {}
    variant = Matmul(**PLAIN, output="f16", epilogue=epilogue)
    runner = Runner(open_adapter("lavapipe"), variant, render(variant, "x"))
    raw = runner.run(inputs, {"M": 3, "N": n, "K": 4, "X_STRIDE": 4})["y"]
    assert set(np.frombuffer(raw, np.float16, 3 * n).tolist()) == {65504.0}


# ---- parts of K -------------------------------------------------------------------------------------


@pytest.mark.parametrize("splits", [2, 16])
@pytest.mark.parametrize("constants", [{**Q2, "route": "tile"}, {**Q2, "route": "int8"}, {**Q1, "route": "lut"}])
def test_c53_parts_of_every_route_have_the_same_bits_in_20_runs(constants: dict[str, Any], splits: Any) -> None:
    """Over outputs full of 1e30; with 16 parts some have no tile of K, and are zeros all the same.

    A part has few columns, of which one product may outweigh the others and cancel out: NMSE of a token would measure
    luck, so each sum is held to its magnitudes.
    """
    variant = Matmul(**constants, num_splits=splits)
    sizes = {"M": 9, "N": 35, "K": 640, "X_STRIDE": 640}
    made = problem(variant.model_dump(), sizes, np.random.default_rng(1))
    stale = np.full(splits * 9 * 35, 1e30, np.float32)
    runner = Runner(open_adapter("lavapipe"), variant, render(variant, "x"))
    seen = {runner.run({**made.inputs, "partials": stale}, sizes)["partials"] for _ in range(20)}
    assert len(seen) == 1
    assert made.expected["partials"].judge(seen.pop(), variant.tolerance()).element <= variant.tolerance().element


class TestPlans:
    def test_int8_and_parts_of_k_have_plans(self) -> None:
        product = Matmul(**Q2, route="int8", activation_group=64, num_splits=4)
        last = [SumSplits(num_splits=4), SumSplits(num_splits=4, epilogue="swiglu")]
        variants: list[Kernel] = [quantise_for(product), product, *last]
        found = plans.derive(variants)
        assert [[step.variant.NAME for step in plan.passes] for plan in found] == [
            ["quantize_q8", "matmul", "sum_splits"],
        ] * 2
        assert plans.derive([product, *last]) == ()

    def test_scratch_is_right_for_more_tokens_than_columns(self) -> None:
        product = Matmul(**Q2, route="int8", activation_group=64, num_splits=4)
        (plan,) = plans.derive([quantise_for(product), product, SumSplits(num_splits=4)])
        gpu = open_adapter("lavapipe")
        outcome = verify_on(gpu, plan, [Case(name="M > K", sizes={"M": 193, "N": 3, "K": 64})])
        assert outcome.status == "passed", outcome.problem
