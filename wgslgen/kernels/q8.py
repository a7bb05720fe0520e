"""What kernels share that write int8 activations as `quantize_q8` does, so that `matvec` route int8 reads them.

A kernel whose threads hold a result as f32 can store it through the partial emit_q8 without a pass of its own:
its fields are `q8_group: Group = None` and `q8_stride: Stride = None`, its Q8 is `Q8.of(threads, group, stride)`
(None: it stores floats), and what a Q8 says goes to the methods of the same names. The partial's comment holds the
contract of `emit_q8`; scale, rounding and byte order are described in `quantize_q8`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from wgslgen.spec import Binding, Const, Constant, WorkgroupVariable

Group = Annotated[
    Literal[32, 64, 128] | None,
    Constant("elements under one scale where the result is stored as int8; else floats", "what", "q{}", "Q8_GROUP"),
]
Stride = Annotated[
    Literal[1, 4, 8] | None,
    Constant("distance between the elements of a word of int8, as the weight format's int8_stride", "what", "s{}"),
]


def refusals(threads: int, group: int | None, stride: int | None) -> Iterator[str]:
    """Yield why a workgroup of `threads` cannot store its result with these constants."""
    if (group is None) != (stride is None):
        yield f"q8_group {group} and q8_stride {stride} go together: give both, or neither"
    if group is not None and threads % (group // 4):
        yield f"q8_group {group} takes {group // 4} threads, which do not divide the workgroup of {threads}"


def scale_consts() -> Iterator[Const]:
    """Yield the numbers that a scale is made of."""
    yield Const(name="INVERSE_127", type="f32", value=float(np.float32(1.0 / 127.0)))
    yield Const(name="SMALLEST", type="f32", value=127.0 * 2.0**-126)


def words_variable(length: str, threads: int) -> WorkgroupVariable:
    """Return where the integers change places, for strides above 1: a word of four neighbours a thread."""
    return WorkgroupVariable(name="q8_words", element="u32", length=length, count=threads)


def outputs(elements: str, group: str, stride: int, shape: str) -> tuple[Binding, Binding]:
    """Return x8 and x_scale, the int8 activations of `elements` in groups of `group`, both expressions."""
    return (
        Binding(
            name="x8",
            access="read_write",
            element="u32",
            length=f"{elements} // 4",
            doc=f"int8 activations {shape}, four a word, in the byte order of stride {stride}",
        ),
        Binding(
            name="x_scale",
            access="read_write",
            element="vec2<f32>",
            length=f"{elements} // {group}",
            doc="scale and sum of the integers of each group",
        ),
    )


@dataclass(frozen=True)
class Q8:
    """A workgroup of `threads` stores int8 activations: four elements a thread, whole groups at a time."""

    threads: int
    group: int
    stride: int

    @classmethod
    def of(cls, threads: int, group: int | None, stride: int | None) -> Q8 | None:
        """Return how the result is stored; None for floats."""
        return None if group is None or stride is None else cls(threads, group, stride)

    def consts(self) -> Iterator[Const]:
        """Yield the numbers that the partial names, beside the field's own Q8_GROUP; Q8_THREADS hold a group."""
        yield Const(name="Q8_THREADS", type="u32", value=self.group // 4)
        yield from scale_consts()

    def bindings(self, elements: str, shape: str) -> tuple[Binding, Binding]:
        """Return x8 and x_scale for a result of `elements`, an expression in the sizes, laid out as `shape`."""
        return outputs(elements, "Q8_GROUP", self.stride, shape)

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return what the threads of a group tell each other; 12 bytes a thread, or 8 for stride 1."""
        shared = (("q8_maxima", "f32"), ("q8_sums", "i32"))
        folds = (
            WorkgroupVariable(name=name, element=element, length="WORKGROUP_SIZE", count=self.threads)
            for name, element in shared
        )
        words = (words_variable("WORKGROUP_SIZE", self.threads),) if self.stride > 1 else ()
        return (*folds, *words)

    def template_values(self) -> dict[str, Any]:
        """Return what the partial needs to choose structure."""
        return {"q8_stride": self.stride}
