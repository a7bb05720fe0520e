"""q8_0: an f16 scale d and 32 signed bytes; weight = code * d. 34 bytes for 32 weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from wgslgen.formats.base import Floats, ScaledFormat


class Q8_0(ScaledFormat):
    """Codes -128 to 127 in element order; the quantiser uses -127 to 127."""

    name: ClassVar[str] = "q8_0"
    gguf_type: ClassVar[int] = 8
    groups: ClassVar[tuple[int, ...]] = (32,)
    bits: ClassVar[int] = 8
    code_offset: ClassVar[int] = 2
    signed: ClassVar[bool] = True

    group: int = 32

    def fit(self, blocks: Floats) -> tuple[Floats, Floats | None]:
        """The largest magnitude becomes code 127 or -127."""
        return np.abs(blocks).max(axis=-1) / 127.0, None
