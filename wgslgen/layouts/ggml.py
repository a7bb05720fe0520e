"""`ggml`: one plane "weights", the file's bytes untouched. Blocks may straddle words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from wgslgen.formats.base import Bytes, Format
from wgslgen.layouts.base import Layout, Refusal


class Ggml(Layout):
    """The file's own order; the only layout of formats without scales."""

    name: ClassVar[str] = "ggml"
    planes: ClassVar[tuple[str, ...]] = ("weights",)

    def refusal(self, fmt: Format) -> Refusal | None:  # noqa: ARG002  # whatever the format
        """Refuse nothing."""
        return None

    def content_bytes(self, fmt: Format, n: int, blocks: int) -> dict[str, int]:  # noqa: ARG002  # blocks say it all
        """Return the file's bytes."""
        return {"weights": blocks * fmt.block_bytes}

    def split(self, fmt: Format, rows: Bytes) -> dict[str, Bytes]:  # noqa: ARG002  # bytes stay as they are
        """Return the rows as they are."""
        return {"weights": rows}

    def join(self, fmt: Format, parts: Mapping[str, Bytes], n: int, count: int) -> Bytes:  # noqa: ARG002  # the same
        """Return the plane as it is."""
        return parts["weights"]
