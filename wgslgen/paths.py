"""Where the files lie that wgslgen reads but that are not Python.

The templates stand at the top of a checkout, beside the package, and inside the package in a wheel. Every
other module asks here, so that a checkout, an editable install and a wheel behave alike.
"""

from __future__ import annotations

import os
from pathlib import Path

from wgslgen.errors import ToolMissing


def templates_dir(package: Path = Path(__file__).parent) -> Path:
    """Return the folder that holds `kernels/`, `formats/`, `layouts/` and `partials/`.

    Args:
        package: The folder of the installed package; only tests pass another one.

    Raises:
        ToolMissing: The installation holds no templates.
    """
    places = (package / "templates", package.parent / "templates")
    for place in places:
        if (place / "kernels").is_dir():
            return place
    raise ToolMissing(
        f"no templates in {places[0]} or {places[1]}: the installation of wgslgen is incomplete",
        hint="pip install --force-reinstall wgslgen",
    )


def license_text() -> str:
    """Return the licence that every bundle carries; a test keeps it equal to the project's own."""
    return (templates_dir() / "web" / "LICENSE").read_text(encoding="utf-8")


def user_cache() -> Path:
    """Return the folder of this user's caches: naga-cli and the results of unchanged variants lie there."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wgslgen"
