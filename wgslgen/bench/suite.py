"""The targets: what work, which figure of it, how much of it is wanted, and where. Data, and its arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wgslgen import formats
from wgslgen.bench.modelrun import ModelTime
from wgslgen.bench.results import Result
from wgslgen.bench.roof import Roof
from wgslgen.formats import Format
from wgslgen.spec import Kernel

Where = Literal["checked", "unchecked", "software"]
"""Where a target is judged: on a GPU with bounds checks, as in browsers, or without them; or in software."""
Want = Mapping[str, tuple[object, ...]]
"""Constant of the principal variant → what it may be; `kernel` is the kernel's name."""


class Timing(NamedTuple):
    """Plans to be timed: of an op at a shape, in a format, whose principal variant is as wanted."""

    op: str
    shape: tuple[tuple[str, int], ...]
    stored: Format
    kernel: str
    tile_m: tuple[int, ...] = ()
    """Tokens of a tile of `matmul`; empty: any."""
    cache: str | None = None

    @property
    def want(self) -> Want:
        """What the principal variant must be."""
        found: dict[str, tuple[object, ...]] = {"kernel": (self.kernel,)}
        if self.tile_m:
            found["tile_m"] = self.tile_m
        return found | ({"cache": (self.cache,)} if self.cache else {})


@dataclass(frozen=True)
class Context:
    """What was measured on one backend: the roof, the results of each timing, and the model's times by tokens."""

    roof: Roof
    results: Mapping[Timing, Sequence[Result]] = field(default_factory=dict)
    models: Mapping[int, ModelTime] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)
    """By row: both times of a ratio, taken once more, one right after the other."""

    def best(self, timing: Timing, want: Want) -> Result | None:
        """Return the fastest result of `timing` that is as wanted."""
        fitting = (result for result in self.results.get(timing, ()) if fits(result.principal, want))
        return min(fitting, key=lambda result: result.seconds, default=None)

    @property
    def every(self) -> list[Result]:
        """All results."""
        return [result for found in self.results.values() for result in found]


class Value(NamedTuple):
    """A figure, what reached it in how many passes, and which unit is the limit by count."""

    value: float
    by: str
    passes: int
    limit: str = ""


class Pair(NamedTuple):
    """The two results of a ratio."""

    result: Result
    other: Result


@dataclass(frozen=True)
class Row:
    """A target. `measure` returns the figure on a backend, or None where nothing that it needs ran."""

    work: str
    target: float
    unit: str
    measure: Callable[[Context], Value | None] | None = None
    """Returns the figure on a backend, or None where nothing that it needs ran; None: the figure is a ratio."""
    pair: Callable[[Context], Pair | None] | None = None
    """Returns what the ratio is of: how many times faster the one is, or where `least` is not set how much slower."""
    where: Where = "checked"
    least: bool = True
    """Whether the target is the least that will do; else the most."""
    needs: tuple[Timing, ...] = ()
    tokens: int | None = None
    """The tokens of the model's work that it is about."""

    def value(self, context: Context) -> Value | None:
        """Return the figure on a backend, or None where nothing that it needs ran."""
        if self.measure is not None:
            return self.measure(context)
        pair = context.pairs.get(self.work) or (self.pair and self.pair(context))
        if not pair:
            return None
        faster = pair.other.seconds / pair.result.seconds
        return _value(context, pair.result, faster if self.least else 1 / faster)

    def reached(self, value: float) -> bool:
        """Tell whether `value` is good enough."""
        return value >= self.target if self.least else value <= self.target

    def short(self, value: float) -> float:
        """Return by which share of the target `value` falls short; 0 where it does not."""
        away = self.target - value if self.least else value - self.target
        return max(away / self.target, 0.0)

    def said(self, value: float) -> str:
        """Return the figure as the table has it."""
        if self.unit == "%":
            return f"{value:.1%}"
        return f"{value:,.3g} {self.unit}" if value < 1000 else f"{value:,.0f} {self.unit}"

    @property
    def wanted(self) -> str:
        """The target in words."""
        return f"{'>=' if self.least else '<='} {self.said(self.target)}"


def fits(variant: Kernel, want: Want) -> bool:
    """Tell whether a plan's principal variant is as wanted."""
    known: dict[str, Any] = {**variant.model_dump(), "kernel": variant.NAME}
    return all(known.get(name) in values for name, values in want.items())


# ---- figures ---------------------------------------------------------------------------------------


def share(timing: Timing, of: Literal["read", "copy"], **want: tuple[object, ...]) -> Callable[[Context], Value | None]:
    """Return the figure: bytes moved a second, of a bandwidth."""

    def figure(context: Context) -> Value | None:
        best = context.best(timing, want)
        if best is None:
            return None
        shares = {"read": context.roof.read_share, "copy": context.roof.copy_share}
        return _value(context, best, shares[of](best.count, best.seconds))

    return figure


def rate(timing: Timing, **want: tuple[object, ...]) -> Callable[[Context], Value | None]:
    """Return the figure: tera-operations a second."""

    def figure(context: Context) -> Value | None:
        best = context.best(timing, want)
        return None if best is None else _value(context, best, best.count.operations / best.seconds / 1e12)

    return figure


def over(timing: Timing, plain: Want) -> Callable[[Context], Pair | None]:
    """Return the pair: the fastest, and the fastest that is as `plain`."""
    return lambda context: _pair(context.best(timing, {}), context.best(timing, plain))


def beside(timing: Timing, other: Timing) -> Callable[[Context], Pair | None]:
    """Return the pair: the fastest, and the fastest of `other`."""
    return lambda context: _pair(context.best(timing, {}), context.best(other, {}))


def _pair(result: Result | None, other: Result | None) -> Pair | None:
    return None if result is None or other is None else Pair(result, other)


def tokens_per_second(tokens: int) -> Callable[[Context], Value | None]:
    """Return the figure: tokens a second of device time in the model's work of so many tokens."""

    def figure(context: Context) -> Value | None:
        timed = context.models.get(tokens)
        if timed is None:
            return None
        limit = context.roof.limit(timed.count, timed.sample.seconds)
        return Value(timed.tokens_per_second, timed.work.name, timed.passes, limit)

    return figure


def largest(of: Callable[[Result], float]) -> Callable[[Context], Value | None]:
    """Return the figure: the largest of something over all results."""

    def figure(context: Context) -> Value | None:
        if not context.every:
            return None
        worst = max(context.every, key=of)
        return Value(of(worst), worst.job.plan.name, len(worst.passes))

    return figure


def _value(context: Context, best: Result, value: float) -> Value:
    return Value(value, best.job.plan.name, len(best.passes), context.roof.limit(best.count, best.seconds))


# ---- the table -------------------------------------------------------------------------------------

Q1, Q2 = formats.get("q1_0", 128), formats.get("q2_0", 64)
VOCAB = 151936
BLOCK: Want = {"route": ("block",)}


def product(stored: Format, m: int, n: int, k: int, kernel: str, tile_m: tuple[int, ...] = ()) -> Timing:
    """Return the products of m tokens with N x K weights."""
    return Timing("linear", (("M", m), ("N", n), ("K", k)), stored, kernel, tile_m)


def rows() -> Iterator[Row]:
    """Yield the targets of a GPU and of software."""
    for stored, int8, f32 in ((Q2, 0.75, 0.25), (Q1, 0.45, 0.17)):
        head = product(stored, 1, VOCAB, 4096, "matvec")
        name = f"decode {VOCAB} x 4096 {stored.name}"
        least = share(head, "read", route=("int8",))
        yield Row(f"{name}, int8 with quantize_q8, of read", int8, "%", least, needs=(head,))
        yield Row(f"{name}, f32 activations, of read", f32, "%", share(head, "read", route=("float",)), needs=(head,))
    for n, k in ((12288, 4096), (4096, 12288), (4096, 4096)):
        for stored in (Q2, Q1):
            layer = product(stored, 1, n, k, "matvec")
            work = f"decode {n} x {k} {stored.name}, best route, over block"
            yield Row(work, 4.0, "x", pair=over(layer, BLOCK), needs=(layer,))
    for stored in (Q2, Q1):
        many = product(stored, 512, 4096, 4096, "matmul", (64, 128))
        name = f"prefill 512 x 4096 x 4096 {stored.name}"
        units = rate(many, route=("subgroup_matrix",))
        yield Row(f"{name}, subgroup_matrix, unchecked", 160.0, "TFLOP/s", units, where="unchecked", needs=(many,))
        yield Row(f"{name}, subgroup_matrix", 125.0, "TFLOP/s", units, needs=(many,))
        yield Row(f"{name}, int8", 50.0, "TFLOP/s", rate(many, route=("int8",)), needs=(many,))
        yield Row(f"{name}, f32 or f16 operands", 12.0, "TFLOP/s", rate(many, route=("tile",)), needs=(many,))
    for stored in (Q2, Q1):
        one = product(stored, 1, 4096, 4096, "matvec")
        for m in (8, 16):
            few = product(stored, m, 4096, 4096, "matmul", (1, 4, 8, 16))
            work = f"{m} tokens, 4096 x 4096 {stored.name}, over one token"
            yield Row(work, 4.0, "x", pair=beside(few, one), least=False, needs=(few, one))
    attention = Timing("attention", (("CAPACITY", 32768),), Q2, "attention_split", cache="f16")
    work = "attention, 32 q heads, 8 kv heads of 128, f16 cache of 32768, of read"
    yield Row(work, 0.4, "%", share(attention, "read"), needs=(attention,))
    embedding = Timing("embedding", (("N", VOCAB), ("K", 4096), ("R", 8192)), Q2, "get_rows")
    rows_to_f32 = share(embedding, "copy", output=("f32",))
    yield Row("get_rows 8192 x 4096 q2_0 to f32, of copy", 0.4, "%", rows_to_f32, needs=(embedding,))
    yield Row("one token of bonsai-1.7b q2_0, 512 keys", 600.0, "tokens/s", tokens_per_second(1), tokens=1)
    yield Row("512 tokens of bonsai-1.7b q2_0", 15000.0, "tokens/s", tokens_per_second(512), tokens=512)
    for stored in (Q2, Q1):
        layer = product(stored, 1, 4096, 4096, "matvec")
        work = f"decode 4096 x 4096 {stored.name}, best route, over block"
        yield Row(work, 5.0, "x", pair=over(layer, BLOCK), where="software", needs=(layer,))
    text, compiled = largest(lambda result: float(result.text_bytes)), largest(lambda result: result.compile_seconds)
    yield Row("largest text", 65536.0, "bytes", text, where="software", least=False)
    yield Row("longest pipeline creation", 5.0, "s", compiled, where="software", least=False)


def rows_for(software: bool) -> list[Row]:
    """Return the targets that are judged in software, or those that are judged on a GPU."""
    return [row for row in rows() if (row.where == "software") == software]
