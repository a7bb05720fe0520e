"""q4_1: f16 scale d, f16 minimum m and 32 codes of 4 bits; weight = code * d + m. 20 bytes for 32 weights."""

from __future__ import annotations

from typing import ClassVar

from wgslgen.formats.base import Floats
from wgslgen.formats.q4_0 import Nibbles


class Q4_1(Nibbles):
    """Codes 0 to 15 span the block's range; nibbles lie as in q4_0."""

    name: ClassVar[str] = "q4_1"
    gguf_type: ClassVar[int] = 3
    min_offset: ClassVar[int | None] = 2
    code_offset: ClassVar[int] = 4

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The least weight is the minimum, and fifteen steps reach the greatest."""
        low = blocks.min(axis=-1)
        return (blocks.max(axis=-1) - low) / 15.0, low
