"""Run a variant on an adapter: upload, dispatch, read back, and see that nothing else was written.

Outputs are bound with a guard behind them and lie in a larger buffer, all of it filled with a pattern; inputs
are bound with bytes behind them that read as NaN. So a read or a write past the logical end shows, where
robust access would hide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import dialect, launch
from wgslgen.adapters import Gpu
from wgslgen.errors import OracleMismatch, ShaderRejected, UsageProblem
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel

GUARD = 256
"""Bytes before and behind each output; also the alignment of storage buffer offsets."""
UNWRITTEN = 0xAA
POISON = 0xFF


class Runner:
    """A variant compiled for an adapter, to be run on several problems."""

    def __init__(self, gpu: Gpu, variant: Kernel, web_text: str) -> None:
        """Compile. Raises ToolMissing for a missing feature, ShaderRejected for a text that does not compile."""
        self.gpu = gpu
        self.variant = variant
        self.name = variant_name(variant)
        size = gpu.subgroup_size if variant.requirements.subgroups else None
        launch.check_device(variant, gpu.features, gpu.limits, f"adapter {gpu.name}", size)
        self.limits = {**DEFAULT_LIMITS, **variant.raised_limits}
        self.device = gpu.device(frozenset(variant.requirements.features), variant.raised_limits)
        self.layout = self.device.create_bind_group_layout(entries=self._layout_entries())
        self.pipeline = self._compile(web_text if gpu.kind.dialect == "web" else dialect.to_native(web_text))

    def run(
        self,
        inputs: Mapping[str, NDArray[Any]],
        sizes: Mapping[str, int],
        parameters: Mapping[str, float] | None = None,
    ) -> dict[str, bytes]:
        """Run once and return each output's bytes by binding name.

        An output that is named among the inputs starts with that content, any other with a pattern.

        Raises UsageProblem for sizes or inputs that do not fit, OracleMismatch for a write outside an output,
        ShaderRejected where the device refuses buffers, bindings or the dispatch.
        """
        plan = launch.plan(self.variant, sizes, parameters, self.limits)
        self._check_inputs(inputs, plan.binding_bytes)
        outputs = [binding.name for binding in self.variant.bindings() if binding.access == "read_write"]
        if plan.workgroups is None:
            return {name: self._filled(plan.binding_bytes[name], inputs.get(name)) for name in outputs}
        try:
            buffers = {
                binding.name: (
                    self._output(plan.binding_bytes[binding.name], inputs.get(binding.name))
                    if binding.name in outputs
                    else self._input(np.ascontiguousarray(inputs[binding.name]))
                )
                for binding in self.variant.bindings()
            }
            self._dispatch(buffers, plan.uniform_bytes, plan.workgroups)
            return {name: self._read(name, buffers[name][0], plan.binding_bytes[name]) for name in outputs}
        except self.gpu.module.GPUError as problem:
            raise ShaderRejected(f"{self.name} on {self.gpu.name}, {dict(sizes)}: {problem}") from None

    # ---- compiling -----------------------------------------------------------------------------

    def _layout_entries(self) -> list[dict[str, Any]]:
        kinds = {"read": "read-only-storage", "read_write": "storage"}
        types = [kinds[binding.access] for binding in self.variant.bindings()]
        types += ["uniform"] if self.variant.uniforms() else []
        stage = self.gpu.module.ShaderStage.COMPUTE
        return [{"binding": i, "visibility": stage, "buffer": {"type": kind}} for i, kind in enumerate(types)]

    def _compile(self, text: str) -> Any:
        try:
            module = self.device.create_shader_module(code=text, label=self.name)
            layout = self.device.create_pipeline_layout(bind_group_layouts=[self.layout])
            return self.device.create_compute_pipeline(layout=layout, compute={"module": module, "entry_point": "main"})
        except self.gpu.module.GPUError as problem:
            raise ShaderRejected(f"{self.name} on {self.gpu.name}: {problem}") from None

    # ---- buffers -------------------------------------------------------------------------------

    def _check_inputs(self, inputs: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> None:
        for binding in self.variant.bindings():
            if binding.name not in inputs:
                if binding.access != "read":
                    continue
                raise UsageProblem(f"{self.name}: no input {binding.name}")
            got, wanted = inputs[binding.name].nbytes, sizes[binding.name]
            if got > wanted or wanted - got > 3:
                raise UsageProblem(f"{self.name}: input {binding.name} has {got} bytes; expected {wanted}")

    def _input(self, data: NDArray[Any]) -> tuple[Any, int, int]:
        raw = data.tobytes()
        padded = raw + bytes(-len(raw) % 4) + bytes([POISON]) * GUARD
        usage = self.gpu.module.BufferUsage
        return self.device.create_buffer_with_data(data=padded, usage=usage.STORAGE), 0, len(padded)

    def _output(self, size: int, content: NDArray[Any] | None) -> tuple[Any, int, int]:
        usage = self.gpu.module.BufferUsage
        guard = bytes([UNWRITTEN]) * GUARD
        filled = guard + self._filled(size, content) + guard + guard
        buffer = self.device.create_buffer_with_data(data=filled, usage=usage.STORAGE | usage.COPY_SRC)
        return buffer, GUARD, size + GUARD

    @staticmethod
    def _filled(size: int, content: NDArray[Any] | None) -> bytes:
        """Return `size` bytes that begin with the content, if any, and end in the pattern."""
        raw = b"" if content is None else np.ascontiguousarray(content).tobytes()
        return raw + bytes([UNWRITTEN]) * (size - len(raw))

    def _read(self, name: str, buffer: Any, size: int) -> bytes:
        raw = bytes(self.device.queue.read_buffer(buffer))
        before, content, behind = raw[:GUARD], raw[GUARD : GUARD + size], raw[GUARD + size :]
        for place, guard in (("before", before), ("behind", behind)):
            wrong = [at for at, byte in enumerate(guard) if byte != UNWRITTEN]
            if wrong:
                raise OracleMismatch(
                    f"{self.name} on {self.gpu.name}: wrote outside {name}: {len(wrong)} bytes {place} it, "
                    f"first at {wrong[0]}"
                )
        return content

    # ---- dispatch ------------------------------------------------------------------------------

    def _dispatch(
        self, buffers: Mapping[str, tuple[Any, int, int]], uniform_bytes: bytes, workgroups: launch.Grid
    ) -> None:
        usage = self.gpu.module.BufferUsage
        bound = [buffers[binding.name] for binding in self.variant.bindings()]
        if uniform_bytes:
            uniform = self.device.create_buffer_with_data(data=uniform_bytes, usage=usage.UNIFORM)
            bound.append((uniform, 0, len(uniform_bytes)))
        entries = [
            {"binding": i, "resource": {"buffer": buffer, "offset": offset, "size": size}}
            for i, (buffer, offset, size) in enumerate(bound)
        ]
        group = self.device.create_bind_group(layout=self.layout, entries=entries)
        encoder = self.device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(self.pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*workgroups)
        compute.end()
        self.device.queue.submit([encoder.finish()])
