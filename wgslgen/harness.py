"""Run a variant on an adapter: upload, dispatch, read back, and see that nothing else was written.

Buffers are guarded, so a read or a write past the logical end shows, where robust access would hide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import launch
from wgslgen.adapters import Gpu
from wgslgen.errors import OracleMismatch, ShaderRejected, UsageProblem
from wgslgen.guarded import Guarded, filled
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.naming import variant_name
from wgslgen.pipeline import Pipeline, submit
from wgslgen.spec import Kernel


class Runner:
    """A variant compiled for an adapter, to be run on several problems."""

    def __init__(self, gpu: Gpu, variant: Kernel, web_text: str) -> None:
        """Compile. Raises ToolMissing for a missing feature, ShaderRejected for a text that does not compile."""
        self.gpu = gpu
        self.variant = variant
        self.name = variant_name(variant)
        size = gpu.subgroup_size if variant.requirements.subgroups else None
        launch.check_device(variant, gpu.features, gpu.limits, f"adapter {gpu.name}", size, gpu.matrices)
        self.limits = {**DEFAULT_LIMITS, **variant.raised_limits}
        self.device = gpu.device(frozenset(variant.requirements.features), variant.raised_limits)
        self.pipeline = Pipeline(gpu, self.device, variant, web_text)

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
        contents = {name: np.ascontiguousarray(array).tobytes() for name, array in inputs.items()}
        self._check_inputs(contents, plan.binding_bytes)
        outputs = [binding.name for binding in self.variant.bindings() if binding.access == "read_write"]
        if plan.workgroups is None:
            return {name: filled(plan.binding_bytes[name], contents.get(name, b"")) for name in outputs}
        try:
            buffers = {
                name: Guarded(self.gpu, self.device, name, size, contents.get(name, b""), name not in outputs)
                for name, size in plan.binding_bytes.items()
            }
            group = self.pipeline.bind({name: held.resource() for name, held in buffers.items()}, plan.uniform_bytes)
            submit(self.device, [(self.pipeline, group, plan.workgroups)])
            return {name: buffers[name].read() for name in outputs}
        except self.gpu.module.GPUError as problem:
            raise ShaderRejected(f"{self.name} on {self.gpu.name}, {dict(sizes)}: {problem}") from None
        except OracleMismatch as problem:
            raise OracleMismatch(f"{self.name} on {self.gpu.name}: {problem.message}") from None

    def _check_inputs(self, contents: Mapping[str, bytes], sizes: Mapping[str, int]) -> None:
        for binding in self.variant.bindings():
            if binding.name not in contents:
                if binding.access == "read":
                    raise UsageProblem(f"{self.name}: no input {binding.name}")
                continue
            got, wanted = len(contents[binding.name]), sizes[binding.name]
            if got > wanted or wanted - got > 3:
                raise UsageProblem(f"{self.name}: input {binding.name} has {got} bytes; expected {wanted}")
