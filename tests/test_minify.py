"""Minified texts: the same tokens under other names, accepted by every judge, with the same results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_runs import SMALL, refused, run, strict_json, told

from wgslgen import bundlefile, judging, prove
from wgslgen.adapters import open_adapter
from wgslgen.dialect import to_native
from wgslgen.judging import verify_on
from wgslgen.minify import minify
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.spec import Kernel
from wgslgen.textrules.tokens import tokenize
from wgslgen.validate import validate

GENERATED = Path(__file__).parent.parent / "generated"
TOP = "// SPDX-License-Identifier: MIT\n// Made by hand\n"
HAND = (
    TOP
    + """// what it computes
enable f16;
requires packed_4x8_integer_dot_product;
diagnostic(off, subgroup_uniformity);
override WIDTH: u32 = 4u;
const ROWS = 2u;
struct Params { first_row: u32, exchanged: u32, }
@group(0) @binding(0) var<storage, read_write> results: array<vec2<u32>>;
@group(0) @binding(1) var<uniform> params: Params;
var<workgroup> partial_sums: array<vec4<f32>, ROWS>;
fn twice(value: f32) -> f32 { let xy = value; /* a /* nested */ comment */ return value + xy; }
@compute @workgroup_size(WIDTH, ROWS)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>) {
  let value = - -1.0f;
  var shifted = (workgroup_id.x >> 1u) + params.first_row;
  let pointer = &shifted;
  let masked = 6u & *pointer;
  let quotient = 6u / *pointer;
  if (masked < quotient && quotient >= 1u) { let value = twice(3.0f); partial_sums[0u] += vec2f(value).xyxy; }
  for (var i = 0u; i < 4u; i++) { results[i] = vec2<u32>(masked, u32(value)).yx; }
}
"""
)
SMALLER = (
    TOP
    + """enable f16;
requires packed_4x8_integer_dot_product;
diagnostic(off,subgroup_uniformity);
override WIDTH:u32=4u;
const e=2u;
struct k{l:u32,exchanged:u32,}
@group(0)@binding(0)var<storage,read_write>results:array<vec2<u32>>;
@group(0)@binding(1)var<uniform>params:k;
var<workgroup>m:array<vec4<f32>,e>;
fn n(c:f32)->f32{let xy=c;return c+xy;}
@compute@workgroup_size(WIDTH,e)fn main(@builtin(workgroup_id)f:vec3<u32>){let c=- -1.0f;var o=(f.x>>1u)+params.l;\
let h=&o;let i=6u&*h;let j=6u/ *h;if(i<j&&j>=1u){let c=n(3.0f);m[0u]+=vec2f(c).xyxy;}for(var d=0u;d<4u;d++){\
results[d]=vec2<u32>(i,u32(c)).yx;}}
"""
)


def shipped() -> dict[str, Kernel]:
    """Return of each kernel in the shipped bundles a variant of each set of features, and of each route."""
    chosen: dict[tuple[object, ...], Kernel] = {}
    for path in sorted(GENERATED.glob("*.toml")):
        for variant in bundlefile.expand(bundlefile.load(path)).variants:
            route = getattr(variant, "route", None), getattr(variant, "format", None)
            chosen.setdefault((variant.NAME, *route, *variant.features()), variant)
    return {variant_name(variant): variant for variant in chosen.values()}


SHIPPED = shipped()
RUN = ("argmax_merge", "get_rows", "matmul", "matvec", "rms_norm", "softmax", "top_k", "attention_split")


def compiles(text: str) -> bool:
    """Say whether Tint, who knows overrides and every directive, takes the text."""
    report = validate({"hand": text}, judges=("tint",), require=("tint",))
    return not report.rejected


def test_a_text_by_hand() -> None:
    assert compiles(HAND)
    assert compiles(SMALLER)
    assert minify(HAND) == SMALLER


def test_what_is_no_wgsl_stays_as_it_is() -> None:
    assert minify(HAND + "#") == HAND + "#"


@pytest.mark.parametrize("name", SHIPPED)
def test_tokens_stay_and_names_are_renamed_one_to_one(name: str) -> None:
    variant = SHIPPED[name]
    text = render(variant, "tests")
    small = minify(text)
    before, after = tokenize(text), tokenize(small)
    assert [token.kind for token in before] == [token.kind for token in after]
    pairs = {(a.text, b.text) for a, b in zip(before, after, strict=True) if a.kind == "word"}
    words_of_wgsl = {*re.findall(r"@(?:builtin\()?(\w+)", text), *re.findall(r"^enable (\w+);", text, re.MULTILINE)}
    renamed = {a: b for a, b in pairs if a != b}
    assert all(a == b or renamed[a] == b for a, b in pairs)
    assert len({*renamed.values()}) == len(renamed)
    assert not {*renamed.values()} & {a for a, b in pairs if a == b}
    assert {a for a, b in pairs if a == b} & renamed.keys() <= words_of_wgsl  # a declared name may equal one
    assert not {binding.name for binding in variant.bindings()} & renamed.keys()
    assert "fn main(" in small
    assert len(small) < 0.6 * len(text)
    assert small.split("\n")[:2] == text.split("\n")[:2]
    lines = [line for line in text.split("\n") if line.startswith("enable ")]
    assert [line for line in small.split("\n") if line.startswith("enable ")] == lines
    assert "enable subgroups" not in to_native(small)


def test_every_judge_accepts_minified_texts() -> None:
    report = validate({name: minify(render(v, "tests")) for name, v in SHIPPED.items()}, require=("naga", "tint"))
    assert report.rejected == ()


@pytest.mark.parametrize("kernel", RUN)
def test_minified_texts_give_the_oracles_results(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def small(variant: Kernel, source: str) -> str:
        seen.append(minify(render(variant, source)))
        return seen[-1]

    monkeypatch.setattr(judging, "render", small)
    monkeypatch.setattr(judging, "_PLAIN", {})
    gpu = open_adapter("lavapipe")
    variant = next(v for v in SHIPPED.values() if kernel == v.NAME and {*v.features()} <= {"subgroups"})
    outcome = verify_on(gpu, variant, [*variant.cases()][:2])
    assert (outcome.status, outcome.problem) == ("passed", None)
    assert seen
    assert "\n  " not in seen[0]


# ---- in a bundle file ------------------------------------------------------------------------------


def test_a_bundle_file_asks_for_minified_texts(tmp_path: Path) -> None:
    for name, top in (("plain", ""), ("small", "minify = true\n")):
        (tmp_path / f"{name}.toml").write_text(top + SMALL)
    paths = tmp_path / "plain.toml", tmp_path / "small.toml"
    assert run("render", *paths).exit_code == 0
    assert run("render", "--check", *paths).exit_code == 0
    plain, small = (path.with_suffix("") for path in paths)
    texts = sorted(path.relative_to(plain) for path in plain.rglob("*.wgsl"))
    assert texts == sorted(path.relative_to(small) for path in small.rglob("*.wgsl"))
    for text in texts:
        assert (small / text).read_text() == minify((plain / text).read_text()).replace("plain.toml", "small.toml")
    listed = strict_json(run("list", *paths, "--json").stdout)
    assert 2 * listed[1]["kernels"]["matvec"]["bytes"] < 1.5 * listed[0]["kernels"]["matvec"]["bytes"]
    assert listed[0]["variants"] == listed[1]["variants"]


def test_minify_is_a_switch(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text("minify = 1\n" + SMALL)
    refused(run("render", path), 2, "minify = 1; expected true or false", "hint: set minify = true")


@pytest.mark.parametrize("command", ["validate", "verify"])
def test_the_judges_read_what_ships(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small.toml"
    path.write_text("minify = true\n" + SMALL)
    adapter = ["--adapter", "lavapipe"] if command == "verify" else []
    fine = run(command, path, *adapter, "--json")
    assert fine.exit_code == 0, fine.stderr
    report = strict_json(fine.stdout)
    findings = report.get("report", report)["findings"]
    assert sum(name.endswith(" (minified)") for name in findings) == 5
    assert len(findings) == 10
    monkeypatch.setattr(prove, "minify", lambda text: minify(text).replace("fn main(", "fn main(,"))
    rejected = run(command, path, *adapter)
    assert rejected.exit_code == 3
    told(rejected.stderr, "5 of 10 texts rejected", "(minified):", "[tint]", "[naga]")
