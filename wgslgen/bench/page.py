"""What a bench found as one page without anything from elsewhere: targets, plots, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from wgslgen.bench import plots
from wgslgen.bench.plots import Point, Series
from wgslgen.bench.text import UNITS, said_shape, said_spread, verdict

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #667080; --grid: #e3e7ec; --back: #ffffff;
  --card: #f6f8fa; --good: #1a7f4b; --bad: #b3541e; --bar: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --quiet: #98a2b0; --grid: #2b3138; --back: #14171b;
  --card: #1c2126; --good: #4cc38a; --bad: #f0a070; --bar: #56b4e9; } }
body { margin: 0 auto; max-width: 86rem; padding: 2rem 1.5rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; } p { margin: .2rem 0 .8rem; color: var(--quiet); max-width: 60rem; }
.figures { display: flex; flex-wrap: wrap; gap: .8rem; margin: .8rem 0; }
.figures div { background: var(--card); border-radius: .5rem; padding: .5rem .9rem; }
.figures b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.figures span { color: var(--quiet); font-size: .85rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(30rem, 1fr)); gap: 1rem 1.6rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin: .4rem 0; }
svg { width: 100%; max-width: 46rem; height: auto; font: 12px system-ui, sans-serif; }
.ink { fill: var(--ink); } .quiet { fill: var(--quiet); } .grid { stroke: var(--grid); }
.roof { stroke: var(--quiet); stroke-dasharray: 5 4; stroke-width: 1.5; } .line { stroke-width: 1.6; opacity: .75; }
.dot { stroke: var(--back); } .dot:hover { stroke: var(--ink); } .bar { fill: var(--bar); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { text-align: right; padding: .28rem .6rem; border-bottom: 1px solid var(--grid); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 18rem; }
th:last-child, td:last-child { text-align: left; white-space: normal; min-width: 13rem; color: var(--quiet); }
th { color: var(--quiet); font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--quiet); }
"""
HEADS = (
    "variant or plan",
    "us",
    "spread",
    "MB",
    "Gop",
    "of read",
    "of copy",
    "of rate",
    "x plain",
    "limit by count",
)
ROOFS = {"f32": "f32 units", "dot4": "dot4I8Packed", "matrix": "matrix units"}


def page(found: Mapping[str, Any]) -> str:
    """Return the page of `run.data`."""
    parts = ["<h1>wgslgen bench</h1>", "<p>Shares are of bandwidths and rates that were measured in the same run.</p>"]
    if found["targets"]:
        parts += _targets(found["targets"])
    for backend in found["backends"]:
        parts += _backend(backend)
    inside = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>wgslgen bench</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{inside}\n</body>\n</html>\n"
    )


def _targets(targets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    labels = dict.fromkeys(label for row in targets for label in row["figures"])
    reached = sum(bool(row["judged"] and row["judged"]["reached"]) for row in targets)
    yield f"<h2>Targets: {reached} of {len(targets)} reached</h2>"
    lines = []
    for row in targets:
        judged = row["judged"]
        look = "good" if judged and judged["reached"] else "bad"
        figures = [row["figures"].get(label) for label in labels]
        cells = ["-" if figure is None else figure["said"] for figure in figures]
        lines.append(
            [
                escape(row["work"]),
                escape(row["target"]),
                *map(escape, cells),
                f'<span class="{look}">{escape(verdict(row))}</span>',
                str(judged["passes"]) if judged else "",
                escape(judged["limit"]) if judged else "",
            ]
        )
    yield _table(["work", "target", *labels, "verdict", "passes", "limit by count"], lines)


def _backend(backend: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{escape(backend['label'])}</h2>"
    about = f"{backend['device']}, {backend['driver']}, {backend['library']}; {backend['clock']}"
    yield f"<p>{escape(about)}</p>"
    cards = []
    for each in backend["references"]:
        word, scale = UNITS[each["unit"]]
        cards.append(f"<div><b>{each['value'] / scale:,.4g} {word}</b><span>{escape(each['name'])}</span></div>")
    yield f'<div class="figures">{"".join(cards)}</div>'
    figures = [_figure(caption, svg) for caption, svg in plots_of(backend)]
    if figures:
        yield f'<div class="plots">{"".join(figures)}</div>'
    for model in backend["models"]:
        yield from _model(model)
    for shape, results in _by_shape(backend["results"]).items():
        yield f"<details><summary>{escape(shape)}: {len(results)} times</summary>{_results(results)}</details>"


def _by_shape(results: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in results:
        found.setdefault(said_shape(each), []).append(each)
    return found


# ---- plots -----------------------------------------------------------------------------------------


def plots_of(backend: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield caption and SVG of each plot: roofline, time by tile for each shape, time against M."""
    results = backend["results"]
    multiplied = [each for each in results if each["operations"]]
    if multiplied:
        yield "Roofline: operations a second over operations a byte", roofline(backend, multiplied)
    for shape, own in _by_shape(results).items():
        tiled = [each for each in own if "tile_rows" in each["constants"] and "workgroup_size" in each["constants"]]
        if len({each["constants"]["tile_rows"] for each in tiled}) > 1:
            yield f"Time by TILE_ROWS and workgroup size: {shape}", by_tile(tiled)
    for shape, own in _against_m(results).items():
        yield f"Time against M: {shape}", against_m(own)


def roofline(backend: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> str:
    """Return the plot of operations a second under the roofs of memory and of each unit."""
    series = [
        Series(name, [Point(_intensity(each), each["operations"] / each["seconds"], _said(each)) for each in own])
        for name, own in _grouped(results, _kernel_and_route)
    ]
    measured = {each["name"]: each["value"] for each in backend["references"]}
    low = min(point.x for each in series for point in each.points) / 2
    high = max(point.x for each in series for point in each.points) * 4
    roofs = []
    used = {each["unit"] for each in results}
    for unit, name in ROOFS.items():
        if unit in measured and unit in used:
            knee = measured[unit] / measured["read"]
            ends = [low, *([knee] if low < knee < high else []), max(high, knee)]
            line = [Point(at, min(measured[unit], at * measured["read"]), name) for at in ends]
            roofs.append(Series(name, line))
    return plots.scatter(series, "operations a byte", "operations a second", roofs)


def by_tile(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the plot of microseconds over TILE_ROWS: a line for each route and workgroup size, the fastest of each."""
    series = []
    for name, own in _grouped(results, lambda each: f"{each['route']} {each['constants']['workgroup_size']}"):
        best = _best(own, lambda each: float(each["constants"]["tile_rows"]))
        series.append(Series(name, [Point(rows, each["seconds"] * 1e6, _said(each)) for rows, each in best]))
    return plots.scatter(series, "TILE_ROWS", "us")


def against_m(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the plot of microseconds over the number of tokens: a line for each route, the fastest of each."""
    series = []
    for name, own in _grouped(results, lambda each: str(each["route"])):
        best = _best(own, lambda each: float(each["shape"]["M"]))
        series.append(Series(name, [Point(m, each["seconds"] * 1e6, _said(each)) for m, each in best]))
    return plots.scatter(series, "M, tokens", "us")


def _against_m(results: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the results of several M by their other sizes and format."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in results:
        if each["shape"].get("M", 0) > 0:
            rest = {name: size for name, size in each["shape"].items() if name != "M"}
            found.setdefault(said_shape({**each, "shape": rest}), []).append(each)
    return {shape: own for shape, own in found.items() if len({each["shape"]["M"] for each in own}) > 1}


def _grouped(results: Iterable[Mapping[str, Any]], key: Any) -> list[tuple[str, list[Mapping[str, Any]]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in results:
        found.setdefault(key(each), []).append(each)
    return sorted(found.items())


def _best(results: Iterable[Mapping[str, Any]], key: Any) -> list[tuple[float, Mapping[str, Any]]]:
    found: dict[float, Mapping[str, Any]] = {}
    for each in results:
        at = key(each)
        if at not in found or each["seconds"] < found[at]["seconds"]:
            found[at] = each
    return sorted(found.items(), key=lambda item: item[0])


def _kernel_and_route(each: Mapping[str, Any]) -> str:
    return str(each["kernel"] if each["route"] == each["kernel"] else f"{each['kernel']} {each['route']}")


def _intensity(each: Mapping[str, Any]) -> float:
    return float(each["operations"] / (each["bytes_read"] + each["bytes_written"]))


def _said(each: Mapping[str, Any]) -> str:
    return f"{each['name']}: {each['seconds'] * 1e6:,.1f} us, {each['of_read_bandwidth']:.0%} of the read bandwidth"


def _figure(caption: str, svg: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"


# ---- tables ----------------------------------------------------------------------------------------


def _model(model: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3>{escape(model['model'])}, {escape(model['weights'])}: {escape(model['work'])}</h3>"
    yield (
        f"<p>{model['passes']} passes, {model['seconds'] * 1e3:,.3f} ms of device time, "
        f"{model['tokens_per_second']:,.0f} tokens/s; the host takes {model['host_seconds'] * 1e3:,.2f} ms to encode "
        "and submit them from Python. Each kind of pass by itself:</p>"
    )
    rows = [
        (f"{kind['label']} ({kind['passes']})", kind["seconds"] * 1e6, f"{kind['seconds'] * 1e6:,.0f} us")
        for kind in sorted(model["kinds"], key=lambda kind: -float(kind["seconds"]))
    ]
    if rows:
        yield _figure("Microseconds of all passes of a kind", plots.bars(rows, "us by kind of pass"))


def _results(results: Iterable[Mapping[str, Any]]) -> str:
    lines = [
        [
            escape(each["name"]),
            f"{each['seconds'] * 1e6:,.1f}",
            said_spread(each),
            f"{(each['bytes_read'] + each['bytes_written']) / 1e6:,.2f}",
            f"{each['operations'] / 1e9:,.3g}",
            f"{each['of_read_bandwidth']:.1%}",
            f"{each['of_copy_bandwidth']:.1%}",
            "-" if each["of_rate"] is None else f"{each['of_rate']:.1%}",
            "-" if each["over_baseline"] is None else f"{each['over_baseline']:.2f}",
            escape(each["limit"]),
        ]
        for each in sorted(results, key=lambda result: float(result["seconds"]))
    ]
    heads = [
        "variant or plan",
        "us",
        "spread",
        "MB",
        "Gop",
        "of read",
        "of copy",
        "of rate",
        "x plain",
        "limit by count",
    ]
    return _table(heads, lines)


def _table(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a table; cells are HTML already, heads are text."""
    head = "".join(f"<th>{escape(word)}</th>" for word in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
