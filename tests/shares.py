"""Which of many variants an adapter runs in the suite: lavapipe all, the slower ones a part each, not the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
FIRST = {"swiftshader": 0, "dawn-swiftshader": 1}


def share(items: Sequence[Item], adapter: str, of: int = 3) -> Sequence[Item]:
    """Return every item for lavapipe, and every `of`-th for the others."""
    return items if adapter not in FIRST else items[FIRST[adapter] :: of]
