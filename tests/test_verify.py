"""The judge of variants, judged: what it reports, what it repeats, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wgslgen import judging
from wgslgen import render as rendering
from wgslgen import verify as verification
from wgslgen.adapters import open_adapter
from wgslgen.errors import ToolMissing
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name
from wgslgen.spec import Kernel
from wgslgen.verify import Outcome, cache_folder, missing_runs, verify, verify_on

GOOD = Matvec(format="q4_0", route="float", tile_rows=2, step_words=1)
OTHER = Matvec(format="q4_0", route="float", layout="ggml", tile_rows=2, step_words=1)
HALF = Matvec(format="q4_0", route="float", activation="f16", tile_rows=2, step_words=1)
STORE = "= total_sum("
Spoil = Callable[[Kernel, str, str], None]


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Spoil:
    """Return a function that makes one variant render with a passage replaced."""

    def replace(chosen: Kernel, good: str, bad: str) -> None:
        def render(variant: Kernel, source: str) -> str:
            text = rendering.render(variant, source)
            if variant != chosen:
                return text
            assert good in text
            return text.replace(good, bad)

        for module in (verification, judging):
            monkeypatch.setattr(module, "render", render)
        monkeypatch.setattr(judging, "_PLAIN", {})

    return replace


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the variants that are run from here on, as they are run."""
    names: list[str] = []

    def work(name: str, variants: Any) -> list[Outcome]:
        names.extend(variant_name(variant) for variant in variants)
        return [verify_on(open_adapter(name), variant) for variant in variants]

    monkeypatch.setattr(verification, "_work", work)
    return names


# ---- what is reported ------------------------------------------------------------------------------


def test_a_good_variant_passes_on_every_case() -> None:
    [outcome] = verify([GOOD], ["lavapipe"])
    assert (outcome.status, outcome.problem, outcome.lacking) == ("passed", None, None)
    assert (outcome.variant, outcome.adapter) == (variant_name(GOOD), "lavapipe")
    assert outcome.runs == len(GOOD.cases())
    assert 0.0 < outcome.nmse < 1e-12
    assert 0.0 < outcome.element < 2.0**-20


@pytest.mark.parametrize(
    ("good", "bad", "case"),
    [
        (STORE, "= 1.02f * total_sum(", "one row, one block"),
        ("thread.index % TILE_ROWS", "(thread.index + 1u) % TILE_ROWS", "a multiple of the tile"),
        ("step += WORKGROUP_SIZE", "step += 2u * WORKGROUP_SIZE", "primes, many blocks"),
    ],
)
def test_a_wrong_text_fails_with_the_name_of_the_case(good: str, bad: str, case: str, spoil: Spoil) -> None:
    spoil(GOOD, good, bad)
    [failed, passed] = verify([GOOD, OTHER], ["lavapipe"])
    assert failed.status == "failed"
    assert failed.problem is not None
    assert failed.problem.startswith(f"{case} {{'N': ")
    assert ", y against the oracle: element [0, " in failed.problem
    assert passed.status == "passed"


def test_a_text_that_does_not_compile_fails_with_what_the_compiler_said(spoil: Spoil) -> None:
    spoil(GOOD, "fn main(", "fn other(")
    [outcome] = verify([GOOD], ["lavapipe"])
    assert (outcome.status, outcome.runs) == ("failed", 0)
    assert outcome.problem is not None
    assert outcome.problem.startswith(f"{variant_name(GOOD)} on lavapipe: ")


def test_a_write_outside_the_result_fails_with_the_name_of_the_case(spoil: Spoil) -> None:
    spoil(GOOD, " && row < n", "")
    [outcome] = verify([GOOD], ["lavapipe"])
    assert outcome.status == "failed"
    assert outcome.problem is not None
    assert outcome.problem.startswith("one row, one block {'N': 1, 'K': 32}, ")
    assert "wrote outside y" in outcome.problem


def test_the_plain_twin_is_a_second_judge(spoil: Spoil) -> None:
    plain = GOOD.plain()
    spoil(plain, STORE, "= 1.02f * total_sum(")
    [outcome] = verify([GOOD], ["lavapipe"])
    assert outcome.status == "failed"
    assert outcome.problem is not None
    assert f"y against {variant_name(plain)}: element" in outcome.problem


# ---- what nobody ran -------------------------------------------------------------------------------


def test_c16_a_variant_that_no_adapter_ran_is_listed() -> None:
    outcomes = verify([GOOD, HALF], ["swiftshader"])
    assert [outcome.status for outcome in outcomes] == ["passed", "lacking"]
    assert outcomes[1].lacking == "shader-f16"
    assert missing_runs(outcomes) == [variant_name(HALF)]
    assert missing_runs([*outcomes, *verify([HALF], ["lavapipe"])]) == []


def test_a_failure_is_a_run() -> None:
    failed = Outcome(variant="a", kernel="matvec", adapter="x", result="f32", status="failed", problem="wrong")
    assert missing_runs([failed]) == []


def test_a_missing_adapter_is_told_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGSLGEN_LAVAPIPE_ICD", "/nowhere/lvp_icd.json")
    with pytest.raises(ToolMissing, match=r"adapter lavapipe: no Vulkan manifest.*\nhint: apt-get install mesa-vulkan"):
        verify([GOOD], ["lavapipe"])


# ---- processes -------------------------------------------------------------------------------------


def test_two_processes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    alone = verify([GOOD, OTHER], ["swiftshader", "lavapipe"])
    monkeypatch.setattr(verification, "CHUNK", 1)
    assert verify([GOOD, OTHER], ["swiftshader", "lavapipe"], jobs=2, advance=heard.append) == alone
    assert sum(heard) == 4
    assert [(o.adapter, o.variant) for o in alone] == [
        (adapter, variant_name(variant)) for adapter in ("swiftshader", "lavapipe") for variant in (GOOD, OTHER)
    ]


# ---- what is remembered ----------------------------------------------------------------------------


def test_what_passed_is_not_run_again_until_it_changes(tmp_path: Path, runs: list[str], spoil: Spoil) -> None:
    first = verify([GOOD, OTHER], ["lavapipe"], cache_folder=tmp_path)
    assert sorted(runs) == sorted([variant_name(GOOD), variant_name(OTHER)])
    runs.clear()
    assert verify([GOOD, OTHER], ["lavapipe"], cache_folder=tmp_path) == first
    assert runs == []
    spoil(GOOD, "@compute", "// another text\n@compute")
    again = verify([GOOD, OTHER], ["lavapipe"], cache_folder=tmp_path)
    assert runs == [variant_name(GOOD)]
    assert again == first


def test_another_twin_or_adapter_or_judge_is_a_change(
    tmp_path: Path, runs: list[str], spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify([GOOD], ["lavapipe"], cache_folder=tmp_path)
    verify([GOOD], ["swiftshader"], cache_folder=tmp_path)
    assert len(runs) == 2
    spoil(GOOD.plain(), "@compute", "// another text\n@compute")
    verify([GOOD], ["lavapipe"], cache_folder=tmp_path)
    assert len(runs) == 3
    monkeypatch.setattr(verification, "_judges_hash", lambda: "another release")
    verify([GOOD], ["lavapipe"], cache_folder=tmp_path)
    assert len(runs) == 4


def test_failures_are_never_remembered(tmp_path: Path, runs: list[str], spoil: Spoil) -> None:
    spoil(GOOD, STORE, "= 1.02f * total_sum(")
    for _ in range(2):
        [outcome] = verify([GOOD], ["lavapipe"], cache_folder=tmp_path)
        assert outcome.status == "failed"
    assert len(runs) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"{", b'{"status": "passed"}', b"\xff"])
def test_a_damaged_memory_is_no_memory(content: bytes, tmp_path: Path, runs: list[str]) -> None:
    verify([GOOD], ["lavapipe"], cache_folder=tmp_path)
    [file] = tmp_path.iterdir()
    file.write_bytes(content)
    assert verify([GOOD], ["lavapipe"], cache_folder=tmp_path)[0].status == "passed"
    assert len(runs) == 2


@pytest.mark.parametrize("ci", ["1", "true", "yes"])
def test_continuous_integration_remembers_nothing(ci: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", ci)
    assert cache_folder() is None


@pytest.mark.parametrize("ci", [None, "", "0", "false"])
def test_a_user_has_a_memory_in_the_cache_folder(
    ci: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wgslgen" / "verified"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "wgslgen" / "verified"
