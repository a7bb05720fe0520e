from __future__ import annotations

import json
from pathlib import Path

from wgslgen import coverage
from wgslgen.adapters import MATRICES
from wgslgen.naming import variant_name
from wgslgen.served import served

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coverage.md"
RECORDS = sorted((ROOT / coverage.RECORDS).glob("coverage-*.json"))


def records() -> list[dict[str, dict[str, float]]]:
    return [json.loads(path.read_text()) for path in RECORDS]


def row(page: str, kernel: str, name: str) -> list[str]:
    """Return the cells of a format's row in a kernel's table, by its columns' order."""
    table = page.split(f"## {kernel}\n")[1].split("\n## ", maxsplit=1)[0]
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_the_page_is_what_the_records_give() -> None:
    assert len(RECORDS) == 2
    assert PAGE.read_text() == coverage.page(records()), "run `make docs`"


def test_every_variant_has_a_figure() -> None:
    """On lavapipe, or where it multiplies subgroup matrices on a GPU through Dawn."""
    figures: dict[str, set[str]] = {}
    for record in records():
        for name, by_adapter in record.items():
            figures.setdefault(name, set()).update(by_adapter)
    for one in served():
        wanted = "dawn-gpu" if MATRICES in one.variant.requirements.features else "lavapipe"
        assert wanted in figures.get(variant_name(one.variant), set()), variant_name(one.variant)


def test_a_cell_is_the_worst_of_layouts_and_adapters_and_a_later_record_wins() -> None:
    ours = [one for one in served() if (one.kernel, one.route, str(one.format)) == ("matvec", "float", "q4_0")]
    assert len(ours) >= 3
    first, second = variant_name(ours[0].variant), variant_name(ours[1].variant)
    early = {first: {"a": 1e-13, "b": 2e-13}, second: {"a": 5e-12}}
    late = {second: {"a": 3e-13}}
    assert row(coverage.page([early]), "matvec", "q4_0")[0] == "5.0e-12"
    assert row(coverage.page([early, late]), "matvec", "q4_0")[0] == "3.0e-13"


def test_what_is_refused_has_a_dash_and_what_did_not_run_is_empty() -> None:
    page = coverage.page([])
    assert "these adapters: none yet" in page
    assert row(page, "matvec", "q4_K")[:3] == ["", "", "—"]  # float, int8, block
