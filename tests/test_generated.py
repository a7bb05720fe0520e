"""What this repository ships: fresh, small, complete, and run on every software adapter."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import jsonschema
import pytest
from cli_runs import refused, run, snapshot

from wgslgen import bundlefile, plans, prove
from wgslgen.adapters import MATRICES as NO_MATRICES
from wgslgen.adapters import SOFTWARE
from wgslgen.kernels import KERNELS
from wgslgen.kernels.attention import SOFTMAX_NMSE
from wgslgen.manifest import MANIFEST, SCHEMA, sha256, variant_file
from wgslgen.naming import variant_name, what_name
from wgslgen.spec import Kernel
from wgslgen.verify import cache_folder, for_gpus, missing_runs, verify

ROOT = Path(__file__).parent.parent
GENERATED = ROOT / "generated"
FILES = sorted(GENERATED.glob("*.toml"))
SHIPPED = tuple(dict.fromkeys(v for file in FILES for v in bundlefile.expand(bundlefile.load(file)).variants))
PLANS = tuple(
    dict.fromkeys(
        plan
        for file in map(bundlefile.load, FILES)
        for plan in plans.derive(bundlefile.expand(file).variants, file.facts)
        if plan.judged
    )
)
MATRICES = tuple(v for v in SHIPPED if v.requirements.subgroup_matrix is not None)
"""What needs subgroup matrices: naga does not know them, no software adapter has them."""
OPS = ("linear", "linear_id", "attention", "linear_argmax", "argmax", "top_k")
MANY_TOKENS = {"matmul", "matmul_id", "matvec_id", "sum_splits"}
HALVES = 4
COPIED = 2
SHAPES = {(49152, 576), (576, 576), (192, 576), (1536, 576), (576, 1536)}
"""(N, K) of every matrix of SmolLM2 135M: embedding, queries and output, keys and values, up and gate, down."""


# ---- the files -------------------------------------------------------------------------------------


def test_generated_is_fresh() -> None:
    assert len(FILES) == 6
    result = run("render", "--check", *FILES)
    assert result.exit_code == 0, result.output


def test_generated_holds_bundles_and_nothing_else() -> None:
    folders = {file.with_suffix("") for file in FILES}
    assert {*GENERATED.iterdir()} == {*FILES, *folders}


def test_generated_stays_reviewable() -> None:
    """Texts and manifest, which people read, and the module, which repeats both for pages."""
    for file in FILES:
        folder = file.with_suffix("")
        sizes = {path.relative_to(folder): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
        module = sum(size for path, size in sizes.items() if path.suffix in (".js", ".ts"))
        assert sum(sizes.values()) - module < 2_000_000
        assert module < 2_000_000
        assert 0 < len(bundlefile.expand(bundlefile.load(file)).variants) <= 150


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_manifest_states_every_file_and_fits_its_schema(file: Path) -> None:
    folder = file.with_suffix("")
    manifest, schema = (json.loads((folder / name).read_text()) for name in (MANIFEST, SCHEMA))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(manifest)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert manifest["files"] == {name: sha256(p.read_bytes()) for name, p in files.items() if name != MANIFEST}
    variants = bundlefile.expand(bundlefile.load(file)).variants
    assert [variant["file"] for variant in manifest["variants"]] == [variant_file(variant) for variant in variants]
    assert {name for name in files if name.endswith(".wgsl")} == {variant_file(variant) for variant in variants}


# ---- changes are found, and the printed command repairs them ---------------------------------------


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the first of two bundles in a copy of `generated/`, seen from the folder above it."""
    for file in FILES[:COPIED]:
        shutil.copytree(file.with_suffix(""), tmp_path / "generated" / file.stem)
        shutil.copy(file, tmp_path / "generated")
    monkeypatch.chdir(tmp_path)
    return Path("generated") / FILES[0].stem


def stale(*words: str) -> list[str]:
    """Assert that `render --check` finds `generated/` stale and says the words; return the command that it prints."""
    before = snapshot(Path("generated"))
    result = run("render", "--check")
    refused(result, 1, f"1 of {COPIED} bundles differ from what would be rendered")
    for word in words:
        assert word in result.stderr
    assert snapshot(Path("generated")) == before
    hint = result.stderr.splitlines()[-1].removeprefix("hint: ")
    assert hint.startswith("wgslgen render ")
    return shlex.split(hint)[1:]


@pytest.mark.parametrize("name", ["a text", "LICENSE", SCHEMA, MANIFEST])
def test_a_changed_byte_and_a_deleted_file_are_found_and_repaired(name: str, copy: Path) -> None:
    before = snapshot(Path("generated"))
    path = next(copy.rglob("*.wgsl")) if name == "a text" else copy / name
    whole, said = path.read_bytes(), path.relative_to(copy).as_posix()
    for at in (0, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert run(*stale(f"changed: {said}")).exit_code == 0
        assert snapshot(Path("generated")) == before
    path.unlink()
    assert run(*stale(f"missing: {said}")).exit_code == 0
    assert snapshot(Path("generated")) == before
    assert run("render", "--check").exit_code == 0


def test_a_foreign_file_is_found_and_never_touched(copy: Path) -> None:
    (copy / "wgsl" / "notes.txt").write_text("mine")
    (copy / "LICENSE").unlink()
    repair = stale("orphaned: wgsl/notes.txt", "missing: LICENSE")
    before = snapshot(Path("generated"))
    refused(run(*repair), 2, "did not make: wgsl/notes.txt; nothing was written", "hint: move them away")
    assert snapshot(Path("generated")) == before
    (copy / "wgsl" / "notes.txt").unlink()
    assert run(*repair).exit_code == 0
    assert run("render", "--check").exit_code == 0


# ---- the judges ------------------------------------------------------------------------------------


def test_all_judges_accept_every_shipped_text() -> None:
    report = prove.validate_all(SHIPPED, ("rules", "naga", "tint"))
    assert not report.rejected, "\n".join(report.describe(name) for name in report.rejected)
    assert {(item.judge, item.text) for item in report.not_judged} == {("naga", variant_name(v)) for v in MATRICES}
    assert {judge.judge for judge in report.ran} == {"rules", "naga", "tint"}
    assert len(report.findings) == len(SHIPPED)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.NAME)
def test_every_kernel_has_a_form_for_any_device_and_one_with_subgroups(kernel: type[Kernel]) -> None:
    """What needs no feature has to pass on every adapter below; so each kernel ran everywhere."""
    shipped = [variant for variant in SHIPPED if type(variant) is kernel]
    assert any(not variant.requirements.features and not variant.raised_limits for variant in shipped)
    if "subgroups" in kernel.model_fields:
        assert any(variant.uses_subgroups for variant in shipped)


@pytest.mark.parametrize("half", range(HALVES))
@pytest.mark.parametrize("adapter", SOFTWARE)
def test_every_shipped_variant_gives_the_oracles_result(adapter: str, half: int) -> None:
    """The bars: 1e-12 for f32 results, 4e-11 where scores are exponents, 1e-6 for f16; whole numbers exactly.

    Behind a gate one token of a product of many may have 1e-7. Blocks that `set_rows` writes have scales in f16.

    What computes the same stands together and shares its plain twin, so the halves are cut in that order.
    """
    order = sorted(SHIPPED, key=what_name)
    part = order[len(order) * half // HALVES : len(order) * (half + 1) // HALVES]
    outcomes = verify(part, [adapter], cache_folder=cache_folder())
    failed = [f"{outcome.variant}: {outcome.problem}" for outcome in outcomes if outcome.status == "failed"]
    assert not failed, "\n".join(failed)
    needs_f16 = [variant for variant in part if "shader-f16" in variant.requirements.features]
    lacking = [variant for variant, outcome in zip(part, outcomes, strict=True) if outcome.status == "lacking"]
    assert lacking == [v for v in part if v in MATRICES or (adapter != "lavapipe" and v in needs_f16)]
    beyond = [v for v in part if v in MATRICES and (adapter == "lavapipe" or v not in needs_f16)]  # f16 is asked first
    assert {*for_gpus(outcomes)} == {variant_name(v) for v in beyond}
    assert len(missing_runs(outcomes)) + len(for_gpus(outcomes)) == len(lacking)
    assert {outcome.lacking for outcome in outcomes} <= {None, "shader-f16", NO_MATRICES}
    ran = [outcome for outcome in outcomes if outcome.status == "passed"]
    assert all(outcome.runs > 0 for outcome in ran)
    bars = {"f32": 1e-12, "f16": 1e-6}
    own = {"attention_split": SOFTMAX_NMSE, "attention_prefill": SOFTMAX_NMSE, "set_rows": 1e-6}
    gated = {variant_name(v): 1e-7 for v in part if v.NAME in MANY_TOKENS and v.model_dump()["epilogue"] == "swiglu"}
    bar = {o.variant: max(bars.get(o.result, 0.0), own.get(o.kernel, 0.0), gated.get(o.variant, 0.0)) for o in ran}
    assert [o for o in ran if o.nmse > bar[o.variant]] == []
    assert [o for o in ran if o.kernel == "quantize_q8" and o.element != 0.0] == []
    subgroups = {variant for variant in part if variant.uses_subgroups} - {*lacking}
    assert len(subgroups) > 0


@pytest.mark.parametrize("adapter", SOFTWARE)
def test_every_plan_gives_the_oracles_result(adapter: str) -> None:
    outcomes = verify(PLANS, [adapter], cache_folder=cache_folder())
    assert [f"{outcome.variant}: {outcome.problem}" for outcome in outcomes if outcome.status == "failed"] == []
    assert {outcome.kernel for outcome in outcomes} == {f"plan {op}" for op in OPS}
    assert {outcome.lacking for outcome in outcomes} <= {
        None,
        NO_MATRICES,
        *(() if adapter == "lavapipe" else ("shader-f16",)),
    }


# ---- real weights ----------------------------------------------------------------------------------


def prove_tensors(smollm2: Path, adapter: str, most: int) -> set[str]:
    """Run at most so many tensors of each format and shape; return the names of those that passed."""
    work = prove.gguf_work(smollm2, None)
    kinds: dict[tuple[object, ...], list[str]] = {}
    for tensor in dict.fromkeys(tensor for tensor, _ in work):
        kinds.setdefault((tensor.format, tensor.n, tensor.k), []).append(tensor.name)
    chosen = {name for names in kinds.values() for name in names[:most]}
    assert {(n, k) for _, n, k in kinds} == SHAPES
    work = [(tensor, variant) for tensor, variant in work if tensor.name in chosen]
    proof = prove.prove_gguf(smollm2, work, (adapter,))
    assert [f"{o.tensor} {o.variant}: {o.problem}" for o in proof.outcomes if o.status != "passed"] == []
    for kernel in ("matvec", "get_rows"):
        assert {outcome.tensor for outcome in proof.outcomes if outcome.kernel == kernel} == chosen
    assert max(outcome.nmse for outcome in proof.outcomes) <= 1e-12
    return chosen


def test_real_tensors_on_lavapipe(smollm2: Path) -> None:
    assert len(prove_tensors(smollm2, "lavapipe", 100)) >= 10


@pytest.mark.parametrize("adapter", ["swiftshader", "dawn-swiftshader"])
def test_a_real_tensor_of_each_shape_on_the_other_adapters(adapter: str, smollm2: Path) -> None:
    assert len(prove_tensors(smollm2, adapter, 1)) >= 5
