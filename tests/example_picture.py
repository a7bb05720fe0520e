"""The picture of the example page in the documents: `python tests/example_picture.py` makes it anew.

The page must have been built: `npm run build` in examples/web.
"""

from __future__ import annotations

from pathlib import Path

from browser import launched, served
from playwright.sync_api import Page, ViewportSize

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "example.png"
SIZE: ViewportSize = {"width": 1200, "height": 1240}
LARGEST = 300_000
"""Bytes that the picture may have."""


def compose(page: Page, rows: int | None = None) -> None:
    """Ask what the picture shows, a product of one token, and run it; `rows` asks for a smaller matrix."""
    page.locator("select[name=rounding]").select_option("int8")
    page.locator("select[name=layout]").select_option("planar")
    if rows is not None:
        page.locator("[name=N]").fill(str(rows))
    page.locator("#run").click()
    page.wait_for_function("document.querySelector('#status').textContent === 'Done.'", timeout=60_000)
    page.evaluate("scrollTo(0, 0)")


def main() -> None:
    """Write the picture."""
    with served({"example": ROOT / "examples" / "web" / "dist"}, {}) as origin, launched() as browser:
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(f"{origin}/example/index.html")
        compose(page)
        page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
