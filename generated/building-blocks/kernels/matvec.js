// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** matvec: y = W x for one token or a few columns. */
export const matvec = {
  kernel: "matvec",
  variants: {
    "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32": {
      name: "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32",
      computes: "matvec_q2_0_g64_planes_m1_xf32_yf32",
      kernel: "matvec",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planes", "step_words": 2, "columns": 1, "activation": "f32", "route": "popcount", "activation_group": 64, "tile_rows": 4, "workgroup_size": 32, "subgroups": false, "output": "f32", "epilogue": "store"},
      sizes: ["N", "K"],
      alone: null,
      workgroups: ["ceil_div", "N", 4],
      uniforms: {"binding": 6, "size": 8, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 512, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}],
      bindings: [{"binding": 0, "name": "plus", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", "N", "K"], 64]}, {"binding": 1, "name": "minus", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", "N", "K"], 64]}, {"binding": 2, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 3, "name": "x1", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", 1, "K"], 64]}, {"binding": 4, "name": "x_scale", "access": "read", "element": "f32", "length": ["div", ["mul", 1, "K"], 64]}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", 1, "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32
// plus: a bit for each weight that is +d, [N][K / 32] u32
// minus: a bit for each weight that is -d, [N][K / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x1: signs of the activations [columns][K / 32] u32 as binarize writes them
// x_scale: scale of each activation group
// y: result [columns][N]
const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const REDUCE_VALUES: u32 = 4u;
const STEPS_PER_GROUP: u32 = 1u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> plus: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> minus: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> x1: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> x_scale: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// planes: in one a bit for each weight that is +d, in the other for each that is -d, and all scales in a third.
struct Signs {
  plus: vec2<u32>,
  minus: vec2<u32>,
}

fn load_step(step: u32) -> Signs {
  return Signs(plus[step], minus[step]);
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The weights of a step in units of their scale, and how many of them are not zero.
struct Weights {
  signs: Signs,
  nonzero: i32,
}

fn decode_step(step: Signs) -> Weights {
  let counts = countOneBits(step.plus | step.minus);
  return Weights(step, i32(counts.x + counts.y));
}

// The signs of the activations of a step, and their scale.
struct Activations {
  positive: vec2<u32>,
  scale: f32,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let bits = x1[column * (k / BLOCK_SIZE * STEPS_PER_BLOCK) + step];
  return Activations(bits, x_scale[column * (k / ACTIVATION_GROUP) + step / STEPS_PER_GROUP]);
}

// With planes P and N and activations X, a product is +1 where they agree and -1 at the other weights that are not
// zero: so the sum is 2 popcount(P & X | N & ~X) - popcount(P | N), which is 2 (popcount(P & X) - popcount(N & X))
// - popcount(P) + popcount(N) with half the counting. Nothing is multiplied until the step is summed.
fn multiply(weights: Weights, scale: f32, x: Activations) -> f32 {
  let counts = countOneBits((weights.signs.plus & x.positive) | (weights.signs.minus & ~x.positive));
  let agreeing = i32(counts.x + counts.y);
  return f32(agreeing + agreeing - weights.nonzero) * (scale * x.scale);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let n = params.n;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = min(tile + 0u, n - 1u) * row_steps;
  let start_1 = min(tile + 1u, n - 1u) * row_steps;
  let start_2 = min(tile + 2u, n - 1u) * row_steps;
  let start_3 = min(tile + 3u, n - 1u) * row_steps;
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0);
    sums[0u] += multiply(weights_0, scale_0, x_0);
    let weights_1 = decode_step(step_1);
    sums[1u] += multiply(weights_1, scale_1, x_0);
    let weights_2 = decode_step(step_2);
    sums[2u] += multiply(weights_2, scale_2, x_0);
    let weights_3 = decode_step(step_3);
    sums[3u] += multiply(weights_3, scale_3, x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
`,
    },
    "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32_sg": {
      name: "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32_sg",
      computes: "matvec_q2_0_g64_planes_m1_xf32_yf32",
      kernel: "matvec",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planes", "step_words": 2, "columns": 1, "activation": "f32", "route": "popcount", "activation_group": 64, "tile_rows": 4, "workgroup_size": 32, "subgroups": true, "output": "f32", "epilogue": "store"},
      sizes: ["N", "K"],
      alone: null,
      workgroups: ["ceil_div", "N", 4],
      uniforms: {"binding": 6, "size": 8, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 6}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}],
      bindings: [{"binding": 0, "name": "plus", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", "N", "K"], 64]}, {"binding": 1, "name": "minus", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", "N", "K"], 64]}, {"binding": 2, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 3, "name": "x1", "access": "read", "element": "vec2<u32>", "length": ["div", ["mul", 1, "K"], 64]}, {"binding": 4, "name": "x_scale", "access": "read", "element": "f32", "length": ["div", ["mul", 1, "K"], 64]}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", 1, "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32_sg
// plus: a bit for each weight that is +d, [N][K / 32] u32
// minus: a bit for each weight that is -d, [N][K / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x1: signs of the activations [columns][K / 32] u32 as binarize writes them
// x_scale: scale of each activation group
// y: result [columns][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const REDUCE_VALUES: u32 = 4u;
const SUBGROUP_SLOTS: u32 = 8u;
const STEPS_PER_GROUP: u32 = 1u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> plus: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> minus: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> x1: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> x_scale: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// planes: in one a bit for each weight that is +d, in the other for each that is -d, and all scales in a third.
struct Signs {
  plus: vec2<u32>,
  minus: vec2<u32>,
}

fn load_step(step: u32) -> Signs {
  return Signs(plus[step], minus[step]);
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The weights of a step in units of their scale, and how many of them are not zero.
struct Weights {
  signs: Signs,
  nonzero: i32,
}

fn decode_step(step: Signs) -> Weights {
  let counts = countOneBits(step.plus | step.minus);
  return Weights(step, i32(counts.x + counts.y));
}

// The signs of the activations of a step, and their scale.
struct Activations {
  positive: vec2<u32>,
  scale: f32,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let bits = x1[column * (k / BLOCK_SIZE * STEPS_PER_BLOCK) + step];
  return Activations(bits, x_scale[column * (k / ACTIVATION_GROUP) + step / STEPS_PER_GROUP]);
}

// With planes P and N and activations X, a product is +1 where they agree and -1 at the other weights that are not
// zero: so the sum is 2 popcount(P & X | N & ~X) - popcount(P | N), which is 2 (popcount(P & X) - popcount(N & X))
// - popcount(P) + popcount(N) with half the counting. Nothing is multiplied until the step is summed.
fn multiply(weights: Weights, scale: f32, x: Activations) -> f32 {
  let counts = countOneBits((weights.signs.plus & x.positive) | (weights.signs.minus & ~x.positive));
  let agreeing = i32(counts.x + counts.y);
  return f32(agreeing + agreeing - weights.nonzero) * (scale * x.scale);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  let value_1 = subgroupAdd(values[1u]);
  let value_2 = subgroupAdd(values[2u]);
  let value_3 = subgroupAdd(values[3u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    sum_slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
    sum_slots[2u * SUBGROUP_SLOTS + thread.subgroup] = value_2;
    sum_slots[3u * SUBGROUP_SLOTS + thread.subgroup] = value_3;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let n = params.n;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = min(tile + 0u, n - 1u) * row_steps;
  let start_1 = min(tile + 1u, n - 1u) * row_steps;
  let start_2 = min(tile + 2u, n - 1u) * row_steps;
  let start_3 = min(tile + 3u, n - 1u) * row_steps;
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0);
    sums[0u] += multiply(weights_0, scale_0, x_0);
    let weights_1 = decode_step(step_1);
    sums[1u] += multiply(weights_1, scale_1, x_0);
    let weights_2 = decode_step(step_2);
    sums[2u] += multiply(weights_2, scale_2, x_0);
    let weights_3 = decode_step(step_3);
    sums[3u] += multiply(weights_3, scale_3, x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
`,
    },
    "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32": {
      name: "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32",
      computes: "matvec_q1_0_g128_row4_m1_xf32_yf32",
      kernel: "matvec",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "row4", "step_words": 1, "columns": 1, "activation": "f32", "route": "int8", "activation_group": 128, "tile_rows": 4, "workgroup_size": 32, "subgroups": false, "output": "f32", "epilogue": "store"},
      sizes: ["N", "K"],
      alone: null,
      workgroups: ["ceil_div", "N", 4],
      uniforms: {"binding": 5, "size": 8, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 512, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 5}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["eq", ["mod", "N", 4], 0], "why": "layout row4 stores 4 rows together"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "N", "K"], 128]}, {"binding": 1, "name": "scales", "access": "read", "element": "vec2<u32>", "length": ["div", ["div", ["mul", "N", "K"], 128], 4]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", 1, "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", 1, "K"], 128]}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", 1, "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32
// codes: codes [N / 4][K * 1 / 32][4 rows] u32
// scales: f16 scales in pairs, [N / 4][K / 128][4 rows]
// x8: int8 activations [columns][K] as quantize_q8 writes them with stride 8
// x_scale: scale and sum of the integers of each activation group
// y: result [columns][N]
const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 128u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const ROW_TILE: u32 = 4u;
const CODE_SCALE: i32 = 2i;
const CODE_ZERO: i32 = -1i;
const REDUCE_VALUES: u32 = 4u;
const STEPS_PER_GROUP: u32 = 4u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q1_0: 32 sign bits a word, element 0 in bit 0; 1 is +d and 0 is -d.
// Bytes 0 to 3 of the result: elements four, 8 + four, 16 + four and 24 + four.
fn packed4(unit: u32, four: u32) -> u32 {
  return (unit >> four) & 0x01010101u;
}

// row4: all code words of four rows side by side, so that a load brings the same words of each; scales likewise.
fn load_step(step: u32) -> array<u32, ROW_TILE> {
  let word_0 = codes[step];
  return array<u32, ROW_TILE>(
    word_0.x,
    word_0.y,
    word_0.z,
    word_0.w,
  );
}

fn step_scale(step: u32) -> array<f32, ROW_TILE> {
  let words = scales[step / STEPS_PER_BLOCK];
  let low = unpack2x16float(words.x);
  let high = unpack2x16float(words.y);
  return array<f32, ROW_TILE>(low.x, low.y, high.x, high.y);
}

// The codes of one step as signed bytes, four elements a word.
fn decode_step(step: u32) -> array<u32, STEP_FOURS> {
  return array<u32, STEP_FOURS>(
    packed4(step, 0u),
    packed4(step, 1u),
    packed4(step, 2u),
    packed4(step, 3u),
    packed4(step, 4u),
    packed4(step, 5u),
    packed4(step, 6u),
    packed4(step, 7u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The int8 activations of a step, their scale, and the part of the group's sum that this step accounts for.
struct Activations {
  values: array<u32, STEP_FOURS>,
  scale: f32,
  sum: f32,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let first = column * (k / 4u) + step_four(step);
  let group = (column * k + step * (4u * STEP_FOURS)) / ACTIVATION_GROUP;
  let x_0 = x8[first / 4u + 0u];
  let x_1 = x8[first / 4u + 1u];
  return Activations(
    array<u32, STEP_FOURS>(
      x_0.x,
      x_0.y,
      x_0.z,
      x_0.w,
      x_1.x,
      x_1.y,
      x_1.z,
      x_1.w,
    ),
    x_scale[group].x,
    // Once a group: the step that opens it.
    select(0.0f, x_scale[group].y, step % STEPS_PER_GROUP == 0u),
  );
}

fn multiply(weights: array<u32, STEP_FOURS>, scale: f32, x: Activations) -> f32 {
  var products = dot4I8Packed(weights[0u], x.values[0u]);
  products += dot4I8Packed(weights[1u], x.values[1u]);
  products += dot4I8Packed(weights[2u], x.values[2u]);
  products += dot4I8Packed(weights[3u], x.values[3u]);
  products += dot4I8Packed(weights[4u], x.values[4u]);
  products += dot4I8Packed(weights[5u], x.values[5u]);
  products += dot4I8Packed(weights[6u], x.values[6u]);
  products += dot4I8Packed(weights[7u], x.values[7u]);
  let codes = f32(CODE_SCALE * products) + f32(CODE_ZERO) * x.sum;
  return x.scale * (scale * codes);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let n = params.n;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = min(tile + 0u, n - ROW_TILE) / ROW_TILE * row_steps;
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together; each is of four rows.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0[0u]);
    sums[0u] += multiply(weights_0, scale_0[0u], x_0);
    let weights_1 = decode_step(step_0[1u]);
    sums[1u] += multiply(weights_1, scale_0[1u], x_0);
    let weights_2 = decode_step(step_0[2u]);
    sums[2u] += multiply(weights_2, scale_0[2u], x_0);
    let weights_3 = decode_step(step_0[3u]);
    sums[3u] += multiply(weights_3, scale_0[3u], x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
`,
    },
    "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32_sg": {
      name: "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32_sg",
      computes: "matvec_q1_0_g128_row4_m1_xf32_yf32",
      kernel: "matvec",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "row4", "step_words": 1, "columns": 1, "activation": "f32", "route": "int8", "activation_group": 128, "tile_rows": 4, "workgroup_size": 32, "subgroups": true, "output": "f32", "epilogue": "store"},
      sizes: ["N", "K"],
      alone: null,
      workgroups: ["ceil_div", "N", 4],
      uniforms: {"binding": 5, "size": 8, "fields": [{"name": "n", "type": "u32", "offset": 0, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 5}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["eq", ["mod", "N", 4], 0], "why": "layout row4 stores 4 rows together"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "N", "K"], 128]}, {"binding": 1, "name": "scales", "access": "read", "element": "vec2<u32>", "length": ["div", ["div", ["mul", "N", "K"], 128], 4]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", 1, "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", 1, "K"], 128]}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", 1, "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32_sg
// codes: codes [N / 4][K * 1 / 32][4 rows] u32
// scales: f16 scales in pairs, [N / 4][K / 128][4 rows]
// x8: int8 activations [columns][K] as quantize_q8 writes them with stride 8
// x_scale: scale and sum of the integers of each activation group
// y: result [columns][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 128u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const ROW_TILE: u32 = 4u;
const CODE_SCALE: i32 = 2i;
const CODE_ZERO: i32 = -1i;
const REDUCE_VALUES: u32 = 4u;
const SUBGROUP_SLOTS: u32 = 8u;
const STEPS_PER_GROUP: u32 = 4u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q1_0: 32 sign bits a word, element 0 in bit 0; 1 is +d and 0 is -d.
// Bytes 0 to 3 of the result: elements four, 8 + four, 16 + four and 24 + four.
fn packed4(unit: u32, four: u32) -> u32 {
  return (unit >> four) & 0x01010101u;
}

// row4: all code words of four rows side by side, so that a load brings the same words of each; scales likewise.
fn load_step(step: u32) -> array<u32, ROW_TILE> {
  let word_0 = codes[step];
  return array<u32, ROW_TILE>(
    word_0.x,
    word_0.y,
    word_0.z,
    word_0.w,
  );
}

fn step_scale(step: u32) -> array<f32, ROW_TILE> {
  let words = scales[step / STEPS_PER_BLOCK];
  let low = unpack2x16float(words.x);
  let high = unpack2x16float(words.y);
  return array<f32, ROW_TILE>(low.x, low.y, high.x, high.y);
}

// The codes of one step as signed bytes, four elements a word.
fn decode_step(step: u32) -> array<u32, STEP_FOURS> {
  return array<u32, STEP_FOURS>(
    packed4(step, 0u),
    packed4(step, 1u),
    packed4(step, 2u),
    packed4(step, 3u),
    packed4(step, 4u),
    packed4(step, 5u),
    packed4(step, 6u),
    packed4(step, 7u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The int8 activations of a step, their scale, and the part of the group's sum that this step accounts for.
struct Activations {
  values: array<u32, STEP_FOURS>,
  scale: f32,
  sum: f32,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let first = column * (k / 4u) + step_four(step);
  let group = (column * k + step * (4u * STEP_FOURS)) / ACTIVATION_GROUP;
  let x_0 = x8[first / 4u + 0u];
  let x_1 = x8[first / 4u + 1u];
  return Activations(
    array<u32, STEP_FOURS>(
      x_0.x,
      x_0.y,
      x_0.z,
      x_0.w,
      x_1.x,
      x_1.y,
      x_1.z,
      x_1.w,
    ),
    x_scale[group].x,
    // Once a group: the step that opens it.
    select(0.0f, x_scale[group].y, step % STEPS_PER_GROUP == 0u),
  );
}

fn multiply(weights: array<u32, STEP_FOURS>, scale: f32, x: Activations) -> f32 {
  var products = dot4I8Packed(weights[0u], x.values[0u]);
  products += dot4I8Packed(weights[1u], x.values[1u]);
  products += dot4I8Packed(weights[2u], x.values[2u]);
  products += dot4I8Packed(weights[3u], x.values[3u]);
  products += dot4I8Packed(weights[4u], x.values[4u]);
  products += dot4I8Packed(weights[5u], x.values[5u]);
  products += dot4I8Packed(weights[6u], x.values[6u]);
  products += dot4I8Packed(weights[7u], x.values[7u]);
  let codes = f32(CODE_SCALE * products) + f32(CODE_ZERO) * x.sum;
  return x.scale * (scale * codes);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  let value_1 = subgroupAdd(values[1u]);
  let value_2 = subgroupAdd(values[2u]);
  let value_3 = subgroupAdd(values[3u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    sum_slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
    sum_slots[2u * SUBGROUP_SLOTS + thread.subgroup] = value_2;
    sum_slots[3u * SUBGROUP_SLOTS + thread.subgroup] = value_3;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let n = params.n;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = min(tile + 0u, n - ROW_TILE) / ROW_TILE * row_steps;
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together; each is of four rows.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0[0u]);
    sums[0u] += multiply(weights_0, scale_0[0u], x_0);
    let weights_1 = decode_step(step_0[1u]);
    sums[1u] += multiply(weights_1, scale_0[1u], x_0);
    let weights_2 = decode_step(step_0[2u]);
    sums[2u] += multiply(weights_2, scale_0[2u], x_0);
    let weights_3 = decode_step(step_0[3u]);
    sums[3u] += multiply(weights_3, scale_0[3u], x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
`,
    },
  },
};
