"""q5_1: f16 scale d, f16 minimum m and 32 codes of 5 bits; weight = code * d + m. 24 bytes for 32 weights."""

from __future__ import annotations

from typing import ClassVar

from wgslgen.formats.base import Floats
from wgslgen.formats.q5_0 import Fives


class Q5_1(Fives):
    """Codes 0 to 31 span the block's range; their bits lie as in q5_0."""

    name: ClassVar[str] = "q5_1"
    gguf_type: ClassVar[int] = 7
    min_offset: ClassVar[int | None] = 2
    code_offset: ClassVar[int] = 4

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The least weight is the minimum, and 31 steps reach the greatest."""
        low = blocks.min(axis=-1)
        return (blocks.max(axis=-1) - low) / 31.0, low
