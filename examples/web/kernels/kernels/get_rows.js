// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** get_rows: rows of a weight matrix by their ids; zeros for an id out of range. */
export const get_rows = {
  kernel: "get_rows",
  variants: {
    "get_rows_q2_0_g64_planar_yf32__w4_wg64": {
      name: "get_rows_q2_0_g64_planar_yf32__w4_wg64",
      computes: "get_rows_q2_0_g64_planar_yf32",
      kernel: "get_rows",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 4, "output": "f32", "workgroup_size": 64},
      sizes: ["N", "K", "R", "FIRST_ROW", "ROWS"],
      alone: {"op": "embedding", "sizes": ["N", "K", "R"], "given": {"N": "N", "K": "K", "R": "R", "FIRST_ROW": 0, "ROWS": "N"}, "fixed": {}},
      workgroups: "R",
      uniforms: {"binding": 4, "size": 20, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of this chunk"}, {"name": "r", "type": "u32", "offset": 4, "value": "R", "doc": "number of ids"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns"}, {"name": "first_row", "type": "u32", "offset": 12, "value": "FIRST_ROW", "doc": "row of the chunk's first"}, {"name": "rows", "type": "u32", "offset": 16, "value": "ROWS", "doc": "rows of the table"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["le", ["add", "FIRST_ROW", "N"], "ROWS"], "why": "the chunk's rows are among the table's"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "N", "K"], 64]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS"}, {"binding": 3, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q2_0_g64_planar_yf32__w4_wg64
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q2_0: sixteen 2-bit codes a word, element 0 in the lowest bits; a code is its value plus one.
// Codes at bits 0, 2, 4 and 6 of the mantissas of 2^23, 2^21, 2^19 and 2^17 each count 1 there, so taking off
// that power and the code's zero leaves the value, exactly and without a conversion.
fn value4(unit: u32, four: u32) -> vec4<f32> {
  let codes = vec4<u32>(unit >> (8u * four)) & vec4<u32>(0x3u, 0xcu, 0x30u, 0xc0u);
  let floats = bitcast<vec4<f32>>(codes | vec4<u32>(0x4b000000u, 0x4a000000u, 0x49000000u, 0x48000000u));
  return floats - vec4<f32>(8388609.0f, 2097153.0f, 524289.0f, 131073.0f);
}

// planar: all code words in row order, and all scales in another plane.
fn load_step(step: u32) -> vec4<u32> {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.x, 1u),
    value4(step.x, 2u),
    value4(step.x, 3u),
    value4(step.y, 0u),
    value4(step.y, 1u),
    value4(step.y, 2u),
    value4(step.y, 3u),
    value4(step.z, 0u),
    value4(step.z, 1u),
    value4(step.z, 2u),
    value4(step.z, 3u),
    value4(step.w, 0u),
    value4(step.w, 1u),
    value4(step.w, 2u),
    value4(step.w, 3u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
    scale * values[4u],
    scale * values[5u],
    scale * values[6u],
    scale * values[7u],
    scale * values[8u],
    scale * values[9u],
    scale * values[10u],
    scale * values[11u],
    scale * values[12u],
    scale * values[13u],
    scale * values[14u],
    scale * values[15u],
  );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let row = workgroup_index(workgroup_id, num_workgroups);
  if (row < params.r) {
    let id = ids[row];
    // An id below the chunk's first row wraps around, and is above all of them: FIRST_ROW + N is a u32.
    let at = id - params.first_row;
    let absent = (id >= params.rows) & (params.first_row == 0u);
    let steps = select(0u, row_steps, (at < params.n) | absent);
    for (var step = local_index; step < steps; step += WORKGROUP_SIZE) {
      var values = array<vec4<f32>, STEP_FOURS>();
      if (at < params.n) {
        values = step_weights(at * row_steps + step);
      }
      let first = row * (k / 4u) + step_four(step);
      y[first + 0u] = values[0u];
      y[first + 1u] = values[1u];
      y[first + 2u] = values[2u];
      y[first + 3u] = values[3u];
      y[first + 4u] = values[4u];
      y[first + 5u] = values[5u];
      y[first + 6u] = values[6u];
      y[first + 7u] = values[7u];
      y[first + 8u] = values[8u];
      y[first + 9u] = values[9u];
      y[first + 10u] = values[10u];
      y[first + 11u] = values[11u];
      y[first + 12u] = values[12u];
      y[first + 13u] = values[13u];
      y[first + 14u] = values[14u];
      y[first + 15u] = values[15u];
    }
  }
}
`,
    },
    "get_rows_q2_0_g64_ggml_yf32__w4_wg64": {
      name: "get_rows_q2_0_g64_ggml_yf32__w4_wg64",
      computes: "get_rows_q2_0_g64_ggml_yf32",
      kernel: "get_rows",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "ggml", "step_words": 4, "output": "f32", "workgroup_size": 64},
      sizes: ["N", "K", "R", "FIRST_ROW", "ROWS"],
      alone: {"op": "embedding", "sizes": ["N", "K", "R"], "given": {"N": "N", "K": "K", "R": "R", "FIRST_ROW": 0, "ROWS": "N"}, "fixed": {}},
      workgroups: "R",
      uniforms: {"binding": 3, "size": 20, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of this chunk"}, {"name": "r", "type": "u32", "offset": 4, "value": "R", "doc": "number of ids"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns"}, {"name": "first_row", "type": "u32", "offset": 12, "value": "FIRST_ROW", "doc": "row of the chunk's first"}, {"name": "rows", "type": "u32", "offset": 16, "value": "ROWS", "doc": "rows of the table"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["le", ["add", "FIRST_ROW", "N"], "ROWS"], "why": "the chunk's rows are among the table's"}],
      bindings: [{"binding": 0, "name": "weights", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", "N", "K"], 64], 18], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS"}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q2_0_g64_ggml_yf32__w4_wg64
// weights: blocks [N][K / 64] of 18 bytes, padded to a word at the end
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;
const BLOCK_BYTES: u32 = 18u;
const CODE_OFFSET: u32 = 2u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q2_0: sixteen 2-bit codes a word, element 0 in the lowest bits; a code is its value plus one.
// Codes at bits 0, 2, 4 and 6 of the mantissas of 2^23, 2^21, 2^19 and 2^17 each count 1 there, so taking off
// that power and the code's zero leaves the value, exactly and without a conversion.
fn value4(unit: u32, four: u32) -> vec4<f32> {
  let codes = vec4<u32>(unit >> (8u * four)) & vec4<u32>(0x3u, 0xcu, 0x30u, 0xc0u);
  let floats = bitcast<vec4<f32>>(codes | vec4<u32>(0x4b000000u, 0x4a000000u, 0x49000000u, 0x48000000u));
  return floats - vec4<f32>(8388609.0f, 2097153.0f, 524289.0f, 131073.0f);
}

// ggml: the file's blocks as they are; a block may start in the middle of a word.
fn load_step(step: u32) -> vec4<u32> {
  let block = step / STEPS_PER_BLOCK;
  let byte = block * BLOCK_BYTES + CODE_OFFSET + (step % STEPS_PER_BLOCK) * 16u;
  let word = byte / 4u;
  let word_0 = weights[word + 0u];
  let word_1 = weights[word + 1u];
  let word_2 = weights[word + 2u];
  let word_3 = weights[word + 3u];
  // One word more where the step starts in the middle of one; no branch, which some compilers cannot afford here.
  let odd = (byte / 2u) % 2u;
  let word_4 = weights[word + 3u + odd];
  let here = vec4<u32>(word_0, word_1, word_2, word_3);
  let next = vec4<u32>(word_1, word_2, word_3, word_4);
  return select(here, (here >> vec4<u32>(16u)) | (next << vec4<u32>(16u)), odd == 1u);
}

fn step_scale(step: u32) -> f32 {
  let byte = step / STEPS_PER_BLOCK * BLOCK_BYTES;
  return unpack2x16float(weights[byte / 4u])[(byte / 2u) % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.x, 1u),
    value4(step.x, 2u),
    value4(step.x, 3u),
    value4(step.y, 0u),
    value4(step.y, 1u),
    value4(step.y, 2u),
    value4(step.y, 3u),
    value4(step.z, 0u),
    value4(step.z, 1u),
    value4(step.z, 2u),
    value4(step.z, 3u),
    value4(step.w, 0u),
    value4(step.w, 1u),
    value4(step.w, 2u),
    value4(step.w, 3u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
    scale * values[4u],
    scale * values[5u],
    scale * values[6u],
    scale * values[7u],
    scale * values[8u],
    scale * values[9u],
    scale * values[10u],
    scale * values[11u],
    scale * values[12u],
    scale * values[13u],
    scale * values[14u],
    scale * values[15u],
  );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let row = workgroup_index(workgroup_id, num_workgroups);
  if (row < params.r) {
    let id = ids[row];
    // An id below the chunk's first row wraps around, and is above all of them: FIRST_ROW + N is a u32.
    let at = id - params.first_row;
    let absent = (id >= params.rows) & (params.first_row == 0u);
    let steps = select(0u, row_steps, (at < params.n) | absent);
    for (var step = local_index; step < steps; step += WORKGROUP_SIZE) {
      var values = array<vec4<f32>, STEP_FOURS>();
      if (at < params.n) {
        values = step_weights(at * row_steps + step);
      }
      let first = row * (k / 4u) + step_four(step);
      y[first + 0u] = values[0u];
      y[first + 1u] = values[1u];
      y[first + 2u] = values[2u];
      y[first + 3u] = values[3u];
      y[first + 4u] = values[4u];
      y[first + 5u] = values[5u];
      y[first + 6u] = values[6u];
      y[first + 7u] = values[7u];
      y[first + 8u] = values[8u];
      y[first + 9u] = values[9u];
      y[first + 10u] = values[10u];
      y[first + 11u] = values[11u];
      y[first + 12u] = values[12u];
      y[first + 13u] = values[13u];
      y[first + 14u] = values[14u];
      y[first + 15u] = values[15u];
    }
  }
}
`,
    },
    "get_rows_q1_0_g128_planar_yf32__w4_wg64": {
      name: "get_rows_q1_0_g128_planar_yf32__w4_wg64",
      computes: "get_rows_q1_0_g128_planar_yf32",
      kernel: "get_rows",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "planar", "step_words": 4, "output": "f32", "workgroup_size": 64},
      sizes: ["N", "K", "R", "FIRST_ROW", "ROWS"],
      alone: {"op": "embedding", "sizes": ["N", "K", "R"], "given": {"N": "N", "K": "K", "R": "R", "FIRST_ROW": 0, "ROWS": "N"}, "fixed": {}},
      workgroups: "R",
      uniforms: {"binding": 4, "size": 20, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of this chunk"}, {"name": "r", "type": "u32", "offset": 4, "value": "R", "doc": "number of ids"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns"}, {"name": "first_row", "type": "u32", "offset": 12, "value": "FIRST_ROW", "doc": "row of the chunk's first"}, {"name": "rows", "type": "u32", "offset": 16, "value": "ROWS", "doc": "rows of the table"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["le", ["add", "FIRST_ROW", "N"], "ROWS"], "why": "the chunk's rows are among the table's"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "N", "K"], 128]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 128], 2]}, {"binding": 2, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS"}, {"binding": 3, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q1_0_g128_planar_yf32__w4_wg64
// codes: codes [N][K * 1 / 32] u32
// scales: f16 scales in pairs, [N][K / 128]
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 32u;
const STEP_STRIDE: u32 = 0u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q1_0: 32 sign bits a word, element 0 in bit 0; 1 is +d and 0 is -d.
// The bit becomes the sign of 1.0.
fn value4(unit: u32, four: u32) -> vec4<f32> {
  let signs = (vec4<u32>(unit) << (vec4<u32>(31u, 30u, 29u, 28u) - 4u * four)) & vec4<u32>(0x80000000u);
  return bitcast<vec4<f32>>(signs ^ vec4<u32>(0xbf800000u));
}

// planar: all code words in row order, and all scales in another plane.
fn load_step(step: u32) -> vec4<u32> {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.x, 1u),
    value4(step.x, 2u),
    value4(step.x, 3u),
    value4(step.x, 4u),
    value4(step.x, 5u),
    value4(step.x, 6u),
    value4(step.x, 7u),
    value4(step.y, 0u),
    value4(step.y, 1u),
    value4(step.y, 2u),
    value4(step.y, 3u),
    value4(step.y, 4u),
    value4(step.y, 5u),
    value4(step.y, 6u),
    value4(step.y, 7u),
    value4(step.z, 0u),
    value4(step.z, 1u),
    value4(step.z, 2u),
    value4(step.z, 3u),
    value4(step.z, 4u),
    value4(step.z, 5u),
    value4(step.z, 6u),
    value4(step.z, 7u),
    value4(step.w, 0u),
    value4(step.w, 1u),
    value4(step.w, 2u),
    value4(step.w, 3u),
    value4(step.w, 4u),
    value4(step.w, 5u),
    value4(step.w, 6u),
    value4(step.w, 7u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
    scale * values[4u],
    scale * values[5u],
    scale * values[6u],
    scale * values[7u],
    scale * values[8u],
    scale * values[9u],
    scale * values[10u],
    scale * values[11u],
    scale * values[12u],
    scale * values[13u],
    scale * values[14u],
    scale * values[15u],
    scale * values[16u],
    scale * values[17u],
    scale * values[18u],
    scale * values[19u],
    scale * values[20u],
    scale * values[21u],
    scale * values[22u],
    scale * values[23u],
    scale * values[24u],
    scale * values[25u],
    scale * values[26u],
    scale * values[27u],
    scale * values[28u],
    scale * values[29u],
    scale * values[30u],
    scale * values[31u],
  );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let row = workgroup_index(workgroup_id, num_workgroups);
  if (row < params.r) {
    let id = ids[row];
    // An id below the chunk's first row wraps around, and is above all of them: FIRST_ROW + N is a u32.
    let at = id - params.first_row;
    let absent = (id >= params.rows) & (params.first_row == 0u);
    let steps = select(0u, row_steps, (at < params.n) | absent);
    for (var step = local_index; step < steps; step += WORKGROUP_SIZE) {
      var values = array<vec4<f32>, STEP_FOURS>();
      if (at < params.n) {
        values = step_weights(at * row_steps + step);
      }
      let first = row * (k / 4u) + step_four(step);
      y[first + 0u] = values[0u];
      y[first + 1u] = values[1u];
      y[first + 2u] = values[2u];
      y[first + 3u] = values[3u];
      y[first + 4u] = values[4u];
      y[first + 5u] = values[5u];
      y[first + 6u] = values[6u];
      y[first + 7u] = values[7u];
      y[first + 8u] = values[8u];
      y[first + 9u] = values[9u];
      y[first + 10u] = values[10u];
      y[first + 11u] = values[11u];
      y[first + 12u] = values[12u];
      y[first + 13u] = values[13u];
      y[first + 14u] = values[14u];
      y[first + 15u] = values[15u];
      y[first + 16u] = values[16u];
      y[first + 17u] = values[17u];
      y[first + 18u] = values[18u];
      y[first + 19u] = values[19u];
      y[first + 20u] = values[20u];
      y[first + 21u] = values[21u];
      y[first + 22u] = values[22u];
      y[first + 23u] = values[23u];
      y[first + 24u] = values[24u];
      y[first + 25u] = values[25u];
      y[first + 26u] = values[26u];
      y[first + 27u] = values[27u];
      y[first + 28u] = values[28u];
      y[first + 29u] = values[29u];
      y[first + 30u] = values[30u];
      y[first + 31u] = values[31u];
    }
  }
}
`,
    },
    "get_rows_q1_0_g128_ggml_yf32__w4_wg64": {
      name: "get_rows_q1_0_g128_ggml_yf32__w4_wg64",
      computes: "get_rows_q1_0_g128_ggml_yf32",
      kernel: "get_rows",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "ggml", "step_words": 4, "output": "f32", "workgroup_size": 64},
      sizes: ["N", "K", "R", "FIRST_ROW", "ROWS"],
      alone: {"op": "embedding", "sizes": ["N", "K", "R"], "given": {"N": "N", "K": "K", "R": "R", "FIRST_ROW": 0, "ROWS": "N"}, "fixed": {}},
      workgroups: "R",
      uniforms: {"binding": 3, "size": 20, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of this chunk"}, {"name": "r", "type": "u32", "offset": 4, "value": "R", "doc": "number of ids"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns"}, {"name": "first_row", "type": "u32", "offset": 12, "value": "FIRST_ROW", "doc": "row of the chunk's first"}, {"name": "rows", "type": "u32", "offset": 16, "value": "ROWS", "doc": "rows of the table"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["le", ["add", "FIRST_ROW", "N"], "ROWS"], "why": "the chunk's rows are among the table's"}],
      bindings: [{"binding": 0, "name": "weights", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", "N", "K"], 128], 18], 4]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": "R", "below": "ROWS"}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "R", "K"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q1_0_g128_ggml_yf32__w4_wg64
// weights: blocks [N][K / 128] of 18 bytes, padded to a word at the end
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 32u;
const STEP_STRIDE: u32 = 0u;
const BLOCK_BYTES: u32 = 18u;
const CODE_OFFSET: u32 = 2u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q1_0: 32 sign bits a word, element 0 in bit 0; 1 is +d and 0 is -d.
// The bit becomes the sign of 1.0.
fn value4(unit: u32, four: u32) -> vec4<f32> {
  let signs = (vec4<u32>(unit) << (vec4<u32>(31u, 30u, 29u, 28u) - 4u * four)) & vec4<u32>(0x80000000u);
  return bitcast<vec4<f32>>(signs ^ vec4<u32>(0xbf800000u));
}

// ggml: the file's blocks as they are; a block may start in the middle of a word.
fn load_step(step: u32) -> vec4<u32> {
  let block = step / STEPS_PER_BLOCK;
  let byte = block * BLOCK_BYTES + CODE_OFFSET + (step % STEPS_PER_BLOCK) * 16u;
  let word = byte / 4u;
  let word_0 = weights[word + 0u];
  let word_1 = weights[word + 1u];
  let word_2 = weights[word + 2u];
  let word_3 = weights[word + 3u];
  // One word more where the step starts in the middle of one; no branch, which some compilers cannot afford here.
  let odd = (byte / 2u) % 2u;
  let word_4 = weights[word + 3u + odd];
  let here = vec4<u32>(word_0, word_1, word_2, word_3);
  let next = vec4<u32>(word_1, word_2, word_3, word_4);
  return select(here, (here >> vec4<u32>(16u)) | (next << vec4<u32>(16u)), odd == 1u);
}

fn step_scale(step: u32) -> f32 {
  let byte = step / STEPS_PER_BLOCK * BLOCK_BYTES;
  return unpack2x16float(weights[byte / 4u])[(byte / 2u) % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.x, 1u),
    value4(step.x, 2u),
    value4(step.x, 3u),
    value4(step.x, 4u),
    value4(step.x, 5u),
    value4(step.x, 6u),
    value4(step.x, 7u),
    value4(step.y, 0u),
    value4(step.y, 1u),
    value4(step.y, 2u),
    value4(step.y, 3u),
    value4(step.y, 4u),
    value4(step.y, 5u),
    value4(step.y, 6u),
    value4(step.y, 7u),
    value4(step.z, 0u),
    value4(step.z, 1u),
    value4(step.z, 2u),
    value4(step.z, 3u),
    value4(step.z, 4u),
    value4(step.z, 5u),
    value4(step.z, 6u),
    value4(step.z, 7u),
    value4(step.w, 0u),
    value4(step.w, 1u),
    value4(step.w, 2u),
    value4(step.w, 3u),
    value4(step.w, 4u),
    value4(step.w, 5u),
    value4(step.w, 6u),
    value4(step.w, 7u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
    scale * values[4u],
    scale * values[5u],
    scale * values[6u],
    scale * values[7u],
    scale * values[8u],
    scale * values[9u],
    scale * values[10u],
    scale * values[11u],
    scale * values[12u],
    scale * values[13u],
    scale * values[14u],
    scale * values[15u],
    scale * values[16u],
    scale * values[17u],
    scale * values[18u],
    scale * values[19u],
    scale * values[20u],
    scale * values[21u],
    scale * values[22u],
    scale * values[23u],
    scale * values[24u],
    scale * values[25u],
    scale * values[26u],
    scale * values[27u],
    scale * values[28u],
    scale * values[29u],
    scale * values[30u],
    scale * values[31u],
  );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let row = workgroup_index(workgroup_id, num_workgroups);
  if (row < params.r) {
    let id = ids[row];
    // An id below the chunk's first row wraps around, and is above all of them: FIRST_ROW + N is a u32.
    let at = id - params.first_row;
    let absent = (id >= params.rows) & (params.first_row == 0u);
    let steps = select(0u, row_steps, (at < params.n) | absent);
    for (var step = local_index; step < steps; step += WORKGROUP_SIZE) {
      var values = array<vec4<f32>, STEP_FOURS>();
      if (at < params.n) {
        values = step_weights(at * row_steps + step);
      }
      let first = row * (k / 4u) + step_four(step);
      y[first + 0u] = values[0u];
      y[first + 1u] = values[1u];
      y[first + 2u] = values[2u];
      y[first + 3u] = values[3u];
      y[first + 4u] = values[4u];
      y[first + 5u] = values[5u];
      y[first + 6u] = values[6u];
      y[first + 7u] = values[7u];
      y[first + 8u] = values[8u];
      y[first + 9u] = values[9u];
      y[first + 10u] = values[10u];
      y[first + 11u] = values[11u];
      y[first + 12u] = values[12u];
      y[first + 13u] = values[13u];
      y[first + 14u] = values[14u];
      y[first + 15u] = values[15u];
      y[first + 16u] = values[16u];
      y[first + 17u] = values[17u];
      y[first + 18u] = values[18u];
      y[first + 19u] = values[19u];
      y[first + 20u] = values[20u];
      y[first + 21u] = values[21u];
      y[first + 22u] = values[22u];
      y[first + 23u] = values[23u];
      y[first + 24u] = values[24u];
      y[first + 25u] = values[25u];
      y[first + 26u] = values[26u];
      y[first + 27u] = values[27u];
      y[first + 28u] = values[28u];
      y[first + 29u] = values[29u];
      y[first + 30u] = values[30u];
      y[first + 31u] = values[31u];
    }
  }
}
`,
    },
  },
};
