"""What the cases share: hand-written weights, small sets of variants, a kernel of its own, a watchdog."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from wgslgen import layouts
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.formats import FORMATS
from wgslgen.harness import Runner
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.weighted import Weighted
from wgslgen.oracles.binarize import binarise, words
from wgslgen.oracles.quantize_q8 import packed, quantise
from wgslgen.render import render
from wgslgen.spec import (
    Binding,
    Case,
    Constant,
    Kernel,
    SubgroupRange,
    Tolerance,
    UniformField,
    WorkgroupVariable,
)

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
SOURCE = "tests"
ALL_FORMATS = [(fmt.name, group) for fmt in FORMATS for group in fmt.groups]
"""Every format with each of its groups."""

opened = cache(open_adapter)
"""Opens an adapter, once a process: devices and their drivers are slow to come up."""


# ---- weights and variants ------------------------------------------------------------------------


def block(d: float, payload: bytes) -> bytes:
    """Return a block of a format that opens with an f16 scale."""
    return np.float16(d).tobytes() + payload


def rows(*blocks: Sequence[bytes]) -> Bytes:
    """Return rows of blocks as the file's bytes."""
    return np.frombuffer(b"".join(b"".join(row) for row in blocks), np.uint8)


def widest(kernel: type[Weighted], **constants: Any) -> Any:
    """Return the variant with the widest step that these constants allow."""
    for step_words in (4, 2, 1, None):
        try:
            return kernel(**{"step_words": step_words, **constants})
        except ValidationError as refusal:
            problem = refusal
    raise problem


def routes(fmt: str, group: int | None = None, **constants: Any) -> list[Matvec]:
    """Return matvec on every route and layout, with subgroups and without."""
    base = {"format": fmt, "group": group, "tile_rows": 2, **constants}
    ways: list[dict[str, Any]] = [
        {"route": "float", "layout": "planar"},
        {"route": "float", "layout": "ggml"},
        {"route": "int8", "layout": "planar", "activation_group": 32},
        {"route": "int8", "layout": "ggml", "activation_group": 32},
        {"route": "block", "layout": "ggml"},
    ]
    return [widest(Matvec, **base, **way, subgroups=subgroups) for way in ways for subgroups in (False, True)]


def row4_routes(fmt: str, group: int | None = None, **constants: Any) -> list[Matvec]:
    """Return matvec on layout row4, on both of its routes, with subgroups and without."""
    base = {"format": fmt, "group": group, "layout": "row4", "tile_rows": 4, **constants}
    ways: list[dict[str, Any]] = [{"route": "float"}, {"route": "int8", "activation_group": 32}]
    return [widest(Matvec, **base, **way, subgroups=subgroups) for way in ways for subgroups in (False, True)]


def popcount_routes(fmt: str, group: int, **constants: Any) -> list[Matvec]:
    """Return matvec on bit planes, with subgroups and without; an activation group is a block of weights."""
    base = {"format": fmt, "group": group, "layout": "planes", "route": "popcount", "activation_group": group}
    return [widest(Matvec, **base, **constants, subgroups=subgroups) for subgroups in (False, True)]


def run_matvec(gpu: Gpu, variant: Matvec, data: Bytes, x: NDArray[Any]) -> Floats:
    """Return y [columns, N] as the adapter computes it for the weights `data` and x [columns, K]."""
    columns, k = x.shape
    assert columns == variant.columns
    n = data.size // variant.weight_format.row_bytes(k)
    inputs: dict[str, NDArray[Any]] = dict(layouts.pack(variant.weight_format, variant.layout, data, n, k))
    if variant.route == "int8":
        x8, x_scale = packed(quantise(x, variant.activation_group or 0), variant.weight_format.int8_stride or 1)
        inputs |= {"x8": x8, "x_scale": x_scale}
    elif variant.route == "popcount":
        binarised = binarise(x, variant.activation_group or 0)
        inputs |= {"x1": words(binarised.positive), "x_scale": binarised.scales}
    else:
        inputs["x"] = x.astype(np.float16 if variant.activation == "f16" else np.float32)
    raw = runner(gpu, variant).run(inputs, {"N": n, "K": k})["y"]
    dtype = np.float16 if variant.output == "f16" else np.float32
    return np.frombuffer(raw, dtype, count=columns * n).astype(np.float64).reshape(columns, n)


@cache
def runner(gpu: Gpu, variant: Kernel) -> Runner:
    """Compile `variant` for the adapter, once a process."""
    return Runner(gpu, variant, render(variant, SOURCE))


# ---- a kernel of the tests' own ------------------------------------------------------------------


class Probe(Kernel):
    """A kernel without a template: its text is the test's. It writes N u32, and has whatever size it is told."""

    NAME: ClassVar[str] = "probe"
    SUMMARY: ClassVar[str] = "what a test needs"
    SIZES: ClassVar[tuple[str, ...]] = ("N",)
    FIELDS: ClassVar[Mapping[str, str]] = {}
    """Uniform fields: name → type; each takes the parameter of its own name."""

    size: Annotated[int, Constant("threads of a workgroup", "how", "wg{}")] = 64
    floats: Annotated[int, Constant("f32 in one workgroup variable; one more f32 in another", "how", "mem{}")] = 0
    buffers: Annotated[int, Constant("storage buffers", "how", "b{}")] = 1
    subgroups: Annotated[bool, Constant("whether the text uses subgroups", "how", "sg")] = False
    sizes: Annotated[tuple[int, int], Constant("subgroup sizes that it is right for", "how", "{}")] = (4, 128)

    def bindings(self) -> tuple[Binding, ...]:
        """Return the output, and inputs for the rest."""
        y = Binding(name="y", access="read_write", element="u32", length="N", doc="result")
        more = (Binding(name=f"x{i}", access="read", element="u32", length="N", doc="") for i in range(1, self.buffers))
        return (y, *more)

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return FIELDS."""
        return tuple(UniformField(name=n, type=t, value=n, doc="") for n, t in self.FIELDS.items())

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return `floats` f32 and one more."""
        both = (("tile", self.floats), ("flag", 1))
        return tuple(WorkgroupVariable(name=n, element="f32", length=f"{c}", count=c) for n, c in both if self.floats)

    def subgroup_range(self) -> SubgroupRange:
        """Return `sizes`."""
        return SubgroupRange.model_validate({"min": self.sizes[0], "max": self.sizes[1]})

    def workgroups(self) -> str:
        """Return one workgroup, or none for no results."""
        return "min(N, 1)"

    def threads(self) -> int:
        """Return `size`."""
        return self.size

    def tolerance(self) -> Tolerance:
        """Return that results are exact."""
        return Tolerance(nmse=0.0, element=0.0, derivation="bits are copied")

    def cases(self) -> tuple[Case, ...]:
        """Return one case."""
        return (Case(name="one", sizes={"N": 1}),)


def run_probe(
    gpu: Gpu,
    body: str,
    count: int,
    inputs: Sequence[NDArray[np.uint32]] = (),
    kernel: type[Probe] = Probe,
    parameters: Mapping[str, Any] | None = None,
) -> list[int]:
    """Return the `count` words that `body` writes to `y`; the inputs, `count` words each, are x1, x2 and so on."""
    variant = kernel(size=1, buffers=1 + len(inputs))
    lines = ["struct Params {", *(f"  {n}: {t}," for n, t in variant.FIELDS.items()), "}"] if variant.FIELDS else []
    for index, binding in enumerate(variant.bindings()):
        place = f"@group(0) @binding({index})"
        lines.append(f"{place} var<storage, {binding.access}> {binding.name}: array<u32>;")
    if variant.FIELDS:
        lines.append(f"@group(0) @binding({len(variant.bindings())}) var<uniform> params: Params;")
    lines += ["@compute @workgroup_size(1u)", "fn main() {", body, "}"]
    named = {f"x{index}": words for index, words in enumerate(inputs, 1)}
    raw = Runner(gpu, variant, "\n".join(lines)).run(named, {"N": count}, parameters)["y"]
    return [int(word) for word in np.frombuffer(raw, np.uint32)]


# ---- watchdog ------------------------------------------------------------------------------------


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Return what `work` returns; fail where it takes longer, as on a device that hangs.

    The work goes on in a daemon thread, because a call into a driver cannot be interrupted.
    """
    result: list[Any] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            result.append(work())
        except BaseException as problem:  # raised again in the test's own thread
            failure.append(problem)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(body,), daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    assert not thread.is_alive(), f"nothing came back within {seconds} s"
    return result[0]
