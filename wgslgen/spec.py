"""What a kernel is: its constants, what it binds, what it needs, what it accepts, how close it comes.

A kernel is a subclass of `Kernel`; its fields are the constants, and an instance, which is frozen, is one
variant. Everything that depends on the constants (bindings, dispatch, requirements …) is derived from
them, so a fact stands once. Templates, names, the manifest, the harness and the docs read it from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from wgslgen import expr, wgsltypes
from wgslgen.frozen import Frozen
from wgslgen.limits import DEFAULT_LIMITS, MOST_LIMITS
from wgslgen.matrixconfigs import MatrixConfig

__all__ = ["Frozen"]  # beside what is defined here


@dataclass(frozen=True)
class Constant:
    """What a constant's field says of itself beside its type; stands in the field's `Annotated`.

    `part` says where it stands in the variant's name: among what is computed, or how. `tag` spells it
    there, but for the value `unsaid`, which a name leaves out. `wgsl` is the name of the WGSL `const` it becomes;
    constants without one choose structure.
    """

    doc: str
    part: Literal["what", "how"]
    tag: str = "{}"
    wgsl: str | None = None
    unsaid: str | None = None

    def spell(self, value: object) -> str:
        """Return how `value` stands in a name; empty for None, False, the value `unsaid` and an empty tag."""
        if value is None or value is False or value == self.unsaid:
            return ""
        return self.tag.format(value)


class Const(Frozen):
    """One `const` of a rendered text; a value that its type cannot hold, infinity and NaN among them, is refused."""

    name: str
    type: Literal["u32", "i32", "f32"]
    value: int | float

    @model_validator(mode="after")
    def _holds(self) -> Self:
        low, high = wgsltypes.RANGES[self.type]
        whole = isinstance(self.value, int) or self.type == "f32"
        if not (whole and low <= self.value <= high):
            raise ValueError(f"const {self.name}: {self.value!r} is not a {self.type} from {low:.9g} to {high:.9g}")
        return self


F16_MAX: Final = Const(name="F16_MAX", type="f32", value=65504.0)
"""The end of f16's range, for texts that narrow their results to it."""


class Binding(Frozen):
    """A storage buffer: `length` elements of `element`, the number being an expression in the sizes.

    `below` is the expression that every element of a u32 buffer must stay under for the result to mean
    something: an id under the number of rows, a length under capacity + 1. A caller that knows the elements
    checks them (`launch.check_values`), and that they differ where they must be `distinct`; what the text does past the
    end, its kernel states. `kept` says that a
    writable buffer is read, or written in parts only: what it held before matters. Row chunks write parts that are
    the whole together; that is not `kept`.
    """

    name: str
    access: Literal["read", "read_write"]
    element: str
    length: str
    doc: str
    below: str | None = None
    kept: bool = False
    distinct: bool = False

    def byte_length(self, values: Mapping[str, int]) -> int:
        """Return the bytes that a kernel reads or writes here, a multiple of 4."""
        count = expr.evaluate(self.length, values)
        return wgsltypes.round_up(count * wgsltypes.stride(self.element), 4)


class UniformField(Frozen):
    """A field of the uniform struct; `value` names the size or the parameter that fills it."""

    name: str
    type: str
    value: str
    doc: str


class WorkgroupVariable(Frozen):
    """A variable in workgroup memory: `array<element, length>`; `length` is the WGSL const-expression."""

    name: str
    element: str
    length: str
    count: int


class SubgroupRange(Frozen):
    """The subgroup sizes that a variant is right for; equal ends mean that it assumes one size."""

    min: Literal[4, 8, 16, 32, 64, 128] = 4
    max: Literal[4, 8, 16, 32, 64, 128] = 128

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"subgroup sizes from {self.min} to {self.max}: min is above max")
        return self

    def lacks(self, size: int | None) -> str | None:
        """Return what is wrong with a device whose probed size is `size` (None: unknown), or None.

        Where the size is unknown or varies, only a variant that is right for every size may run.
        """
        if self == SubgroupRange() if size is None else self.min <= size <= self.max:
            return None
        probed = "an unknown one" if size is None else str(size)
        return f"subgroup size {self.min} to {self.max}, the probe saw {probed}"


class Requirements(Frozen):
    """What a device must offer; without it the variant must not be used."""

    features: tuple[str, ...] = ()
    """WebGPU feature names for `requestDevice`."""
    language_features: tuple[str, ...] = ()
    """Names that `navigator.gpu.wgslLanguageFeatures` must have."""
    limits: dict[str, int] = Field(default_factory=dict)
    """WebGPU limit → least value. Limits that the shapes decide (binding sizes) are not among them."""
    subgroups: SubgroupRange | None = None
    subgroup_matrix: MatrixConfig | None = None
    """The matrices that the device must multiply."""


class Rule(Frozen):
    """A condition on the sizes; `why` completes the sentence "… because"."""

    expression: str
    why: str


class Tolerance(Frozen):
    """How far a result may lie from the oracle.

    `nmse` bounds the squared error over the squared result, of the whole output and of each of its rows; where a row
    has too few independent errors for that, `row` bounds its rows, and outputs as short as a row.
    `element` bounds each error relative to the sum of the magnitudes that were added up for it, behind the
    share `rounding` of the result itself, which the output's type may round away.
    """

    nmse: float
    element: float
    rounding: float = 0.0
    row: float | None = None
    derivation: str


class Case(Frozen):
    """A problem to run a variant on: its shape class and its sizes."""

    name: str
    sizes: dict[str, int]


class Alone(Frozen):
    """The op that a variant does without others: what `selection` chooses it for."""

    op: str
    sizes: tuple[str, ...]
    """Sizes that a caller gives."""
    given: dict[str, str] = Field(default_factory=dict)
    """The variant's sizes as expressions in those; one left out is the caller's of its name."""
    fixed: dict[str, int] = Field(default_factory=dict)
    """Sizes of the op that the constants fix."""


class Kernel(Frozen):
    """Base of the kernels. An instance is a variant; making one refuses constants that do not go together."""

    NAME: ClassVar[str]
    FOLDER: ClassVar[str] = "kernels"
    """The folder of templates/ that holds the text, NAME.wgsl.j2."""
    SUMMARY: ClassVar[str]
    SIZES: ClassVar[tuple[str, ...]]
    """Names of the problem's sizes, as expressions use them."""

    @model_validator(mode="after")
    def _refuse(self) -> Self:
        reasons = [*self._past_u32()] or [*self.refusals()]
        if reasons:
            raise ValueError("; ".join(reasons))
        try:
            self.all_consts  # noqa: B018  # what follows from the fields must fit its type, too
        except ValidationError as problem:
            raise ValueError("; ".join(str(error["msg"]) for error in problem.errors())) from None
        for name, value in self.requirements.limits.items():
            if value > MOST_LIMITS[name]:
                raise ValueError(f"{name} {value} is above {MOST_LIMITS[name]}, which no browser grants")
        return self

    def _past_u32(self) -> Iterator[str]:
        """Yield what is wrong with fields that become a `const`, which is a u32."""
        for name, note in self.constants().items():
            value = getattr(self, name)
            if note.wgsl is not None and value is not None and value >= 2**32:
                yield f"{name} {value} is above {2**32 - 1}, the end of u32"

    # ---- what a kernel states -------------------------------------------------------------------

    def refusals(self) -> Iterator[str]:
        """Yield a sentence for each reason why these constants do not go together."""
        yield from ()

    def consts(self) -> Iterator[Const]:
        """Yield derived constants that the template uses beside the fields' own."""
        yield from ()

    def bindings(self) -> tuple[Binding, ...]:
        """Return the storage buffers in binding order."""
        raise NotImplementedError

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the fields of the uniform struct; none, and there is no uniform buffer."""
        return ()

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return what lies in workgroup memory."""
        return ()

    def subgroup_range(self) -> SubgroupRange:
        """Return the subgroup sizes that the text is right for, where it uses subgroups."""
        return SubgroupRange()

    @property
    def subgroup_matrix(self) -> MatrixConfig | None:
        """The subgroup matrices that the text multiplies; None: it has none."""
        return None

    def workgroups(self) -> str:
        """Return the number of workgroups as an expression in the sizes."""
        raise NotImplementedError

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return ()

    def tolerance(self) -> Tolerance:
        """Return how close the results come to the oracle's."""
        raise NotImplementedError

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes that the oracle runs."""
        raise NotImplementedError

    def plain(self) -> Self:
        """Return the plainest variant that computes the same: the second judge."""
        raise NotImplementedError

    def alone(self) -> Alone | None:
        """Return the op that the variant does without others; None where it is a part of a plan."""
        return None

    def threads(self) -> int:
        """Return the invocations of a workgroup: the constant `workgroup_size`, where a kernel says nothing else."""
        size: int = getattr(self, "workgroup_size")  # noqa: B009  # a field of most kernels, not of this base
        return size

    def template_values(self) -> dict[str, Any]:
        """Return what the template needs beside the fields to choose structure."""
        return {}

    def changed(self, **constants: Any) -> Self:
        """Return the variant with these constants in the place of its own, checked anew."""
        return type(self)(**{**self.model_dump(), **constants})

    # ---- what follows from it -------------------------------------------------------------------

    @classmethod
    def constants(cls) -> dict[str, Constant]:
        """Return what each field says of itself."""
        found: dict[str, Constant] = {}
        for name, field in cls.model_fields.items():
            notes = [note for note in field.metadata if isinstance(note, Constant)]
            if len(notes) != 1:
                raise TypeError(f"{cls.__name__}.{name} carries {len(notes)} Constant notes, expected 1")
            found[name] = notes[0]
        return found

    @cached_property
    def all_consts(self) -> tuple[Const, ...]:
        """Every `const` of the rendered text, the fields' own first."""
        own = [
            Const(name=note.wgsl, type="u32", value=value)
            for name, note in self.constants().items()
            if note.wgsl is not None and (value := getattr(self, name)) is not None
        ]
        return (*own, *self.consts())

    @cached_property
    def const_values(self) -> dict[str, int]:
        """The whole-number constants by name, as expressions use them."""
        return {const.name: const.value for const in self.all_consts if isinstance(const.value, int)}

    def features(self) -> tuple[str, ...]:
        """Return the WebGPU features that the text enables."""
        f16 = any(wgsltypes.scalar_of(binding.element) == "f16" for binding in self.bindings())
        return (*(("shader-f16",) if f16 else ()), *(("subgroups",) if self.uses_subgroups else ()))

    @property
    def uses_subgroups(self) -> bool:
        """Whether the text calls subgroup built-ins."""
        return bool(getattr(self, "subgroups", False))

    @cached_property
    def requirements(self) -> Requirements:
        """What a device must offer, computed from the spec."""
        shared = {variable.name: (variable.element, variable.count) for variable in self.workgroup_variables()}
        return Requirements(
            features=self.features(),
            language_features=("subgroup_id",) if self.uses_subgroups else (),
            limits={
                "maxComputeWorkgroupStorageSize": wgsltypes.workgroup_bytes(shared),
                "maxComputeInvocationsPerWorkgroup": self.threads(),
                "maxComputeWorkgroupSizeX": self.threads(),
                "maxStorageBuffersPerShaderStage": len(self.bindings()),
            },
            subgroups=self.subgroup_range() if self.uses_subgroups else None,
            subgroup_matrix=self.subgroup_matrix,
        )

    @property
    def raised_limits(self) -> dict[str, int]:
        """The required limits that lie above WebGPU's defaults, by name."""
        return {k: v for k, v in self.requirements.limits.items() if v > DEFAULT_LIMITS[k]}

    def uniform_layout(self) -> tuple[dict[str, int], int]:
        """Return the byte offset of each uniform field and the struct's size in bytes (0 without fields)."""
        fields = {field.name: field.type for field in self.uniforms()}
        return wgsltypes.struct_layout(fields) if fields else ({}, 0)
