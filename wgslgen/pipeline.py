"""A variant compiled for a device: explicit bind-group layout, pipeline, and the groups that bind buffers to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wgslgen import dialect
from wgslgen.adapters import Gpu
from wgslgen.errors import ShaderRejected
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel

ACCESS = {"read": "read-only-storage", "read_write": "storage"}


class Pipeline:
    """`variant` on `device`, ready to be bound and dispatched."""

    def __init__(self, gpu: Gpu, device: Any, variant: Kernel, web_text: str) -> None:
        """Compile; raise ShaderRejected for a text that the device refuses."""
        self.gpu, self.device, self.variant = gpu, device, variant
        self.name = variant_name(variant)
        text = web_text if gpu.kind.dialect == "web" else dialect.to_native(web_text)
        self.layout = device.create_bind_group_layout(entries=self._entries())
        try:
            module = device.create_shader_module(code=text, label=self.name)
            layout = device.create_pipeline_layout(bind_group_layouts=[self.layout])
            self.pipeline = device.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": "main"}
            )
        except gpu.module.GPUError as problem:
            raise ShaderRejected(f"{self.name} on {gpu.name}: {problem}") from None

    def bind(self, resources: Mapping[str, dict[str, Any]], uniform_bytes: bytes) -> Any:
        """Return a bind group of the storage buffers by binding name, and of a new uniform buffer."""
        bound = [resources[binding.name] for binding in self.variant.bindings()]
        if uniform_bytes:
            usage = self.gpu.module.BufferUsage
            uniform = self.device.create_buffer_with_data(data=uniform_bytes, usage=usage.UNIFORM)
            bound.append({"buffer": uniform, "offset": 0, "size": len(uniform_bytes)})
        entries = [{"binding": index, "resource": resource} for index, resource in enumerate(bound)]
        return self.device.create_bind_group(layout=self.layout, entries=entries)

    def _entries(self) -> list[dict[str, Any]]:
        types = [ACCESS[binding.access] for binding in self.variant.bindings()]
        types += ["uniform"] if self.variant.uniforms() else []
        stage = self.gpu.module.ShaderStage.COMPUTE
        return [{"binding": i, "visibility": stage, "buffer": {"type": kind}} for i, kind in enumerate(types)]


def submit(device: Any, dispatches: list[tuple[Pipeline, Any, tuple[int, int, int]]]) -> None:
    """Submit dispatches (pipeline, bind group, workgroups) in order, as one command buffer."""
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    for pipeline, group, workgroups in dispatches:
        compute.set_pipeline(pipeline.pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*workgroups)
    compute.end()
    device.queue.submit([encoder.finish()])
