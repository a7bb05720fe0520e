"""The plans of every shipped bundle: names, sizes, and buffers that hold whatever a pass binds of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wgslgen import bundlefile, expr, launch
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.manifest import MANIFEST
from wgslgen.naming import variant_name
from wgslgen.plan import Plan
from wgslgen.plans import derive

FILES = sorted((Path(__file__).parent.parent / "generated").glob("*.toml"))
BIG = {**DEFAULT_LIMITS, "maxStorageBufferBindingSize": 2**31, "maxBufferSize": 2**31}
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def plans_of(file: Path) -> tuple[Plan, ...]:
    bundle = bundlefile.load(file)
    return derive(bundlefile.expand(bundle).variants, bundle.facts)


def problems(plan: Plan) -> Iterator[dict[str, int]]:
    """Yield sizes of the plan: the shape classes of its principal pass, or small, odd and large ones of a decoder."""
    if plan.judged:
        yield from (case.sizes for case in plan.cases())
        return
    known = {"N": (1, 40, 151669), "CAPACITY": (1, 37, 4096), "LAYERS": (1, 3, 28), "LAYER": (0, 1, 27)}
    known["TABLE_ROWS"] = (1, 64, 4096)
    for index in range(3):
        yield {size: known[size][index] for size in plan.sizes}


def words(expression: Any, sizes: dict[str, int]) -> int:
    """Return the value of an expression as the manifest holds it."""
    if isinstance(expression, list):
        return expr.FUNCTIONS[expression[0]](*(words(part, sizes) for part in expression[1:]))
    return sizes[expression] if isinstance(expression, str) else expression


@every_file
def test_names_are_unique_and_variants_are_there(file: Path) -> None:
    bundle = bundlefile.load(file)
    variants, plans = {*bundlefile.expand(bundle).variants}, plans_of(file)
    assert len({plan.name for plan in plans}) == len(plans)
    assert all({*plan.variants} <= variants for plan in plans)
    manifest = json.loads((file.with_suffix("") / MANIFEST).read_text())
    assert [entry["name"] for entry in manifest["plans"]] == [plan.name for plan in plans]
    assert not {plan.name for plan in plans} & {variant_name(variant) for variant in variants}


@every_file
def test_every_buffer_is_as_large_as_any_pass_needs(file: Path) -> None:
    """By the manifest's own expressions, against what the launcher would bind for the sizes that it gives a pass."""
    manifest = json.loads((file.with_suffix("") / MANIFEST).read_text())
    entries = {entry["name"]: entry for entry in manifest["plans"]}
    for plan in plans_of(file):
        entry, ran = entries[plan.name], 0
        for sizes in problems(plan):
            if any(not expr.evaluate(rule.expression, sizes) for rule in plan.rules):
                continue  # of these top_k's stages leave more than one chunk
            ran += 1
            launches = [
                launch.plan(step.variant, step.given(sizes), parameters(step.variant), BIG) for step in plan.passes
            ]
            held = {buffer["name"]: words(buffer["bytes"], sizes) for buffer in entry["buffers"]}
            needed = dict.fromkeys(held, 0)
            for step, said, made in zip(plan.passes, entry["passes"], launches, strict=True):
                assert said["variant"] == variant_name(step.variant)
                assert {size: words(e, sizes) for size, e in said["sizes"].items()} == step.given(sizes)
                for binding, size in made.binding_bytes.items():
                    needed[said["buffers"][binding]] = max(needed[said["buffers"][binding]], size)
            assert held == needed, plan.name
        assert ran, f"{plan.name}: no sizes fit it"


def parameters(variant: Any) -> dict[str, float]:
    return {field.value: 1.0 for field in variant.uniforms() if field.value not in variant.SIZES}


@every_file
def test_no_pass_binds_what_it_writes_twice(file: Path) -> None:
    """What WebGPU refuses; and no pass reads scratch that none has written."""
    for plan in plans_of(file):
        written = {buffer.name for buffer in plan.buffers if buffer.role in ("input", "in_out")}
        for step in plan.passes:
            bound = [step.buffer(binding) for binding in step.variant.bindings()]
            changed = [step.buffer(b) for b in step.variant.bindings() if b.access == "read_write"]
            assert all(bound.count(name) == 1 for name in changed), plan.name
            read = {step.buffer(b) for b in step.variant.bindings() if b.access == "read" or b.kept}
            assert read <= written, plan.name
            written |= {*changed}
