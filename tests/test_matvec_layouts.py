"""matvec on layouts row4 and planes: what is refused, what is bound, and what the popcount oracle is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import formats, launch, layouts, plans
from wgslgen.adapters import SOFTWARE
from wgslgen.compare import Close
from wgslgen.errors import UsageProblem
from wgslgen.formats.base import Format, ScaledFormat
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.kernels.matvec import Matvec
from wgslgen.oracles.binarize import binarise, words
from wgslgen.oracles.matvec import as_read, problem, product, random_weights, word_product
from wgslgen.plans.linear import binarize_for
from wgslgen.render import render
from wgslgen.verify import verify

ROW4: dict[str, Any] = {"format": "q1_0", "layout": "row4", "route": "float"}
PLANES: dict[str, Any] = {
    "format": "q2_0",
    "group": 64,
    "layout": "planes",
    "route": "popcount",
    "activation_group": 32,
    "step_words": 1,
}


def _scaled(fmt: Format) -> ScaledFormat:
    assert isinstance(fmt, ScaledFormat)
    return fmt


class TestRefusals:
    @pytest.mark.parametrize(
        ("constants", "said"),
        [
            ({**ROW4, "tile_rows": 2}, "layout row4 loads 4 rows at once; use tile_rows 4 or 8"),
            ({**ROW4, "route": "block", "step_words": 1}, "use layout ggml and step_words 1"),
            ({**ROW4, "format": "f16"}, "f16 has no scales to part from the codes; use layout ggml"),
            ({**ROW4, "format": "q4_0", "n": 6}, "n 6 is not a positive multiple of 4"),
            ({**ROW4, "route": "popcount"}, "layout planes and route popcount go together: use both, or neither"),
            ({**PLANES, "route": "float", "activation_group": None}, "layout planes and route popcount go together"),
            (
                {**PLANES, "format": "q4_0", "group": 32},
                r"q4_0 is not made of words of 32 weights -d, 0 and \+d; use layout planar",
            ),
            ({**PLANES, "activation_group": None}, "route popcount needs activation_group"),
            ({**PLANES, "activation_group": 128}, "activation_group 128 does not divide the block of 64 weights"),
            ({**PLANES, "step_words": 4}, "a block of q2_0 has 2 words of a plane; step_words 4 does not fit"),
            ({**PLANES, "step_words": 2}, "a step of 64 weights reaches over activation_group 32"),
            ({**PLANES, "activation": "f16"}, "route popcount reads what binarize wrote; leave activation at f32"),
        ],
    )
    def test_what_does_not_go_together(self, constants: dict[str, Any], said: str) -> None:
        with pytest.raises(ValidationError, match=said):
            Matvec(**constants)

    @pytest.mark.parametrize("layout", ["row4", "planes"])
    def test_get_rows_reads_neither(self, layout: str) -> None:
        with pytest.raises(ValidationError, match="Input should be 'ggml' or 'planar'"):
            GetRows.model_validate({"format": "q1_0", "layout": layout})

    @pytest.mark.parametrize("n", [1, 6, 151669])
    def test_part_tiles_are_refused_with_the_rule(self, n: int) -> None:
        said = f"N = {n}, K = 128 breaks N % ROW_TILE == 0, because layout row4 stores 4 rows together"
        with pytest.raises(UsageProblem, match=said):
            launch.plan(Matvec(**ROW4), {"N": n, "K": 128})
        launch.plan(Matvec(format="q1_0", route="float"), {"N": n, "K": 128})


class TestBindings:
    @pytest.mark.parametrize("epilogue", ["store", "swiglu"])
    @pytest.mark.parametrize("group", [(name, None) for name in ("q1_0", "q4_0", "q4_1", "q8_0")] + [("q2_0", 128)])
    def test_weights_take_the_bytes_that_pack_makes(self, group: tuple[str, int | None], epilogue: str) -> None:
        fmt = formats.get(*group)
        constants: dict[str, Any] = {"format": fmt.name, "group": group[1], "epilogue": epilogue, "columns": 2}
        ways: list[dict[str, Any]] = [{"layout": "row4", "route": "float", "tile_rows": 4}]
        if fmt.bits <= 2:
            ways.append({"layout": "planes", "route": "popcount", "activation_group": 128})
        n, k = 8, 3 * 128
        for way in ways:
            planned = launch.plan(Matvec(**constants, **way), {"N": n, "K": k}).binding_bytes
            rows = 2 * n if epilogue == "swiglu" else n
            for plane, size in layouts.plane_sizes(fmt, way["layout"], rows, k).items():
                assert planned[plane] == 4 * size.words, plane

    def test_activations_of_popcount_are_what_binarize_writes(self) -> None:
        planned = launch.plan(Matvec(**PLANES, columns=3), {"N": 5, "K": 192}).binding_bytes
        assert (planned["x1"], planned["x_scale"]) == (3 * 192 // 8, 3 * 192 // 32 * 4)

    def test_docs_say_how_rows_lie(self) -> None:
        def docs(variant: Matvec) -> list[str]:
            return [binding.doc for binding in variant.bindings()]

        assert docs(Matvec(**ROW4, epilogue="swiglu", tile_rows=4))[0] == "codes [2][N / 4][K * 1 / 32][4 rows] u32"
        assert docs(Matvec(**ROW4))[1] == "f16 scales in pairs, [N / 4][K / 128][4 rows]"
        assert docs(Matvec(**PLANES))[0] == "a bit for each weight that is +d, [N][K / 32] u32"


class TestTwins:
    def test_the_plain_twin_of_row4_reads_the_files_bytes(self) -> None:
        plain = Matvec(**{**ROW4, "tile_rows": 8}, subgroups=True, epilogue="residual").plain()
        assert plain == Matvec(
            format="q1_0", layout="ggml", route="block", step_words=1, tile_rows=1, epilogue="residual"
        )

    def test_the_plain_twin_of_popcount_stays_with_the_signs(self) -> None:
        plain = Matvec(**{**PLANES, "activation_group": 64, "step_words": 2}, subgroups=True).plain()
        assert plain == Matvec(**{**PLANES, "activation_group": 64}, tile_rows=1)

    @pytest.mark.parametrize("kernel", [Matvec, LmHeadArgmax])
    def test_all_shape_classes_are_whole_tiles(self, kernel: type[Matvec | LmHeadArgmax]) -> None:
        for tile_rows in (4, 8):
            sizes = [case.sizes["N"] for case in kernel(**{**ROW4, "tile_rows": tile_rows}).cases()]
            assert all(n % 4 == 0 for n in sizes)
            assert min(sizes) == 4
            assert tile_rows == 4 or any(n % tile_rows for n in sizes if n > tile_rows)


def test_popcount_multiplies_nothing_within_a_step() -> None:
    """Products stand in the walk's indices and behind the count alone."""
    text = render(Matvec(**PLANES), "x")
    body = text[text.index("fn multiply") : text.index("}", text.index("fn multiply"))]
    assert body.count("*") == 2
    assert "return f32(agreeing + agreeing - weights.nonzero) * (scale * x.scale);" in body
    decode = text[text.index("fn decode_step") : text.index("}", text.index("fn decode_step"))]
    assert "*" not in decode


@pytest.mark.parametrize("adapter", SOFTWARE)
def test_the_plan_linear_binarises_and_counts(adapter: str) -> None:
    constants: dict[str, Any] = {**PLANES, "activation_group": 64, "step_words": 2, "tile_rows": 2, "columns": 2}
    variant = Matvec(**constants, subgroups=True)
    made = plans.derive([variant, binarize_for(variant)])
    assert [plan.doc for plan in made] == ["y = W x with x rounded to signs in groups"]
    assert [(o.status, o.problem) for o in verify(made, [adapter])] == [("passed", None)]


@pytest.mark.parametrize("adapter", SOFTWARE)
def test_the_plan_linear_argmax_binarises_and_counts(adapter: str) -> None:
    head, merge = LmHeadArgmax(**PLANES), ArgmaxMerge(value=True)
    made = plans.derive([head, merge, binarize_for(head)])
    assert [[p.variant.NAME for p in plan.passes] for plan in made] == [["binarize", "lm_head_argmax", "argmax_merge"]]
    assert [(o.status, o.problem) for o in verify(made, [adapter])] == [("passed", None)]


class TestOracle:
    def test_x_stands_for_its_signs_and_means(self) -> None:
        x = np.array([[1.0, -3.0, 0.0, *[2.0] * 29]], np.float32)
        read, exact = as_read(Matvec(**PLANES).model_dump(), formats.get("q2_0", 64), x)
        scale = np.float32(62 / 32)
        assert exact[0, :4].tolist() == [scale, -scale, scale, scale]
        assert read["x1"].tolist() == [[0xFFFFFFFD]]
        assert read["x_scale"].tolist() == [[scale]]

    def test_the_formula_is_the_product(self, rng: np.random.Generator) -> None:
        """2 (popcount(P & X) - popcount(N & X)) - popcount(P) + popcount(N), from the packed words."""
        fmt, (n, k, group) = formats.get("q2_0", 64), (5, 192, 32)
        constants = Matvec(**PLANES).model_dump()
        data = random_weights(constants, fmt, n, k, rng)
        made = problem(constants, {"N": n, "K": k}, rng, data)
        planes = {name: made.inputs[name].reshape(n, k // 32) for name in ("plus", "minus")}
        p, m = planes["plus"], planes["minus"]
        x = made.inputs["x1"]
        ones = np.bitwise_count
        dots = 2 * (ones(p & x).astype(int) - ones(m & x)) - ones(p).astype(int) + ones(m)
        scales = _scaled(fmt).split(data).scales.astype(np.float64).repeat(2, axis=1)
        values = (dots * scales * made.inputs["x_scale"].astype(np.float64)).sum(axis=1)
        half = 2 * ones(p & x | m & ~x).astype(int) - ones(p | m)
        np.testing.assert_array_equal(half, dots)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        np.testing.assert_allclose(expected.values, [values], rtol=1e-12)
        assert group == constants["activation_group"]

    def test_magnitudes_are_those_of_the_words_sums(self, rng: np.random.Generator) -> None:
        weights, x = rng.standard_normal((4, 64)), rng.standard_normal((2, 64))
        values, magnitudes = word_product(weights, x)
        wide = product(weights, x)
        np.testing.assert_allclose(values, wide[0], atol=1e-12)
        assert (magnitudes < wide[1]).all()
        assert (magnitudes >= np.abs(values)).all()

    def test_random_weights_for_planes_hold_all_that_planes_can(self, rng: np.random.Generator) -> None:
        fmt = formats.get("q2_0", 64)
        for layout, codes in (("planes", {0, 1, 2}), ("row4", {0, 1, 2, 3})):
            data = random_weights({"layout": layout}, fmt, 4, 256, rng)
            assert {*_scaled(fmt).split(data).codes.ravel().tolist()} == codes

    @pytest.mark.parametrize("wrong", ["signs", "planes", "scale"])
    def test_what_is_off_is_rejected(self, wrong: str, rng: np.random.Generator) -> None:
        variant = Matvec(**PLANES)
        made = problem(variant.model_dump(), {"N": 40, "K": 256}, rng)
        expected = made.expected["y"]
        assert isinstance(expected, Close)
        off = {"signs": -expected.values, "planes": expected.values[:, ::-1], "scale": expected.values * 1.02}[wrong]
        right = expected.values.astype(np.float32)
        assert expected.judge(right.tobytes(), variant.tolerance()).problem is None
        assert expected.judge(off.astype(np.float32).tobytes(), variant.tolerance()).problem is not None

    def test_binarised_words_are_row_major(self) -> None:
        x = np.zeros((2, 64))
        x[1, 32:] = -1.0
        assert words(binarise(x, 32).positive).tolist() == [[0xFFFFFFFF, 0xFFFFFFFF], [0xFFFFFFFF, 0]]
