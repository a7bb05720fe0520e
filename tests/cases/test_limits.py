from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from cases.support import Probe, opened, routes, run_matvec, runner, widest, within
from wgslgen import formats, launch, layouts, wgsltypes
from wgslgen.adapters import SOFTWARE, Gpu, agreed_size
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.harness import Runner
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.limits import DEFAULT_LIMITS, SUBGROUP_SIZES
from wgslgen.render import render
from wgslgen.spec import Case, Kernel, SubgroupRange
from wgslgen.verify import verify, verify_on

WITH_SUBGROUPS: list[Kernel] = [
    *(variant for variant in routes("q1_0") if variant.subgroups),
    QuantizeQ8(group=64, stride=8, subgroups=True),
    RmsNorm(subgroups=True),
]


def passes(gpu: Gpu, variant: Kernel, *cases: Case) -> None:
    outcome = verify_on(gpu, variant, cases or None)
    assert outcome.status == "passed", f"{outcome.variant} on {gpu.name}: {outcome.problem or outcome.lacking}"
    assert outcome.runs == len(cases or variant.cases())


# ---- C11 -------------------------------------------------------------------------------------------


def test_c11_any_subgroup_size_gives_the_oracles_result(gpu: Gpu) -> None:
    """Lavapipe has eight lanes, SwiftShader four: a workgroup of 64 is 8 or 16 subgroups."""
    assert gpu.subgroup_size in ({4, 8} if gpu.name == "lavapipe" else {4})
    for variant in routes("q1_0", workgroup_size=64):
        passes(gpu, variant, Case(name="C11", sizes={"N": 64, "K": 1024}))


def test_c11_a_spec_takes_a_range_of_allowed_sizes() -> None:
    assert SubgroupRange() == SubgroupRange(min=4, max=128)
    for size in SUBGROUP_SIZES:
        assert SubgroupRange.model_validate({"min": size, "max": size}).min == size
    for wrong in (1, 2, 12, 0, 256, True, "32", 32.0):
        with pytest.raises(ValidationError, match="min"):
            SubgroupRange.model_validate({"min": wrong})
    with pytest.raises(ValidationError, match="subgroup sizes from 64 to 8: min is above max"):
        SubgroupRange(min=64, max=8)


def test_c11_no_kernel_assumes_a_size() -> None:
    """So every text is right for the whole range, and none needs a size to be rendered."""
    for variant in WITH_SUBGROUPS:
        assert variant.requirements.subgroups == SubgroupRange(min=4, max=128)
        text = render(variant, "tests")
        assert "subgroup_size" not in text
        assert not re.search(r"(local_index|thread\.index) [/%] (4|8|16|32|64|128)u", text)


def test_c11_a_variant_for_one_size_is_refused_on_another(gpu: Gpu) -> None:
    size = gpu.subgroup_size
    assert size is not None
    fits = Probe(subgroups=True, sizes=(size, size))
    launch.check_device(fits, gpu.features, gpu.limits, gpu.name, size)
    for sizes in ((32, 32), (16, 64)):
        variant = Probe(subgroups=True, sizes=sizes)
        words = f"subgroup size {sizes[0]} to {sizes[1]}, the probe saw {size}"
        with pytest.raises(ToolMissing, match=rf"probe__.*needs {words} on adapter {gpu.name}"):
            Runner(gpu, variant, "")
        outcome = verify_on(gpu, variant)
        assert (outcome.status, outcome.lacking) == ("lacking", words)
    with pytest.raises(ToolMissing, match="subgroup size 4 to 4, the probe saw an unknown one"):
        launch.check_device(Probe(subgroups=True, sizes=(4, 4)), gpu.features, gpu.limits, gpu.name)


# ---- C16 -------------------------------------------------------------------------------------------


def test_c16_subgroup_variants_run_wherever_there_are_subgroups() -> None:
    outcomes = verify(WITH_SUBGROUPS, SOFTWARE)
    for name in SOFTWARE:
        assert "subgroups" in opened(name).features, "by WebGPU's name, whatever the library calls it"
        ran = [outcome for outcome in outcomes if outcome.adapter == name and outcome.runs > 0]
        assert len(ran) == len(WITH_SUBGROUPS)
        assert all(outcome.status == "passed" for outcome in ran)


def test_c16_what_a_library_does_not_know_is_unknown() -> None:
    """The size is probed, not asked; 0 and a mixture are no sizes, and then only a range of all sizes will do."""
    assert agreed_size([8] * 128) == 8
    assert agreed_size([0] * 128) is None
    assert agreed_size([4, 8] * 64) is None
    assert agreed_size([]) is None
    assert SubgroupRange().lacks(None) is None
    assert SubgroupRange(min=8).lacks(None) is not None
    assert SubgroupRange().lacks(2) == "subgroup size 4 to 128, the probe saw 2"


# ---- C19 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 5])
def test_c19_rows_that_do_not_fill_a_workgroup_hang_nothing(count: int, gpu: Gpu) -> None:
    variants: list[Kernel] = [
        *(variant for variant in routes("q2_0", 64, tile_rows=4)),
        RmsNorm(subgroups=False),
        RmsNorm(subgroups=True),
    ]
    for variant in variants:
        sizes = {"M": count, "D": 260} if variant.NAME == "rms_norm" else {"N": count, "K": 192}
        within(5, lambda v=variant, s=sizes: passes(gpu, v, Case(name="C19", sizes=s)))  # type: ignore[misc]


def test_c19_the_watchdog_barks() -> None:
    with pytest.raises(AssertionError, match=r"nothing came back within 0\.05 s"):
        within(0.05, lambda: time.sleep(0.5))
    with pytest.raises(KeyError):
        within(5, lambda: {1: 1}[0])
    assert within(5, lambda: 7) == 7


def test_c19_no_entry_point_returns_early() -> None:
    plain = (GetRows(format="q4_0"), RmsNorm(), QuantizeQ8(group=32, stride=1))
    for variant in (*WITH_SUBGROUPS, *routes("q4_0"), *plain):
        main = render(variant, "tests").partition("fn main(")[2]
        assert not re.search(r"\breturn\b", main)


# ---- C20 -------------------------------------------------------------------------------------------


def q1_rows(n: int) -> NDArray[np.uint8]:
    """Return rows of two blocks, all bits 1, d = (row mod 1024) / 1024."""
    blocks = np.full((n, 2, 18), 0xFF, np.uint8)
    d = (np.arange(n) % 1024 / 1024).astype("<f2")
    blocks[:, :, :2] = d.view(np.uint8).reshape(n, 1, 2)
    return blocks.reshape(-1)


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader"])
@pytest.mark.parametrize("n", [151936, 248320])
@pytest.mark.parametrize("tile_rows", [1, 4])
def test_c20_vocabularies_need_more_workgroups_than_one_dimension_has(tile_rows: Any, n: int, adapter: str) -> None:
    """The harness sees to limits D and to pads; surplus workgroups of the fold must not write."""
    variant = Matvec(format="q1_0", route="float", tile_rows=tile_rows, workgroup_size=32, step_words=1)
    grid = launch.plan(variant, {"N": n, "K": 256}).workgroups
    assert grid is not None
    assert (grid[1] > 1) == (n > 65535 * tile_rows)
    y = run_matvec(opened(adapter), variant, q1_rows(n), np.ones((1, 256), np.float32))[0]
    np.testing.assert_array_equal(y, np.arange(n) % 1024 / 4)
    known = {65534: 255.5, 65535: 255.75, 65536: 0.0, 151935: 95.75, 248319: 127.75}
    assert {row: y[row] for row in known if row < n} == {row: value for row, value in known.items() if row < n}


# ---- C21 -------------------------------------------------------------------------------------------


def test_c21_folded_dispatches_waste_little() -> None:
    assert launch.fold(0, 65535) is None
    assert launch.fold(1, 65535) == (1, 1, 1)
    assert launch.fold(65535, 65535) == (65535, 1, 1)
    for total in (65536, 151936, 248320, 65535**2, 65535**2 + 1, 65535**3, 3 * 65535**2 + 7):
        grid = launch.fold(total, 65535)
        assert grid is not None
        assert max(grid) <= 65535
        assert (grid[2] > 1) == (total > 65535**2)
        waste = int(np.prod(np.array(grid, dtype=object))) - total
        assert 0 <= waste <= grid[2] * (grid[1] + 1)
        assert waste <= 1000 or total > 2**30
    for limit in range(1, 8):
        for total in range(1, limit**3 + 1):
            x, y, z = launch.fold(total, limit) or (0, 0, 0)
            assert max(x, y, z) <= limit
            assert 0 <= x * y * z - total < y * z
    with pytest.raises(UsageProblem, match="lm_head: 281462092005376 workgroups do not fit three dimensions of 65535"):
        launch.fold(65535**3 + 1, 65535, "lm_head")


def test_c21_a_limit_of_0_or_none_is_an_error() -> None:
    variant = widest(Matvec, format="q4_0", route="float")
    limit = "maxComputeWorkgroupsPerDimension"
    with pytest.raises(UsageProblem, match=f"{limit} is 0; expected a positive number"):
        launch.fold(1, 0)
    for limits in ({**DEFAULT_LIMITS, limit: 0}, {k: v for k, v in DEFAULT_LIMITS.items() if k != limit}):
        with pytest.raises(UsageProblem, match=rf"matvec_q4_0.*: {limit} is (0|not stated)"):
            launch.plan(variant, {"N": 1, "K": 32}, None, limits)
    with pytest.raises(UsageProblem, match="-1 workgroups"):
        launch.fold(-1, 65535)


# ---- C22, C23 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constants", "limit", "value", "most"),
    [
        ({"size": 288}, "maxComputeInvocationsPerWorkgroup", 288, 256),
        ({"floats": 4095}, "maxComputeWorkgroupStorageSize", 16400, 16384),
        ({"buffers": 9}, "maxStorageBuffersPerShaderStage", 9, 8),
    ],
)
def test_c22_c23_a_workgroup_above_the_limits_is_refused(
    constants: dict[str, int], limit: str, value: int, most: int
) -> None:
    """Workgroups of our kernels are one-dimensional, so 16 x 17 and 1 x 1 x 65 cannot be asked for."""
    variant = Probe.model_validate(constants)
    with pytest.raises(UsageProblem, match=rf"^probe__.*: {limit} {value} > {most}, the limit of a phone$"):
        launch.check_device(variant, frozenset(), DEFAULT_LIMITS, "a phone")
    launch.check_device(variant, frozenset(), {**DEFAULT_LIMITS, limit: value, "maxComputeWorkgroupSizeX": 288}, "a PC")
    assert variant.raised_limits[limit] == value


def test_c22_sizes_that_no_browser_grants_are_refused_by_the_spec() -> None:
    with pytest.raises(ValidationError, match="maxComputeInvocationsPerWorkgroup 1025 is above 1024"):
        Probe(size=1025)


def test_c22_the_largest_default_workgroup_fits_and_long_rows_are_walked(gpu: Gpu) -> None:
    """More elements than threads are a loop, never rows cut short: 320 channels in a workgroup of 64."""
    launch.check_device(Probe(size=256), frozenset(), DEFAULT_LIMITS, "a phone")
    for variant in (RmsNorm(vector=1, workgroup_size=64), RmsNorm(vector=1, workgroup_size=256, subgroups=True)):
        passes(gpu, variant, Case(name="C22", sizes={"M": 3, "D": 320}))


def test_c22_nothing_is_sent_to_a_device_that_cannot(monkeypatch: pytest.MonkeyPatch, swiftshader: Gpu) -> None:
    monkeypatch.setattr(swiftshader, "device", lambda *_: pytest.fail("a device was asked for"))
    monkeypatch.setitem(swiftshader.limits, "maxComputeInvocationsPerWorkgroup", 32)
    with pytest.raises(UsageProblem, match="maxComputeInvocationsPerWorkgroup 64 > 32, the limit of adapter"):
        runner(swiftshader, RmsNorm(d=4))


def test_c23_each_variable_is_rounded_up_before_the_sum() -> None:
    assert wgsltypes.workgroup_bytes({"tile": ("f32", 4095), "flag": ("f32", 1)}) == 16400
    assert wgsltypes.workgroup_bytes({"tile": ("f32", 4092), "flag": ("f32", 1)}) == 16384
    assert wgsltypes.workgroup_bytes({"tile": ("vec3<f32>", 3)}) == 48
    launch.check_device(Probe(floats=4092), frozenset(), DEFAULT_LIMITS, "a phone")


def test_c23_16384_bytes_compile_and_run_with_default_limits(gpu: Gpu) -> None:
    variant = Matvec(format="q4_0", route="float", tile_rows=8, columns=2, workgroup_size=256, step_words=1)
    assert variant.requirements.limits["maxComputeWorkgroupStorageSize"] == 16384
    assert not variant.raised_limits
    passes(gpu, variant)


# ---- C25 -------------------------------------------------------------------------------------------


def test_c25_no_rows_are_no_dispatch(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    fmt = formats.get("q4_0")
    none = np.zeros(0, np.float32)
    planes = layouts.pack(fmt, "planar", np.zeros(0, np.uint8), 0, 64)
    table = layouts.pack(fmt, "planar", np.zeros(36, np.uint8), 1, 64)
    weight = np.ones(64, np.float32)
    calls: list[tuple[Kernel, dict[str, NDArray[Any]], dict[str, int]]] = [
        (widest(Matvec, format="q4_0", route="float"), {**planes, "x": weight}, {"N": 0, "K": 64}),
        (
            widest(GetRows, format="q4_0"),
            {**table, "ids": np.zeros(0, np.uint32)},
            {"N": 1, "K": 64, "R": 0, "FIRST_ROW": 0, "ROWS": 1},
        ),
        (RmsNorm(), {"x": none, "weight": weight}, {"M": 0, "D": 64}),
        (QuantizeQ8(group=32, stride=1), {"x": none}, {"M": 0, "K": 64}),
    ]
    compiled = [(runner(gpu, variant), inputs, sizes) for variant, inputs, sizes in calls]
    monkeypatch.setattr("wgslgen.harness.submit", lambda *_: pytest.fail("the device was called"))
    for run, inputs, sizes in compiled:
        assert launch.plan(run.variant, sizes, {"EPS": 1e-6}).workgroups is None
        assert set(run.run(inputs, sizes, {"EPS": 1e-6}).values()) == {b""}


def test_a_parameter_cannot_stand_for_a_size() -> None:
    with pytest.raises(UsageProblem, match="parameter M is a size or a constant; expected 2"):
        launch.plan(RmsNorm(), {"M": 2, "D": 64}, {"EPS": 1e-5, "M": 99})


def test_c25_an_empty_input_of_a_dispatch_is_a_clear_error() -> None:
    variant = widest(GetRows, format="q4_0")
    with pytest.raises(UsageProblem, match="binding codes is empty for N = 0, K = 64, R = 3"):
        launch.plan(variant, {"N": 0, "K": 64, "R": 3, "FIRST_ROW": 0, "ROWS": 0})
