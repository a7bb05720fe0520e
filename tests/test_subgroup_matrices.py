"""Variants that only Tint knows and no software adapter runs: who reads them, who lacks what, and who may say so."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run, told
from wgsl_examples import kernel

from wgslgen.adapters import MATRICES, Gpu, open_adapter
from wgslgen.errors import ToolMissing
from wgslgen.harness import Runner
from wgslgen.judging import SHAPES
from wgslgen.kernels.matmul import Matmul
from wgslgen.manifest import proof_of
from wgslgen.matrixconfigs import CONFIGS
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.session import Session
from wgslgen.textrules import check
from wgslgen.verify import Outcome, for_gpus, missing_runs, verify_on

Q2: dict[str, Any] = {"format": "q2_0", "group": 64, "step_words": 1}
NVIDIA = Matmul(**Q2, route="subgroup_matrix")
INTEL = Matmul(**Q2, route="subgroup_matrix", matrix="f16_8x16x16")
APPLE = Matmul(**Q2, route="subgroup_matrix", matrix="f32_8x8x8")
TILE = Matmul(**Q2, route="tile")
HALF = Matmul(**Q2, route="tile", operand="f16")
EXTENSION = "chromium_experimental_subgroup_matrix"
LOAD = "let left = subgroupMatrixLoad<subgroup_matrix_left<f32, 8u, 8u>>(&partial_sums, 0u, false, 8u);"


def entry(component: str, result: str, shape: tuple[int, int, int], sizes: tuple[int, int]) -> dict[str, Any]:
    """Return what Dawn reports of matrices of one shape [M, N, K] and the subgroup sizes from and to."""
    kinds = {"component_type": component, "result_component_type": result}
    spans = {"min_subgroup_size": sizes[0], "max_subgroup_size": sizes[1]}
    return {**kinds, **dict(zip("mnk", shape, strict=True)), **spans}


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """Return an adapter that says it is a GPU with matrices of NVIDIA's shape, in subgroups of 32."""
    reported = [
        entry("f16", "f32", (16, 16, 16), (32, 32)),
        entry("f16", "f16", (16, 16, 16), (32, 32)),
        entry("u8", "u32", (16, 16, 32), (32, 32)),
    ]
    return pretend(monkeypatch, reported)


def pretend(monkeypatch: pytest.MonkeyPatch, reported: list[dict[str, Any]]) -> Gpu:
    """Return SwiftShader behind Dawn, which says that it has the feature and these matrices."""
    gpu = open_adapter("dawn-swiftshader")
    gpu.__dict__["features"] = frozenset({"shader-f16", "subgroups", MATRICES})
    gpu.__dict__["subgroup_size"] = 32
    extras = importlib.import_module("wgpudawn.backends.dawn.extras")
    monkeypatch.setattr(extras, "get_adapter_properties", lambda _: {"subgroup_matrix_configs": reported})
    return gpu


# ---- devices ---------------------------------------------------------------------------------------


def test_matrices_are_what_dawn_reports_with_f32_results(device: Gpu) -> None:
    assert device.matrices == {CONFIGS["f16_16x16x16"]}


def test_matrices_of_several_subgroup_sizes_count_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = pretend(monkeypatch, [entry("f16", "f32", (8, 16, 16), (16, 32))])
    assert {config.subgroup_size for config in gpu.matrices} == {16, 32}
    assert CONFIGS["f16_8x16x16"] in gpu.matrices


@pytest.mark.parametrize("name", ["lavapipe", "swiftshader", "dawn-swiftshader"])
def test_software_has_no_matrices(name: str) -> None:
    gpu = open_adapter(name)
    assert MATRICES not in gpu.features
    assert gpu.matrices == frozenset()


@pytest.mark.parametrize("variant", [INTEL, APPLE], ids=["intel", "apple"])
def test_a_device_with_other_shapes_is_refused(device: Gpu, variant: Matmul) -> None:
    """Pipelines of other shapes fail in Dawn at best; whoever asks is told before."""
    words = f"needs subgroup matrices of {variant.subgroup_matrix}, which adapter dawn-swiftshader does not multiply"
    with pytest.raises(ToolMissing, match=words):
        Runner(device, variant, render(variant, "tests"))
    with pytest.raises(ToolMissing, match=words):
        Session(device, [variant])
    outcome = verify_on(device, variant)
    assert (outcome.status, outcome.lacking) == ("lacking", f"{SHAPES} {variant.subgroup_matrix}")
    assert (missing_runs([outcome]), for_gpus([outcome])) == ([], [variant_name(variant)])


def test_a_device_with_another_subgroup_size_is_refused(device: Gpu) -> None:
    device.__dict__["subgroup_size"] = 64
    words = "subgroup size 32 to 32, the probe saw 64"
    with pytest.raises(ToolMissing, match=words):
        Runner(device, NVIDIA, render(NVIDIA, "tests"))
    outcome = verify_on(device, NVIDIA)
    assert outcome.lacking == words
    assert missing_runs([outcome]) == [variant_name(NVIDIA)], "this excuses nobody"


# ---- who may be left out ---------------------------------------------------------------------------


def test_what_lacks_matrices_alone_is_left_to_gpus() -> None:
    outcomes = [verify_on(open_adapter(name), NVIDIA) for name in ("swiftshader", "lavapipe")]
    assert [outcome.lacking for outcome in outcomes] == ["shader-f16", MATRICES]
    assert (missing_runs(outcomes), for_gpus(outcomes)) == ([], [variant_name(NVIDIA)])


@pytest.mark.parametrize("status", ["passed", "failed"])
def test_what_some_adapter_ran_is_not_left_out(status: Any) -> None:
    base: dict[str, Any] = {"variant": "a", "kernel": "matmul", "result": "f32"}
    lacking = Outcome(**base, adapter="lavapipe", status="lacking", lacking=MATRICES)
    assert for_gpus([lacking]) == ["a"]
    ran = Outcome(**base, adapter="dawn-gpu", status=status, runs=1)
    assert (missing_runs([lacking, ran]), for_gpus([lacking, ran])) == ([], [])


BUNDLE = 'name = "{}"\n[[kernel]]\nkernel = "matmul"\nformat = "q4_0"\nroute = "{}"\ntile_m = 16\ntile_n = 16\n{}\n'


def test_verify_counts_them_and_excuses_nobody_where_nothing_ran(tmp_path: Path) -> None:
    matrices, tiles = tmp_path / "matrices.toml", tmp_path / "tiles.toml"
    matrices.write_text(BUNDLE.format("matrices", "subgroup_matrix", "subgroup_m = 1\nsubgroup_n = 1"))
    tiles.write_text(BUNDLE.format("tiles", "tile", "thread_m = 1"))
    rest = ("--adapter", "lavapipe", "--no-cache", "--jobs", "1")
    both = run("verify", matrices, tiles, *rest, "--require-gpu")
    assert both.exit_code == 0, both.stderr
    said = "1 variants multiply subgroup matrices that none of these adapters has: judged, but not run"
    assert said in " ".join(both.stdout.split())
    alone = run("verify", matrices, *rest)
    assert alone.exit_code == 5, "a run in which nothing ran must not look like a proof"
    told(alone.stderr, "no adapter ran matmul_q4_0", f"(1 variants): lavapipe lacks {MATRICES}")


# ---- judges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "judges", "adapters"),
    [
        (NVIDIA, ("rules", "tint"), ("dawn-gpu",)),
        (APPLE, ("rules", "tint"), ("dawn-gpu",)),
        (HALF, ("rules", "naga", "tint"), ("lavapipe",)),
        (TILE, ("rules", "naga", "tint"), ("lavapipe", "swiftshader", "dawn-swiftshader")),
    ],
    ids=["f16 matrices", "f32 matrices", "f16", "neither"],
)
def test_the_manifest_says_who_judges_and_who_runs(
    variant: Matmul, judges: tuple[str, ...], adapters: tuple[str, ...]
) -> None:
    proof = proof_of(variant)
    assert (proof.judges, proof.adapters) == (judges, adapters)


def test_rules_know_matrices_and_want_their_extension() -> None:
    assert check(kernel(LOAD, enable=f"subgroups {EXTENSION}")) == []
    (finding,) = check(kernel(LOAD, enable="subgroups"))
    assert finding.message.startswith("standard-functions: ")
    assert f"`subgroupMatrixLoad` needs `enable {EXTENSION};`" in finding.message


def test_all_threads_of_a_workgroup_come_to_a_matrix_together() -> None:
    (finding,) = check(kernel(f"if (index < 32u) {{ {LOAD} }}", enable=f"subgroups {EXTENSION}"))
    assert finding.message.startswith("uniform-subgroups: ")
