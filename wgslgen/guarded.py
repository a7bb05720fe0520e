"""Buffers that notice what is written or read outside them, where robust access would hide it.

Writable buffers lie between guards in a larger buffer, all of it filled with a pattern, and are bound with the
guard behind them; behind what is only read lie bytes that read as NaN.
"""

from __future__ import annotations

from typing import Any

from wgslgen.adapters import Gpu
from wgslgen.errors import OracleMismatch, UsageProblem

GUARD = 256
"""Bytes before and behind each buffer; also the alignment of storage buffer offsets."""
UNWRITTEN = 0xAA
POISON = 0xFF


class Guarded:
    """`size` bytes on a device that start with `content`, behind which lies the pattern, or poison if `read_only`."""

    def __init__(self, gpu: Gpu, device: Any, name: str, size: int, content: bytes = b"", read_only: bool = False):
        self.device, self.name, self.size = device, name, size
        self.before = 0 if read_only else GUARD
        self.behind = GUARD if read_only else 2 * GUARD
        raw = bytes([UNWRITTEN]) * self.before + filled(size, content, read_only)
        raw += bytes([POISON if read_only else UNWRITTEN]) * self.behind
        usage = gpu.module.BufferUsage
        self.buffer = device.create_buffer_with_data(data=raw, usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)

    def resource(self, offset: int = 0, size: int | None = None) -> dict[str, Any]:
        """Return what a bind group takes: the bytes from `offset` on, with the guard behind the whole of them."""
        bound = self.size - offset + GUARD if size is None else size
        return {"buffer": self.buffer, "offset": self.before + offset, "size": bound}

    def write(self, content: bytes, offset: int = 0) -> None:
        """Overwrite from byte `offset` on; raise UsageProblem past the end, and for parts of a word of 4 bytes."""
        if len(content) % 4:
            raise UsageProblem(f"{self.name}: {len(content)} bytes; expected whole words of 4 bytes")
        if offset % 4 or offset + len(content) > self.size:
            raise UsageProblem(f"{self.name}: {len(content)} bytes at {offset} do not fit {self.size} bytes")
        self.device.queue.write_buffer(self.buffer, self.before + offset, content)

    def read(self) -> bytes:
        """Return the content; raise OracleMismatch where a guard was written."""
        raw = bytes(self.device.queue.read_buffer(self.buffer))
        content = raw[self.before : self.before + self.size]
        if not self.before:
            return content
        for place, guard in (("before", raw[: self.before]), ("behind", raw[self.before + self.size :])):
            wrong = [at for at, byte in enumerate(guard) if byte != UNWRITTEN]
            if wrong:
                raise OracleMismatch(f"wrote outside {self.name}: {len(wrong)} bytes {place} it, first at {wrong[0]}")
        return content


def filled(size: int, content: bytes, read_only: bool = False) -> bytes:
    """Return `size` bytes that begin with the content and end in the pattern, or in zeros if `read_only`."""
    return content + bytes([0 if read_only else UNWRITTEN]) * (size - len(content))
