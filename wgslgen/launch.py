"""From a variant and the problem's sizes to one dispatch: buffer sizes, uniform bytes, folded workgroups.

Everything that could fail on a device is checked here, in numbers, before anything reaches one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen import expr, wgsltypes
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.matrixconfigs import MatrixConfig
from wgslgen.naming import variant_name
from wgslgen.spec import Frozen, Kernel

Grid = tuple[int, int, int]
GROUPS_LIMIT = "maxComputeWorkgroupsPerDimension"
MOST_BYTES = 2**32 - 4
"""Of a binding, whatever a device allows: texts find bytes and elements by u32, which would wrap round behind it."""


class Launch(Frozen):
    """One dispatch of a variant: bytes of each binding in order, uniform bytes, workgroups (None: nothing to do)."""

    binding_bytes: dict[str, int]
    uniform_bytes: bytes
    workgroups: Grid | None


def fold(total: int, limit: int, where: str = "dispatch") -> Grid | None:
    """Fold `total` workgroups into three dimensions of at most `limit` each; None where there are none.

    Fewer workgroups than the number of folds are launched in vain.
    """
    stated_limit({GROUPS_LIMIT: limit}, GROUPS_LIMIT, where)
    if total < 0:
        raise UsageProblem(f"{where}: {total} workgroups; expected none or more")
    if total == 0:
        return None
    if total > limit**3:
        raise UsageProblem(f"{where}: {total} workgroups do not fit three dimensions of {limit}")
    z = -(-total // limit**2)
    plane = -(-total // z)
    y = -(-plane // limit)
    return -(-plane // y), y, z


def check_device(
    variant: Kernel,
    features: frozenset[str],
    limits: Mapping[str, int],
    device: str,
    subgroup_size: int | None = None,
    matrices: frozenset[MatrixConfig] = frozenset(),
) -> None:
    """Raise ToolMissing or UsageProblem unless a device with these features and limits may run `variant`.

    `subgroup_size` is what a probe saw on the device; None where it is unknown. `matrices` are the shapes of subgroup
    matrices that it multiplies.
    """
    name = variant_name(variant)
    for feature in variant.requirements.features:
        if feature not in features:
            raise ToolMissing(
                f"{name}: needs feature {feature}, which {device} does not have",
                hint="choose a variant without it: `wgslgen list` shows each one's requirements",
            )
    shape = variant.requirements.subgroup_matrix
    if shape and shape not in matrices:
        raise ToolMissing(
            f"{name}: needs subgroup matrices of {shape}, which {device} does not multiply",
            hint="choose a variant of other shapes, or of another route: `wgslgen list` shows each one's requirements",
        )
    wanted = variant.requirements.subgroups
    if wanted and (lacks := wanted.lacks(subgroup_size)):
        raise ToolMissing(
            f"{name}: needs {lacks} on {device}",
            hint="choose a variant without subgroups: `wgslgen list` shows each one's requirements",
        )
    for limit, value in variant.requirements.limits.items():
        most = stated_limit(limits, limit, name)
        if value > most:
            raise UsageProblem(f"{name}: {limit} {value} > {most}, the limit of {device}")


def stated_limit(limits: Mapping[str, int], limit: str, where: str) -> int:
    """Return a limit; raise UsageProblem where the device does not state it or states less than 1."""
    value = limits.get(limit, 0)
    if value <= 0:
        said = value if limit in limits else "not stated"
        raise UsageProblem(f"{where}: {limit} is {said}; expected a positive number")
    return value


def check_whole(where: str, sizes: Mapping[str, int]) -> None:
    """Raise UsageProblem for the first size that is not a u32."""
    for size, value in sizes.items():
        if type(value) is not int or not 0 <= value < 2**32:
            raise UsageProblem(f"{where}: {size} is {value!r}; expected a whole number from 0 to 2^32 - 1")


def check_sizes(variant: Kernel, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return constants and sizes by name; raise UsageProblem where the variant does not accept the sizes."""
    name = variant_name(variant)
    if set(sizes) != set(variant.SIZES):
        raise UsageProblem(f"{name}: sizes {sorted(sizes)}; expected {sorted(variant.SIZES)}")
    check_whole(name, sizes)
    values = {**variant.const_values, **sizes}
    for rule in variant.rules():
        if not expr.evaluate(rule.expression, values):
            at = ", ".join(f"{size} = {value}" for size, value in sizes.items())
            raise UsageProblem(f"{name}: {at} breaks {rule.expression}, because {rule.why}")
    return values


def check_values(variant: Kernel, buffers: Mapping[str, NDArray[np.integer[Any]]], sizes: Mapping[str, int]) -> None:
    """Raise UsageProblem for the first element of a buffer that is not under what its binding allows.

    `buffers` holds the known contents by binding name; those that no binding bounds are left alone.
    """
    values = {**variant.const_values, **sizes}
    for binding in variant.bindings():
        if binding.below is None or binding.name not in buffers:
            continue
        most, elements = expr.evaluate(binding.below, values), np.ravel(buffers[binding.name])
        wrong = np.flatnonzero((elements < 0) | (elements >= most))
        if wrong.size:
            at = int(wrong[0])
            raise UsageProblem(
                f"{variant_name(variant)}: {binding.name}[{at}] is {int(elements[at])}; expected a number from 0 to "
                f"{most - 1}"
            )
        if binding.distinct and (repeated := elements.size - np.unique(elements).size):
            raise UsageProblem(
                f"{variant_name(variant)}: {binding.name} names {repeated} rows twice; expected different numbers"
            )


def plan(
    variant: Kernel,
    sizes: Mapping[str, int],
    parameters: Mapping[str, float] | None = None,
    limits: Mapping[str, int] = DEFAULT_LIMITS,
) -> Launch:
    """Return the dispatch of `variant` for `sizes`; raise UsageProblem for what the limits do not allow."""
    values = check_sizes(variant, sizes)
    name = variant_name(variant)
    for parameter in sorted((parameters or {}).keys() & values.keys()):
        raise UsageProblem(f"{name}: parameter {parameter} is a size or a constant; expected {values[parameter]}")
    binding_bytes = {binding.name: binding.byte_length(values) for binding in variant.bindings()}
    total = expr.evaluate(variant.workgroups(), values)
    for limit in ("maxStorageBufferBindingSize", "maxBufferSize"):
        most = stated_limit(limits, limit, name)
        for binding, size in binding_bytes.items():
            if size > most:
                raise UsageProblem(f"{name}: binding {binding} has {size} bytes, above the limit {limit} {most}")
            if size > MOST_BYTES:
                raise UsageProblem(f"{name}: binding {binding} has {size} bytes, above {MOST_BYTES}, where u32 ends")
    for binding, size in binding_bytes.items():
        if total and not size:
            at = ", ".join(f"{size} = {value}" for size, value in sizes.items())
            raise UsageProblem(
                f"{name}: binding {binding} is empty for {at}, and an empty buffer cannot be bound",
                hint="leave the call out: there is nothing to compute from",
            )
    return Launch(
        binding_bytes=binding_bytes,
        uniform_bytes=pack_uniforms(variant, {**values, **(parameters or {})}),
        workgroups=fold(total, stated_limit(limits, GROUPS_LIMIT, name), name),
    )


def pack_uniforms(variant: Kernel, values: Mapping[str, float]) -> bytes:
    """Return the uniform struct's bytes, padded to 16; each field takes the value that it names."""
    offsets, size = variant.uniform_layout()
    fields = {field.name: (field.type, values.get(field.value)) for field in variant.uniforms()}
    for field in variant.uniforms():
        if field.value not in values:
            raise UsageProblem(f"{variant_name(variant)}: no value for {field.value} (uniform {field.name})")
    return pack_struct(fields, offsets, size)


def pack_struct(fields: Mapping[str, tuple[str, object]], offsets: Mapping[str, int], size: int) -> bytes:
    """Lay (type, value) pairs at their offsets into `size` bytes, rounded up to 16.

    Raises UsageProblem for a value that the type cannot hold: booleans, infinity and NaN are none.
    """
    packed = bytearray(wgsltypes.round_up(size, 16))
    for name, (wgsl, value) in fields.items():
        scalar = wgsltypes.scalar_of(wgsl)
        items = np.ravel(np.asarray(value)).tolist()
        if len(items) != wgsltypes.lanes(wgsl):
            raise UsageProblem(
                f"uniform {name}: {value!r} has {len(items)} numbers; {wgsl} takes {wgsltypes.lanes(wgsl)}"
            )
        if not all(type(item) in (int, float) and math.isfinite(item) for item in items):
            raise UsageProblem(f"uniform {name}: {value!r} is not a {wgsl}; expected finite numbers")
        code = {"u32": "I", "i32": "i", "f32": "f", "f16": "e"}[scalar]
        try:
            struct.pack_into(f"<{len(items)}{code}", packed, offsets[name], *items)
        except (struct.error, OverflowError) as problem:
            raise UsageProblem(f"uniform {name}: {value!r} is not a {wgsl} ({problem})") from None
    return bytes(packed)
