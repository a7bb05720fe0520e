"""f16: unquantised weights, row-major, two bytes each."""

from __future__ import annotations

from typing import ClassVar

from wgslgen.formats.plain import PlainFormat


class F16(PlainFormat):
    """IEEE 754 half precision; the WGSL decode takes two words at a time."""

    name: ClassVar[str] = "f16"
    gguf_type: ClassVar[int] = 1
    bits: ClassVar[int] = 16

    @property
    def exact_in_f16(self) -> bool:
        """True: a weight is an f16."""
        return True
