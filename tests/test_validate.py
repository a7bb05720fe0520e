from __future__ import annotations

import os
import subprocess
import sys

import pytest
from wgsl_examples import EXAMPLES, TREE, kernel

from wgslgen import naga, tint
from wgslgen.dialect import to_native
from wgslgen.errors import UsageProblem
from wgslgen.report import Judge
from wgslgen.textrules.words import STANDARD_FUNCTIONS
from wgslgen.validate import JUDGES, validate

MATRICES = "enable f16;\nenable subgroups;\nenable chromium_experimental_subgroup_matrix;\n" + kernel(
    "var sums: subgroup_matrix_result<f32, 16u, 16u>; sums = subgroup_matrix_result<f32, 16u, 16u>();"
)


def judges_of(text: str) -> set[Judge]:
    """Return the judges that refuse `text`, all three being there."""
    return validate({"text": text}, require=JUDGES).refused_by("text")


# --- The report ------------------------------------------------------------------------------------------


def test_the_report_says_who_ran_and_what_they_found() -> None:
    texts = {"good": kernel(TREE), "bad": kernel("let x: f32 = 1u;"), "also good": kernel("")}
    report = validate(texts, require=JUDGES)
    assert [run.judge for run in report.ran] == ["rules", "naga", "tint"]
    assert report.ran[1].version.startswith(f"{naga.NAGA_MAJOR}.")
    assert report.ran[2].version.startswith("Dawn 20")
    assert (report.missing, report.not_judged) == ((), ())
    assert list(report.findings) == list(texts)
    assert report.rejected == ("bad",)
    assert report.refused_by("bad") == {"naga", "tint"}


def test_diagnostics_pass_through_under_the_variants_name() -> None:
    report = validate({"matvec__q2_0": kernel("let x: f32 = 1u;")}, require=JUDGES)
    by_judge = {finding.judge: finding for finding in report.findings["matvec__q2_0"]}
    assert (by_judge["naga"].line, by_judge["naga"].column) == (7, 7)
    assert by_judge["naga"].message == (
        "Could not parse WGSL:\nerror: the type of `x` is expected to be `f32`, but got `u32`\n"
        "  ┌─ matvec__q2_0:7:7\n  │\n7 │   let x: f32 = 1u;\n  │       ^ definition of `x`"
    )
    assert (by_judge["tint"].line, by_judge["tint"].column) == (7, 7)
    assert by_judge["tint"].message == (
        "matvec__q2_0:7:7 error: cannot initialize 'let' of type 'f32' with value of type 'u32'\n"
        "  let x: f32 = 1u;\n      ^"
    )
    first = report.describe("matvec__q2_0").split("\n")[0]
    assert first == "matvec__q2_0:7:7: error [naga] Could not parse WGSL:"


def test_many_texts_that_fail_in_one_call_keep_their_own_diagnostics() -> None:
    texts = {
        "parse": kernel("let a = unknown_one;"),
        "fine": kernel(TREE),
        "store": kernel("input[0u] = 1u;"),
        "type": kernel("let b: i32 = 1u;"),
    }
    report = validate(texts, judges=("naga",))
    assert report.rejected == ("parse", "store", "type")
    for name, word in (("parse", "unknown_one"), ("store", "input[0u]"), ("type", "definition of `b`")):
        (finding,) = report.findings[name]
        assert finding.line == 7
        assert word in finding.message
        assert f"┌─ {name}:7:" in finding.message
        assert ".wgsl" not in finding.message
        assert "\x1b" not in finding.message


def test_warnings_do_not_reject_and_go_to_the_texts_that_they_quote() -> None:
    warned = "diagnostic(off, subgroup_uniformity);\n" + kernel("")
    report = validate({"plain": kernel(""), "warned": warned, "two": warned}, judges=("naga", "tint"))
    assert report.rejected == ()
    assert report.findings["plain"] == ()
    for name in ("warned", "two"):
        (finding,) = report.findings[name]
        assert (finding.judge, finding.severity, finding.line) == ("naga", "warning", 1)
        assert f"┌─ {name}:1:17" in finding.message


def test_tints_warnings_and_notes_are_kept() -> None:
    unreachable = kernel("if (index > 3u) { workgroupBarrier(); }", "fn f() -> u32 { return 1u; let q = 4u; }")
    warning, error = validate({"v": unreachable}, judges=("tint",)).findings["v"]
    assert (warning.severity, error.severity) == ("warning", "error")
    assert error.message.count("note:") == error.message.count("v:") - 1 == 2
    (alone,) = validate({"v": kernel("", "fn f() -> u32 { return 1u; let q = 4u; }")}, judges=("tint",)).findings["v"]
    assert (alone.severity, alone.message) == ("warning", "v:4:28 warning: code is unreachable")


def test_no_texts_and_an_empty_text_are_no_problem() -> None:
    assert validate({}, require=JUDGES).findings == {}
    assert validate({"empty": ""}, require=JUDGES).rejected == ()


def test_the_order_of_judges_is_fixed_and_a_subset_may_be_asked() -> None:
    report = validate({"v": kernel("let x = 1;")}, judges=("tint", "rules"))
    assert [run.judge for run in report.ran] == ["rules", "tint"]
    assert [finding.judge for finding in report.findings["v"]] == ["rules"]


def test_an_unknown_judge_is_a_usage_problem() -> None:
    with pytest.raises(UsageProblem, match="no judge is called 'nga'; expected rules, naga, tint"):
        validate({}, require=("nga",))


# --- Both judges on the examples of the own rules ------------------------------------------------------------


def test_every_judge_accepts_every_repaired_example() -> None:
    good = {f"{name}-{i}": good for name, pairs in EXAMPLES.items() for i, (_, good) in enumerate(pairs)}
    report = validate(good, require=JUDGES)
    assert {name: report.describe(name) for name in report.rejected} == {}


def test_every_bad_example_is_refused_by_the_own_rules_though_judges_differ() -> None:
    bad = {f"{name}-{i}": bad for name, pairs in EXAMPLES.items() for i, (bad, _) in enumerate(pairs)}
    report = validate(bad, require=JUDGES)
    assert all("rules" in report.refused_by(name) for name in bad)
    seen = {name.rpartition("-")[0]: set[frozenset[str]]() for name in bad}
    for name in bad:
        seen[name.rpartition("-")[0]].add(frozenset(report.refused_by(name)))
    # The rules earn their place: these are accepted by both compilers, or by one of them.
    unseen = {name for name, refusals in seen.items() if frozenset({"rules"}) in refusals}
    assert {"directives-first", "plain-names", "typed-literals", "no-self-compare", "no-early-return"} <= unseen
    assert frozenset({"rules", "tint"}) in seen["uniform-barriers"]
    assert frozenset({"rules", "naga"}) in seen["portable-pointers"]


@pytest.mark.parametrize("good", [TREE, "let sum = subgroupAdd(1.0f); if (lane == 0u) { output[group.x] = sum; }"])
def test_c15_web_text_is_for_tint_and_native_text_for_naga(good: str) -> None:
    text = kernel(good, enable="subgroups f16")
    assert judges_of(text) == set()
    assert to_native(text) != text
    assert to_native(text).split("\n")[1:] == text.split("\n")[1:]
    # The native text is refused by the browser's front end where it uses subgroups, and the web text by naga.
    if "subgroupAdd" in good:
        assert judges_of(to_native(text)) == {"rules", "tint"}


def test_c14_a_broadcast_with_a_runtime_lane_is_refused_with_the_repair() -> None:
    report = validate(
        {"v": kernel("output[index] = subgroupBroadcast(1.0f, index);", enable="subgroups")}, require=JUDGES
    )
    assert report.refused_by("v") >= {"rules", "tint"}
    assert "use subgroupShuffle" in report.describe("v")
    assert judges_of(kernel("output[index] = subgroupBroadcast(1.0f, 2u);", enable="subgroups")) == set()


def test_c17_a_barrier_under_a_varying_condition_is_refused_though_naga_accepts_it() -> None:
    text = kernel("if (index < 32u) { workgroupBarrier(); }")
    assert judges_of(text) == {"rules", "tint"}
    assert validate({"v": text}, judges=("rules", "naga")).rejected == ("v",)


def test_c18_subgroup_operations_need_uniform_flow_and_builtins_no_private_variable() -> None:
    under_lane = kernel("if (lane < 2u) { output[0u] = subgroupAdd(1.0f); }", enable="subgroups")
    assert judges_of(under_lane) == {"rules", "tint"}
    assert judges_of("diagnostic(off, subgroup_uniformity);\n" + under_lane) == set()
    stored = kernel("own = lanes; if (own > 4u) { BARRIER }", "var<private> own: u32;", enable="subgroups")
    passed = kernel("let own = group.x; if (own > 4u) { BARRIER }", enable="subgroups")
    for operation in ("workgroupBarrier();", "output[0u] = subgroupAdd(1.0f);"):
        assert judges_of(stored.replace("BARRIER", operation)) == {"rules", "tint"}
        assert judges_of(passed.replace("BARRIER", operation)) == set()


@pytest.mark.parametrize("word", ["storage", "type", "array", "texture", "packed", "ptr", "fn", "override", "buffer"])
def test_c41_names_that_are_words_are_refused(word: str) -> None:
    assert "rules" in judges_of(kernel("", f"@group(1) @binding(0) var<storage> {word}: u32;"))


@pytest.mark.parametrize("name", ["storage_", "type_", "x__"])
def test_c41_sanitised_names_pass(name: str) -> None:
    assert judges_of(kernel("", f"@group(1) @binding(0) var<storage> {name}: u32;")) == set()


def test_c43_a_typed_table_with_a_runtime_index_passes() -> None:
    table = "const VALUES = array<f32, 4>(-1.0, 0.0, 1.0, 2.0);"
    assert judges_of(kernel("output[index] = VALUES[index & 3u];", table)) == set()
    assert "rules" in judges_of(kernel("output[index] = VALUES[index & 3u];", table.replace("<f32, 4>", "")))


@pytest.mark.parametrize(
    ("text", "judges"),
    [
        ("enable f16;\nenable f16;\n" + kernel(""), {"rules"}),
        ("const_assert true;\nenable f16;\n" + kernel(""), {"rules", "naga", "tint"}),
    ],
)
def test_c45_directives_come_first_and_once(text: str, judges: set[str]) -> None:
    assert judges_of(text) == judges


def test_c46_pointers_and_casts_that_only_tint_takes_are_refused() -> None:
    assert judges_of(kernel("", "fn f(p: ptr<workgroup, array<f32, 64>>) {}")) == {"rules", "naga"}
    cast = kernel("let pair = bitcast<vec2<f16>>(input[0u]);", enable="f16")
    assert "rules" in judges_of(cast)


def test_c51_literals_without_a_type_and_mixed_constructors_are_refused() -> None:
    assert "rules" in judges_of(kernel("output[index] = f32(1 << (4 - index));"))
    assert judges_of(kernel("let v = vec3f(index);")) >= {"rules", "tint"}


def test_standard_functions_are_known_to_tint() -> None:
    names = sorted(STANDARD_FUNCTIONS)
    enables = "".join(f"enable {name};\n" for name in tint.FEATURES)
    report = validate({name: f"{enables}fn f() {{ let x = {name}(); }}" for name in names}, judges=("tint",))
    assert [name for name in names if "unresolved" in report.describe(name)] == []
    (nonsense,) = validate({"v": "fn f() { let x = rsqrt(1.0f); }"}, judges=("tint",)).findings["v"]
    assert "unresolved" in nonsense.message


# --- f16 and subgroup matrices ---------------------------------------------------------------------------


def test_tint_judges_f16_without_any_driver() -> None:
    texts = {"v": kernel("let h = 1.0h;", enable="f16"), "w": kernel("let h: f16 = 1.0f;", enable="f16")}
    code = f"from wgslgen.validate import validate; print(validate({texts!r}, ['tint'], ['tint']).rejected)"
    environment = os.environ | {"VK_DRIVER_FILES": "/nowhere.json"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.stderr) == ("('w',)\n", "")


@pytest.mark.parametrize("first", ["tint", "adapter"])
def test_tint_and_an_adapter_share_dawn_whoever_comes_first(first: str) -> None:
    steps = {
        "tint": "print(sorted(tint.open_tint().unknown_extensions))",
        "adapter": "print(open_adapter('dawn-swiftshader').subgroup_size)",
    }
    second = next(step for name, step in steps.items() if name != first)
    code = "\n".join(["from wgslgen import tint", "from wgslgen.adapters import open_adapter", steps[first], second])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["4", "[]"]


def test_texts_with_subgroup_matrices_are_left_to_tint() -> None:
    report = validate({"matrix": MATRICES, "plain": kernel("")}, require=JUDGES)
    (left,) = report.not_judged
    assert (left.judge, left.text) == ("naga", "matrix")
    assert "naga does not know `enable chromium_experimental_subgroup_matrix;`" in left.reason
    assert report.rejected == ()


def test_a_dawn_without_a_feature_leaves_its_texts_out_instead_of_refusing_them() -> None:
    opened = tint.open_tint()
    before = opened.unknown_extensions
    opened.unknown_extensions = frozenset({"f16"})
    try:
        report = validate({"half": kernel("let h = 1.0h;", enable="f16")}, judges=("tint",))
    finally:
        opened.unknown_extensions = before
    assert [(item.judge, item.text) for item in report.not_judged] == [("tint", "half")]
    assert report.rejected == ()


def test_opening_tint_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGPU_BACKEND_TYPE", "Vulkan")
    tint.open_tint.cache_clear()
    tint.open_tint()
    assert os.environ["WGPU_BACKEND_TYPE"] == "Vulkan"
    monkeypatch.delenv("WGPU_BACKEND_TYPE")
    tint.open_tint.cache_clear()
    tint.open_tint()
    assert "WGPU_BACKEND_TYPE" not in os.environ


def test_judges_are_listed_once() -> None:
    assert JUDGES == JUDGES
