"""A model's passes timed: all of them, each kind by itself, and what the host takes to ask for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from wgslgen.bench.clock import Pace, Sample
from wgslgen.bench.counts import Count
from wgslgen.bench.decoding import Work
from wgslgen.bench.machine import Machine
from wgslgen.bench.prepared import Prepared
from wgslgen.bench.results import total
from wgslgen.bench.roof import Roof
from wgslgen.naming import variant_name
from wgslgen.plan import Pass

HOST_ROUNDS = 5


@dataclass(frozen=True)
class Kind:
    """Passes of one variant and one size: how many there are, and the time of all of them, one behind the other."""

    label: str
    variant: str
    passes: int
    count: Count
    sample: Sample


@dataclass(frozen=True)
class ModelTime:
    """A token or a prompt: the time on the device as a whole and by kind, and the host's to encode and submit it."""

    model: str
    weights: str
    work: Work
    passes: int
    count: Count
    """What all passes move and multiply."""
    sample: Sample
    kinds: tuple[Kind, ...]
    host_seconds: float
    """Python's, to encode and to submit: a page's would be another."""

    @property
    def tokens_per_second(self) -> float:
        """Tokens a second of device time."""
        return self.work.tokens / self.sample.seconds


def time_work(
    machine: Machine, model: str, weights: str, work: Work, pace: Pace, by_kind: bool, say: Callable[[str], None]
) -> ModelTime:
    """Return the times of a model's work, and with `by_kind` of each kind of pass."""
    prepared = Prepared(machine, work.steps, rotated=0)
    try:
        say(f"{model}: {work.name}: {len(prepared.passes)} passes")
        whole = prepared.time(pace)
        kinds = []
        counts = prepared.counts()
        for (label, variant), places in _kinds(prepared).items() if by_kind else ():
            say(f"{model}: {work.name}: {label}")
            counted = total(counts[at] for at in places)
            kinds.append(Kind(label, variant, len(places), counted, prepared.time(pace, places)))
        host = median(prepared.host_seconds() for _ in range(HOST_ROUNDS))
        return ModelTime(model, weights, work, len(prepared.passes), total(counts), whole, tuple(kinds), host)
    finally:
        prepared.close()


def _kinds(prepared: Prepared) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for at, (each, sizes) in enumerate(prepared.passes):
        found.setdefault((_label(each, sizes), variant_name(each.variant)), []).append(at)
    return found


def _label(each: Pass, sizes: Any) -> str:
    """Return what kind of pass this is: its kernel, the shape of its weights, and what becomes of the product."""
    shape = f" {sizes['N']} x {sizes['K']}" if {"N", "K"} <= sizes.keys() else ""
    epilogue = getattr(each.variant, "epilogue", "store")
    return f"{each.variant.NAME}{shape}{'' if epilogue == 'store' else f' {epilogue}'}"


def data(timed: ModelTime, roof: Roof) -> dict[str, Any]:
    """Return the times as JSON holds them."""
    return {
        "model": timed.model,
        "weights": timed.weights,
        "work": timed.work.name,
        "tokens": timed.work.tokens,
        "passes": timed.passes,
        "seconds": timed.sample.seconds,
        "spread": timed.sample.spread,
        "rounds": [*timed.sample.rounds],
        "tokens_per_second": timed.tokens_per_second,
        "host_seconds": timed.host_seconds,
        "bytes_read": timed.count.read,
        "bytes_written": timed.count.written,
        "operations": timed.count.operations,
        "of_read_bandwidth": roof.read_share(timed.count, timed.sample.seconds),
        "kinds": [
            {
                "label": kind.label,
                "variant": kind.variant,
                "passes": kind.passes,
                "seconds": kind.sample.seconds,
                "spread": kind.sample.spread,
                "bytes_read": kind.count.read,
                "bytes_written": kind.count.written,
                "operations": kind.count.operations,
                "of_read_bandwidth": roof.read_share(kind.count, kind.sample.seconds),
                "of_rate": roof.rate_share(kind.count, kind.sample.seconds),
            }
            for kind in timed.kinds
        ],
    }
