"""What this repository ships: fresh, small, complete, and run on every software adapter."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wgslgen import bundlefile, prove
from wgslgen.adapters import SOFTWARE, open_adapter
from wgslgen.cli import main
from wgslgen.kernels import KERNELS
from wgslgen.manifest import MANIFEST, sha256
from wgslgen.spec import Kernel
from wgslgen.verify import Outcome, cache_folder, verify

ROOT = Path(__file__).parent.parent
GENERATED = ROOT / "generated"
FILES = sorted(GENERATED.glob("*.toml"))
SHIPPED = tuple(dict.fromkeys(v for file in FILES for v in bundlefile.expand(bundlefile.load(file)).variants))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the smallest bundle's file; its folder lies beside it."""
    file = FILES[0]
    shutil.copy(file, tmp_path)
    shutil.copytree(file.with_suffix(""), tmp_path / file.stem)
    return tmp_path / file.name


def test_generated_is_fresh() -> None:
    result = run("render", "--check", *FILES)
    assert result.exit_code == 0, result.output


def test_a_changed_byte_a_deleted_and_a_foreign_file_are_found_and_repaired(copy: Path) -> None:
    folder = copy.with_suffix("")
    text = next(folder.rglob("*.wgsl"))
    content = bytearray(text.read_bytes())
    content[len(content) // 2] ^= 1
    text.write_bytes(content)
    result = run("render", "--check", copy)
    assert result.exit_code == 1
    assert f"changed: {text.relative_to(folder).as_posix()}" in result.output
    assert f"hint: wgslgen render {copy}" in result.output
    text.unlink()
    assert "missing: " in run("render", "--check", copy).output
    assert run("render", copy).exit_code == 0
    assert run("render", "--check", copy).exit_code == 0
    (folder / "wgsl" / "notes.txt").write_text("mine")
    result = run("render", "--check", copy)
    assert result.exit_code == 1
    assert "orphaned: wgsl/notes.txt" in result.output
    refused = run("render", copy)
    assert refused.exit_code == 1 or refused.exit_code == 2
    assert "did not make: wgsl/notes.txt" in refused.output
    assert (folder / "wgsl" / "notes.txt").read_text() == "mine"


def test_every_shipped_file_has_the_hash_that_its_manifest_states() -> None:
    for file in FILES:
        manifest = json.loads((file.with_suffix("") / MANIFEST).read_text())
        assert len(manifest["variants"]) <= 150
        for path, expected in manifest["files"].items():
            assert sha256((file.with_suffix("") / path).read_bytes()) == expected


def test_generated_stays_reviewable() -> None:
    assert sum(path.stat().st_size for path in GENERATED.rglob("*") if path.is_file()) < 5_000_000


def test_all_judges_accept_every_shipped_text() -> None:
    report = prove.validate_all(SHIPPED, ("rules", "naga", "tint"))
    assert not report.rejected, "\n".join(report.describe(name) for name in report.rejected)
    assert not report.not_judged
    assert {judge.judge for judge in report.ran} == {"rules", "naga", "tint"}


@pytest.mark.parametrize("adapter", SOFTWARE)
def test_every_shipped_variant_gives_the_oracles_result(adapter: str) -> None:
    """The bars are the issue's: 1e-12 for f32 results, 1e-6 for f16; whole numbers exactly."""
    outcomes = verify(SHIPPED, [adapter], cache_folder=cache_folder())
    failed = [f"{outcome.variant}: {outcome.problem}" for outcome in outcomes if outcome.status == "failed"]
    assert not failed, "\n".join(failed)
    assert all(outcome.runs > 0 for outcome in outcomes if outcome.status == "passed")
    lacking = {outcome.variant for outcome in outcomes if outcome.status == "lacking"}
    f16 = {o.variant for v, o in zip(SHIPPED, outcomes, strict=True) if "shader-f16" in v.requirements.features}
    assert lacking == (set() if adapter == "lavapipe" else f16)
    assert max(outcome.nmse for outcome in outcomes if outcome.result == "f32") <= 1e-12
    assert max(outcome.nmse for outcome in outcomes if outcome.result == "f16") <= 1e-6
    assert max(outcome.element for outcome in outcomes if outcome.kernel == "quantize_q8") == 0.0
    _every_kernel_runs_plainly_and_with_subgroups(outcomes)


def _every_kernel_runs_plainly_and_with_subgroups(outcomes: list[Outcome]) -> None:
    passed: dict[str, list[Kernel]] = {}
    for variant, outcome in zip(SHIPPED, outcomes, strict=True):
        if outcome.status == "passed":
            passed.setdefault(variant.NAME, []).append(variant)
    for kernel in KERNELS:
        assert any(not variant.requirements.features for variant in passed[kernel.NAME])
        assert all(not variant.raised_limits for variant in passed[kernel.NAME])
        if "subgroups" in kernel.model_fields:
            assert any(variant.uses_subgroups for variant in passed[kernel.NAME])


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader"])
def test_real_tensors_of_every_shape(smollm2: Path, adapter: str) -> None:
    open_adapter(adapter)
    work = prove.gguf_work(smollm2, None)
    tensors = {tensor.name: tensor for tensor, _ in work}
    assert len(tensors) >= 10
    assert {(t.n, t.k) for t in tensors.values()} == {(49152, 576), (576, 576), (192, 576), (1536, 576), (576, 1536)}
    proof = prove.prove_gguf(smollm2, work, (adapter,))
    assert [f"{o.tensor} {o.variant}: {o.problem}" for o in proof.outcomes if o.status != "passed"] == []
    assert len(proof.outcomes) == len(work)
    assert {outcome.kernel for outcome in proof.outcomes} == {"matvec", "get_rows"}
