"""Plans with buffers bound to their passes, ready to be timed: as a whole, or some of their passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from wgslgen import expr, launch
from wgslgen.bench import rotate
from wgslgen.bench.clock import Pace, Sample, measure
from wgslgen.bench.contents import run_of
from wgslgen.bench.counts import Count, count
from wgslgen.bench.machine import Dispatch, Machine
from wgslgen.errors import ShaderRejected, UsageProblem
from wgslgen.naming import variant_name
from wgslgen.plan import Pass, Plan
from wgslgen.session import dispatches
from wgslgen.spec import Binding

DEFAULT_PARAMETERS = {"EPS": 1e-6}
"""What passes get that take a float; SCALE follows from the heads."""


class Step(NamedTuple):
    """A plan with its sizes, and the shared buffer for a buffer of the plan; one left out is shared by its own name."""

    plan: Plan
    sizes: Mapping[str, int]
    names: Mapping[str, str] = {}

    def name(self, buffer: str) -> str:
        """Return the shared buffer that stands for the plan's `buffer`."""
        return self.names.get(buffer, buffer)


class Held(NamedTuple):
    """A shared buffer: its bytes, what fills it (None: a pass does), and whether copies of it take turns."""

    size: int
    run: Callable[[], bytes] | None
    rotated: bool


class Prepared:
    """The passes of `steps` on a machine. `close` gives the buffers back.

    Raises ToolMissing or UsageProblem where the device may not run a variant or the sizes do not fit, ShaderRejected
    where it refuses a text or a buffer.
    """

    def __init__(self, machine: Machine, steps: Sequence[Step], rotated: int | None = None) -> None:
        self.machine, self.steps = machine, steps
        self.passes: list[tuple[Pass, Mapping[str, int]]] = []
        """Every pass of every step in order, with the sizes of its variant."""
        for step in steps:
            step.plan.check_sizes(step.sizes)
            for each in step.plan.passes:
                machine.check(each.variant)
                self.passes.append((each, each.given(step.sizes)))
        held = self._held()
        one = sum(each.size for each in held.values() if each.rotated)
        wanted = rotate.ROTATED_SOFTWARE if machine.software else rotate.ROTATED
        rest = sum(each.size for each in held.values()) - one
        if one + rest > machine.most_bytes:
            raise UsageProblem(
                f"{steps[0].plan.name}: {one + rest} bytes of buffers; a measurement on {machine.backend.adapter} may "
                f"have {machine.most_bytes}",
                hint="ask for smaller sizes",
            )
        self.copies = rotate.copies(one, wanted if rotated is None else rotated, machine.most_bytes - rest)
        self._buffers: list[Any] = []
        try:
            machine.heat_ahead()
            for each, _ in self.passes:  # while the device is busy: making pipelines takes longest
                machine.compiled(each.variant)
            shared = {name: self._made(each) for name, each in held.items()}
            self.units = [self._bound(shared, copy) for copy in range(self.copies)]
        except machine.gpu.module.GPUError as problem:
            self.close()
            raise ShaderRejected(f"{steps[0].plan.name} on {machine.backend.label}: {problem}") from None
        except BaseException:
            self.close()
            raise

    def time(self, pace: Pace, passes: Sequence[int] | None = None) -> Sample:
        """Return the time of one run of all passes, or of those with these indices, once the clocks are up."""
        hot = self.machine.heat()
        chosen = [[d for at in passes or range(len(unit)) for d in unit[at]] for unit in self.units]
        sample = measure(self.machine.timer(chosen), pace)
        return replace(sample, warmed=sample.warmed and hot)

    def host_seconds(self) -> float:
        """Return the host's time to encode and submit one run of all passes, without the device's."""
        return self.machine.host_seconds([d for each in self.units[0] for d in each])

    def counts(self) -> list[Count]:
        """Return what each pass moves and multiplies."""
        return [count(each.variant, sizes) for each, sizes in self.passes]

    def close(self) -> None:
        """Give the buffers back to the device."""
        for buffer in self._buffers:
            buffer.destroy()
        self._buffers.clear()

    def _held(self) -> dict[str, Held]:
        """Return the shared buffers: of each name the largest, filled by what its first pass reads there."""
        rng = np.random.default_rng(0)
        found: dict[str, Held] = {}
        for step in self.steps:
            first: dict[str, tuple[Pass, Binding]] = {}
            for each, binding in step.plan.uses():
                first.setdefault(each.buffer(binding), (each, binding))
            for buffer in step.plan.buffers:
                size = expr.fold(buffer.bytes, step.sizes)
                if not isinstance(size, int):
                    raise UsageProblem(f"{step.plan.name}: no value for {', '.join(sorted(expr.names(size)))}")
                each, binding = first[buffer.name]
                name, sizes = step.name(buffer.name), each.given(step.sizes)
                if size > self.machine.most_binding:
                    raise UsageProblem(
                        f"{step.plan.name}: buffer {buffer.name} has {size} bytes, above {self.machine.most_binding}, "
                        f"the limit of {self.machine.backend.label}",
                        hint="ask for smaller sizes",
                    )
                if name in found:
                    found[name] = found[name]._replace(size=max(found[name].size, size))
                    continue
                reads = buffer.role in ("input", "in_out")
                run = (lambda v=each.variant, b=binding, s=sizes: run_of(v, b, s, rng)) if reads else None
                found[name] = Held(size, run, buffer.role == "input" and size >= rotate.LEAST)
        return found

    def _made(self, held: Held) -> list[Any]:
        made = [self.machine.buffer(held.size) for _ in range(self.copies if held.rotated else 1)]
        self._buffers += made
        if held.run is not None:
            self.machine.fill(made, held.run())
        return made

    def _bound(self, shared: Mapping[str, list[Any]], copy: int) -> list[list[Dispatch]]:
        """Return the dispatches of each pass, on copy `copy` of what is rotated."""
        return [self._dispatches(each, step, shared, copy) for step in self.steps for each in step.plan.passes]

    def _dispatches(self, each: Pass, step: Step, shared: Mapping[str, list[Any]], copy: int) -> list[Dispatch]:
        variant, limits = each.variant, self.machine.limits
        needed = {field.value for field in variant.uniforms()} - {*variant.SIZES}
        pipeline = self.machine.compiled(variant).pipeline
        found = []
        for chunk, views in dispatches(variant, each.given(step.sizes), limits):
            parameters = {name: _parameter(name, each) for name in needed}
            prepared = launch.plan(variant, chunk, parameters, limits)
            if prepared.workgroups is None:
                raise UsageProblem(
                    f"{variant_name(variant)}: there is nothing to do for {dict(chunk)}", hint="ask for larger sizes"
                )
            resources = {}
            for binding in variant.bindings():
                buffers = shared[step.name(each.buffer(binding))]
                offset, size = views.get(binding.name, (0, prepared.binding_bytes[binding.name]))
                resources[binding.name] = {"buffer": buffers[copy % len(buffers)], "offset": offset, "size": size}
            found.append(Dispatch(pipeline, pipeline.bind(resources, prepared.uniform_bytes), prepared.workgroups))
        return found


def _parameter(name: str, each: Pass) -> float:
    if name == "SCALE":
        return 1 / math.sqrt(each.variant.model_dump()["head_dim"])
    if name not in DEFAULT_PARAMETERS:
        raise UsageProblem(f"{variant_name(each.variant)}: wgslgen bench has no value for {name}")
    return DEFAULT_PARAMETERS[name]
