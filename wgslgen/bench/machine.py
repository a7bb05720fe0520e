"""A device to measure on: one with all that its adapter offers, buffers that are filled there, and timed passes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from wgslgen import launch
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.bench.clock import Heater, Timer, slope
from wgslgen.bench.references import FmaRate
from wgslgen.dawn import Toggles
from wgslgen.errors import ShaderRejected, ToolMissing, UsageProblem
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.pipeline import Pipeline
from wgslgen.render import render
from wgslgen.spec import Kernel

SOURCE = "bench"
RAISED = (
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupStorageSize",
    "maxStorageBuffersPerShaderStage",
)
"""Limits that a device gets from its adapter: a measurement shall not end at what a page has not asked for."""
UNCHECKED = Toggles(on=("disable_robustness", "disable_workgroup_init"), off=("timestamp_quantization",))
CHECKED = Toggles(off=("timestamp_quantization",))
"""Browsers round timestamps to a tenth of a millisecond, against pages that listen to others; kernels do not change."""
STAGED = 16 << 20
"""Bytes that go to the device at once; a longer buffer is filled from them there."""


HEAT_GROUPS = 8448
"""Workgroups of a dispatch that heats: about a millisecond of an H200."""
HEATS, HEATS_AHEAD = 4, 40
"""Such dispatches in front of every round, and while a measurement is prepared."""


class Backend(NamedTuple):
    """Where to measure: an adapter, and whether Dawn leaves its bounds checks and workgroup zeroing out."""

    adapter: str
    unchecked: bool = False

    @property
    def label(self) -> str:
        """What the backend is called in tables."""
        return f"{self.adapter}, unchecked" if self.unchecked else self.adapter


class Dispatch(NamedTuple):
    """A pipeline, a bind group, and the workgroups of one dispatch."""

    pipeline: Pipeline
    group: Any
    workgroups: launch.Grid


@dataclass(frozen=True)
class Compiled:
    """A pipeline and how long its making took."""

    pipeline: Pipeline
    seconds: float
    text_bytes: int


class Machine:
    """A device of a backend. Raises ToolMissing where its adapter is not there."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.gpu: Gpu = open_adapter(backend.adapter)
        self.software = self.gpu.info["adapter_type"] == "CPU"
        raised = {name: max(self.gpu.limits[name], DEFAULT_LIMITS[name]) for name in RAISED}
        self.limits = {**DEFAULT_LIMITS, **raised}
        toggles = UNCHECKED if backend.unchecked else CHECKED
        self.device = self.gpu.device(self.gpu.features, raised, toggles)
        self.timestamps = "timestamp-query" in self.gpu.features
        self._compiled: dict[Kernel, Compiled] = {}

    @property
    def most_bytes(self) -> int:
        """Bytes of buffers that a measurement may have: a share of what such adapters have in any case."""
        return (3 if self.software else 12) << 30

    @property
    def most_binding(self) -> int:
        """Bytes of the largest buffer that can be made and bound."""
        return min(self.limits["maxBufferSize"], self.limits["maxStorageBufferBindingSize"], launch.MOST_BYTES)

    def check(self, variant: Kernel) -> None:
        """Raise ToolMissing or UsageProblem where the device may not run `variant`."""
        size = self.gpu.subgroup_size if variant.requirements.subgroups else None
        label = f"adapter {self.backend.adapter}"
        launch.check_device(variant, self.gpu.features, self.gpu.limits, label, size, self.gpu.matrices)

    def compiled(self, variant: Kernel) -> Compiled:
        """Return the pipeline of `variant`, made once; raise ShaderRejected where the device refuses its text."""
        if variant not in self._compiled:
            text = render(variant, SOURCE)
            start = time.perf_counter()
            pipeline = Pipeline(self.gpu, self.device, variant, text)
            self._compiled[variant] = Compiled(pipeline, time.perf_counter() - start, len(text.encode()))
        return self._compiled[variant]

    def compile_all(self, variants: Iterable[Kernel]) -> None:
        """Make the pipelines of all variants that the device may run, so that none is made between measurements."""
        for variant in dict.fromkeys(variants):
            with suppress(ToolMissing, UsageProblem, ShaderRejected):  # whoever measures them hears why not
                self.check(variant)
                self.compiled(variant)

    def forget(self) -> None:
        """Drop the pipelines."""
        self._compiled.clear()

    def buffer(self, size: int) -> Any:
        """Return a buffer of `size` bytes, zeros."""
        usage = self.gpu.module.BufferUsage
        return self.device.create_buffer(
            size=max(-(-size // 4) * 4, 4), usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        )

    def fill(self, buffers: Sequence[Any], run: bytes) -> None:
        """Fill buffers with repetitions of `run`, whose length is a multiple of 4."""
        longest = max(buffer.size for buffer in buffers)
        times = max(min(STAGED, longest) // len(run), 1)
        staged = np.tile(np.frombuffer(run, np.uint8), times)
        source = self.buffer(staged.size)
        self.device.queue.write_buffer(source, 0, staged)
        encoder = self.device.create_command_encoder()
        for buffer in buffers:
            for start in range(0, buffer.size, staged.size):
                encoder.copy_buffer_to_buffer(source, 0, buffer, start, min(staged.size, buffer.size - start))
        self.device.queue.submit([encoder.finish()])
        self.wait()
        source.destroy()

    def wait(self) -> None:
        """Wait until the device has done everything, by reading a buffer, which works everywhere."""
        self.device.queue.read_buffer(self._probe)

    def timer(self, units: Sequence[Sequence[Dispatch]], heated: bool = True) -> Timer:
        """Return the timer of passes that run the units over and over, one unit a repetition.

        A GPU is `heated` in front of each pass, so that its clocks do not fall while the host encodes.
        """
        if not self.timestamps:
            return slope(self._walled(units))
        return self._stamped(units, heated and not self.software)

    def heat(self) -> bool:
        """Keep a GPU busy until its clocks are up, and return whether they are."""
        return self.software or self._heater()

    def heat_ahead(self) -> None:
        """Give a GPU something to do while the host prepares a measurement."""
        if not self.software:
            self._submit_heat(HEATS_AHEAD)

    def _submit_heat(self, dispatches: int) -> None:
        encoder = self.device.create_command_encoder()
        _encode(encoder.begin_compute_pass(), [[self._heating]], dispatches)
        self.device.queue.submit([encoder.finish()])

    @cached_property
    def _heater(self) -> Heater:
        timer = self.timer([[self._heating]], heated=False)
        return Heater(lambda: timer(HEATS))

    @cached_property
    def _heating(self) -> Dispatch:
        """A dispatch of the kernel that only multiplies."""
        kernel = FmaRate()
        prepared = launch.plan(kernel, {"GROUPS": HEAT_GROUPS}, limits=self.limits)
        resources = {
            name: {"buffer": self.buffer(size), "offset": 0, "size": size}
            for name, size in prepared.binding_bytes.items()
        }
        pipeline = Pipeline(self.gpu, self.device, kernel, render(kernel, SOURCE))
        group = pipeline.bind(resources, prepared.uniform_bytes)
        return Dispatch(pipeline, group, prepared.workgroups or (0, 0, 0))

    def host_seconds(self, unit: Sequence[Dispatch]) -> float:
        """Return the time that the host takes to encode and submit `unit` in one pass, without the device's."""
        start = time.perf_counter()
        encoder = self.device.create_command_encoder()
        _encode(encoder.begin_compute_pass(), [unit], 1)
        self.device.queue.submit([encoder.finish()])
        seconds = time.perf_counter() - start
        self.wait()
        return seconds

    def _stamped(self, units: Sequence[Sequence[Dispatch]], heated: bool) -> Timer:
        def seconds(repetitions: int) -> float:
            encoder = self.device.create_command_encoder()
            stamps = {
                "query_set": self._queries,
                "beginning_of_pass_write_index": 0,
                "end_of_pass_write_index": 1,
            }
            _encode(encoder.begin_compute_pass(timestamp_writes=stamps), units, repetitions)
            encoder.resolve_query_set(self._queries, 0, 2, self._resolved, 0)
            commands = encoder.finish()
            if heated:
                self._submit_heat(HEATS)
                self.wait()  # a pass may begin by its timestamp while the one before it is at work
            self.device.queue.submit([commands])
            ticks = np.frombuffer(self.device.queue.read_buffer(self._resolved), np.uint64)
            return max(int(ticks[1]) - int(ticks[0]), 0) * self._tick

        return seconds

    def _walled(self, units: Sequence[Sequence[Dispatch]]) -> Timer:
        def seconds(repetitions: int) -> float:
            encoder = self.device.create_command_encoder()
            _encode(encoder.begin_compute_pass(), units, repetitions)
            commands = encoder.finish()
            start = time.perf_counter()
            self.device.queue.submit([commands])
            self.wait()
            return time.perf_counter() - start

        return seconds

    @cached_property
    def _tick(self) -> float:
        return self.gpu.tick_seconds(self.device)

    @cached_property
    def _queries(self) -> Any:
        return self.device.create_query_set(type="timestamp", count=2)

    @cached_property
    def _resolved(self) -> Any:
        usage = self.gpu.module.BufferUsage
        return self.device.create_buffer(size=16, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    @cached_property
    def _probe(self) -> Any:
        return self.buffer(16)


def _encode(compute: Any, units: Sequence[Sequence[Dispatch]], repetitions: int) -> None:
    """Encode `repetitions` units, one after the other and from the first on again, and end the pass."""
    bound = None
    for dispatch in _repeated(units, repetitions):
        if dispatch.pipeline is not bound:
            compute.set_pipeline(dispatch.pipeline.pipeline)
            bound = dispatch.pipeline
        compute.set_bind_group(0, dispatch.group)
        compute.dispatch_workgroups(*dispatch.workgroups)
    compute.end()


def _repeated(units: Sequence[Sequence[Dispatch]], repetitions: int) -> Iterator[Dispatch]:
    for at in range(repetitions):
        yield from units[at % len(units)]
