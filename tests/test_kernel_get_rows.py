from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import formats, launch, layouts
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.compare import Nearest
from wgslgen.errors import UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.get_rows import GetRows
from wgslgen.naming import variant_name
from wgslgen.oracles.get_rows import mixed_ids, problem, rows
from wgslgen.render import render


def variants() -> Iterator[Any]:
    """Yield a variant for each format, group and layout, with the widest step."""
    for kind in formats.FORMATS:
        for group in kind.groups:
            words = formats.get(kind.name, group).code_words if kind.quantised else 4
            widest = min(4, words & -words) if kind.step is None else None
            for layout in ("ggml", "planar") if kind.quantised else ("ggml",):
                variant = GetRows.model_validate(
                    {"format": kind.name, "group": group, "layout": layout, "step_words": widest}
                )
                yield pytest.param(variant, id=f"{kind.name}-{group}-{layout}")


def whole(n: int, k: int, r: int) -> dict[str, int]:
    """Return the sizes of a look-up of `r` ids in a table that one dispatch binds."""
    return {"N": n, "K": k, "R": r, "FIRST_ROW": 0, "ROWS": n}


@pytest.fixture(scope="module")
def lavapipe() -> Gpu:
    return open_adapter("lavapipe")


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "words"),
        [
            ({"format": "f32"}, "f32 has no scales to part from the codes; use layout ggml"),
            (
                {"format": "f16", "layout": "ggml", "step_words": 1},
                "f16 is decoded 2 words at a time",
            ),
            ({"format": "q1_0", "group": 32}, "a block of q1_0 has 1 code words"),
            ({"format": "q2_0"}, "q2_0 needs a group"),
            ({"format": "q4_0", "k": 48}, "k 48 is not a positive multiple of 32"),
            ({"format": "q4_0", "k": 0}, "k 0 is not a positive multiple of 32"),
            ({"format": "q4_0", "n": 7}, "n\n  Extra inputs are not permitted"),
            ({"format": "q4_0", "workgroup_size": 512}, "workgroup_size"),
        ],
    )
    def test_constants_that_do_not_go_together_are_refused(self, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError) as caught:
            GetRows(**constants)
        assert words in str(caught.value)

    def test_sizes_that_are_not_whole_blocks_or_not_the_baked_ones_are_refused(self) -> None:
        with pytest.raises(UsageProblem, match="a row must be whole blocks of 32 weights"):
            launch.plan(GetRows(format="q8_0"), whole(3, 40, 1))
        with pytest.raises(UsageProblem, match="K is baked in"):
            launch.plan(GetRows(format="q8_0", k=64), whole(3, 96, 1))

    def test_an_id_is_a_workgroup_and_c25_no_ids_are_no_dispatch(self) -> None:
        assert launch.plan(GetRows(format="q8_0"), whole(3, 64, 5)).workgroups == (5, 1, 1)
        assert launch.plan(GetRows(format="q8_0"), whole(3, 64, 0)).workgroups is None

    def test_n_is_a_uniform_even_where_k_is_baked(self) -> None:
        assert [field.name for field in GetRows(format="q8_0", k=64).uniforms()] == ["n", "r", "first_row", "rows"]
        assert [field.name for field in GetRows(format="q8_0").uniforms()] == ["n", "r", "k", "first_row", "rows"]

    def test_a_chunk_lies_within_the_table_and_a_row_is_a_u32(self) -> None:
        variant, sizes = GetRows(format="q8_0"), {"N": 3, "K": 64, "R": 1, "FIRST_ROW": 7}
        assert launch.plan(variant, {**sizes, "ROWS": 10}).workgroups == (1, 1, 1)
        with pytest.raises(UsageProblem, match=r"breaks FIRST_ROW \+ N <= ROWS, because the chunk's rows are among"):
            launch.plan(variant, {**sizes, "ROWS": 9})
        with pytest.raises(UsageProblem, match="ROWS is 4294967296; expected a whole number from 0 to"):
            launch.plan(variant, {**sizes, "ROWS": 2**32})

    @pytest.mark.parametrize("output", ["f32", "f16"])
    def test_shape_classes_have_ids_in_below_and_above_a_chunk_and_out_of_range(
        self, output: str, rng: np.random.Generator
    ) -> None:
        variant = GetRows.model_validate({"format": "q8_0", "output": output})
        for case in variant.cases()[-2:]:
            sizes = case.sizes
            ids = problem(variant.model_dump(), sizes, rng).inputs["ids"].astype(np.int64)
            first, end = sizes["FIRST_ROW"], sizes["FIRST_ROW"] + sizes["N"]
            assert {first, end - 1, end, sizes["ROWS"]} <= {*ids.tolist()}
            assert first == 0 or first - 1 in ids

    def test_f32_results_need_no_feature(self) -> None:
        assert GetRows(format="f16", layout="ggml").requirements.features == ()
        assert GetRows(format="f16", layout="ggml", output="f16").requirements.features == ("shader-f16",)


class TestOracle:
    def test_rows_of_hand_written_blocks(self) -> None:
        # Row 0: d = 0.25, all nibbles 8 but byte 1 = 0x3c; row 1: d = -1, all bytes 0xf0.
        data = np.array(
            [[0x00, 0x34, 0x88, 0x3C, *[0x88] * 14], [0x00, 0xBC, *[0xF0] * 16]],
            dtype=np.uint8,
        )
        found = rows(formats.get("q4_0").unpack(data), np.array([1, 0, 1], np.uint32), np.full((3, 32), np.nan))
        assert found[0].tolist() == found[2].tolist() == [8.0] * 16 + [-7.0] * 16
        assert np.flatnonzero(found[1]).tolist() == [1, 17]
        assert found[1, [1, 17]].tolist() == [1.0, -1.25]

    def test_c38_ids_from_n_on_give_zeros(self) -> None:
        weights = np.ones((3, 4))
        ids = np.array([2, 3, 2**32 - 1, 2**32 - 2, 2**31, 0], dtype=np.uint32)
        assert rows(weights, ids, np.full((6, 4), np.nan)).sum(axis=1).tolist() == [4, 0, 0, 0, 0, 4]

    def test_a_chunk_leaves_the_rows_of_others_and_the_first_one_gives_the_zeros(self) -> None:
        weights = np.arange(1.0, 5.0)[:, None]
        ids = np.array([0, 3, 4, 7, 8, 9, 10, 2**32 - 1], dtype=np.uint32)
        before = np.full((len(ids), 1), -1.0)
        assert rows(weights, ids, before, 4, 10).ravel().tolist() == [-1, -1, 1, 4, -1, -1, -1, -1]
        assert rows(weights, ids, before, 0, 10).ravel().tolist() == [1, 4, -1, -1, -1, -1, 0, 0]

    def test_ids_start_with_the_last_row_and_the_first_id_out_of_range(self, rng: np.random.Generator) -> None:
        assert mixed_ids(5, 4, rng).tolist() == [4, 5, 0, 2**32 - 1]
        ids = mixed_ids(5, 40, rng)
        assert set(ids.tolist()) >= {0, 1, 2, 3, 4, 5, 2**32 - 1, 2**32 - 2, 2**31}
        assert len(ids) == 40
        assert mixed_ids(5, 9, rng, 7, 19).tolist() == [11, 19, 7, 2**32 - 1, 11, 2**32 - 2, 2**31, 6, 12]

    def test_f16_results_stay_at_the_end_of_their_range(self, rng: np.random.Generator) -> None:
        data = np.array([[0xFF, 0x7B, *[0xFF] * 16]], dtype=np.uint8)  # d = 65504, all codes 15
        constants = {"format": "q4_0", "group": None, "layout": "ggml", "output": "f16"}
        made = problem(constants, whole(1, 32, 1), rng, data)
        expected = made.expected["y"]
        assert isinstance(expected, Nearest)
        assert set(expected.values.ravel().tolist()) == {65504.0}


class TestC38:
    @pytest.mark.parametrize("wrong", [-1, 151669, 4294967294])
    def test_c38_the_host_names_the_bad_id(self, wrong: int) -> None:
        variant = GetRows(format="q8_0")
        ids = np.array([0, 151668, wrong], dtype=np.int64)
        with pytest.raises(UsageProblem) as caught:
            launch.check_values(variant, {"ids": ids}, whole(151669, 128, 3))
        said = f"{variant_name(variant)}: ids[2] is {wrong}; expected a number from 0 to 151668"
        assert str(caught.value) == said

    def test_c38_good_ids_pass(self) -> None:
        variant = GetRows(format="q8_0")
        launch.check_values(variant, {"ids": np.array([0, 4], dtype=np.uint32)}, whole(5, 128, 2))
        launch.check_values(variant, {"ids": np.array([], dtype=np.uint32)}, whole(0, 128, 0))

    @pytest.mark.parametrize("variant", [*variants()])
    def test_c38_without_the_host_the_kernel_gives_zeros_and_the_last_row(
        self, variant: GetRows, lavapipe: Gpu, rng: np.random.Generator
    ) -> None:
        fmt = variant.weight_format
        n, k = 3, 2 * variant.block_size
        data = fmt.random_blocks(n, k, rng)
        ids = np.array([2**32 - 1, n, 4294967294, n - 1], dtype=np.uint32)
        inputs = {**layouts.pack(fmt, variant.layout, data, n, k), "ids": ids}
        raw = Runner(lavapipe, variant, render(variant, "test")).run(inputs, whole(n, k, len(ids)))["y"]
        got = np.frombuffer(raw, np.float32).reshape(len(ids), k)
        assert not got[:3].any()
        np.testing.assert_array_equal(got[3], fmt.unpack(data)[n - 1].astype(np.float32))


class TestNearest:
    TOLERANCE = GetRows(format="q8_0").tolerance()

    def verdict(self, value: float, got: float, dtype: type[np.floating[Any]] = np.float16) -> str | None:
        expected = Nearest(np.array([[value]]), np.dtype(dtype))
        return expected.judge(np.array([got], dtype=dtype).tobytes(), self.TOLERANCE).problem

    def test_what_the_type_holds_must_be_equal(self) -> None:
        assert self.verdict(1.5, 1.5) is None
        assert self.verdict(1.5, float(np.nextafter(np.float16(1.5), np.float16(2)))) is not None
        assert self.verdict(0.0, 0.0) is None
        assert self.verdict(0.0, 6e-8) is not None

    def test_c05_either_neighbour_of_a_value_in_between_is_right(self) -> None:
        for got, right in ((1.0, True), (1.0009765625, True), (1.001953125, False), (0.9995117, False)):
            assert (self.verdict(1.00048828125, got) is None) == right

    def test_a_subnormal_may_be_flushed_and_a_normal_number_may_not(self) -> None:
        assert self.verdict(2.0**-24, 0.0) is None
        assert self.verdict(2.0**-24, 2.0**-23) is not None
        assert self.verdict(2.0**-14, 0.0) is not None

    def test_other_orders_scales_and_nan_are_rejected_with_the_place(self) -> None:
        values = np.arange(1.0, 9.0).reshape(2, 4)
        expected = Nearest(values, np.dtype(np.float32))
        assert expected.judge(values.astype(np.float32).tobytes(), self.TOLERANCE).problem is None
        for wrong in (values[::-1], values * 1.02, np.where(values == 6.0, np.nan, values)):
            verdict = expected.judge(wrong.astype(np.float32).tobytes(), self.TOLERANCE)
            assert verdict.problem is not None
        assert "1 of 8 elements are not their value's rounding; first [1, 1]: got nan, expected 6.0" in str(
            verdict.problem
        )
