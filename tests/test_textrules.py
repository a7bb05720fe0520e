from __future__ import annotations

import pytest
from wgsl_examples import EXAMPLES, TREE, kernel

from wgslgen.textrules import RESERVED_WORDS, RULES, check, extensions, is_reserved
from wgslgen.textrules.tokens import position, tokenize

BAD_AND_GOOD = [
    pytest.param(name, bad, good, id=f"{name}-{index}")
    for name, pairs in EXAMPLES.items()
    for index, (bad, good) in enumerate(pairs)
]


def fired(text: str) -> list[str]:
    """Return the names of the rules that refuse `text`."""
    return [finding.message.partition(":")[0] for finding in check(text)]


def test_every_rule_says_why_and_has_an_example() -> None:
    assert list(EXAMPLES) == [rule.name for rule in RULES]
    for rule in RULES:
        assert rule.why.endswith("."), rule.name
        assert rule.cases, rule.name


@pytest.mark.parametrize(("name", "bad", "good"), BAD_AND_GOOD)
def test_the_rule_refuses_the_bad_text_and_no_rule_its_twin(name: str, bad: str, good: str) -> None:
    assert set(fired(bad)) == {name}
    assert check(good) == []


def test_a_finding_tells_the_place_and_the_repair() -> None:
    text = kernel("let v = 1u;\n  output[index] = subgroupBroadcast(1.0f, index);", enable="subgroups")
    (finding,) = check(text)
    assert (finding.judge, finding.severity) == ("rules", "error")
    line = text.split("\n").index("  output[index] = subgroupBroadcast(1.0f, index);") + 1
    assert (finding.line, finding.column) == (line, 19)
    assert finding.message == "constant-lane: the lane of `subgroupBroadcast` is not constant: use subgroupShuffle"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *((word, True) for word in ("storage", "type", "array", "texture", "packed", "ptr", "fn", "override")),
        *((word, True) for word in ("buffer", "_", "__x", "f16", "select", "vec4f", "mat2x3h", "9x", "a b", "")),
        *((word, False) for word in ("weights", "x", "workgroup_id", "position", "scales", "storage_", "_x", "wert_ä")),
    ],
)
def test_c41_reserved_names(word: str, expected: bool) -> None:
    assert is_reserved(word) is expected


def test_reserved_words_hold_what_the_standard_reserves() -> None:
    assert {"NULL", "yield", "loop", "enable", "workgroupBarrier", "subgroupAdd", "sampler"} <= RESERVED_WORDS


# --- Uniformity: what the analysis must see, and what it must let pass ---------------------------------

VARYING = [
    "let early = index > 3u; if (early) { BARRIER }",
    "var turns = 1u; if (index > 3u) { turns = 2u; } for (var i = 0u; i < turns; i++) { BARRIER }",
    "if (partial_sums[0u] > 1.0f) { BARRIER }",
    "if (output[0u] > 1.0f) { BARRIER }",
    "if (input[index] > 1u) { BARRIER }",
    "loop { BARRIER if (index > 3u) { break; } }",
    "for (var i = 0u; i < 4u; i++) { if (index > 3u) { continue; } BARRIER }",
    "for (var i = 0u; i < 4u; i++) { BARRIER if (index > i) { break; } }",
    "while (index > 3u) { BARRIER }",
    "loop { BARRIER continuing { break if index > 3u; } }",
    "switch index { case 0u: { BARRIER } default: {} }",
    "if (index > 3u) {} else { BARRIER }",
    "let v = vec2<u32>(group.x, index); if (v.y > 3u) { BARRIER }",
    "var a = array<u32, 2>(); a[index & 1u] = 1u; if (a[0u] == 1u) { BARRIER }",
    "var seen = 0u; assign(&seen, index); if (seen > 3u) { BARRIER }",
    "var seen = 0u; let p = &seen; *p = index; if (seen > 3u) { BARRIER }",
    "if (double_of(index) > 3u) { BARRIER }",
    "if (group.x > 1u && index > 3u) { BARRIER }",
    "if (index > 3u) { nested(); }",
    "under(index);",
    "if (picked() > 1u) { BARRIER }",
]
UNIFORM = [
    "if (group.x > 3u) { BARRIER }",
    "if (input[group.x] > 1u) { BARRIER }",
    "if (arrayLength(&output) > 3u) { BARRIER }",
    "for (var i = 0u; i < 4u; i++) { BARRIER }",
    "for (var i = index; i < 64u; i += 64u) { output[i] = 1.0f; } BARRIER",
    "for (var i = index; i < 9u; i++) {} for (var i = 0u; i < 9u; i++) { BARRIER }",
    "if (index > 3u) { output[index] = 1.0f; } BARRIER",
    "for (var i = 0u; i < 4u; i++) { for (var j = index; j < 9u; j++) { if (j > 3u) { break; } } BARRIER }",
    "for (var i = 0u; i < 4u; i++) { BARRIER if (index > i) { continue; } output[index] = 1.0f; }",
    "loop { BARRIER continuing { break if group.x > 3u; } }",
    "switch group.x { case 0u, 1u: { BARRIER } default: {} }",
    "switch index { case 0u: { output[0u] = 1.0f; } default: { } } BARRIER",
    "var seen = 0u; assign(&seen, group.x); if (seen > 3u) { BARRIER }",
    "output[index] = f32(double_of(index)); if (double_of(group.x) > 3u) { BARRIER }",
    "output[index] = f32(early(index)); BARRIER",
    "if (index > 3u) { output[index] = 1.0f; } else { output[index] = 2.0f; } nested();",
    "let all = workgroupUniformLoad(&flag); if (all > 1u) { BARRIER }",
    "var i = 0u; while (i < 3u) { BARRIER i = i + 1u; }",
    "under(group.x);",
]
HELPERS = """
var<workgroup> flag: u32;
fn double_of(x: u32) -> u32 { return x * 2u; }
fn early(x: u32) -> u32 { if (x > 3u) { return 1u; } return 2u; }
fn assign(place: ptr<function, u32>, value: u32) { *place = value; }
fn nested() { BARRIER }
fn under(x: u32) { if (x > 3u) { BARRIER } }
fn picked() -> u32 { return u32(partial_sums[1u]); }
"""


def text_of(body: str, barrier: str = "workgroupBarrier();", enable: str = "") -> str:
    """Return a text with `body`, its BARRIER and that of the helpers it calls put in."""
    helpers = "\n".join(line.replace("BARRIER", barrier) for line in HELPERS.split("\n") if _used(line, body))
    return kernel(body.replace("BARRIER", barrier), helpers, enable=enable)


def _used(line: str, body: str) -> bool:
    return not line.startswith("fn") or f"{line[3 : line.index('(')]}(" in body


@pytest.mark.parametrize("body", VARYING)
def test_c17_c18_a_barrier_or_subgroup_operation_in_varying_flow_is_refused(body: str) -> None:
    assert "uniform-barriers" in fired(text_of(body))
    assert "uniform-subgroups" in fired(text_of(body, "output[0u] = subgroupAdd(1.0f);", "subgroups"))


@pytest.mark.parametrize("body", [*UNIFORM, TREE])
def test_c17_c18_uniform_flow_passes(body: str) -> None:
    assert check(text_of(body)) == []
    assert check(text_of(body, "output[0u] = subgroupAdd(1.0f);", "subgroups")) == []


@pytest.mark.parametrize("condition", ["lane == 0u", "lanes > 4u", "subgroup == 0u", "subgroups > 1u"])
def test_c18_what_depends_on_lanes_is_refused(condition: str) -> None:
    body = f"if ({condition}) {{ BARRIER }}"
    assert fired(text_of(body, enable="subgroups")) == ["uniform-barriers"]
    assert fired(text_of(body, "output[0u] = subgroupAdd(1.0f);", "subgroups")) == ["uniform-subgroups"]
    assert fired(text_of("if (subgroupAdd(1u) > 4u) { BARRIER }", enable="subgroups")) == ["uniform-barriers"]


def test_builtins_in_a_struct_are_told_apart() -> None:
    struct = "struct In { @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32 }\n"
    main = "@compute @workgroup_size(64)\nfn main(in: In) { if (in.%s > 3u) { workgroupBarrier(); } }\n"
    assert check(struct + main % "group.x") == []
    assert fired(struct + main % "index") == ["uniform-barriers"]
    lanes = "enable subgroups;\n" + struct + "@compute @workgroup_size(64)\nfn main(in: In) { let a = in.%s %% 32u; }\n"
    assert check(lanes % "group.x") == []
    assert fired(lanes % "index") == ["no-fixed-lanes"]


# --- Reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("fn f( {", "expected a name, found '{'", (1, 7)),
        ("fn f() {", "the text ends inside a declaration", (1, 9)),
        ("\nfn f() { let a = #; }", "no WGSL token starts with '#'", (2, 18)),
        ("/* /* */", "this comment is never closed", (1, 1)),
        ("const a = b; + ", "no declaration starts with '+'", (1, 14)),
        ("fn f() { let a = " + "(" * 5000 + ")" * 5000 + "; }", "the text is nested too deeply to be read", (1, 1)),
        ("const a = b; const b = a; fn f() { let c = vec2f(a); }", None, None),
    ],
)
def test_a_text_that_cannot_be_read_gives_one_finding(
    text: str, message: str | None, place: tuple[int, int] | None
) -> None:
    found = [(f.message, (f.line, f.column)) for f in check(text)]
    assert found == ([] if message is None else [(f"syntax: {message}", place)])


def test_templates_shifts_and_comparisons_are_told_apart() -> None:
    text = kernel(
        "var a = array<vec4<u32>, 2>(); let b = index >> 2u > 3u && index >= 4u; a[0u].x >>= 1u;\n"
        "  if (index < 3u && index > 1u) { a[1u] = vec4<u32>(1u << 2u); } /* a /* nested */ comment */",
        "var<private> t: array<vec2<u32>, 2>= array<vec2<u32>, 2>();",
    )
    assert check(text) == []


def test_tokens_have_places() -> None:
    text = "a\n  /* b */ c // d\n0x1.8p-2f"
    assert [(t.kind, t.text, position(text, t.at)) for t in tokenize(text)] == [
        ("word", "a", (1, 1)),
        ("word", "c", (2, 11)),
        ("number", "0x1.8p-2f", (3, 1)),
        ("end", "", (3, 10)),
    ]


def test_extensions_of_a_text() -> None:
    assert extensions("// f\nenable f16, subgroups;\nenable a;\nfn f() {}") == {"f16", "subgroups", "a"}
    assert extensions("fn f() {} enable f16;") == frozenset()
    assert extensions("enable f16; #") == frozenset()
