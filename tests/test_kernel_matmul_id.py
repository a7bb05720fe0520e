"""`matmul_id` and `matvec_id`, which are two forms of one product, and their plan `linear_id`."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from cases.experts import SMALL, multiply_id
from cases.support import opened
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import formats, launch, layouts, plans
from wgslgen.adapters import SOFTWARE, Gpu
from wgslgen.compare import Close, compare
from wgslgen.errors import UsageProblem
from wgslgen.kernels.expert_rows import ExpertRows
from wgslgen.kernels.expert_sum import ExpertSum
from wgslgen.kernels.matmul_id import MatmulId
from wgslgen.kernels.matvec_id import MatvecId
from wgslgen.naming import variant_name
from wgslgen.oracles.expert_rows import random_ids
from wgslgen.oracles.matmul_id import pair_products, problem
from wgslgen.oracles.matvec import product, swiglu
from wgslgen.plan import Pass, Plan
from wgslgen.plans.linear import quantise_for
from wgslgen.session import Session
from wgslgen.spec import Case, Kernel, Tolerance
from wgslgen.verify import verify_on

Q2: dict[str, Any] = {"format": "q2_0", "group": 64, "step_words": 1}
SIZES = {"T": 5, "USED": 2, "EXPERTS": 3, "N": 7, "K": 192}


@pytest.fixture(scope="module", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return opened(str(request.param))


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"num_splits": 2}, "experts are tiles enough; leave num_splits out"),
            ({"epilogue": "residual"}, "added up by expert_sum; use epilogue store or swiglu"),
            ({"route": "lut"}, "route"),
            ({"tile_m": 4}, "tile_m"),
            ({"layout": "row4"}, "route tile reads layouts planar, ggml"),
            ({"x_of": "expert"}, "x_of"),
            ({"k": 32}, "k 32 is not a positive multiple of 64"),
        ],
    )
    def test_what_matmul_id_refuses(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            MatmulId(**{**Q2, "route": "tile", **constants})

    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"columns": 2}, "a pair is one column; leave columns at 1"),
            ({"layout": "row4"}, "experts are rows of one matrix; use layout planar instead of row4"),
            ({"layout": "planes"}, "experts are rows of one matrix; use layout planar instead of planes"),
            ({"route": "popcount"}, "route"),
            ({"epilogue": "residual"}, "epilogue"),
            ({"tile_rows": 8, "epilogue": "swiglu", "columns": 2}, "at most 16 sums a thread"),
            ({"n": 0}, "n 0 is not a positive multiple of 1"),
            ({"k": 32}, "k 32 is not a positive multiple of 64"),
        ],
    )
    def test_what_matvec_id_refuses(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            MatvecId(**{**Q2, "route": "float", **constants})

    def test_sizes_are_checked(self) -> None:
        many, few = MatmulId(**Q2, route="tile", n=7, k=192), MatvecId(**Q2, route="float", n=7, k=192)
        for variant in (many, few):
            for wrong, words in (
                ({"N": 8}, "N is baked in"),
                ({"K": 256}, "K is baked in"),
                ({"EXPERTS": 0}, "there is an expert to go to"),
            ):
                with pytest.raises(UsageProblem, match=words):
                    launch.plan(variant, {**SIZES, **wrong})
        with pytest.raises(UsageProblem, match="expert_rows has a place for 256"):
            launch.plan(many, {**SIZES, "EXPERTS": 257})
        assert launch.plan(few, {**SIZES, "EXPERTS": 257}).workgroups is not None

    def test_tiles_and_pairs_are_workgroups_and_c25_no_tokens_are_no_dispatch(self) -> None:
        many = launch.plan(MatmulId(**Q2, route="tile", **SMALL), {**SIZES, "N": 33})
        assert many.workgroups == ((2 + 4) * 2, 1, 1)
        few = launch.plan(MatvecId(**Q2, route="float", tile_rows=4), SIZES)
        assert few.workgroups == (10 * 2, 1, 1)
        assert many.uniform_bytes[:12] == few.uniform_bytes[:12] == struct.pack("<III", 5, 2, 3)
        for variant in (MatmulId(**Q2, route="tile"), MatvecId(**Q2, route="float")):
            assert launch.plan(variant, {**SIZES, "T": 0}).workgroups is None

    @pytest.mark.parametrize(("x_of", "rows_of_x"), [("token", 5), ("pair", 10)])
    def test_weights_are_those_of_all_experts_and_x_has_a_row_for_each_token_or_pair(
        self, x_of: str, rows_of_x: int
    ) -> None:
        for kind, route in ((MatmulId, "tile"), (MatvecId, "float")):
            base = {**Q2, "route": route, "layout": "ggml", "x_of": x_of}
            plain, gated = (kind.model_validate({**base, "epilogue": e}) for e in ("store", "swiglu"))
            one, two = (launch.plan(variant, SIZES).binding_bytes for variant in (plain, gated))
            assert one["x"] == two["x"] == rows_of_x * 192 * 4
            assert one["y"] == two["y"] == 10 * 7 * 4
            assert one["weights"] == 3 * 7 * 54 + 2  # padded to a word
            assert two["weights"] == 2 * 3 * 7 * 54

    def test_names_say_what_is_read(self) -> None:
        assert variant_name(MatvecId(**Q2, route="float", x_of="pair")).startswith("matvec_id_q2_0_g64_planar_m1_xf32_")
        name = variant_name(MatmulId(**Q2, route="tile", tile_m=16, thread_m=2, x_of="pair"))
        assert name.partition("__")[0] == "matmul_id_q2_0_g64_planar_xf32_yf32_m16_of_pair"

    def test_default_forms_need_no_feature_and_no_raised_limit(self) -> None:
        for route in ("tile", "int8"):
            variant = MatmulId(**Q2, route=route)
            assert variant.requirements.features == ()
            assert variant.raised_limits == {}
        assert MatvecId(**Q2, route="float").requirements.features == ()

    def test_plain_twins_compute_the_same(self) -> None:
        tuned = MatvecId(**Q2, route="float", x_of="pair", epilogue="swiglu", subgroups=True, n=7, k=192)
        block = {"route": "block", "layout": "ggml", "tile_rows": 1}
        assert tuned.plain() == MatvecId(**{**Q2, **block}, x_of="pair", epilogue="swiglu")
        tiles = MatmulId(**Q2, route="tile", x_of="pair", epilogue="swiglu", n=7).plain()
        assert (tiles.x_of, tiles.epilogue, tiles.n, tiles.layout, tiles.size.m) == ("pair", "swiglu", None, "ggml", 8)

    def test_a_plain_tile_holds_the_widest_step(self) -> None:
        wide = MatmulId(format="q1_0", route="tile", tile_m=8, thread_m=1, tile_n=16, tile_k=128)
        assert (wide.step_words, wide.step_span, wide.plain().tile_k) == (4, 128, 128)
        assert MatmulId(format="q4_0", route="tile", tile_k=64).plain().tile_k == 32


class TestOracle:
    def test_pairs_by_hand(self) -> None:
        """Expert 0 is [1, 0], expert 1 [0, 10]; an id of 2 gives zeros, and no magnitude."""
        weights, x = np.array([[1.0, 0.0], [0.0, 10.0]]), np.array([[1.0, -2.0], [1.0, -2.0], [3.0, 4.0], [3.0, 4.0]])
        ids = np.array([[0, 1], [2, 1]], np.uint32)
        values, magnitudes = pair_products({"epilogue": "store"}, weights, x, ids, 2)
        assert values.tolist() == [[1.0], [-20.0], [0.0], [40.0]]
        assert magnitudes.tolist() == [[1.0], [20.0], [0.0], [40.0]]

    def test_an_experts_first_rows_are_its_gate(self) -> None:
        """Expert 1 of two has rows 2 and 3: gate 2 x and up 3 x."""
        weights = np.array([[9.0], [9.0], [2.0], [3.0]])
        values, _ = pair_products({"epilogue": "swiglu"}, weights, np.array([[1.0]]), np.array([[1]], np.uint32), 2)
        np.testing.assert_allclose(values, [[2.0 / (1.0 + np.exp(-2.0)) * 3.0]])

    @pytest.mark.parametrize("x_of", ["token", "pair"])
    def test_what_a_pair_is_multiplied_with(self, x_of: Any, rng: np.random.Generator) -> None:
        variant = MatmulId(format="f32", layout="ggml", route="tile", x_of=x_of, **SMALL)
        sizes = {"T": 4, "USED": 2, "EXPERTS": 3, "N": 2, "K": 8}
        data = rng.standard_normal((6, 8)).astype(np.float32)
        made = problem(variant.model_dump(), sizes, rng, data.view(np.uint8))
        x = made.inputs["x"].astype(np.float64)
        assert x.shape == ((4 if x_of == "token" else 8), 8)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        tiles = made.inputs["tiles"].reshape(-1, 4)
        by_pair = {int(made.inputs["pairs"][f + at]): int(e) for e, f, count, _ in tiles for at in range(count)}
        assert sorted(by_pair) == [*range(8)]
        for pair, expert in by_pair.items():
            own = x[pair if x_of == "pair" else pair // 2]
            wanted = data[2 * expert : 2 * expert + 2].astype(np.float64) @ own if expert < 3 else np.zeros(2)
            np.testing.assert_allclose(expected.values[pair], wanted)


# ---- long rows ------------------------------------------------------------------------------------------


LONG: list[MatmulId | MatvecId] = [
    MatmulId(**Q2, route="tile", **SMALL),
    MatmulId(format="q6_K", route="int8", **SMALL),
    MatvecId(**Q2, route="float"),
    MatvecId(format="q8_0", route="int8", activation_group=32),
]


@pytest.mark.parametrize(("k", "bar"), [(4096, 1e-12), (16384, 1e-11)])
@pytest.mark.parametrize("variant", LONG, ids=variant_name)
def test_long_rows_stay_exact(variant: MatmulId | MatvecId, k: int, bar: float) -> None:
    case = Case(name="long", sizes={"T": 9, "USED": 2, "EXPERTS": 3, "N": 67, "K": k})
    outcome = verify_on(opened("lavapipe"), variant, [case])
    assert outcome.status == "passed", outcome.problem
    assert outcome.nmse <= bar


def test_long_rows_of_activations_of_1e5_stay_exact(rng: np.random.Generator) -> None:
    """On routes of floats; results go up to 1e7."""
    fmt = formats.get("q2_0", 64)
    data = fmt.quantise(rng.standard_normal((2 * 40, 4096)).astype(np.float32))
    x = (1e5 * rng.standard_normal((4, 4096))).astype(np.float32)
    ids = np.array([[0], [1], [1], [0]], np.uint32)
    values, magnitudes = pair_products({"epilogue": "store"}, fmt.unpack(data), x.astype(np.float64), ids, 2)
    bound = Tolerance(nmse=1e-12, element=2.0**-20, derivation="the bar of f32 operands")
    for variant in (LONG[0], LONG[2]):
        y = multiply_id(opened("lavapipe"), variant, data, x, ids, 2)
        assert np.abs(y).max() > 65504.0
        assert compare(y[:, 0], values, magnitudes, bound).problem is None


# ---- plans ----------------------------------------------------------------------------------------------


def linear_id(variant: MatmulId | MatvecId) -> Plan:
    """Return the plan of `variant`, whatever other passes it needs."""
    needed: list[Kernel] = [ExpertRows.model_validate({"tile_m": tile}) for tile in (8, 16)]
    needed += [quantise_for(variant)] if variant.route == "int8" else []
    (plan,) = plans.derive([*needed, variant])
    return plan


WAYS: list[tuple[MatmulId | MatvecId, list[str]]] = [
    (MatmulId(**Q2, route="tile", **SMALL), ["expert_rows", "matmul_id"]),
    (
        MatmulId(**Q2, route="int8", activation_group=64, x_of="pair", **SMALL),
        ["expert_rows", "quantize_q8", "matmul_id"],
    ),
    (MatvecId(**Q2, route="int8", activation_group=64, epilogue="swiglu"), ["quantize_q8", "matvec_id"]),
]


class TestPlans:
    @pytest.mark.parametrize(("variant", "passes"), WAYS, ids=lambda way: "-".join(way) if type(way) is list else "")
    def test_a_caller_gives_ids_and_x(self, variant: MatmulId | MatvecId, passes: list[str], gpu: Gpu) -> None:
        plan = linear_id(variant)
        assert [step.variant.NAME for step in plan.passes] == passes
        assert {b.name for b in plan.buffers if b.role == "input"} == {"ids", "x", "codes", "scales"}
        outcome = verify_on(gpu, plan)
        assert outcome.status == "passed", outcome.problem

    def test_one_pass_is_no_plan_and_tiles_of_another_size_make_none(self) -> None:
        assert plans.derive([MatvecId(**Q2, route="float")]) == ()
        assert plans.derive([MatmulId(**Q2, route="tile", **SMALL), ExpertRows(tile_m=16)]) == ()

    def test_c38_the_host_names_the_bad_id(self, rng: np.random.Generator) -> None:
        """At the start, and when it writes ids later."""
        for variant, names in ((WAYS[0][0], "expert_rows"), (WAYS[2][0], "matvec_id")):
            plan, fmt = linear_id(variant), variant.weight_format
            session = Session(opened("lavapipe"), plan.variants)
            count = 21 * variant.matrices
            weights = layouts.pack(fmt, "planar", fmt.random_blocks(count, 192, rng), count, 192)
            ids = np.zeros((5, 2), np.uint32)
            ids[2, 0] = 3
            session.hold_inputs(plan, SIZES, {**weights, "x": np.ones((5, 192), np.float32), "ids": ids})
            with pytest.raises(UsageProblem, match=rf"{names}.*ids\[4\] is 3; expected a number from 0 to 2"):
                session.add(plan, SIZES)
            session.write("ids", np.zeros((5, 2), np.uint32))
            session.add(plan, SIZES)
            with pytest.raises(UsageProblem, match=rf"{names}.*ids\[4\] is 3; expected a number from 0 to 2"):
                session.write("ids", ids)


@pytest.mark.parametrize("t", [1, 6])
def test_a_block_of_experts(t: int, gpu: Gpu, rng: np.random.Generator) -> None:
    """Gate and up, down, and the weighted sum upon the hidden state: what a layer takes, with one set of ids."""
    used, experts, width, inner, fmt = 3, 5, 64, 128, formats.get("q8_0")
    few = t == 1
    tile: dict[str, Any] = {"route": "float"} if few else {"route": "tile", **SMALL}
    kind = MatvecId if few else MatmulId
    gate_up = kind.model_validate({"format": "q8_0", "epilogue": "swiglu", **tile})
    down = kind.model_validate({"format": "q8_0", "x_of": "pair", **tile})
    first = () if few else (Pass(variant=ExpertRows(tile_m=8)),)
    plan = Plan(
        name="block",
        op="block",
        doc="what a layer's experts add to the hidden state",
        sizes=("T", "USED", "EXPERTS", "WIDTH", "INNER"),
        outputs=("hidden",),
        passes=(
            *first,
            Pass(variant=gate_up, buffers={"y": "inner"}, sizes={"N": "INNER", "K": "WIDTH"}),
            Pass(
                variant=down,
                buffers={"codes": "down_codes", "scales": "down_scales", "x": "inner", "y": "each"},
                sizes={"N": "WIDTH", "K": "INNER"},
            ),
            Pass(variant=ExpertSum(residual=True), buffers={"x": "each", "y": "hidden"}, sizes={"N": "WIDTH"}),
        ),
    )
    ids = random_ids({"T": t, "USED": used, "EXPERTS": experts}, rng, beyond=False)
    first_rows = fmt.quantise(rng.standard_normal((experts * 2 * inner, width)).astype(np.float32) * np.float32(0.125))
    last_rows = fmt.quantise(rng.standard_normal((experts * width, inner)).astype(np.float32) * np.float32(0.125))
    x, hidden = (rng.standard_normal((t, width)).astype(np.float32) for _ in range(2))
    gates = rng.random((t, used)).astype(np.float32)
    inputs: dict[str, NDArray[Any]] = {"ids": ids, "x": x, "hidden": hidden, "gates": gates}
    inputs |= layouts.pack(fmt, "planar", first_rows, len(first_rows), width)
    packed = layouts.pack(fmt, "planar", last_rows, len(last_rows), inner)
    inputs |= {f"down_{name}": words for name, words in packed.items()}
    sizes = {"T": t, "USED": used, "EXPERTS": experts, "WIDTH": width, "INNER": inner}
    session = Session(gpu, plan.variants)
    session.hold_inputs(plan, sizes, inputs)
    session.add(plan, sizes)
    session.submit()
    expected = hidden.astype(np.float64)
    both, back = (fmt.unpack(each).reshape(experts, -1, k) for each, k in ((first_rows, width), (last_rows, inner)))
    for at, use in np.ndindex(t, used):
        sums, added = product(both[ids[at, use]], x[at : at + 1].astype(np.float64))
        made, _ = swiglu(sums[:, :inner], sums[:, inner:], added[:, :inner], added[:, inner:])
        expected[at] += gates[at, use] * product(back[ids[at, use]], made)[0][0]
    np.testing.assert_allclose(session.read("hidden", np.float32).reshape(t, width), expected, rtol=2e-5, atol=2e-5)
