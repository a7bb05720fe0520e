"""When a time is to be trusted: warm clocks, enough work in a round, several rounds, median and spread.

A *timer* runs some work a number of times over and returns the seconds that this took on the device. Nothing here
knows a device, so that tests hand in timers of their own.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Timer = Callable[[int], float]
"""Repetitions → seconds of all of them."""

SMALLEST = 1e-9
"""Seconds of a repetition at least, where a difference of two clocks shows none."""


@dataclass(frozen=True)
class Pace:
    """How long to measure. Times are in seconds; those of the host end what takes too long on a slow device."""

    rounds: int = 5
    round_seconds: float = 0.005
    """Device time that a round should have at least."""
    most_repetitions: int = 1024
    """Of a round: each is a few calls from the host."""
    warm_seconds: float = 0.02
    """Host time that the device is kept busy for at least, before the first round."""
    most_warm_seconds: float = 0.5
    """Host time after which it is warm enough, whether rounds agree or not."""
    agreement: float = 0.03
    """By which two rounds in a row may differ where the clocks are warm, of the shorter."""
    steady: float = 0.02
    """By which the best three of the last rounds may differ, of the shortest; else there are more rounds."""
    most_rounds: int = 20
    budget: float = 3.0
    """Host time after which no new round begins."""


class Heater:
    """Keeps a device busy with `work` until it takes no longer than it ever did: then the clocks are up.

    Rounds that agree do not say that: clocks rise in steps, each of which may last longer than a measurement.
    """

    FIRST = 1.0
    """Seconds of the host's clock that the first call takes at least, so that there is a fastest time to go by."""
    LEAST = 0.1
    """Seconds that every call takes at least."""
    MOST = 1.5
    """Seconds after which a call gives up."""
    NEAR = 0.03
    """By which a time may be above the fastest."""

    def __init__(self, work: Callable[[], float], now: Callable[[], float] = time.perf_counter) -> None:
        self.work, self.now = work, now
        self.fastest = float("inf")

    def __call__(self) -> bool:
        """Return whether two times in a row were near the fastest.

        A call that gives up takes the fastest of its own for it, since a device that grew warm may never be as fast
        again.
        """
        began, least = self.now(), self.LEAST if self.fastest < float("inf") else self.FIRST
        own, before = float("inf"), False
        while self.now() - began < self.MOST:
            seconds = self.work()
            own = min(own, seconds)
            self.fastest = min(self.fastest, seconds)
            near = seconds <= self.fastest * (1 + self.NEAR)
            if near and before and self.now() - began >= least:
                return True
            before = near
        self.fastest = own
        return False


def software(rounds: int) -> Pace:
    """Return the pace for drivers that run kernels on the CPU: no clocks to warm, but the first run compiles."""
    return Pace(rounds=rounds, round_seconds=0.002, warm_seconds=0.0, most_warm_seconds=0.2, budget=2.0)


@dataclass(frozen=True)
class Sample:
    """Seconds of one repetition, round by round: the last rounds, as many as were asked for."""

    rounds: tuple[float, ...]
    repetitions: int
    """Of a round."""
    warmed: bool
    """Whether the clocks were up, and two rounds in a row agreed before the first."""
    steady: bool = True
    """Whether the best three rounds agree."""

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """The distance from the shortest to the longest round, of the median."""
        return (max(self.rounds) - min(self.rounds)) / self.seconds


def measure(timer: Timer, pace: Pace, now: Callable[[], float] = time.perf_counter) -> Sample:
    """Return the rounds of what `timer` runs.

    One repetition comes first, and says how many make a round. Then the device is kept busy until two rounds agree.
    At least one round is timed, and as many as the pace asks for where its budget of host time allows it; more, where
    the best three of the last ones do not agree.
    """
    start = now()
    repetitions = _enough(timer, pace)
    warmed = _warm(timer, repetitions, pace, start, now)
    rounds: list[float] = []
    last: list[float] = []
    while len(last) < pace.rounds or (not agree(last, pace.steady) and len(rounds) < pace.most_rounds):
        if rounds and now() - start > pace.budget:
            break
        rounds.append(_each(timer, repetitions))
        last = rounds[-pace.rounds :]
    return Sample(tuple(last), repetitions, warmed, agree(last, pace.steady))


def agree(rounds: Sequence[float], share: float) -> bool:
    """Tell whether the best three of `rounds`, or all of fewer, lie within `share` of the shortest."""
    best = sorted(rounds)[:3]
    return best[-1] <= best[0] * (1 + share)


def slope(wall: Timer) -> Timer:
    """Return a timer without timestamps: what twice the repetitions take longer by the host's clock `wall`.

    What comes once with a submission, and with waiting for it, falls out.
    """

    def difference(repetitions: int) -> float:
        once = wall(repetitions)
        return max(wall(2 * repetitions) - once, SMALLEST * repetitions)

    return difference


def _each(timer: Timer, repetitions: int) -> float:
    return max(timer(repetitions) / repetitions, SMALLEST)


def _enough(timer: Timer, pace: Pace) -> int:
    """Return the repetitions that fill a round; they grow step by step, since the first may be slow."""
    repetitions = 1
    while repetitions < pace.most_repetitions:
        seconds = _each(timer, repetitions) * repetitions
        if seconds >= pace.round_seconds:
            break
        wanted = int(repetitions * pace.round_seconds / seconds) + 1
        repetitions = min(max(wanted, repetitions + 1), 8 * repetitions, pace.most_repetitions)
    return repetitions


def _warm(timer: Timer, repetitions: int, pace: Pace, start: float, now: Callable[[], float]) -> bool:
    """Keep the device busy until two rounds in a row agree; return whether they did."""
    before = None
    began = now()
    while now() - start < pace.budget:
        seconds = _each(timer, repetitions)
        agreed = before is not None and abs(seconds - before) <= pace.agreement * min(seconds, before)
        if agreed and now() - began >= pace.warm_seconds:
            return True
        if now() - began >= pace.most_warm_seconds:
            return False
        before = seconds
    return False
