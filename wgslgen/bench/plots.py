"""Plots as SVG text: axes that count in powers of ten, points, lines, bars. Colours and fonts are the page's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 176, 16, 44
NAME = 90
"""Pixels that the name of a roof takes."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#a0522d")
"""Told apart by eyes of all kinds (Okabe and Ito), in the order in which series take them."""


class Point(NamedTuple):
    """A place in the numbers of the axes, and what is said of it."""

    x: float
    y: float
    words: str


class Series(NamedTuple):
    """Points with a name and a colour."""

    name: str
    points: Sequence[Point]


class Axis(NamedTuple):
    """A logarithmic axis between two numbers above 0, from the pixel `first` to the pixel `last`."""

    low: float
    high: float
    first: float
    last: float
    label: str
    marks: tuple[float, ...] = ()
    """Where the ticks are; empty: at round numbers."""

    def at(self, value: float) -> float:
        """Return the pixel of a number."""
        share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Return the marks, or the powers of ten within; where they are few, 2 and 5 times them, too."""
        if self.marks:
            return [*self.marks]
        powers = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        factors = (1,) if math.log10(self.high / self.low) > 3 else (1, 2, 5)
        found = [factor * 10.0**power for power in powers for factor in factors]
        return [tick for tick in found if self.low * 0.999 <= tick <= self.high * 1.001]


def axis(values: Iterable[float], first: float, last: float, label: str, marked: bool = False) -> Axis:
    """Return an axis with some room around the values, and if `marked` a tick at each of them."""
    every = sorted({value for value in values if value > 0}) or [1.0, 10.0]
    return Axis(every[0] / 1.4, every[-1] * 1.4, first, last, label, tuple(every) if marked else ())


def scatter(series: Sequence[Series], x_label: str, y_label: str, roofs: Sequence[Series] = ()) -> str:
    """Return a plot of points under roofs, which are lines with a name above their end.

    Without roofs the points of a series are joined by lines, and each number along x has its tick.
    """
    points = [point for each in (*series, *roofs) for point in each.points]
    x = axis((point.x for point in points), LEFT, WIDTH - RIGHT, x_label, marked=not roofs)
    y = axis((point.y for point in points), HEIGHT - BOTTOM, TOP, y_label)
    parts = [*_frame(x, y)]
    for at, roof in enumerate(roofs):  # names stand side by side: roofs may be close
        parts.append(_path(roof.points, x, y, 'class="roof"'))
        last = roof.points[-1]
        parts.append(_text(x.at(last.x) - NAME * at, y.at(last.y) - 5, roof.name, "end", "quiet"))
    for number, each in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        if not roofs and len(each.points) > 1:
            parts.append(_path(each.points, x, y, f'class="line" stroke="{colour}"'))
        parts += [_dot(point, x, y, colour) for point in each.points]
    parts += _legend([each.name for each in series])
    return _svg(parts, f"{y_label} over {x_label}", HEIGHT)


def bars(rows: Sequence[tuple[str, float, str]], label: str) -> str:
    """Return horizontal bars: what each is, its number, and the number in words."""
    high = max((number for _, number, _ in rows), default=1.0) or 1.0
    height = 26 * len(rows) + 12
    left, room = 250, WIDTH - 250 - 110
    parts = []
    for at, (name, number, words) in enumerate(rows):
        top = 6 + 26 * at
        wide = max(number / high * room, 1.0)
        parts.append(_text(left - 8, top + 15, name, "end", "ink"))
        box = f'x="{left}" y="{top}" width="{wide:.1f}" height="20"'
        parts.append(f'<rect class="bar" {box}><title>{escape(words)}</title></rect>')
        parts.append(_text(left + wide + 6, top + 15, words, "start", "quiet"))
    return _svg(parts, label, height)


def _frame(x: Axis, y: Axis) -> Iterator[str]:
    """Yield lines at the ticks, their numbers, and the labels."""
    for tick in x.ticks():
        at = x.at(tick)
        yield f'<line class="grid" x1="{at:.1f}" y1="{y.last}" x2="{at:.1f}" y2="{y.first}"/>'
        yield _text(at, y.first + 16, number(tick), "middle", "quiet")
    for tick in y.ticks():
        at = y.at(tick)
        yield f'<line class="grid" x1="{x.first}" y1="{at:.1f}" x2="{x.last}" y2="{at:.1f}"/>'
        yield _text(x.first - 8, at + 4, number(tick), "end", "quiet")
    yield _text((x.first + x.last) / 2, HEIGHT - 8, x.label, "middle", "ink")
    middle = (y.first + y.last) / 2
    yield (
        f'<text class="ink" text-anchor="middle" transform="translate(16 {middle:.1f}) rotate(-90)">'
        f"{escape(y.label)}</text>"
    )


def number(value: float) -> str:
    """Return a number as ticks have it: 0.01, 20, 5k, 1M."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


def _path(points: Sequence[Point], x: Axis, y: Axis, look: str) -> str:
    places = " ".join(f"{x.at(point.x):.1f},{y.at(point.y):.1f}" for point in points)
    return f'<polyline {look} fill="none" points="{places}"/>'


def _dot(point: Point, x: Axis, y: Axis, colour: str) -> str:
    return (
        f'<circle class="dot" cx="{x.at(point.x):.1f}" cy="{y.at(point.y):.1f}" r="4.5" fill="{colour}">'
        f"<title>{escape(point.words)}</title></circle>"
    )


def _legend(names: Sequence[str]) -> Iterator[str]:
    for at, name in enumerate(names):
        top = TOP + 10 + 18 * at
        left = WIDTH - RIGHT + 12
        yield f'<circle cx="{left}" cy="{top}" r="4.5" fill="{COLOURS[at % len(COLOURS)]}"/>'
        yield _text(left + 10, top + 4, name, "start", "ink")


def _text(x: float, y: float, words: str, anchor: str, look: str) -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(parts: Iterable[str], label: str, height: float) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg role="img" aria-label="{escape(label, quote=True)}" viewBox="0 0 {WIDTH} {height}" '
        f'xmlns="http://www.w3.org/2000/svg">\n{inside}\n</svg>'
    )


ALONE = (
    "svg { font: 12px system-ui, sans-serif; background: #ffffff; } .ink { fill: #1b1f24; } .quiet { fill: #667080; } "
    ".grid { stroke: #e3e7ec; } .roof { stroke: #667080; stroke-dasharray: 5 4; stroke-width: 1.5; } "
    ".line { stroke-width: 1.6; opacity: .75; } .dot { stroke: #ffffff; } .bar { fill: #0072b2; }"
)
"""What a page says of colours and lines, for a plot that stands in a file of its own."""


def alone(svg: str) -> str:
    """Return a plot with its own look, to be a file."""
    head, rest = svg.split(">", maxsplit=1)
    return f"{head}>\n<style>{ALONE}</style>{rest}\n"
