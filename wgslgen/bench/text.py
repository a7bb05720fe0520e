"""What a bench prints: the roof of each backend, then results, models and targets as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from wgslgen.tables import new_table, screen

UNITS = {"B/s": ("GB/s", 1e9), "op/s": ("Top/s", 1e12)}
"""Unit of a reference → the unit that people read, and how much of the first it is."""


def print_run(found: Mapping[str, Any]) -> None:
    """Print all of `run.data`."""
    out = screen()
    for backend in found["backends"]:
        for line in _head(backend):
            out.print(line, highlight=False, markup=False)
        if backend["results"]:
            for part in _results(backend):
                out.print(part, highlight=False, markup=False)
        for line in _refusals(backend):
            out.print(line, highlight=False, markup=False)
        for model in backend["models"]:
            for part in _model(model):
                out.print(part, highlight=False, markup=False)
    if found["targets"]:
        out.print(_targets(found), highlight=False, markup=False)
        for line in _behind(found["targets"]):
            out.print(line, highlight=False, markup=False)


def _head(backend: Mapping[str, Any]) -> Iterator[str]:
    yield f"{backend['label']}: {backend['device']}, {backend['driver']}, {backend['library']}; {backend['clock']}"
    yield f"  measured here: {'; '.join(map(said_reference, backend['references']))}"


def said_reference(reference: Mapping[str, Any]) -> str:
    """Return name, numbers and unit of what a reference reached."""
    word, scale = UNITS[reference["unit"]]
    start, end = reference["start"] / scale, reference["end"] / scale
    return f"{reference['name']} {start:,.4g} {word} at the start, {end:,.4g} at the end"


def _results(backend: Mapping[str, Any]) -> Iterator[str | Table]:
    shapes: dict[str, list[Mapping[str, Any]]] = {}
    for each in backend["results"]:
        shapes.setdefault(said_shape(each), []).append(each)
    for shape, results in shapes.items():
        yield f"{shape}, on {backend['label']}"
        made = new_table(
            "variant or plan", "us", "spread", "MB", "Gop", "GB/s", "of read", "of copy", "of rate", "x plain"
        )
        for each in sorted(results, key=lambda result: float(result["seconds"])):
            made.add_row(*_line(each["name"], each))
            for step in each["passes"]:
                if "seconds" in step:
                    made.add_row(*_line(f"  {step['variant']}", step))
        yield made


def said_shape(result: Mapping[str, Any]) -> str:
    """Return op, shape and format of a result in words."""
    sizes = ", ".join(f"{name} = {value}" for name, value in result["shape"].items())
    stored = result["constants"].get("format")
    group = result["constants"].get("group")
    return f"{result['op']}, {sizes}{f', {stored}' if stored else ''}{f' with group {group}' if group else ''}"


def _line(name: str, each: Mapping[str, Any]) -> tuple[str, ...]:
    seconds, moved = each["seconds"], each["bytes_read"] + each["bytes_written"]
    rate, over = each["of_rate"], each.get("over_baseline")
    return (
        name,
        f"{seconds * 1e6:,.1f}",
        said_spread(each),
        f"{moved / 1e6:,.2f}",
        f"{each['operations'] / 1e9:,.3g}",
        f"{moved / seconds / 1e9:,.1f}",
        f"{each['of_read_bandwidth']:.1%}",
        f"{each['of_copy_bandwidth']:.1%}",
        "-" if rate is None else f"{rate:.1%} {each['unit']}",
        "-" if over is None else f"{over:.2f}",
    )


def said_spread(each: Mapping[str, Any]) -> str:
    """Return the spread of a time, and whether it can be trusted."""
    if len(each["rounds"]) == 1:
        return "one round"
    return f"{each['spread']:.1%}{'' if each['steady'] else ' unsteady'}{'' if each['warmed'] else ' cold'}"


def _refusals(backend: Mapping[str, Any]) -> Iterator[str]:
    reasons: dict[str, int] = {}
    for each in backend["refused"]:
        reason = each["reason"].partition(": ")[2] or each["reason"]
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        yield f"not timed: {count}, because: {reason}"


def _model(model: Mapping[str, Any]) -> Iterator[str | Table]:
    yield (
        f"{model['model']}, {model['weights']}: {model['work']}: {model['passes']} passes, "
        f"{model['seconds'] * 1e3:,.3f} ms of device time, {model['tokens_per_second']:,.0f} tokens/s; "
        f"the host takes {model['host_seconds'] * 1e3:,.2f} ms to encode and submit them from Python"
    )
    made = new_table("passes of", "number", "us together", "us each", "share", "MB", "of read", "of rate")
    for kind in model["kinds"]:
        moved = kind["bytes_read"] + kind["bytes_written"]
        made.add_row(
            kind["label"],
            str(kind["passes"]),
            f"{kind['seconds'] * 1e6:,.1f}",
            f"{kind['seconds'] * 1e6 / kind['passes']:,.1f}",
            f"{kind['seconds'] / model['seconds']:.1%}",
            f"{moved / 1e6:,.2f}",
            f"{kind['of_read_bandwidth']:.1%}",
            "-" if kind["of_rate"] is None else f"{kind['of_rate']:.1%}",
        )
    if model["kinds"]:
        together = sum(kind["seconds"] for kind in model["kinds"])
        made.add_row(
            "all of them", str(model["passes"]), f"{together * 1e6:,.1f}", "", f"{together / model['seconds']:.1%}"
        )
        yield made


def verdict(row: Mapping[str, Any]) -> str:
    """Return whether a target is reached, in words."""
    judged = row["judged"]
    if judged is None:
        return "not measured"
    return "reached" if judged["reached"] else f"short by {judged['short_by']:.0%}"


def _targets(found: Mapping[str, Any]) -> Table:
    labels = dict.fromkeys(label for row in found["targets"] for label in row["figures"])
    made = new_table("work", "target", *labels, "verdict")
    for row in found["targets"]:
        figures = [row["figures"].get(label) for label in labels]
        made.add_row(
            row["work"], row["target"], *("-" if each is None else each["said"] for each in figures), verdict(row)
        )
    return made


def _behind(targets: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what made each figure that counts, and the limit by count."""
    for row in targets:
        judged = row["judged"]
        if judged is not None:
            limit = f"; limit by count: {judged['limit']}" if judged["limit"] else ""
            by = f"{judged['by']}, passes: {judged['passes']}"
            yield f"{row['work']}: {judged['said']} on {judged['backend']} by {by}{limit}"
