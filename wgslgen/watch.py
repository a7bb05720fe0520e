"""Waiting for changes of what bundles are rendered from: bundle files, and the templates.

Python is left out: a process keeps the modules that it has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import Change, watch

from wgslgen.paths import templates_dir


def changes(places: Sequence[Path]) -> Iterator[None]:
    """Yield once when the watch stands, so that nothing is missed from then on, and after each change.

    Folders are watched, and files in them known by name: an editor that saves by a new file in the old one's
    place changes that file, too.

    Args:
        places: Bundle files, or folders whose bundle files count, with those that come later.
    """
    templates = templates_dir().resolve()
    wanted = {form for place in places for form in (place.absolute(), place.resolve())}
    folders = {place if place.is_dir() else place.parent for place in wanted}
    folders |= {templates, *(path for path in templates.rglob("*") if path.is_dir())}

    def counts(_: Change, changed: str) -> bool:
        path = Path(changed)
        bundle_file = path in wanted or (path.parent in wanted and path.suffix == ".toml")
        return bundle_file or path.is_relative_to(templates)

    # The first wait that ends, by a change or by its timeout, shows that the watch stands.
    waits = watch(*folders, watch_filter=counts, recursive=False, rust_timeout=100, yield_on_timeout=True)
    yield from (None for at, found in enumerate(waits) if found or at == 0)
