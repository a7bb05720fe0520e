from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.support import opened, rows, run_matvec, runner, widest
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import formats, launch, layouts, plans
from wgslgen.adapters import SOFTWARE, Gpu
from wgslgen.compare import Close
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name
from wgslgen.oracles.matvec import problem, product, swiglu
from wgslgen.plans.linear import quantise_for
from wgslgen.render import render

EPILOGUES = ("store", "residual", "swiglu")


@pytest.fixture(scope="module", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return opened(str(request.param))


def variant(**constants: Any) -> Matvec:
    return Matvec(**{"format": "q2_0", "group": 64, "route": "float", **constants})


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"tile_rows": 8, "columns": 4}, "tile_rows x columns is 32; at most 16 sums a thread"),
            (
                {"tile_rows": 4, "columns": 3, "epilogue": "swiglu"},
                "tile_rows x columns x 2 matrices is 24; at most 16 sums a thread",
            ),
            ({"epilogue": "relu"}, "epilogue"),
            ({"epilogue": None}, "epilogue"),
            ({"n": 0}, "n 0 is not a positive multiple of 1"),
            ({"k": 96}, "k 96 is not a positive multiple of 64"),
            ({"route": "block"}, "use layout ggml and step_words 1"),
            ({"route": "int8"}, "route int8 needs activation_group"),
            (
                {"activation_group": 32},
                "activation_group belongs to routes int8 and popcount; leave it out with route fl",
            ),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            variant(**constants)

    def test_the_epilogue_is_what_is_computed_and_storing_is_not_worth_a_word(self) -> None:
        names = [variant_name(variant(epilogue=epilogue, n=64)) for epilogue in EPILOGUES]
        tuned = "__w4_float_rows4_wg64"
        assert names == [f"matvec_q2_0_g64_planar_m1_xf32_yf32_n64{tag}{tuned}" for tag in ("", "_residual", "_swiglu")]

    def test_a_gate_has_twice_the_weights_and_sums_for_the_same_results(self) -> None:
        for layout in ("ggml", "planar"):
            base = {"layout": layout, "columns": 2, "tile_rows": 4}
            plain, gated = (variant(epilogue=epilogue, **base) for epilogue in ("store", "swiglu"))
            sizes = {"N": 7, "K": 192}
            one, two = launch.plan(plain, {**sizes, "N": 14}), launch.plan(gated, sizes)
            del one.binding_bytes["y"]
            assert two.binding_bytes.pop("y") == 2 * 7 * 4
            assert two.binding_bytes == one.binding_bytes
            assert two.workgroups == (2, 1, 1)
            assert (plain.const_values["REDUCE_VALUES"], gated.const_values["REDUCE_VALUES"]) == (8, 16)
        assert "codes [2][N][K * 2 / 32] u32" in render(gated, "x")

    def test_the_plain_twin_keeps_the_epilogue(self) -> None:
        for epilogue in EPILOGUES:
            plain = variant(epilogue=epilogue, subgroups=True, n=8, k=64, tile_rows=2).plain()
            tuned = {"route": "block", "layout": "ggml", "step_words": 1, "tile_rows": 1}
            assert plain == variant(epilogue=epilogue, **tuned)


class TestOracle:
    def test_swiglu_by_hand(self) -> None:
        gate = np.array([[-200.0, -1.0, 0.0, 1.0, 100.0, 1e30]])
        values, moved = swiglu(gate, np.full((1, 6), 2.0), np.abs(gate), np.full((1, 6), 3.0))
        np.testing.assert_allclose(values[0, 1:], [-0.5378828427, 0.0, 1.4621171573, 200.0, 2e30], rtol=1e-9)
        assert abs(values[0, 0]) < 1e-80
        np.testing.assert_allclose(moved[0, 3], 1.1 * (2.0 + 3 * 2.0**-20) + 3 * 0.7310585786, rtol=1e-9)

    def test_no_error_of_the_sums_moves_swiglu_further_than_said(self, rng: np.random.Generator) -> None:
        share = 2.0**-20
        sizes = np.exp2(rng.uniform(-10.0, 6.0, (2, 1, 4000)))
        sums = rng.uniform(-1.0, 1.0, (2, 1, 4000)) * sizes * rng.choice([1.0, 1.0, 1e-9, 0.0], (2, 1, 4000))
        value, moved = swiglu(sums[0], sums[1], sizes[0], sizes[1])
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            gate, up = (sums[i] + signs[i] * share * sizes[i] for i in (0, 1))
            off, _ = swiglu(gate, up, sizes[0], sizes[1])
            assert (np.abs(off - value) <= share * moved * (1 + 1e-9)).all()

    def test_the_first_rows_are_the_gate(self, rng: np.random.Generator) -> None:
        data = np.array([[0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 0.0]], np.float32).view(np.uint8)
        constants = Matvec(format="f32", layout="ggml", route="float", epilogue="swiglu").model_dump()
        made = problem(constants, {"N": 1, "K": 4}, rng, data)
        x = made.inputs["x"].astype(np.float64)[0]
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        np.testing.assert_allclose(expected.values, [[x[3] / (1 + np.exp(-x[3])) * 2 * x[0]]])

    @pytest.mark.parametrize("output", ["f32", "f16"])
    def test_residuals_hold_zeros_both_signs_and_many_magnitudes_and_are_added(self, output: Any) -> None:
        constants = [variant(epilogue=e, output=output, columns=2).model_dump() for e in ("store", "residual")]
        sizes = {"N": 64, "K": 64}
        plain, added = (problem(c, sizes, np.random.default_rng(3)) for c in constants)
        y = added.inputs["y"].astype(np.float64)
        assert (y == 0.0).any()
        assert y.min() < -100.0
        assert y.max() > 100.0
        one, two = plain.expected["y"], added.expected["y"]
        assert isinstance(one, Close)
        assert isinstance(two, Close)
        np.testing.assert_array_equal(two.values, one.values + y)
        assert np.abs(two.values).max() < 65504.0 or output == "f32"


# ---- on devices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("subgroups", [False, True])
def test_c04_a_gate_is_finite_for_every_gate(subgroups: bool, gpu: Gpu) -> None:
    """Behind an identity matrix for the gate and one of the same row for up, so that up is 1."""
    gate = np.array([-1e38, -200, -100, -89, -88, 0, 88, 89, 100, 200, 1e38, 1.0], np.float32)
    k = gate.size
    weights = np.zeros((2 * (k - 1), k), np.float32)
    weights[: k - 1, : k - 1] = np.eye(k - 1)
    weights[k - 1 :, k - 1] = 1.0
    used = Matvec(format="f32", layout="ggml", route="float", epilogue="swiglu", subgroups=subgroups)
    inputs: dict[str, NDArray[Any]] = {"weights": weights, "x": gate}
    y = np.frombuffer(runner(gpu, used).run(inputs, {"N": k - 1, "K": k})["y"], np.float32)
    np.testing.assert_array_equal(y[5:], np.array([0, 88, 89, 100, 200, 1e38], np.float32))
    assert (np.abs(y[:5]) < 1e-30).all()


def test_f16_results_of_every_epilogue_stay_at_the_end_of_their_range() -> None:
    used: dict[str, Any] = {"format": "f32", "layout": "ggml", "route": "float", "output": "f16", "tile_rows": 1}
    gpu = opened("lavapipe")
    for epilogue, x in (("store", 1e6), ("residual", 70000.0), ("swiglu", 1e4)):
        inputs: dict[str, NDArray[Any]] = {"weights": np.eye(4, dtype=np.float32)[[0, 0]], "x": np.full(4, x, "f4")}
        n = 1 if epilogue == "swiglu" else 2
        inputs |= {"y": np.array([-1.0, 60000.0], np.float16)} if epilogue == "residual" else {}
        raw = runner(gpu, Matvec(**{**used, "epilogue": epilogue})).run(inputs, {"N": n, "K": 4})["y"]
        assert set(np.frombuffer(raw, np.float16, n).tolist()) == {65504.0}, epilogue


@pytest.mark.parametrize(("fmt", "group"), [("q1_0", 128), ("q2_0", 64), ("q8_0", 32), ("q4_1", 32), ("f16", None)])
@pytest.mark.parametrize(("q", "kv", "blocks"), [(3, 1, 1), (4, 2, 3), (9, 3, 2)])
def test_q_k_and_v_are_one_product_of_stacked_rows(
    fmt: str, group: int | None, q: int, kv: int, blocks: int, gpu: Gpu, rng: np.random.Generator
) -> None:
    """The parts' blocks may be odd in number, so that a word of planar scales holds two parts' scales."""
    kind = formats.get(fmt, group)
    k = blocks * (kind.group if kind.quantised else 32)
    parts = [kind.random_blocks(n, k, rng) for n in (q, kv, kv)]
    stacked = np.concatenate(parts)
    x = rng.standard_normal((2, k)).astype(np.float32)
    products = [product(kind.unpack(part), x.astype(np.float64)) for part in parts]
    values, magnitudes = (np.concatenate(both, axis=1) for both in zip(*products, strict=True))
    for layout in ("planar", "ggml") if kind.quantised else ("ggml",):
        used = widest(Matvec, format=fmt, group=group, layout=layout, route="float", columns=2)
        y = run_matvec(gpu, used, stacked, x)
        verdict = Close(values, magnitudes, np.dtype(np.float32)).judge(
            y.astype(np.float32).tobytes(), used.tolerance()
        )
        assert verdict.problem is None
        apart = np.concatenate([run_matvec(gpu, used, part, x) for part in parts], axis=1)
        np.testing.assert_array_equal(y, apart)


def test_planes_of_odd_parts_cannot_be_put_together() -> None:
    """Why the bytes are stacked first: each odd part would bring a word that is half empty."""
    kind = formats.get("q2_0", 64)
    part = rows([(0x3C003C00).to_bytes(4, "little")[:2] + bytes(16)])
    one, both = (layouts.pack(kind, "planar", np.tile(part, n), n, 64) for n in (1, 2))
    assert [*both["scales"]] == [0x3C003C00]
    assert [*np.tile(one["scales"], 2)] == [0x3C00, 0x3C00]


def test_the_plan_linear_is_for_what_is_stored() -> None:
    """The other epilogues are passes of a layer, whose plan holds the quantising, too."""
    constants: dict[str, Any] = {"route": "int8", "activation_group": 64, "tile_rows": 2}
    variants = [variant(**constants, epilogue=epilogue) for epilogue in EPILOGUES]
    made = plans.derive([*variants, quantise_for(variants[0])])
    assert [plan.passes[1].variant for plan in made] == variants[:1]
