"""A run that is kept, as Markdown: `python -m wgslgen.bench.record RUN.json [FOLDER]` for docs/performance.md.

RUN.json is what `wgslgen bench --targets --json` printed. With FOLDER the plots are written there, an SVG file each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wgslgen.bench import page, plots
from wgslgen.bench.text import said_reference, verdict
from wgslgen.slugs import slug


def markdown(found: Mapping[str, Any], figures: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the lines: backends with their roofs, targets, models, and `figures` (caption, path).

    Of models the first backend has the kinds of passes, too.
    """
    for backend in found["backends"]:
        roof = "; ".join(map(said_reference, backend["references"]))
        yield f"- {backend['label']}: {backend['device']}, {backend['library']}, {backend['clock']}. Measured: {roof}."
    yield ""
    labels = dict.fromkeys(label for row in found["targets"] for label in row["figures"])
    yield from _row(["work", "target", *labels, "verdict", "passes", "limit by count"])
    yield from _row(["---"] * (5 + len(labels)))
    for row in found["targets"]:
        cells = [row["figures"].get(label) for label in labels]
        said = ["–" if cell is None else str(cell["said"]) for cell in cells]
        judged = row["judged"] or {"passes": "–", "limit": "–"}
        last = [verdict(row), str(judged["passes"]), judged["limit"]]
        yield from _row([row["work"], row["target"], *said, *last])
    for at, backend in enumerate(found["backends"]):
        for model in backend["models"]:
            yield from _model(backend["label"], model, with_kinds=at == 0)
    for caption, path in figures:
        yield from ("", f"![{caption}]({path})")


def _row(cells: Sequence[str]) -> Iterator[str]:
    yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _model(label: str, model: Mapping[str, Any], with_kinds: bool) -> Iterator[str]:
    yield ""
    yield (
        f"{model['model']}, {model['weights']}, {model['work']}, on {label}: {model['passes']} passes, "
        f"{model['seconds'] * 1e3:,.3f} ms of device time, {model['tokens_per_second']:,.0f} tokens/s; "
        f"{model['host_seconds'] * 1e3:,.2f} ms of the host."
    )
    if with_kinds and model["kinds"]:
        yield ""
        yield from _row(["passes of", "number", "us together", "of read bandwidth"])
        yield from _row(["---"] * 4)
        for kind in model["kinds"]:
            share = f"{kind['of_read_bandwidth']:.1%}"
            yield from _row([kind["label"], str(kind["passes"]), f"{kind['seconds'] * 1e6:,.1f}", share])


def write_plots(found: Mapping[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Write each plot of the first backend as an SVG file; return captions and paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for at, (caption, svg) in enumerate(page.plots_of(found["backends"][0]), 1):
        path = folder / f"{at:02}-{slug(caption.partition(':')[0])}.svg"
        path.write_text(plots.alone(svg), encoding="utf-8")
        made.append((caption, f"{folder.name}/{path.name}"))
    return made


def main(arguments: Sequence[str]) -> None:
    """Print the Markdown of a run."""
    found = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    figures = write_plots(found, Path(arguments[1])) if len(arguments) > 1 else []
    sys.stdout.write("\n".join(markdown(found, figures)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
