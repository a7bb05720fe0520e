"""Rules on what lanes and subgroups index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wgslgen.textrules.lanes import Lanes
from wgslgen.textrules.text import Problem, Text, rule


@rule("C12")
def lane_indices(text: Text) -> Iterator[Problem]:
    """Devices pick larger subgroups than the smallest they report, and of the smallest a workgroup has the most."""
    if "subgroups" not in text.enabled:
        return
    for short in Lanes(text.module).short:
        yield Problem(
            short.node.at,
            f"an array of {short.length} is indexed by lanes or subgroups up to {short.most}: make it longer, or "
            "guard the index",
        )


RULES: Final = (lane_indices,)
