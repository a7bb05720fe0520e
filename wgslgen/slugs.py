"""Names that are safe as folder names on every system: what bundles may be called."""

from __future__ import annotations

import re

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
DEVICE_NAMES = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(10))}
"""What Windows takes for a device, whatever follows the first dot."""


def is_slug(name: str) -> bool:
    """Tell whether `name` is safe as a folder name on every system."""
    return bool(SLUG.fullmatch(name)) and ".." not in name and name.partition(".")[0] not in DEVICE_NAMES


def slug(text: str) -> str:
    """Return the nearest safe name to any text; "bundle" where nothing of it can stay."""
    words = re.sub(r"[^a-z0-9._]+", "-", text.lower())
    name = re.sub(r"\.{2,}", ".", words)[:64].strip("-._")
    return name if is_slug(name) else f"bundle-{name}"[:64].strip("-._")
