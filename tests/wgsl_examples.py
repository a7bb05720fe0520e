"""Texts that each own rule refuses, and their repaired twins; the tests of both the rules and the judges use them."""

from __future__ import annotations

HEAD = """\
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
var<workgroup> partial_sums: array<f32, 64>;
"""
BUILTINS = (
    "@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, "
    "@builtin(local_invocation_index) index: u32"
)
LANES = (
    f"{BUILTINS}, @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32, "
    "@builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32"
)


def kernel(body: str, before: str = "", size: str = "64", enable: str = "") -> str:
    """Return a compute text around `body`; with `enable` "subgroups" it has the subgroup built-ins, too."""
    enables = "".join(f"enable {name};\n" for name in enable.split())
    builtins = LANES if "subgroups" in enable.split() else BUILTINS
    return f"{enables}{HEAD}{before}\n@compute @workgroup_size({size})\nfn main({builtins}) {{\n  {body}\n}}\n"


TREE = """
  partial_sums[index] = 1.0f;
  for (var stride = 32u; stride > 0u; stride >>= 1u) {
    workgroupBarrier();
    if (index < stride) { partial_sums[index] += partial_sums[index + stride]; }
  }
  workgroupBarrier();
  if (index == 0u) { output[group.x] = partial_sums[0u]; }
"""

EXAMPLES: dict[str, list[tuple[str, str]]] = {
    "directives-first": [
        ("enable f16;\nenable f16;\n" + kernel(""), "enable f16;\n" + kernel("")),
        ("const_assert true;\nenable f16;\n" + kernel(""), "// words\nenable f16;\nconst_assert true;\n" + kernel("")),
    ],
    "no-override": [(kernel("", "override N: u32 = 4u;"), kernel("", "const N: u32 = 4u;"))],
    "plain-names": [
        (kernel("", f"var<private> {word}: u32;"), kernel("", f"var<private> {word}_: u32;"))
        for word in ("storage", "type", "array", "texture", "packed", "ptr", "fn", "override", "buffer", "select")
    ]
    + [
        (kernel("", "var<private> _: u32;"), kernel("_ = groups;")),
        (kernel("let __x = 1u;"), kernel("let x__ = 1u;")),
        (kernel("", "struct P { type: u32 }"), kernel("", "struct P { kind: u32 }")),
        (kernel("", "fn scale(private: u32) {}"), kernel("", "fn scale(step: u32) {}")),
    ],
    "f16-enabled": [
        (kernel("", "var<private> x: f16;"), kernel("", "var<private> x: f16;", enable="f16")),
        (kernel("let x = 1.0h;"), kernel("let x = unpack2x16float(input[index]).x;")),
        (kernel("", "fn f(x: vec4h) {}"), kernel("", "fn decode_f16(x: u32) -> f32 { return f32(x); } // f16")),
    ],
    "standard-functions": [
        (kernel("output[index] = rsqrt(1.0f);"), kernel("output[index] = inverseSqrt(1.0f);")),
        (
            kernel("output[index] = subgroupAdd(1.0f);"),
            kernel("output[index] = subgroupAdd(1.0f);", enable="subgroups"),
        ),
    ],
    "small-text": [(kernel("") + "//" + "x" * 65536, kernel("") + "//" + "x" * 60000)],
    "finite-bits": [
        (kernel("output[index] = bitcast<f32>(0x7f800000u);"), kernel("output[index] = -3.4028234e38f;")),
        (kernel("", "const LOWEST: u32 = 0xff800000u;"), kernel("", "const LOWEST: u32 = 0xff7fffffu;")),
        (kernel("output[index] = unpack2x16float(0x7c00u).x;"), kernel("let size = 31744u; let e = index & 0x7c00u;")),
        (
            kernel("output[index] = bitcast<f32>(0x7fffffffu);"),
            kernel("if ((input[index] & 0x7fffffffu) > 0x7f800000u) { output[index] = 0.0f; }"),
        ),
    ],
    "no-self-compare": [
        (
            kernel("let x = output[index]; if (x != x) { output[index] = 0.0f; }"),
            kernel("let x = output[index]; let y = x; if (x != y) { output[index] = 0.0f; }"),
        ),
        (
            kernel("if (!(output[index] == output[index])) { return; }"),
            kernel("if (!(output[index] == output[index + 1u])) { return; }"),
        ),
    ],
    "typed-literals": [
        (kernel("output[index] = f32(1 << (4 - index));"), kernel("output[index] = f32(1u << (4u - index));")),
        (kernel("output[index] = 2.0 * output[index];"), kernel("output[index] = 2.0f * output[index];")),
        (kernel("output[0] = 1.0f;"), kernel("output[0u] = f32(1) + f32(-2.5) + 0x1p3f + 1e-6f;")),
        (kernel("let v = vec2(1.0, 2.0);"), kernel("let v = vec2<f32>(1.0, -2.0); let w = vec3f(0);")),
        (
            kernel("", "const T: array<f32, 2> = array<f32, 2>(0.5 + 1.0f, 1.5);"),
            kernel("", "struct P { n: u32 }\nconst T: array<f32, 2> = array<f32, 2>(0.5, 1.5);\nconst Q = P(3);"),
        ),
    ],
    "matching-constructors": [
        (kernel("let v = vec3f(index);"), kernel("let v = vec3f(f32(index)); let w = vec3f(group);")),
        (
            kernel("let v = vec4<f16>(output[0u], output[1u], 0.0h, 0.0h);", enable="f16"),
            kernel("let v = vec4<f16>(f16(output[0u]), f16(output[1u]), 0.0h, 0.0h);", enable="f16"),
        ),
        (
            kernel("let v = vec4<f32>(group, 1.0f);"),
            kernel("let v = vec4<f32>(vec3<f32>(group), 1.0f); let w = vec4<f32>(v.xy, v.zw);"),
        ),
    ],
    "typed-arrays": [
        (
            kernel("output[index] = T[index & 3u];", "const T = array(-1.0f, 0.0f, 1.0f, 2.0f);"),
            kernel("output[index] = T[index & 3u];", "const T = array<f32, 4>(-1.0, 0.0, 1.0, 2.0);"),
        )
    ],
    "portable-pointers": [
        (
            kernel("", f"fn f(p: ptr<{space}, array<f32, 64>>) {{}}"),
            kernel("", "fn f(p: ptr<function, array<f32, 64>>) {}"),
        )
        for space in ("workgroup", "storage", "uniform")
    ]
    + [
        (
            kernel("", "alias Tile = ptr<workgroup, array<f32, 64>>;\nfn f(tile: Tile) {}"),
            kernel("", "alias Tile = array<f32, 64>;\nfn f(tile: Tile) {}"),
        )
    ],
    "no-f16-bitcast": [
        (
            kernel("let h = bitcast<vec2<f16>>(input[index]);", enable="f16"),
            kernel("let h = vec2<f16>(unpack2x16float(input[index]));", enable="f16"),
        ),
        (
            kernel("let h = vec2<f16>(1.0h); let u = bitcast<u32>(h);", enable="f16"),
            kernel("let h = vec2<f16>(1.0h); let u = pack2x16float(vec2<f32>(h));", enable="f16"),
        ),
    ],
    "integer-atomics": [
        (kernel("", "var<workgroup> total: atomic<f32>;"), kernel("", "var<workgroup> total: atomic<u32>;"))
    ],
    "constant-lane": [
        (
            kernel("output[index] = subgroupBroadcast(1.0f, index);", enable="subgroups"),
            kernel("output[index] = subgroupShuffle(1.0f, index);", enable="subgroups"),
        ),
        (
            kernel("let first = 0u; output[index] = subgroupBroadcast(1.0f, first);", enable="subgroups"),
            kernel("output[index] = subgroupBroadcast(1.0f, FIRST + 1u);", "const FIRST = 0u;", enable="subgroups"),
        ),
    ],
    "uniform-barriers": [
        (kernel("if (index < 32u) { workgroupBarrier(); }"), kernel(TREE)),
        (
            kernel("for (var i = index; i < 64u; i += 7u) { workgroupBarrier(); }"),
            kernel("for (var i = group.x; i < 64u; i += groups.x) { workgroupBarrier(); }"),
        ),
    ],
    "uniform-subgroups": [
        (
            kernel("if (lane < 2u) { output[index] = subgroupAdd(1.0f); }", enable="subgroups"),
            kernel("let sum = subgroupAdd(1.0f); if (lane < 2u) { output[index] = sum; }", enable="subgroups"),
        ),
        (
            kernel("if (index > 9u) { return; } output[index] = subgroupAdd(1.0f);", enable="subgroups"),
            "diagnostic(off, subgroup_uniformity);\n"
            + kernel("if (index > 9u) { return; } output[index] = subgroupAdd(1.0f);", enable="subgroups"),
        ),
    ],
    "no-early-return": [
        (
            kernel("if (group.x > 3u) { return; } workgroupBarrier();"),
            kernel("workgroupBarrier(); if (group.x > 3u) { return; } output[0u] = 1.0f;"),
        ),
        (
            kernel("if (group.x > 3u) { return; } finish();", "fn finish() { workgroupBarrier(); }"),
            kernel("if (group.x > 3u) { return; } finish();", "fn finish() { output[0u] = 1.0f; }"),
        ),
        (
            kernel("for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if (i > group.x) { return; } }"),
            kernel("for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if (i > group.x) { break; } }"),
        ),
    ],
    "no-private-builtins": [
        (kernel("own = index;", "var<private> own: u32;"), kernel("own = 3u;", "var<private> own: u32;")),
        (
            kernel("keep(group.x);", "var<private> own: u32;\nfn keep(i: u32) { own = i + 1u; }"),
            kernel("keep(2u);", "var<private> own: u32;\nfn keep(i: u32) { own = i + 1u; }"),
        ),
    ],
    "no-fixed-lanes": [
        (
            kernel("output[index] = f32(index % 32u);", enable="subgroups"),
            kernel("output[index] = f32(lane);", enable="subgroups"),
        ),
        (
            kernel("let thread = index; output[index] = f32(thread >> 5u);", enable="subgroups"),
            kernel("output[index] = f32(index % 32u);"),
        ),
        (
            kernel("output[index] = f32(index / 64u);", enable="subgroups"),
            kernel("let element = group.x * 64u + index; output[index] = f32(element / 32u);", enable="subgroups"),
        ),
        (
            kernel(
                "let thread = Thread(group.x, index); output[index] = f32(thread.index % 32u);",
                "struct Thread { row: u32, index: u32 }",
                enable="subgroups",
            ),
            kernel(
                "let thread = Thread(group.x, index); output[index] = f32(thread.row % 32u);",
                "struct Thread { row: u32, index: u32 }",
                enable="subgroups",
            ),
        ),
        (
            kernel("output[index] = f32(f(index));", "fn f(i: u32) -> u32 { return i & 31u; }", enable="subgroups"),
            kernel("output[index] = f32(f(group.x));", "fn f(i: u32) -> u32 { return i & 31u; }", enable="subgroups"),
        ),
    ],
    "flat-subgroups": [
        (kernel("", size="8, 8, 1", enable="subgroups"), kernel("", size="64, 1, 1", enable="subgroups")),
        (kernel("", "const Y = 2u;", "8, Y", "subgroups"), kernel("", "const Y = 1u;", "8, Y", "subgroups")),
    ],
    "lane-indices": [
        (
            kernel("tile[lane] = 1.0f;", "var<workgroup> tile: array<f32, 64>;", enable="subgroups"),
            kernel("tile[lane] = 1.0f;", "var<workgroup> tile: array<f32, 128>;", enable="subgroups"),
        ),
        (
            kernel("tile[subgroup] = 1.0f;", "var<workgroup> tile: array<f32, 8>;", enable="subgroups"),
            kernel("tile[subgroup] = 1.0f;", "var<workgroup> tile: array<f32, 16>;", enable="subgroups"),
        ),
        (
            kernel("tile[lane] = 1.0f;", "var<workgroup> tile: array<f32, 16>;", enable="subgroups"),
            kernel(
                "if (lane < 16u) { tile[lane] = 1.0f; } tile[min(lane, 15u)] = 2.0f;",
                "var<workgroup> tile: array<f32, 16>;",
                enable="subgroups",
            ),
        ),
    ],
}
"""For each rule the texts that it refuses, each with a twin that every judge accepts."""
