// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** set_rows: rows into a tensor by their ids, quantised if asked. */
export const set_rows = {
  kernel: "set_rows",
  variants: {
    "set_rows_f32_xf32__wg64": {
      name: "set_rows_f32_xf32__wg64",
      computes: "set_rows_f32_xf32",
      kernel: "set_rows",
      entry_point: "main",
      constants: {"format": "f32", "activation": "f32", "workgroup_size": 64},
      sizes: ["R", "K", "ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "R", ["div", "K", 4]], 64],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "r", "type": "u32", "offset": 0, "value": "R", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns"}, {"name": "rows", "type": "u32", "offset": 8, "value": "ROWS", "doc": "rows of the tensor"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 4], 0], "why": "a row is whole loads of four"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS", "distinct": true}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "ROWS", "K"], 4], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// set_rows: rows into a tensor by their ids, quantised if asked
// variant set_rows_f32_xf32__wg64
// x: rows [R][K]
// ids: row of the tensor for each row of x, all different; from ROWS on: none
// y: tensor [ROWS][K]
const WORKGROUP_SIZE: u32 = 64u;
const UNIT: u32 = 4u;

struct Params {
  r: u32,
  k: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let row_units = params.k / UNIT;
  if (at < params.r * row_units) {
    let id = ids[at / row_units];
    if (id < params.rows) {
      let place = id * row_units + at % row_units;
      let values = x[at];
      y[place] = values;
    }
  }
}
`,
    },
    "set_rows_f16_xf32__wg64": {
      name: "set_rows_f16_xf32__wg64",
      computes: "set_rows_f16_xf32",
      kernel: "set_rows",
      entry_point: "main",
      constants: {"format": "f16", "activation": "f32", "workgroup_size": 64},
      sizes: ["R", "K", "ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "R", ["div", "K", 4]], 64],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "r", "type": "u32", "offset": 0, "value": "R", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns"}, {"name": "rows", "type": "u32", "offset": 8, "value": "ROWS", "doc": "rows of the tensor"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 4], 0], "why": "a row is whole loads of four"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS", "distinct": true}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", ["mul", "ROWS", "K"], 4], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// set_rows: rows into a tensor by their ids, quantised if asked
// variant set_rows_f16_xf32__wg64
// x: rows [R][K]
// ids: row of the tensor for each row of x, all different; from ROWS on: none
// y: tensor [ROWS][K]
enable f16;

const WORKGROUP_SIZE: u32 = 64u;
const UNIT: u32 = 4u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  r: u32,
  k: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// What a conversion makes of numbers past the range of f16 differs between devices, so they stay at its end.
fn narrow(value: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(clamp(value, vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let row_units = params.k / UNIT;
  if (at < params.r * row_units) {
    let id = ids[at / row_units];
    if (id < params.rows) {
      let place = id * row_units + at % row_units;
      let values = x[at];
      y[place] = narrow(values);
    }
  }
}
`,
    },
    "set_rows_q8_0_xf32__wg64": {
      name: "set_rows_q8_0_xf32__wg64",
      computes: "set_rows_q8_0_xf32",
      kernel: "set_rows",
      entry_point: "main",
      constants: {"format": "q8_0", "activation": "f32", "workgroup_size": 64},
      sizes: ["R", "K", "ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "R", ["div", "K", 32]], 64],
      uniforms: {"binding": 4, "size": 12, "fields": [{"name": "r", "type": "u32", "offset": 0, "value": "R", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns"}, {"name": "rows", "type": "u32", "offset": 8, "value": "ROWS", "doc": "rows of the tensor"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 32], 0], "why": "a row is whole blocks of 32"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS", "distinct": true}, {"binding": 2, "name": "codes", "access": "read_write", "element": "u32", "length": ["div", ["mul", ["mul", "ROWS", "K"], 8], 32], "kept": true}, {"binding": 3, "name": "scales", "access": "read_write", "element": "atomic<u32>", "length": ["ceil_div", ["div", ["mul", "ROWS", "K"], 32], 2], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// set_rows: rows into a tensor by their ids, quantised if asked
// variant set_rows_q8_0_xf32__wg64
// x: rows [R][K]
// ids: row of the tensor for each row of x, all different; from ROWS on: none
// codes: codes [ROWS][K * 8 / 32] u32
// scales: f16 scales in pairs, [ROWS][K / 32]
const WORKGROUP_SIZE: u32 = 64u;
const UNIT: u32 = 32u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;
const F16_MAX: f32 = 65504.0f;

struct Params {
  r: u32,
  k: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> codes: array<u32>;
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// The scale of a group whose largest magnitude is \`largest\`; none where it would be subnormal.
fn scale_of(largest: f32) -> f32 {
  return select(0.0f, largest * INVERSE_127, largest >= SMALLEST);
}

// x / scale, rounded half to even, for a normal scale and x up to 127.5 * scale; zeros for scale 0. The quotient of
// the two significands is taken in whole numbers, because float division may be off by 2.5 ulp and so move a tie.
fn quantise(x: vec4<f32>, scale: f32) -> vec4<i32> {
  let bits = bitcast<vec4<u32>>(x);
  let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
  // A subnormal has the exponent of the smallest normal number, and no bit above its fraction.
  let significand = (bits & vec4<u32>(0x7fffffu)) | (min(exponent, vec4<u32>(1u)) << vec4<u32>(23u));
  let unit = bitcast<u32>(scale);
  // 2 * |x| / scale = significand * 2^shift / (significand of the scale); below 1 for a negative shift.
  let shift = vec4<i32>(max(exponent, vec4<u32>(1u))) - vec4<i32>(i32(unit >> 23u) - 1i);
  let numerator = significand << vec4<u32>(clamp(shift, vec4<i32>(0i), vec4<i32>(8i)));
  let denominator = vec4<u32>((unit & 0x7fffffu) | 0x800000u);
  let halves = numerator / denominator;
  let rest = numerator - halves * denominator;
  // An odd number of halves goes up where there is a rest, or to the even one of two equally near.
  let floors = halves >> vec4<u32>(1u);
  let up = halves & (floors | min(rest, vec4<u32>(1u))) & vec4<u32>(1u);
  let magnitude = select(vec4<i32>(0i), vec4<i32>(floors + up), shift >= vec4<i32>(0i));
  let integers = select(magnitude, -magnitude, bits >= vec4<u32>(0x80000000u));
  return select(vec4<i32>(0i), integers, scale > 0.0f);
}

// Four bytes as a word, the first one lowest.
fn join_bytes(bytes: vec4<u32>) -> u32 {
  let placed = bytes << vec4<u32>(0u, 8u, 16u, 24u);
  return placed.x | placed.y | placed.z | placed.w;
}

fn pack_neighbours(integers: vec4<i32>) -> u32 {
  return join_bytes(vec4<u32>(integers) & vec4<u32>(255u));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let row_units = params.k / UNIT;
  if (at < params.r * row_units) {
    let id = ids[at / row_units];
    if (id < params.rows) {
      let place = id * row_units + at % row_units;
      let values_0 = x[8u * at + 0u];
      let values_1 = x[8u * at + 1u];
      let values_2 = x[8u * at + 2u];
      let values_3 = x[8u * at + 3u];
      let values_4 = x[8u * at + 4u];
      let values_5 = x[8u * at + 5u];
      let values_6 = x[8u * at + 6u];
      let values_7 = x[8u * at + 7u];
      var largest = vec4<f32>();
      largest = max(largest, abs(values_0));
      largest = max(largest, abs(values_1));
      largest = max(largest, abs(values_2));
      largest = max(largest, abs(values_3));
      largest = max(largest, abs(values_4));
      largest = max(largest, abs(values_5));
      largest = max(largest, abs(values_6));
      largest = max(largest, abs(values_7));
      let pair = max(largest.xy, largest.zw);
      let peak = max(pair.x, pair.y);
      let scale = scale_of(peak);
      codes[8u * place + 0u] = pack_neighbours(quantise(values_0, scale));
      codes[8u * place + 1u] = pack_neighbours(quantise(values_1, scale));
      codes[8u * place + 2u] = pack_neighbours(quantise(values_2, scale));
      codes[8u * place + 3u] = pack_neighbours(quantise(values_3, scale));
      codes[8u * place + 4u] = pack_neighbours(quantise(values_4, scale));
      codes[8u * place + 5u] = pack_neighbours(quantise(values_5, scale));
      codes[8u * place + 6u] = pack_neighbours(quantise(values_6, scale));
      codes[8u * place + 7u] = pack_neighbours(quantise(values_7, scale));
      let stored = scale;
      // Half of a word: the other half may be another row's.
      let half = pack2x16float(vec2<f32>(clamp(stored, -F16_MAX, F16_MAX), 0.0f)) & 0xffffu;
      let shift = 16u * (place % 2u);
      atomicAnd(&scales[place / 2u], ~(0xffffu << shift));
      atomicOr(&scales[place / 2u], half << shift);
    }
  }
}
`,
    },
    "set_rows_q4_0_xf32__wg64": {
      name: "set_rows_q4_0_xf32__wg64",
      computes: "set_rows_q4_0_xf32",
      kernel: "set_rows",
      entry_point: "main",
      constants: {"format": "q4_0", "activation": "f32", "workgroup_size": 64},
      sizes: ["R", "K", "ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "R", ["div", "K", 32]], 64],
      uniforms: {"binding": 4, "size": 12, "fields": [{"name": "r", "type": "u32", "offset": 0, "value": "R", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns"}, {"name": "rows", "type": "u32", "offset": 8, "value": "ROWS", "doc": "rows of the tensor"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 32], 0], "why": "a row is whole blocks of 32"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS", "distinct": true}, {"binding": 2, "name": "codes", "access": "read_write", "element": "u32", "length": ["div", ["mul", ["mul", "ROWS", "K"], 4], 32], "kept": true}, {"binding": 3, "name": "scales", "access": "read_write", "element": "atomic<u32>", "length": ["ceil_div", ["div", ["mul", "ROWS", "K"], 32], 2], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// set_rows: rows into a tensor by their ids, quantised if asked
// variant set_rows_q4_0_xf32__wg64
// x: rows [R][K]
// ids: row of the tensor for each row of x, all different; from ROWS on: none
// codes: codes [ROWS][K * 4 / 32] u32
// scales: f16 scales in pairs, [ROWS][K / 32]
const WORKGROUP_SIZE: u32 = 64u;
const UNIT: u32 = 32u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;
const F16_MAX: f32 = 65504.0f;

struct Params {
  r: u32,
  k: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> codes: array<u32>;
@group(0) @binding(3) var<storage, read_write> scales: array<atomic<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// The scale of a group whose largest magnitude is \`largest\`; none where it would be subnormal.
fn scale_of(largest: f32) -> f32 {
  return select(0.0f, largest * INVERSE_127, largest >= SMALLEST);
}

// x / scale, rounded half to even, for a normal scale and x up to 127.5 * scale; zeros for scale 0. The quotient of
// the two significands is taken in whole numbers, because float division may be off by 2.5 ulp and so move a tie.
fn quantise(x: vec4<f32>, scale: f32) -> vec4<i32> {
  let bits = bitcast<vec4<u32>>(x);
  let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
  // A subnormal has the exponent of the smallest normal number, and no bit above its fraction.
  let significand = (bits & vec4<u32>(0x7fffffu)) | (min(exponent, vec4<u32>(1u)) << vec4<u32>(23u));
  let unit = bitcast<u32>(scale);
  // 2 * |x| / scale = significand * 2^shift / (significand of the scale); below 1 for a negative shift.
  let shift = vec4<i32>(max(exponent, vec4<u32>(1u))) - vec4<i32>(i32(unit >> 23u) - 1i);
  let numerator = significand << vec4<u32>(clamp(shift, vec4<i32>(0i), vec4<i32>(8i)));
  let denominator = vec4<u32>((unit & 0x7fffffu) | 0x800000u);
  let halves = numerator / denominator;
  let rest = numerator - halves * denominator;
  // An odd number of halves goes up where there is a rest, or to the even one of two equally near.
  let floors = halves >> vec4<u32>(1u);
  let up = halves & (floors | min(rest, vec4<u32>(1u))) & vec4<u32>(1u);
  let magnitude = select(vec4<i32>(0i), vec4<i32>(floors + up), shift >= vec4<i32>(0i));
  let integers = select(magnitude, -magnitude, bits >= vec4<u32>(0x80000000u));
  return select(vec4<i32>(0i), integers, scale > 0.0f);
}

// Four bytes as a word, the first one lowest.
fn join_bytes(bytes: vec4<u32>) -> u32 {
  let placed = bytes << vec4<u32>(0u, 8u, 16u, 24u);
  return placed.x | placed.y | placed.z | placed.w;
}

fn pack_neighbours(integers: vec4<i32>) -> u32 {
  return join_bytes(vec4<u32>(integers) & vec4<u32>(255u));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let row_units = params.k / UNIT;
  if (at < params.r * row_units) {
    let id = ids[at / row_units];
    if (id < params.rows) {
      let place = id * row_units + at % row_units;
      let values_0 = x[8u * at + 0u];
      let values_1 = x[8u * at + 1u];
      let values_2 = x[8u * at + 2u];
      let values_3 = x[8u * at + 3u];
      let values_4 = x[8u * at + 4u];
      let values_5 = x[8u * at + 5u];
      let values_6 = x[8u * at + 6u];
      let values_7 = x[8u * at + 7u];
      var largest = vec4<f32>();
      largest = max(largest, abs(values_0));
      largest = max(largest, abs(values_1));
      largest = max(largest, abs(values_2));
      largest = max(largest, abs(values_3));
      largest = max(largest, abs(values_4));
      largest = max(largest, abs(values_5));
      largest = max(largest, abs(values_6));
      largest = max(largest, abs(values_7));
      let pair = max(largest.xy, largest.zw);
      let peak = max(pair.x, pair.y);
      let scale = select(0.0f, peak * 0.125f, peak >= SMALLEST);
      // The first weight of the largest magnitude becomes code 0: where it is positive, the scale is negative.
      var opposite = false;
      var found = false;
      opposite = select(opposite, values_0.x > 0.0f, !found && abs(values_0.x) == peak);
      found = found || abs(values_0.x) == peak;
      opposite = select(opposite, values_0.y > 0.0f, !found && abs(values_0.y) == peak);
      found = found || abs(values_0.y) == peak;
      opposite = select(opposite, values_0.z > 0.0f, !found && abs(values_0.z) == peak);
      found = found || abs(values_0.z) == peak;
      opposite = select(opposite, values_0.w > 0.0f, !found && abs(values_0.w) == peak);
      found = found || abs(values_0.w) == peak;
      opposite = select(opposite, values_1.x > 0.0f, !found && abs(values_1.x) == peak);
      found = found || abs(values_1.x) == peak;
      opposite = select(opposite, values_1.y > 0.0f, !found && abs(values_1.y) == peak);
      found = found || abs(values_1.y) == peak;
      opposite = select(opposite, values_1.z > 0.0f, !found && abs(values_1.z) == peak);
      found = found || abs(values_1.z) == peak;
      opposite = select(opposite, values_1.w > 0.0f, !found && abs(values_1.w) == peak);
      found = found || abs(values_1.w) == peak;
      opposite = select(opposite, values_2.x > 0.0f, !found && abs(values_2.x) == peak);
      found = found || abs(values_2.x) == peak;
      opposite = select(opposite, values_2.y > 0.0f, !found && abs(values_2.y) == peak);
      found = found || abs(values_2.y) == peak;
      opposite = select(opposite, values_2.z > 0.0f, !found && abs(values_2.z) == peak);
      found = found || abs(values_2.z) == peak;
      opposite = select(opposite, values_2.w > 0.0f, !found && abs(values_2.w) == peak);
      found = found || abs(values_2.w) == peak;
      opposite = select(opposite, values_3.x > 0.0f, !found && abs(values_3.x) == peak);
      found = found || abs(values_3.x) == peak;
      opposite = select(opposite, values_3.y > 0.0f, !found && abs(values_3.y) == peak);
      found = found || abs(values_3.y) == peak;
      opposite = select(opposite, values_3.z > 0.0f, !found && abs(values_3.z) == peak);
      found = found || abs(values_3.z) == peak;
      opposite = select(opposite, values_3.w > 0.0f, !found && abs(values_3.w) == peak);
      found = found || abs(values_3.w) == peak;
      opposite = select(opposite, values_4.x > 0.0f, !found && abs(values_4.x) == peak);
      found = found || abs(values_4.x) == peak;
      opposite = select(opposite, values_4.y > 0.0f, !found && abs(values_4.y) == peak);
      found = found || abs(values_4.y) == peak;
      opposite = select(opposite, values_4.z > 0.0f, !found && abs(values_4.z) == peak);
      found = found || abs(values_4.z) == peak;
      opposite = select(opposite, values_4.w > 0.0f, !found && abs(values_4.w) == peak);
      found = found || abs(values_4.w) == peak;
      opposite = select(opposite, values_5.x > 0.0f, !found && abs(values_5.x) == peak);
      found = found || abs(values_5.x) == peak;
      opposite = select(opposite, values_5.y > 0.0f, !found && abs(values_5.y) == peak);
      found = found || abs(values_5.y) == peak;
      opposite = select(opposite, values_5.z > 0.0f, !found && abs(values_5.z) == peak);
      found = found || abs(values_5.z) == peak;
      opposite = select(opposite, values_5.w > 0.0f, !found && abs(values_5.w) == peak);
      found = found || abs(values_5.w) == peak;
      opposite = select(opposite, values_6.x > 0.0f, !found && abs(values_6.x) == peak);
      found = found || abs(values_6.x) == peak;
      opposite = select(opposite, values_6.y > 0.0f, !found && abs(values_6.y) == peak);
      found = found || abs(values_6.y) == peak;
      opposite = select(opposite, values_6.z > 0.0f, !found && abs(values_6.z) == peak);
      found = found || abs(values_6.z) == peak;
      opposite = select(opposite, values_6.w > 0.0f, !found && abs(values_6.w) == peak);
      found = found || abs(values_6.w) == peak;
      opposite = select(opposite, values_7.x > 0.0f, !found && abs(values_7.x) == peak);
      found = found || abs(values_7.x) == peak;
      opposite = select(opposite, values_7.y > 0.0f, !found && abs(values_7.y) == peak);
      found = found || abs(values_7.y) == peak;
      opposite = select(opposite, values_7.z > 0.0f, !found && abs(values_7.z) == peak);
      found = found || abs(values_7.z) == peak;
      opposite = select(opposite, values_7.w > 0.0f, !found && abs(values_7.w) == peak);
      found = found || abs(values_7.w) == peak;
      let steps_0 = quantise(values_0, scale);
      let codes_0 = min(select(steps_0, -steps_0, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_1 = quantise(values_1, scale);
      let codes_1 = min(select(steps_1, -steps_1, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_2 = quantise(values_2, scale);
      let codes_2 = min(select(steps_2, -steps_2, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_3 = quantise(values_3, scale);
      let codes_3 = min(select(steps_3, -steps_3, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_4 = quantise(values_4, scale);
      let codes_4 = min(select(steps_4, -steps_4, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_5 = quantise(values_5, scale);
      let codes_5 = min(select(steps_5, -steps_5, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_6 = quantise(values_6, scale);
      let codes_6 = min(select(steps_6, -steps_6, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      let steps_7 = quantise(values_7, scale);
      let codes_7 = min(select(steps_7, -steps_7, opposite) + vec4<i32>(8i), vec4<i32>(15i));
      codes[4u * place + 0u] = pack_neighbours(codes_0 | (codes_4 << vec4<u32>(4u)));
      codes[4u * place + 1u] = pack_neighbours(codes_1 | (codes_5 << vec4<u32>(4u)));
      codes[4u * place + 2u] = pack_neighbours(codes_2 | (codes_6 << vec4<u32>(4u)));
      codes[4u * place + 3u] = pack_neighbours(codes_3 | (codes_7 << vec4<u32>(4u)));
      let stored = select(scale, -scale, opposite);
      // Half of a word: the other half may be another row's.
      let half = pack2x16float(vec2<f32>(clamp(stored, -F16_MAX, F16_MAX), 0.0f)) & 0xffffu;
      let shift = 16u * (place % 2u);
      atomicAnd(&scales[place / 2u], ~(0xffffu << shift));
      atomicOr(&scales[place / 2u], half << shift);
    }
  }
}
`,
    },
  },
};
