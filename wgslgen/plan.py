"""What a caller wants, as passes: variants in order, the buffers between them, and the sizes that each is given.

A plan is data. Its buffers follow from the passes: one that is read before anything wrote it is an input, one
that is written and not named an output is scratch. Sizes of a pass are expressions in the plan's sizes, so that
one plan serves every problem that its variants accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from wgslgen import expr, wgsltypes
from wgslgen.errors import UsageProblem
from wgslgen.expr import Expr
from wgslgen.launch import check_whole
from wgslgen.naming import variant_name
from wgslgen.spec import Binding, Case, Frozen, Kernel, Rule, Tolerance

Role = Literal["input", "in_out", "output", "scratch"]


class Pass(Frozen):
    """One dispatch: a variant, the plan's buffer for each of its bindings, an expression for each of its sizes.

    A binding that is left out is bound to the buffer of its own name; a size that is left out is the plan's size
    of its name, and so is a parameter.
    """

    variant: Kernel
    buffers: dict[str, str] = Field(default_factory=dict)
    sizes: dict[str, str] = Field(default_factory=dict)

    def buffer(self, binding: Binding) -> str:
        """Return the name of the plan's buffer that stands for `binding`."""
        return self.buffers.get(binding.name, binding.name)

    def size(self, name: str) -> str:
        """Return the expression in the plan's sizes for the variant's size `name`."""
        return self.sizes.get(name, name)

    def given(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return the variant's sizes for the plan's `sizes`."""
        return {name: expr.evaluate(self.size(name), sizes) for name in self.variant.SIZES}

    def byte_length(self, binding: Binding) -> Expr:
        """Return the bytes of `binding` as an expression in the plan's sizes, a multiple of 4."""
        known: dict[str, Expr] = {name: expr.parse(self.size(name)) for name in self.variant.SIZES}
        count = expr.fold(expr.parse(binding.length), {**self.variant.const_values, **known})
        stride = wgsltypes.stride(binding.element)
        total: Expr = ("mul", count, stride)
        return expr.fold(total if stride % 4 == 0 else ("round_up", total, 4), {})


class Buffer(Frozen):
    """A buffer of a plan: what it is to the caller, and its bytes as an expression in the plan's sizes."""

    name: str
    role: Role
    bytes: Expr
    doc: str


class Plan(Frozen):
    """The passes that do `op`, and which of the buffers hold its results.

    `sizes` are the names of what a caller gives; `principal` is the index of the pass that the plan is for, whose
    shape classes the plan is run on.
    """

    name: str
    op: str
    doc: str
    sizes: tuple[str, ...]
    outputs: tuple[str, ...]
    passes: tuple[Pass, ...]
    principal: int = 0
    rules: tuple[Rule, ...] = ()
    """What the plan's sizes must satisfy, beside the rules of its variants."""
    case_sizes: dict[str, str] = Field(default_factory=dict)
    """The plan's sizes as expressions in those of the principal pass's shape classes; one left out is the same."""
    bound: Tolerance | None = None
    """How close the results come, where passes behind the principal one change that."""
    fixed: dict[str, int] = Field(default_factory=dict)
    """Sizes of the op that the variants fix, by name: a caller who gives one must give this value."""
    judged: bool = True
    """Whether the op has an oracle of its own; a decoder's plans are judged as parts of a whole decoder instead."""

    def __hash__(self) -> int:
        """Return the hash of the name; passes hold mappings, which have none."""
        return hash(self.name)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for step in self.passes:
            name = variant_name(step.variant)
            bindings = {binding.name for binding in step.variant.bindings()}
            if unknown := sorted(step.buffers.keys() - bindings):
                raise ValueError(
                    f"{self.name}: {name} has no binding {unknown[0]}; it has {', '.join(sorted(bindings))}"
                )
            if unknown := sorted(step.sizes.keys() - {*step.variant.SIZES}):
                raise ValueError(f"{self.name}: {name} has no size {unknown[0]}")
            for size in step.variant.SIZES:
                if unknown := sorted(expr.names(expr.parse(step.size(size))) - {*self.sizes}):
                    raise ValueError(f"{self.name}: {name} needs {size}, and the plan has no size {unknown[0]}")
        roles = {buffer.name: buffer.role for buffer in self.buffers}
        for output in self.outputs:
            if roles.get(output) not in ("output", "in_out"):
                raise ValueError(f"{self.name}: no pass writes its output {output}")
        return self

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers in the order of their first use; a length that passes see differently is the largest of them."""
        users: dict[str, list[tuple[Pass, Binding]]] = {}
        for step, binding in self.uses():
            users.setdefault(step.buffer(binding), []).append((step, binding))
        return tuple(self._buffer(name, uses) for name, uses in users.items())

    @property
    def variants(self) -> tuple[Kernel, ...]:
        """The variants of the passes, each once."""
        return tuple(dict.fromkeys(step.variant for step in self.passes))

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes of the principal pass, in the plan's sizes."""
        found = self.passes[self.principal].variant.cases()
        sizes = {size: self.case_sizes.get(size, size) for size in self.sizes}
        return tuple(Case(name=c.name, sizes={s: expr.evaluate(e, c.sizes) for s, e in sizes.items()}) for c in found)

    def tolerance(self) -> Tolerance:
        """Return how close the results come to the oracle's: as the principal pass does, unless `bound` says more."""
        return self.bound or self.passes[self.principal].variant.tolerance()

    def check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Raise UsageProblem for sizes that are not the plan's, are no u32, or break its own rules."""
        if unknown := sorted(sizes.keys() - {*self.sizes}):
            raise UsageProblem(f"{self.name}: has no size {unknown[0]}; it has {', '.join(self.sizes)}")
        check_whole(self.name, sizes)
        for rule in self.rules:
            if not expr.evaluate(rule.expression, sizes):
                at = ", ".join(f"{size} = {value}" for size, value in sizes.items())
                raise UsageProblem(f"{self.name}: {at} breaks {rule.expression}, because {rule.why}")

    def uses(self) -> Iterator[tuple[Pass, Binding]]:
        """Yield every binding of every pass in order."""
        for step in self.passes:
            for binding in step.variant.bindings():
                yield step, binding

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The floats that a caller gives, by name."""
        found = (
            field.value
            for step in self.passes
            for field in step.variant.uniforms()
            if field.value not in step.variant.SIZES
        )
        return tuple(dict.fromkeys(found))

    def _buffer(self, name: str, uses: Sequence[tuple[Pass, Binding]]) -> Buffer:
        first = uses[0][1]
        written = any(binding.access == "read_write" for _, binding in uses)
        role: Role = "input"
        if first.access == "read" or first.kept:
            role = "in_out" if written else "input"
        elif written:
            role = "output" if name in self.outputs else "scratch"
        lengths = [*dict.fromkeys(step.byte_length(binding) for step, binding in uses)]
        total = lengths[0]
        for length in lengths[1:]:
            total = ("max", total, length)
        return Buffer(name=name, role=role, bytes=expr.fold(total, {}), doc=first.doc)
