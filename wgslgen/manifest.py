"""The manifest of a bundle: everything that a caller must know of each variant, as data with a schema.

`SCHEMA_VERSION` counts changes of this form and has nothing to do with the tool's version, which no output
carries: the same specs give the same bytes, whichever release renders them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from wgslgen import expr, naga
from wgslgen.adapters import OFFERED
from wgslgen.naming import variant_name, what_name
from wgslgen.plan import Plan
from wgslgen.spec import Frozen, Kernel, Requirements, Tolerance

SCHEMA_VERSION: Literal[4] = 4
MANIFEST = "manifest.json"
SCHEMA = "manifest.schema.json"

JsonExpr = expr.Json


class BindingEntry(Frozen):
    """A storage buffer in group 0; `length` counts elements of `element`."""

    binding: int
    name: str
    access: Literal["read", "read_write"]
    element: str
    length: JsonExpr
    doc: str
    below: JsonExpr | None = None
    """What every element of a u32 buffer must stay under."""
    kept: bool = False
    """Whether what a writable buffer held before matters."""
    distinct: bool = False
    """Whether the elements of a u32 buffer must differ."""


class UniformEntry(Frozen):
    """A field of the uniform struct: where it lies, and the size or parameter that fills it."""

    name: str
    type: str
    offset: int
    value: str
    doc: str


class UniformStruct(Frozen):
    """The uniform buffer, bound behind the storage buffers; `size` in bytes."""

    binding: int
    size: int
    fields: tuple[UniformEntry, ...]


class RuleEntry(Frozen):
    """A condition that the sizes must satisfy (non-zero), and why."""

    condition: JsonExpr
    why: str


class ProofEntry(Frozen):
    """Who has to accept a variant before it ships: the judges that read its text, and the adapters that run it.

    Variants that multiply subgroup matrices are read by Tint alone, and run on a GPU that has them.
    """

    judges: tuple[str, ...]
    adapters: tuple[str, ...]


class AloneEntry(Frozen):
    """The op that a variant does without others: its sizes, the variant's in those, and those that are fixed."""

    op: str
    sizes: tuple[str, ...]
    given: dict[str, JsonExpr]
    fixed: dict[str, int]


class VariantEntry(Frozen):
    """One variant. Variants with the same `computes` may replace each other."""

    name: str
    computes: str
    kernel: str
    file: str
    entry_point: Literal["main"] = "main"
    constants: dict[str, int | str | bool]
    sizes: tuple[str, ...]
    alone: AloneEntry | None
    workgroup_size: int
    workgroups: JsonExpr
    bindings: tuple[BindingEntry, ...]
    uniforms: UniformStruct | None
    requirements: Requirements
    rules: tuple[RuleEntry, ...]
    tolerance: Tolerance
    proof: ProofEntry


class BufferEntry(Frozen):
    """A buffer of a plan; `bytes` is an expression in the plan's sizes. Scratch is the caller's to make, too."""

    name: str
    role: Literal["input", "in_out", "output", "scratch"]
    bytes: JsonExpr
    doc: str


class PassEntry(Frozen):
    """One dispatch of a plan: the buffer of each binding, and each size as an expression in the plan's sizes."""

    variant: str
    buffers: dict[str, str]
    sizes: dict[str, JsonExpr]


class PlanEntry(Frozen):
    """Several variants that do one op together; a variant that does one alone needs no plan."""

    name: str
    op: str
    doc: str
    sizes: tuple[str, ...]
    parameters: tuple[str, ...]
    fixed: dict[str, int]
    """Sizes of the op that the variants fix."""
    rules: tuple[RuleEntry, ...]
    buffers: tuple[BufferEntry, ...]
    passes: tuple[PassEntry, ...]


class Manifest(Frozen):
    """A bundle. `files` gives the SHA-256 of every other file of the folder, by its path in it."""

    schema_: str = Field(alias="$schema", default=f"./{SCHEMA}")
    license: Literal["MIT"] = "MIT"
    made_by: str
    schema_version: Literal[4] = SCHEMA_VERSION
    name: str
    description: str
    model: dict[str, int | float | bool | str]
    files: dict[str, str]
    profiles: tuple[str, ...]
    """Device classes on which each shape that a plan takes has a plan, where its buffers fit the class's limits."""
    variants: tuple[VariantEntry, ...]
    plans: tuple[PlanEntry, ...] = ()


def variant_file(variant: Kernel) -> str:
    """Return the path of the variant's text in its bundle."""
    return f"wgsl/{variant.NAME}/{variant_name(variant)}.wgsl"


def entry(variant: Kernel) -> VariantEntry:
    """Return what the manifest says of `variant`, with its constants folded into the expressions."""
    known = variant.const_values
    offsets, size = variant.uniform_layout()
    uniforms = tuple(
        UniformEntry(name=f.name, type=f.type, offset=offsets[f.name], value=f.value, doc=f.doc)
        for f in variant.uniforms()
    )
    bindings = variant.bindings()
    return VariantEntry(
        name=variant_name(variant),
        computes=what_name(variant),
        kernel=variant.NAME,
        file=variant_file(variant),
        constants={name: value for name, value in variant.model_dump().items() if value is not None},
        sizes=variant.SIZES,
        alone=_alone(variant),
        workgroup_size=variant.threads(),
        workgroups=_json(variant.workgroups(), known),
        bindings=tuple(
            BindingEntry(
                binding=index,
                name=b.name,
                access=b.access,
                element=b.element,
                length=_json(b.length, known),
                doc=b.doc,
                below=None if b.below is None else _json(b.below, known),
                kept=b.kept,
                distinct=b.distinct,
            )
            for index, b in enumerate(bindings)
        ),
        uniforms=UniformStruct(binding=len(bindings), size=size, fields=uniforms) if uniforms else None,
        requirements=variant.requirements,
        rules=tuple(_rules(variant)),
        tolerance=variant.tolerance(),
        proof=proof_of(variant),
    )


def _alone(variant: Kernel) -> AloneEntry | None:
    alone = variant.alone()
    if alone is None:
        return None
    given = {size: _json(alone.given.get(size, size), {}) for size in variant.SIZES}
    return AloneEntry(op=alone.op, sizes=alone.sizes, given=given, fixed=alone.fixed)


def _rules(variant: Kernel) -> Iterator[RuleEntry]:
    """Yield the rules; a baked size stays a name in them, because what a caller gives is held against it."""
    known = {name: value for name, value in variant.const_values.items() if name not in variant.SIZES}
    for rule in variant.rules():
        yield RuleEntry(condition=_json(rule.expression, known), why=rule.why)


def proof_of(variant: Kernel) -> ProofEntry:
    """Return who judges a variant's text, and the software adapters that run it, or Dawn on a GPU where none can."""
    features = {*variant.requirements.features}
    known = not any(feature.replace("-", "_") in naga.UNKNOWN_EXTENSIONS for feature in features)
    adapters = tuple(name for name, offered in OFFERED.items() if features <= offered)
    judges = ("rules", "naga", "tint") if known else ("rules", "tint")
    return ProofEntry(judges=judges, adapters=adapters or ("dawn-gpu",))


def plan_entry(plan: Plan) -> PlanEntry:
    """Return what the manifest says of `plan`."""
    return PlanEntry(
        name=plan.name,
        op=plan.op,
        doc=plan.doc,
        sizes=plan.sizes,
        parameters=plan.parameters,
        fixed=plan.fixed,
        rules=tuple(RuleEntry(condition=_json(r.expression, {}), why=r.why) for r in plan.rules),
        buffers=tuple(
            BufferEntry(name=b.name, role=b.role, bytes=expr.to_json(b.bytes), doc=b.doc) for b in plan.buffers
        ),
        passes=tuple(
            PassEntry(
                variant=variant_name(step.variant),
                buffers={b.name: step.buffer(b) for b in step.variant.bindings()},
                sizes={size: _json(step.size(size), {}) for size in step.variant.SIZES},
            )
            for step in plan.passes
        ),
    )


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the manifest as the file that ships."""
    return _dump(manifest.model_dump(mode="json", by_alias=True))


def schema_bytes() -> bytes:
    """Return the JSON Schema of the manifest as the file that ships."""
    schema = Manifest.model_json_schema(by_alias=True, mode="serialization")
    operators = ", ".join(sorted(expr.FUNCTIONS))
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Manifest of a wgslgen bundle"
    schema["description"] = (
        f"{schema.get('description', '')} An expression is a whole number, a name of a size, or a list of an "
        f"operator and its operands; the operators are {operators}. Division rounds down."
    ).strip()
    return _dump(schema)


def sha256(content: bytes) -> str:
    """Return the hexadecimal SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


def _json(text: str, known: dict[str, int]) -> JsonExpr:
    return expr.to_json(expr.fold(expr.parse(text), known))


def _dump(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
