from __future__ import annotations

import math
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen.errors import UsageProblem
from wgslgen.rope import (
    LinearScaling,
    Llama3Scaling,
    YarnScaling,
    attention_factor,
    frequencies,
    rope_table,
)

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
QWEN3 = YarnScaling(factor=4.0, original_context=32768)


def exact_turn(position: int, pair: int, rotary_dim: int, theta: int) -> tuple[float, float]:
    """Return (cos, sin) of a pair at a position, its angle taken and reduced in 60 decimal digits."""
    getcontext().prec = 60
    angle = position * (Decimal(theta).ln() * Decimal(-2 * pair) / Decimal(rotary_dim)).exp()
    rest = float(angle % (2 * PI))
    return math.cos(rest), math.sin(rest)


class TestPlain:
    def test_shape_type_and_the_first_row(self) -> None:
        table = rope_table(5, 6, 1e4)
        assert table.shape == (5, 3, 2)
        assert table.dtype == np.float32
        assert table[0].tolist() == [[1.0, 0.0]] * 3

    def test_by_hand(self) -> None:
        table = rope_table(3, 4, 100.0)
        assert table[1].tolist() == [
            [np.float32(0.5403023058681398), np.float32(0.8414709848078965)],
            [np.float32(0.9950041652780258), np.float32(0.09983341664682815)],
        ]
        assert table[2, 0].tolist() == [np.float32(-0.4161468365471424), np.float32(0.9092974268256817)]

    @pytest.mark.parametrize(("position", "theta"), [(1, 10000), (4095, 500000), (100000, 10000), (131071, 1000000)])
    def test_far_positions_are_as_exact_as_near_ones(self, position: int, theta: int) -> None:
        """Each is the rounding to f32 of the true number, or its neighbour where that lies near a tie."""
        row = rope_table(position + 1, 64, theta)[position]
        for pair in range(32):
            true = exact_turn(position, pair, 64, theta)
            assert np.abs(row[pair] - np.array(true)).max() <= 2.0**-25 + 1e-10

    def test_the_bound_above_rejects_angles_in_f32(self) -> None:
        angle = np.float32(100000) * np.float32(10000.0 ** (-2 / 64))
        assert abs(float(np.cos(angle)) - exact_turn(100000, 1, 64, 10000)[0]) > 1e-4


class TestScaling:
    def test_linear_divides_the_positions(self) -> None:
        stretched = rope_table(33, 16, 1e4, LinearScaling(factor=4.0))
        assert (stretched[::4] == rope_table(9, 16, 1e4)).all()

    def test_yarn_by_hand(self) -> None:
        """The pair that turns 32 times within 32768 has index 23.60, the one that turns once 39.65."""
        share = frequencies(128, 1e6, QWEN3) / frequencies(128, 1e6)
        np.testing.assert_allclose(share[:24], 1.0, rtol=1e-15)
        np.testing.assert_allclose(share[40:], 0.25, rtol=1e-15)
        assert share[30] == pytest.approx(1.0 - 7 / 17 * 0.75, rel=1e-14)
        assert share[39] == pytest.approx(1.0 - 16 / 17 * 0.75, rel=1e-14)

    def test_yarn_scales_cosines_and_sines(self) -> None:
        assert attention_factor(QWEN3) == pytest.approx(1.1386294361119891, rel=1e-15)
        assert rope_table(1, 4, 1e6, QWEN3)[0].tolist() == [[np.float32(1.1386294361119891), 0.0]] * 2
        given = YarnScaling(factor=4.0, original_context=32768, attention_factor=0.5)
        assert rope_table(1, 4, 1e6, given)[0, 0, 0] == 0.5
        assert attention_factor(YarnScaling(factor=1.0, original_context=32768)) == 1.0
        assert attention_factor(LinearScaling(factor=4.0)) == 1.0

    def test_yarn_with_the_papers_ramp(self) -> None:
        """Four pairs turn 159.2, 15.92, 1.592 and 0.159 times within 1000 positions."""
        scaling = YarnScaling(factor=2.0, original_context=1000, ramp="turns")
        share = frequencies(8, 1e4, scaling) / frequencies(8, 1e4)
        kept = [1.0, (15.915494309189533 - 1) / 31, (1.5915494309189535 - 1) / 31, 0.0]
        np.testing.assert_allclose(share, [k + (1 - k) / 2 for k in kept], rtol=1e-14)

    def test_yarn_of_a_short_context_is_a_step(self) -> None:
        """Both bounds fall in front of the first pair: nothing turns as often, and everything is divided but it."""
        share = frequencies(8, 1e4, YarnScaling(factor=2.0, original_context=4)) / frequencies(8, 1e4)
        np.testing.assert_allclose(share, [1.0, 0.5, 0.5, 0.5], rtol=1e-14)

    def test_llama3_by_the_wavelengths(self) -> None:
        scaling = Llama3Scaling(factor=8.0, original_context=8192)
        scaled = frequencies(128, 5e5, scaling)
        kinds = set()
        for pair in range(64):
            plain = 5e5 ** (-pair / 64)
            wavelength = 2 * math.pi / plain
            if wavelength < 8192 / 4:
                kind, wanted = "kept", plain
            elif wavelength > 8192:
                kind, wanted = "divided", plain / 8
            else:
                smooth = (8192 / wavelength - 1) / 3
                kind, wanted = "between", (1 - smooth) * plain / 8 + smooth * plain
            kinds.add(kind)
            assert scaled[pair] == pytest.approx(wanted, rel=1e-13)
        assert kinds == {"kept", "divided", "between"}

    @pytest.mark.parametrize("kind", [LinearScaling, YarnScaling, Llama3Scaling])
    def test_a_factor_of_1_changes_nothing(self, kind: Any) -> None:
        scaling = kind(factor=1.0, **({} if kind is LinearScaling else {"original_context": 64}))
        assert (rope_table(9, 32, 1e4, scaling) == rope_table(9, 32, 1e4)).all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((0, 64, 1e4), "positions is 0; expected a whole number above 0"),
            ((2.0, 64, 1e4), "positions is 2.0; expected a whole number"),
            ((True, 64, 1e4), "positions is True"),
            ((4, 63, 1e4), "rotary_dim is 63; expected an even number above 0"),
            ((4, 0, 1e4), "rotary_dim is 0"),
            ((4, -2, 1e4), "rotary_dim is -2"),
            ((4, 64.0, 1e4), "rotary_dim is 64.0"),
            ((4, 64, 1.0), "theta is 1.0; expected a finite number above 1"),
            ((4, 64, math.nan), "theta is nan"),
            ((4, 64, math.inf), "theta is inf"),
            ((4, 64, True), "theta is True"),
        ],
    )
    def test_of_a_table(self, arguments: tuple[Any, ...], words: str) -> None:
        with pytest.raises(UsageProblem, match=words):
            rope_table(*arguments)

    @pytest.mark.parametrize(
        ("kind", "constants", "words"),
        [
            (LinearScaling, {"factor": 0.5}, "factor"),
            (LinearScaling, {"factor": math.inf}, "factor"),
            (YarnScaling, {"factor": math.nan, "original_context": 64}, "factor"),
            (YarnScaling, {"factor": 2.0, "original_context": 0}, "original_context"),
            (YarnScaling, {"factor": 2.0}, "original_context"),
            (YarnScaling, {"factor": 2.0, "original_context": 64, "attention_factor": 0.0}, "attention_factor"),
            (YarnScaling, {"factor": 2.0, "original_context": 64, "beta_fast": 1.0}, r"beta_fast 1\.0 is not above"),
            (YarnScaling, {"factor": 2.0, "original_context": 64, "mscale": 1.0}, "mscale"),
            (Llama3Scaling, {"factor": 2.0, "original_context": 64, "low_freq_factor": 4.0}, "is not above"),
        ],
    )
    def test_of_a_scaling(self, kind: Any, constants: dict[str, Any], words: str) -> None:
        with pytest.raises(ValidationError, match=words):
            kind(**constants)
