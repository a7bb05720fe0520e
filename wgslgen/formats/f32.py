"""f32: unquantised weights, row-major, four bytes each."""

from __future__ import annotations

from typing import ClassVar

from wgslgen.formats.plain import PlainFormat


class F32(PlainFormat):
    """IEEE 754 single precision; the WGSL decode takes four words at a time."""

    name: ClassVar[str] = "f32"
    gguf_type: ClassVar[int] = 0
    bits: ClassVar[int] = 32
