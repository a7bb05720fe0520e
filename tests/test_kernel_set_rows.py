"""`set_rows`: what it refuses, its oracle by hand and beside the formats' quantisers, neighbours that share words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.quantised import CACHES, untouched, write
from cases.support import opened
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import formats, launch, layouts
from wgslgen.adapters import SOFTWARE, Gpu
from wgslgen.compare import Nearest, Rounded
from wgslgen.errors import UsageProblem
from wgslgen.kernels.set_rows import SetRows
from wgslgen.oracles.set_rows import in_blocks, problem, q4_reals

Numbers = NDArray[Any]
SIZES = {"R": 5, "K": 96, "ROWS": 9}
WIDE = {"maxStorageBufferBindingSize": 2**31, "maxBufferSize": 2**31, "maxComputeWorkgroupsPerDimension": 65535}


@pytest.fixture(scope="module", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    return opened(str(request.param))


def with_exact_scales(rows: int, k: int, rng: np.random.Generator) -> Numbers:
    """Return values [rows, K] on no tie, whose scales are f16 numbers: devices may round others either way."""
    blocks = rng.integers(-126, 127, (rows, k // 32, 32))
    blocks[np.arange(rows)[:, None], np.arange(k // 32), rng.integers(0, 32, (rows, k // 32))] = 127
    values = blocks * np.exp2(rng.integers(-9, 9, (rows, k // 32, 1)))
    made: Numbers = values.reshape(rows, k).astype(np.float32)
    return made


def block(*values: float) -> Numbers:
    """Return x [1, 32] that starts with `values` and goes on with zeros."""
    x = np.zeros((1, 32), np.float32)
    x[0, : len(values)] = values
    return x


def one_block(gpu: Gpu, fmt: str, x: Numbers) -> tuple[list[int], float]:
    """Return the codes of the only block of x [1, 32], and its scale."""
    made = write(gpu, fmt, x, [0], 1, untouched(fmt, 1, 32))
    codes = made["codes"].view(np.int8) if fmt == "q8_0" else in_blocks(made["codes"][None])[0]
    return [int(code) for code in codes], float(made["scales"][:2].view(np.float16)[0])


class TestSpec:
    @pytest.mark.parametrize(
        ("constants", "word"),
        [
            ({}, "format"),
            ({"format": "q4_1"}, "format"),
            ({"format": "f16", "activation": "f64"}, "activation"),
            ({"format": "f16", "workgroup_size": 48}, "workgroup_size"),
        ],
    )
    def test_constants_out_of_range_are_refused(self, constants: dict[str, Any], word: str) -> None:
        with pytest.raises(ValidationError, match=word):
            SetRows(**constants)

    @pytest.mark.parametrize(("fmt", "k", "why"), [("q8_0", 48, "blocks of 32"), ("f16", 6, "loads of four")])
    def test_part_units_are_refused_with_the_rule(self, fmt: str, k: int, why: str) -> None:
        variant = SetRows.model_validate({"format": fmt})
        with pytest.raises(UsageProblem, match=f"K = {k}, ROWS = 3 breaks K % UNIT == 0, because a row is whole {why}"):
            launch.plan(variant, {"R": 1, "K": k, "ROWS": 3})

    def test_bytes_of_each_binding(self) -> None:
        """An odd number of scales takes a whole word more."""
        assert launch.plan(SetRows(format="q8_0"), SIZES).binding_bytes == {
            "x": 5 * 96 * 4,
            "ids": 20,
            "codes": 9 * 96,
            "scales": 14 * 4,
        }
        narrow = launch.plan(SetRows(format="q4_0", activation="f16"), SIZES).binding_bytes
        assert narrow == {"x": 5 * 96 * 2, "ids": 20, "codes": 9 * 48, "scales": 14 * 4}
        assert launch.plan(SetRows(format="f16"), SIZES).binding_bytes["y"] == 9 * 96 * 2

    def test_a_thread_makes_a_block_or_four_elements_and_none_is_no_dispatch(self) -> None:
        assert launch.plan(SetRows(format="q8_0"), {"R": 64, "K": 96, "ROWS": 64}).workgroups == (3, 1, 1)
        assert launch.plan(SetRows(format="f32"), {"R": 64, "K": 96, "ROWS": 64}).workgroups == (24, 1, 1)
        assert launch.plan(SetRows(format="q4_0"), {**SIZES, "R": 0}).workgroups is None
        many = launch.plan(SetRows(format="q4_0"), {"R": 65537 * 64, "K": 32, "ROWS": 65537 * 64}, limits=WIDE)
        assert many.workgroups == (32769, 2, 1)

    def test_ids_that_name_no_row_or_one_twice_are_refused_on_the_host(self) -> None:
        variant = SetRows(format="q4_0")
        launch.check_values(variant, {"ids": np.array([8, 0, 3, 1, 2], np.uint32)}, SIZES)
        with pytest.raises(UsageProblem, match=r"ids\[1\] is 9; expected a number from 0 to 8"):
            launch.check_values(variant, {"ids": np.array([0, 9, 1, 2, 3], np.uint32)}, SIZES)
        with pytest.raises(UsageProblem, match="ids names 1 rows twice; expected different numbers"):
            launch.check_values(variant, {"ids": np.array([0, 3, 1, 2, 3], np.uint32)}, SIZES)

    def test_the_plain_twin_has_smaller_workgroups_alone(self) -> None:
        variant = SetRows(format="q8_0", activation="f16", workgroup_size=256)
        assert variant.plain() == SetRows(format="q8_0", activation="f16", workgroup_size=32)


class TestOracle:
    def test_blocks_of_q4_0_by_hand(self) -> None:
        """What has the largest magnitude becomes code 0, the first of two; one step above it there is no code."""
        reals, scales = q4_reals(np.array([[[4.0, -4.0, 1.0, 0.25, *[0.0] * 28]], [[-4.0, 4.0, *[0.0] * 30]]]))
        assert scales.ravel().tolist() == [-0.5, 0.5]
        assert reals[0, 0, :5].tolist() == [0.0, 15.0, 6.0, 7.5, 8.0]
        assert reals[1, 0, :3].tolist() == [0.0, 15.0, 8.0]

    def test_low_halves_of_sixteen_bytes_come_before_the_high_ones(self) -> None:
        codes = np.array([[low | (15 - low) << 4 for low in range(16)]], np.uint8)
        assert in_blocks(codes)[0].tolist() == [*range(16), *range(15, -1, -1)]

    @pytest.mark.parametrize("fmt", CACHES)
    def test_it_is_the_formats_own_quantiser(self, fmt: str, rng: np.random.Generator) -> None:
        """Codes and scales of ordinary numbers, none of which is near a tie, as `Format.quantise` has them."""
        made = problem({"format": fmt, "activation": "f32"}, SIZES, rng)
        ids, x = made.inputs["ids"], made.inputs["x"]
        codes, scales = made.expected["codes"], made.expected["scales"]
        assert isinstance(codes, Rounded)
        assert isinstance(scales, Nearest)
        here = ids < SIZES["ROWS"]
        kind = formats.get(fmt)
        blocks = kind.split(kind.quantise(x[here]))  # type: ignore[attr-defined]  # both formats come apart
        np.testing.assert_array_equal(np.rint(codes.values)[ids[here]], blocks.codes)
        with np.errstate(under="ignore"):
            halves = scales.values[ids[here]].astype(np.float16)
        np.testing.assert_array_equal(halves.view(np.uint16), blocks.scales.view(np.uint16))

    def test_what_no_id_names_stays(self, rng: np.random.Generator) -> None:
        made = problem({"format": "q8_0", "activation": "f32"}, SIZES, rng)
        codes = made.expected["codes"]
        assert isinstance(codes, Rounded)
        before = made.inputs["codes"].view(np.int8)
        left = np.setdiff1d(np.arange(SIZES["ROWS"]), made.inputs["ids"])
        assert left.size >= 4
        np.testing.assert_array_equal(codes.values[left], before[left])

    @pytest.mark.parametrize("fmt", CACHES)
    def test_another_order_of_codes_is_rejected(self, fmt: str, rng: np.random.Generator) -> None:
        variant = SetRows.model_validate({"format": fmt})
        made = problem(variant.model_dump(), SIZES, rng)
        codes, kind = made.expected["codes"], formats.get(fmt)
        assert isinstance(codes, Rounded)
        integers = np.rint(codes.values).astype(np.int8 if fmt == "q8_0" else np.uint8)
        right = kind.pack_codes(integers.reshape(-1, 32))  # type: ignore[attr-defined]  # both formats have codes
        assert codes.judge(right.tobytes(), variant.tolerance()).problem is None
        swapped = (right >> 4) | (right << 4)
        for wrong in (swapped, right[::-1], right ^ np.uint8(1)):
            assert codes.judge(wrong.tobytes(), variant.tolerance()).problem is not None


class TestOnADevice:
    def test_ties_go_to_the_even_code(self, gpu: Gpu) -> None:
        codes, scale = one_block(gpu, "q8_0", block(127.0, 0.5, 1.5, 2.5, -0.5, -1.5, 63.5, -126.5))
        assert (codes[:9], scale) == ([127, 0, 2, 2, 0, -2, 64, -126, 0], 1.0)
        codes, scale = one_block(gpu, "q4_0", block(-8.0, 0.5, 1.5, 2.5, -0.5, -1.5, 6.5, 8.0))
        assert (codes[:9], scale) == ([0, 8, 10, 10, 8, 6, 14, 15, 8], 1.0)
        codes, scale = one_block(gpu, "q4_0", block(1.0, 8.0, -0.5, -1.5, -8.0))
        assert (codes[:6], scale) == ([7, 0, 8, 10, 15, 8], -1.0)

    @pytest.mark.parametrize("fmt", CACHES)
    def test_zeros_have_scale_0_and_huge_values_the_largest(self, fmt: str, gpu: Gpu) -> None:
        middle = 8 if fmt == "q4_0" else 0
        for zero in (0.0, -0.0, 1e-40):
            with np.errstate(under="ignore"):
                codes, scale = one_block(gpu, fmt, np.full((1, 32), zero, np.float32))
            assert (codes, abs(scale)) == ([middle] * 32, 0.0)
        codes, scale = one_block(gpu, fmt, block(-3e38, 3e38))
        assert (codes[:3], scale) == ([0, 15, 8] if fmt == "q4_0" else [-127, 127, 0], 65504.0)

    @pytest.mark.parametrize("fmt", CACHES)
    @pytest.mark.parametrize("k", [32, 96])
    def test_neighbours_that_share_a_word_lose_nothing(
        self, fmt: str, k: int, gpu: Gpu, rng: np.random.Generator
    ) -> None:
        """Every byte 0xAA, then dispatches of odd rows, of even ones but the last, and of all but one; fifty times."""
        rows = 19
        kind = formats.get(fmt)
        values = with_exact_scales(2 * rows, k, rng).reshape(2, rows, k)
        halves = [layouts.pack(kind, "planar", kind.quantise(part), rows, k) for part in values]
        code_row, scale_row = k * kind.bits // 8, k // 16
        rounds = ((0, range(1, rows, 2)), (0, range(0, rows - 1, 2)), (1, [*range(3), *range(4, rows)]))
        for _ in range(50):
            tensor = untouched(fmt, rows, k)
            for part, written in rounds:
                ids = rng.permutation(np.array(written))
                before, tensor = tensor, write(gpu, fmt, values[part][ids], ids, rows, tensor)
                for name, size in (("codes", code_row), ("scales", scale_row)):
                    whole = halves[part][name].view(np.uint8).reshape(-1)[: tensor[name].size]
                    is_written = np.isin(np.arange(tensor[name].size) // size, ids)
                    np.testing.assert_array_equal(tensor[name], np.where(is_written, whole, before[name]))

    @pytest.mark.parametrize("fmt", ["f32", *CACHES])
    def test_ids_that_name_no_row_write_nothing(self, fmt: str, gpu: Gpu, rng: np.random.Generator) -> None:
        x = rng.standard_normal((3, 64)).astype(np.float32)
        tensor: dict[str, Numbers] = {"y": np.full(5 * 256, 0xAA, np.uint8)} if fmt == "f32" else untouched(fmt, 5, 64)
        for ids in ([5, 6, 2**32 - 1], [2**31, 2**30, 2**26 + 1]):
            made = write(gpu, fmt, x, ids, 5, tensor)
            assert all((plane == 0xAA).all() for plane in made.values())

    def test_a_row_that_is_named_twice_leaves_its_neighbours_alone(self, gpu: Gpu, rng: np.random.Generator) -> None:
        """Each word of codes is one of both; the other half of the word of scales stays."""
        x = with_exact_scales(2, 32, rng)
        first, second = (write(gpu, "q8_0", row[None], [1], 4, untouched("q8_0", 4, 32)) for row in x)
        both = write(gpu, "q8_0", x, [1, 1], 4, untouched("q8_0", 4, 32))
        words, one, other = (made["codes"].view(np.uint32) for made in (both, first, second))
        assert ((words == one) | (words == other)).all()
        assert (both["scales"][[0, 1, 4, 5, 6, 7]] == 0xAA).all()
