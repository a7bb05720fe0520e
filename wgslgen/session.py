"""Run plans on an adapter: one device, named buffers, and dispatches that are prepared once and submitted often.

Nothing is allocated between submissions: pipelines, bind groups and uniform buffers are made when a plan is
added. What a submission changes is what `write` changed, and what the passes keep in their buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgslgen import expr, launch
from wgslgen.adapters import Gpu
from wgslgen.errors import ShaderRejected, UsageProblem
from wgslgen.guarded import GUARD, Guarded
from wgslgen.kernels.weighted import Weighted
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.naming import variant_name
from wgslgen.pipeline import Pipeline, submit
from wgslgen.plan import Buffer, Pass, Plan
from wgslgen.render import render
from wgslgen.rowchunks import row_chunks
from wgslgen.spec import Kernel

SOURCE = "session"


class Session:
    """A device that runs any of `variants`, with buffers by name.

    Raises ToolMissing where the adapter lacks what a variant requires.
    """

    def __init__(self, gpu: Gpu, variants: Sequence[Kernel]) -> None:
        self.gpu = gpu
        raised: dict[str, int] = {}
        for variant in variants:
            size = gpu.subgroup_size if variant.requirements.subgroups else None
            launch.check_device(variant, gpu.features, gpu.limits, f"adapter {gpu.name}", size, gpu.matrices)
            for limit, value in variant.raised_limits.items():
                raised[limit] = max(raised.get(limit, 0), value)
        features = frozenset(feature for variant in variants for feature in variant.requirements.features)
        self.limits = {**DEFAULT_LIMITS, **raised}
        self.device = gpu.device(features, raised)
        self.pipelines: dict[Kernel, Pipeline] = {}
        self.buffers: dict[str, Guarded] = {}
        self.given: dict[str, int] = {}
        """Bytes at the start of a buffer that the host wrote, and no pass since."""
        self.bounds: dict[str, list[Bound]] = {}
        """By buffer, who bounds its elements."""
        self.written: set[str] = set()
        """Buffers that some pass writes."""
        self.dispatches: list[tuple[Pipeline, Any, launch.Grid]] = []

    def hold(self, name: str, size: int, content: NDArray[Any] | None = None, read_only: bool = False) -> None:
        """Make the buffer `name` of `size` bytes, which starts with `content`; a name is made once."""
        if name in self.buffers:
            raise UsageProblem(f"there is a buffer {name} already")
        if type(size) is not int or size < 0 or size % 4:
            raise UsageProblem(f"{name}: {size!r} bytes; expected a whole number of u32 words, 4 bytes each")
        raw = b"" if content is None else np.ascontiguousarray(content).tobytes()
        if len(raw) > size:
            raise UsageProblem(f"{name}: {len(raw)} bytes of content do not fit {size} bytes")
        self.buffers[name] = Guarded(self.gpu, self.device, name, size, raw, read_only)
        self.given[name] = len(raw)

    def write(self, name: str, content: NDArray[Any]) -> None:
        """Overwrite the start of buffer `name`.

        Raises UsageProblem for elements that a pass does not take: an id that names no row, a length above the cache.
        """
        held, raw = self._held(name), np.ascontiguousarray(content).tobytes()
        for bound in self.bounds.get(name, ()):
            bound.check(raw)
        held.write(raw)
        self.given[name] = max(self.given.get(name, 0), len(raw))

    def read(self, name: str, dtype: Any = np.uint8) -> NDArray[Any]:
        """Return buffer `name` as an array of `dtype`; raise OracleMismatch where something wrote outside it."""
        return np.frombuffer(self._held(name).read(), dtype)

    def hold_inputs(self, plan: Plan, sizes: Mapping[str, int], contents: Mapping[str, NDArray[Any]]) -> None:
        """Make a buffer for each input of the plan; refuse contents that are missing or of another size."""
        plan.check_sizes(sizes)
        for buffer in plan.buffers:
            if buffer.role not in ("input", "in_out"):
                continue
            if buffer.name not in contents:
                raise UsageProblem(f"{plan.name}: no input {buffer.name}")
            size, got = self._bytes(plan, buffer, sizes), contents[buffer.name].nbytes
            if not 0 <= size - got <= 3:
                raise UsageProblem(f"{plan.name}: input {buffer.name} has {got} bytes; expected {size}")
            self.hold(buffer.name, size, contents[buffer.name], read_only=buffer.role == "input")

    def outputs(self, plan: Plan) -> dict[str, bytes]:
        """Return the bytes of the plan's outputs and of what it changes in place, by the plan's names."""
        changed = [buffer.name for buffer in plan.buffers if buffer.role in ("output", "in_out")]
        return {name: self._held(name).read() for name in changed}

    def clear(self) -> None:
        """Forget buffers and dispatches; what is compiled stays."""
        for kept in (self.buffers, self.given, self.bounds, self.written, self.dispatches):
            kept.clear()

    def add(
        self,
        plan: Plan,
        sizes: Mapping[str, int],
        parameters: Mapping[str, float] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare the plan's passes behind those that are there.

        `names` gives the session's buffer for a buffer of the plan; one of the same name stands for itself, and
        scratch that does not exist yet is made. Raises UsageProblem for sizes that a variant refuses, for a
        buffer that is missing or too small, where a pass would write what it also binds elsewhere, and for elements
        of a buffer, as far as the host gave them, that a pass does not take.
        """
        plan.check_sizes(sizes)
        if unknown := sorted((names or {}).keys() - {buffer.name for buffer in plan.buffers}):
            raise UsageProblem(
                f"{plan.name}: has no buffer {unknown[0]}; it has {_listed(b.name for b in plan.buffers)}"
            )
        held = {buffer.name: (names or {}).get(buffer.name, buffer.name) for buffer in plan.buffers}
        for buffer in plan.buffers:
            made = buffer.role in ("scratch", "output")
            self._require(plan, held[buffer.name], self._bytes(plan, buffer, sizes), made)
        for step in plan.passes:
            self._add(step, {b.name: held[step.buffer(b)] for b in step.variant.bindings()}, sizes, parameters)

    def submit(self) -> None:
        """Run everything that was added, in order, as one command buffer."""
        for name in self.written:
            self.given.pop(name, None)
        try:
            submit(self.device, self.dispatches)
        except self.gpu.module.GPUError as problem:
            raise ShaderRejected(f"{self.gpu.name}: {problem}") from None

    def _held(self, name: str) -> Guarded:
        if name not in self.buffers:
            raise UsageProblem(f"there is no buffer {name}; there are {_listed(self.buffers)}")
        return self.buffers[name]

    @staticmethod
    def _bytes(plan: Plan, buffer: Buffer, sizes: Mapping[str, int]) -> int:
        size = expr.fold(buffer.bytes, sizes)
        if not isinstance(size, int):
            raise UsageProblem(f"{plan.name}: no value for {', '.join(sorted(expr.names(size)))}")
        return size

    def _require(self, plan: Plan, name: str, size: int, make: bool) -> None:
        if name not in self.buffers:
            if not make:
                raise UsageProblem(f"{plan.name}: there is no buffer {name}")
            self.hold(name, size)
        if self.buffers[name].size < size:
            raise UsageProblem(f"{plan.name}: buffer {name} has {self.buffers[name].size} bytes; expected {size}")

    def _add(
        self, step: Pass, held: Mapping[str, str], sizes: Mapping[str, int], parameters: Mapping[str, float] | None
    ) -> None:
        variant = step.variant
        needed = {field.value for field in variant.uniforms()} - {*variant.SIZES}
        given = {name: value for name, value in (parameters or {}).items() if name in needed}
        for chunk, views in dispatches(variant, step.given(sizes), self.limits):
            prepared = launch.plan(variant, chunk, given, self.limits)
            bound = {name: (0, prepared.binding_bytes[name]) for name in held} | views
            refuse_aliases(variant, {name: (at, *bound[name]) for name, at in held.items()})
            if prepared.workgroups is None:
                continue
            self._bound(variant, chunk, held, prepared.binding_bytes)
            try:
                pipeline = self._pipeline(variant)
                resources = {name: self.buffers[at].resource(*views.get(name, ())) for name, at in held.items()}
                group = pipeline.bind(resources, prepared.uniform_bytes)
            except self.gpu.module.GPUError as problem:
                raise ShaderRejected(f"{variant_name(variant)} on {self.gpu.name}: {problem}") from None
            self.dispatches.append((pipeline, group, prepared.workgroups))

    def _pipeline(self, variant: Kernel) -> Pipeline:
        if variant not in self.pipelines:
            self.pipelines[variant] = Pipeline(self.gpu, self.device, variant, render(variant, SOURCE))
        return self.pipelines[variant]

    def _bound(
        self, variant: Kernel, sizes: Mapping[str, int], held: Mapping[str, str], binding_bytes: Mapping[str, int]
    ) -> None:
        """Check what the host gave to bindings with a bound, and remember to check what it writes there later."""
        for binding in variant.bindings():
            name = held[binding.name]
            if binding.below is not None:
                bound = Bound(variant, binding.name, sizes, binding_bytes[binding.name])
                if name not in self.written and (known := self.given.get(name, 0)):
                    bound.check(self.buffers[name].read()[:known])
                self.bounds.setdefault(name, []).append(bound)
        self.written |= {held[binding.name] for binding in variant.bindings() if binding.access == "read_write"}


Views = dict[str, tuple[int, int]]
"""Binding → (offset, size) in bytes, for those that are bound in part."""


def dispatches(
    variant: Kernel, sizes: Mapping[str, int], limits: Mapping[str, int]
) -> Iterator[tuple[Mapping[str, int], Views]]:
    """Yield the sizes of each dispatch that a pass takes, and which part of the weights it binds.

    One with everything, or one a row chunk where the kernel takes chunks and the weights are above the limit of a
    binding.
    """
    if not isinstance(variant, Weighted) or variant.chunk_rows is None:
        yield sizes, {}
        return
    fmt, n, k = variant.weight_format, sizes["N"], sizes["K"]
    chunks = row_chunks(fmt, variant.layout, n, k, limits, variant.chunk_rows)
    if len(chunks) <= 1:
        yield sizes, {}
        return
    for chunk in chunks:
        start = {name: sizes[name] + added for name, added in variant.chunk_start(chunk.first_row).items()}
        yield {**sizes, "N": chunk.rows, **start}, chunk.planes


class Bound(NamedTuple):
    """A binding whose elements must stay under a bound, and the bytes of it."""

    variant: Kernel
    binding: str
    sizes: Mapping[str, int]
    size: int

    def check(self, raw: bytes) -> None:
        """Raise UsageProblem where the u32 in `raw`, as many as the binding has, hold one that is too large."""
        elements = np.frombuffer(raw, np.uint32, count=min(len(raw), self.size) // 4)
        launch.check_values(self.variant, {self.binding: elements}, self.sizes)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def refuse_aliases(variant: Kernel, bound: Mapping[str, tuple[str, int, int]]) -> None:
    """Raise UsageProblem where a binding that is written shares bytes with another one.

    `bound` gives (buffer, offset, size) by binding name. WebGPU refuses such a dispatch, and so do we before it;
    ranges are widened to the alignment of storage buffers, because that is how a view of a tensor is bound.
    """
    written = {binding.name for binding in variant.bindings() if binding.access == "read_write"}
    names = [binding.name for binding in variant.bindings()]
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            if not {first, second} & written or bound[first][0] != bound[second][0]:
                continue
            (low, high), (other_low, other_high) = (_aligned(*bound[name][1:]) for name in (first, second))
            if low < other_high and other_low < high:
                raise UsageProblem(
                    f"{variant_name(variant)}: bindings {first} and {second} share bytes of buffer {bound[first][0]}, "
                    "and one of them is written; expected different buffers",
                    hint="bind another buffer, or choose a variant that works in place",
                )


def _aligned(offset: int, size: int) -> tuple[int, int]:
    return offset // GUARD * GUARD, -(-(offset + size) // GUARD) * GUARD
