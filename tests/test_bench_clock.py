"""When a time is trusted: warm-up, repetitions, rounds, median and spread, and the slope without timestamps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from wgslgen.bench.clock import SMALLEST, Heater, Pace, Sample, agree, measure, slope

PACE = Pace(rounds=5, round_seconds=0.01, most_repetitions=1000, warm_seconds=0.05, most_warm_seconds=1.0, budget=10.0)


class Device:
    """A device whose clock is the test's: a repetition takes what `cost` says of the round's number."""

    def __init__(self, cost: Callable[[int], float]) -> None:
        self.cost, self.time = cost, 0.0
        self.asked: list[int] = []

    def __call__(self, repetitions: int) -> float:
        seconds = repetitions * self.cost(len(self.asked))
        self.asked.append(repetitions)
        self.time += seconds
        return seconds

    def now(self) -> float:
        return self.time


def test_median_and_spread_are_those_of_the_rounds() -> None:
    sample = Sample((0.002, 0.001, 0.004, 0.003, 0.0025), 7, True)
    assert sample.seconds == 0.0025
    assert sample.spread == pytest.approx(0.003 / 0.0025)


def test_repetitions_fill_a_round_and_rounds_are_as_many_as_asked_for() -> None:
    device = Device(lambda _: 0.0001)
    sample = measure(device, PACE, device.now)
    assert sample.repetitions * 0.0001 >= PACE.round_seconds
    assert sample.repetitions <= 110
    assert list(sample.rounds) == pytest.approx([0.0001] * 5)
    assert device.asked[-5:] == [sample.repetitions] * 5
    assert sample.warmed
    assert sample.spread == pytest.approx(0)


def test_repetitions_end_somewhere() -> None:
    device = Device(lambda _: 1e-8)
    assert measure(device, PACE, device.now).repetitions == 1000


def test_a_slow_first_dispatch_does_not_make_rounds_short() -> None:
    device = Device(lambda at: 0.009 if at == 0 else 0.0001)
    assert measure(device, PACE, device.now).repetitions * 0.0001 >= PACE.round_seconds


def test_rounds_begin_when_the_clocks_are_up() -> None:
    """Each round is faster than the one before until the twentieth; none of the slow ones counts."""
    device = Device(lambda at: 0.001 * max(1.0, 4.0 - 0.15 * at))
    sample = measure(device, PACE, device.now)
    assert sample.warmed
    assert list(sample.rounds) == pytest.approx([0.001] * 5)


def test_warm_up_lasts_a_while_even_where_rounds_agree() -> None:
    device = Device(lambda _: 0.001)
    measure(device, PACE, device.now)
    warm = sum(device.asked) * 0.001 - 5 * device.asked[-1] * 0.001
    assert warm >= PACE.warm_seconds


def test_warm_up_ends_where_rounds_never_agree_and_that_is_said() -> None:
    device = Device(lambda at: 0.01 * (1 + at % 2))
    sample = measure(device, PACE, device.now)
    assert not sample.warmed
    assert len(sample.rounds) == 5
    assert device.time < PACE.most_warm_seconds + 1


def test_a_slow_device_gets_fewer_rounds_but_one() -> None:
    device = Device(lambda _: 4.0)
    sample = measure(device, PACE, device.now)
    assert sample.repetitions == 1
    assert sample.rounds == (4.0,)
    assert device.time <= PACE.budget + 2 * 4.0 + 4.0


def test_a_slope_leaves_out_what_comes_once() -> None:
    timer = slope(lambda repetitions: 0.5 + 0.001 * repetitions)
    assert timer(8) == pytest.approx(0.008)


def test_a_slope_is_never_nothing() -> None:
    assert slope(lambda _: 0.5)(8) == 8 * SMALLEST


def test_a_device_is_hot_when_its_work_takes_no_longer_than_ever() -> None:
    """Clocks rise in steps that last longer than two rounds; the first call waits for the last of them."""
    device = Device(lambda at: 0.04 / min(1 + at // 6, 4))
    heater = Heater(lambda: device(1), device.now)
    assert heater()
    assert device.time >= Heater.FIRST
    assert heater.fastest == 0.01


def test_a_cold_device_is_kept_busy_until_it_is_hot_and_a_hot_one_for_a_moment() -> None:
    device = Device(lambda _: 0.01)
    heater = Heater(lambda: device(1), device.now)
    assert heater()
    before = len(device.asked)
    assert heater()
    assert Heater.LEAST <= (len(device.asked) - before) * 0.01 <= Heater.LEAST + 0.02
    start = len(device.asked)
    device.cost = lambda at: 0.03 if at < start + 7 else 0.01
    assert heater()
    assert len(device.asked) == start + 9


def test_unsteady_rounds_are_taken_again_until_the_best_three_agree() -> None:
    start = 40
    device = Device(lambda at: 0.01 if at < 6 else 0.01 * (1 + at % 5) if at < start else 0.02)
    pace = replace(PACE, most_rounds=100)
    sample = measure(device, pace, device.now)
    assert sample.steady
    assert len(sample.rounds) == 5
    assert len(device.asked) >= start
    assert sample.seconds == pytest.approx(0.02)


def test_rounds_that_never_agree_are_said_to_be_unsteady() -> None:
    device = Device(lambda at: 0.01 if at < 6 else 0.01 * (1 + at % 5))
    sample = measure(device, PACE, device.now)
    assert not sample.steady
    assert len(sample.rounds) == 5
    assert len(device.asked) <= 6 + PACE.most_rounds + 4


def test_the_best_three_agree_or_all_of_fewer() -> None:
    assert agree([3.0, 1.0, 1.01, 9.0, 1.02], 0.02)
    assert not agree([3.0, 1.0, 1.01, 9.0, 1.03], 0.02)
    assert agree([1.0, 1.02], 0.02)
    assert not agree([1.0, 1.03], 0.02)
    assert agree([5.0], 0.02)


def test_a_device_that_stays_slow_is_said_to_be_and_that_is_its_measure_from_then_on() -> None:
    device = Device(lambda _: 0.01)
    heater = Heater(lambda: device(1), device.now)
    assert heater()
    device.cost = lambda _: 0.02
    began = device.time
    assert not heater()
    assert device.time - began <= Heater.MOST + 0.02
    assert heater()
    assert heater.fastest == 0.02
