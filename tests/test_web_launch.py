"""The page's arithmetic is Python's: expressions, bytes, uniforms, workgroups and refusals, through Node."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from node import node

from wgslgen import bundlefile, expr, launch, profile
from wgslgen.errors import UsageProblem
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.naming import variant_name
from wgslgen.spec import Case, Kernel

GENERATED = Path(__file__).parent.parent / "generated"
BUNDLES = sorted(path.stem for path in GENERATED.glob("*.toml"))


def random_expression(depth: int) -> expr.Expr:
    leaves: list[expr.Expr] = ["A", "B", "C", random.randrange(1, 300)]
    if depth == 0 or random.random() < 0.2:
        return random.choice(leaves)
    operator = random.choice([*expr.FUNCTIONS])
    divides = operator in ("div", "mod", "ceil_div", "round_up")
    second = random.choice(["A", random.randrange(1, 70)]) if divides else random_expression(depth - 1)
    return (operator, random_expression(depth - 1), second)


def test_expressions_are_python_s() -> None:
    asked = [
        (
            random_expression(4),
            {"A": random.randrange(1, 9), "B": random.randrange(-50, 5000), "C": 2 ** random.randrange(32)},
        )
        for _ in range(4000)
    ]
    found = node(
        "const result = given.map(([expression, sizes]) => attempt(() => runtime.evaluate(expression, sizes)));", asked
    )
    assert {part[0] for expression, _ in asked for part in parts(expression)} == {*expr.FUNCTIONS}
    for (expression, sizes), value in zip(asked, found, strict=True):
        if isinstance(value, dict):
            assert value["refused"] == "the sizes lead past 2^53"
            assert largest(expression, sizes) > 2**53 - 1
        else:
            assert value == expr.fold(expression, sizes), (expression, sizes)


def parts(expression: Any) -> list[tuple[Any, ...]]:
    return [] if not isinstance(expression, tuple) else [expression, *parts(expression[1]), *parts(expression[2])]


def largest(expression: expr.Expr, sizes: dict[str, int]) -> int:
    """Return the largest magnitude on the way to the value."""
    return max(abs(int(str(expr.fold(part, sizes)))) for part in parts(expression))


def test_a_name_without_a_value_and_a_division_by_zero_are_refused() -> None:
    asked = [["N", {}], [["div", "N", 0], {"N": 5}], [["mul", "N", "N"], {"N": 2**32}]]
    found = node("const result = given.map(([e, s]) => attempt(() => runtime.evaluate(e, s)));", asked)
    large = "the sizes lead past 2^53"
    assert [value["refused"] for value in found] == ["no value for N", large, large]


def test_workgroups_fold_as_python_s() -> None:
    totals = [0, 1, 65535, 65536, 65535 * 3 + 1, 65535**2, 65535**2 + 1, 10**12, 65535**3, 2**48 + 1]
    found = node("const result = given.map((total) => attempt(() => runtime.fold(total, 65535)));", totals)
    for total, folded in zip(totals, found, strict=True):
        if total > 65535**3:
            assert "do not fit three dimensions of 65535" in folded["refused"]
        else:
            wanted = launch.fold(total, 65535)
            assert folded == (wanted and [*wanted])


def asked_of(case: Case) -> list[dict[str, int]]:
    """Return the sizes of a case, and such as a variant may refuse: none, huge, odd ones."""
    constant = [dict.fromkeys(case.sizes, value) for value in (0, 2**31 + 1)]
    return [case.sizes, *constant, {name: 3 * value + 1 for name, value in case.sizes.items()}]


@pytest.mark.parametrize("name", BUNDLES)
def test_dispatches_are_python_s(name: str) -> None:
    """Bytes of bindings, uniforms and workgroups of every variant at every shape class; and who refuses what."""
    variants = bundlefile.expand(bundlefile.load(GENERATED / f"{name}.toml")).variants
    asked = [
        (variant_name(v), sizes, parameters_of(v)) for v in variants for case in v.cases() for sizes in asked_of(case)
    ]
    script = (
        f'const {{ kit }} = await import("{(GENERATED / name).as_uri()}/index.js");\n'
        "const result = given.asked.map(([name, sizes, parameters]) => attempt(() => {\n"
        "  const launched = runtime.launch(kit.variants[name], sizes, parameters, given.limits);\n"
        "  return { ...launched, uniforms: hex(launched.uniforms) };\n"
        "}));"
    )
    found = node(script, {"asked": asked, "limits": dict(DEFAULT_LIMITS)})
    by_name = {variant_name(v): v for v in variants}
    refused = 0
    for (variant, sizes, parameters), got in zip(asked, found, strict=True):
        try:
            wanted = launch.plan(by_name[variant], sizes, parameters)
        except UsageProblem:
            refused += 1
            assert "refused" in got, (variant, sizes)
            continue
        assert got == {
            "bytes": wanted.binding_bytes,
            "uniforms": wanted.uniform_bytes.hex() or None,
            "workgroups": wanted.workgroups and [*wanted.workgroups],
        }, (variant, sizes)
    assert len(variants) < refused < len(asked) - len(variants)


def parameters_of(variant: Kernel) -> dict[str, float]:
    names = {field.value for field in variant.uniforms()} - {*variant.SIZES}
    return dict.fromkeys(sorted(names), 0.1)


def test_a_device_is_asked_for_what_plans_need_and_no_more() -> None:
    """Names or plans alike; large weights raise the limits of buffers where their sizes are told."""
    script = (
        f'const {{ kit, select, requirements }} = await import("{(GENERATED / BUNDLES[1]).as_uri()}/index.js");\n'
        'const few = select(kit, "linear", given.few, given.profile, { layout: "planar" }).plan;\n'
        "const asked = [[few], [few.name], [few, given.decode]].map((wanted) => requirements(kit, wanted));\n"
        "const sizes = { [few.name]: given.large };\n"
        "const result = [few.name, ...asked, requirements(kit, [few], { sizes }),\n"
        '  attempt(() => requirements(kit, ["nothing"]))];'
    )
    name, by_plan, by_name, both, large, refused = node(
        script,
        {
            "few": {"M": 1, "N": 64, "K": 2048},
            "large": {"M": 1, "N": 2**20, "K": 2048},
            "profile": profile.get("core").data(),
            "decode": "decode_layer.q2_0_g64_int8_kvf16_sg",
        },
    )
    assert name.startswith("matvec_q2_0_g64_planar_m1_xf32")
    assert by_plan == by_name
    assert by_plan["requiredFeatures"] == []
    assert {*by_plan["requiredLimits"]} == {
        "maxComputeWorkgroupStorageSize",
        "maxComputeInvocationsPerWorkgroup",
        "maxComputeWorkgroupSizeX",
        "maxStorageBuffersPerShaderStage",
    }
    assert sorted(both["requiredFeatures"]) == ["shader-f16", "subgroups"]
    assert both["requiredLimits"]["maxComputeInvocationsPerWorkgroup"] == 256
    assert large["requiredLimits"]["maxStorageBufferBindingSize"] == 2**20 * 2048 // 4
    assert refused["refused"] == "this kit has no plan or variant nothing"
