// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q1_0_g128_planar_m1_xf32_yf32__w4_float_rows8_wg32_sg
// codes: codes [N][K * 1 / 32] u32
// scales: f16 scales in pairs, [N][K / 128]
// x: activations [columns][K]
// y: result [columns][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 8u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 32u;
const STEP_STRIDE: u32 = 0u;
const REDUCE_VALUES: u32 = 8u;
const SUBGROUP_SLOTS: u32 = 8u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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

fn block_scale(block: u32) -> f32 {
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

// The activations of a step.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let first = column * (k / 4u) + step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
  let x_0 = vec4<f32>(x[first + 0u]);
  let x_1 = vec4<f32>(x[first + 1u]);
  let x_2 = vec4<f32>(x[first + 2u]);
  let x_3 = vec4<f32>(x[first + 3u]);
  let x_4 = vec4<f32>(x[first + 4u]);
  let x_5 = vec4<f32>(x[first + 5u]);
  let x_6 = vec4<f32>(x[first + 6u]);
  let x_7 = vec4<f32>(x[first + 7u]);
  let x_8 = vec4<f32>(x[first + 8u]);
  let x_9 = vec4<f32>(x[first + 9u]);
  let x_10 = vec4<f32>(x[first + 10u]);
  let x_11 = vec4<f32>(x[first + 11u]);
  let x_12 = vec4<f32>(x[first + 12u]);
  let x_13 = vec4<f32>(x[first + 13u]);
  let x_14 = vec4<f32>(x[first + 14u]);
  let x_15 = vec4<f32>(x[first + 15u]);
  let x_16 = vec4<f32>(x[first + 16u]);
  let x_17 = vec4<f32>(x[first + 17u]);
  let x_18 = vec4<f32>(x[first + 18u]);
  let x_19 = vec4<f32>(x[first + 19u]);
  let x_20 = vec4<f32>(x[first + 20u]);
  let x_21 = vec4<f32>(x[first + 21u]);
  let x_22 = vec4<f32>(x[first + 22u]);
  let x_23 = vec4<f32>(x[first + 23u]);
  let x_24 = vec4<f32>(x[first + 24u]);
  let x_25 = vec4<f32>(x[first + 25u]);
  let x_26 = vec4<f32>(x[first + 26u]);
  let x_27 = vec4<f32>(x[first + 27u]);
  let x_28 = vec4<f32>(x[first + 28u]);
  let x_29 = vec4<f32>(x[first + 29u]);
  let x_30 = vec4<f32>(x[first + 30u]);
  let x_31 = vec4<f32>(x[first + 31u]);
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7, x_8, x_9, x_10, x_11, x_12, x_13, x_14, x_15, x_16, x_17, x_18, x_19, x_20, x_21, x_22, x_23, x_24, x_25, x_26, x_27, x_28, x_29, x_30, x_31),
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: f32, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
  products = fma(weights[4u], x.values[4u], products);
  products = fma(weights[5u], x.values[5u], products);
  products = fma(weights[6u], x.values[6u], products);
  products = fma(weights[7u], x.values[7u], products);
  products = fma(weights[8u], x.values[8u], products);
  products = fma(weights[9u], x.values[9u], products);
  products = fma(weights[10u], x.values[10u], products);
  products = fma(weights[11u], x.values[11u], products);
  products = fma(weights[12u], x.values[12u], products);
  products = fma(weights[13u], x.values[13u], products);
  products = fma(weights[14u], x.values[14u], products);
  products = fma(weights[15u], x.values[15u], products);
  products = fma(weights[16u], x.values[16u], products);
  products = fma(weights[17u], x.values[17u], products);
  products = fma(weights[18u], x.values[18u], products);
  products = fma(weights[19u], x.values[19u], products);
  products = fma(weights[20u], x.values[20u], products);
  products = fma(weights[21u], x.values[21u], products);
  products = fma(weights[22u], x.values[22u], products);
  products = fma(weights[23u], x.values[23u], products);
  products = fma(weights[24u], x.values[24u], products);
  products = fma(weights[25u], x.values[25u], products);
  products = fma(weights[26u], x.values[26u], products);
  products = fma(weights[27u], x.values[27u], products);
  products = fma(weights[28u], x.values[28u], products);
  products = fma(weights[29u], x.values[29u], products);
  products = fma(weights[30u], x.values[30u], products);
  products = fma(weights[31u], x.values[31u], products);
  let total = products.x + products.y + products.z + products.w;
  return scale * total;
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
  let value_4 = subgroupAdd(values[4u]);
  let value_5 = subgroupAdd(values[5u]);
  let value_6 = subgroupAdd(values[6u]);
  let value_7 = subgroupAdd(values[7u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    sum_slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
    sum_slots[2u * SUBGROUP_SLOTS + thread.subgroup] = value_2;
    sum_slots[3u * SUBGROUP_SLOTS + thread.subgroup] = value_3;
    sum_slots[4u * SUBGROUP_SLOTS + thread.subgroup] = value_4;
    sum_slots[5u * SUBGROUP_SLOTS + thread.subgroup] = value_5;
    sum_slots[6u * SUBGROUP_SLOTS + thread.subgroup] = value_6;
    sum_slots[7u * SUBGROUP_SLOTS + thread.subgroup] = value_7;
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
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let row_0 = min(tile + 0u, n - 1u) * row_steps;
  let row_1 = min(tile + 1u, n - 1u) * row_steps;
  let row_2 = min(tile + 2u, n - 1u) * row_steps;
  let row_3 = min(tile + 3u, n - 1u) * row_steps;
  let row_4 = min(tile + 4u, n - 1u) * row_steps;
  let row_5 = min(tile + 5u, n - 1u) * row_steps;
  let row_6 = min(tile + 6u, n - 1u) * row_steps;
  let row_7 = min(tile + 7u, n - 1u) * row_steps;
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(row_0 + step);
    let scale_0 = block_scale((row_0 + step) / STEPS_PER_BLOCK);
    let step_1 = load_step(row_1 + step);
    let scale_1 = block_scale((row_1 + step) / STEPS_PER_BLOCK);
    let step_2 = load_step(row_2 + step);
    let scale_2 = block_scale((row_2 + step) / STEPS_PER_BLOCK);
    let step_3 = load_step(row_3 + step);
    let scale_3 = block_scale((row_3 + step) / STEPS_PER_BLOCK);
    let step_4 = load_step(row_4 + step);
    let scale_4 = block_scale((row_4 + step) / STEPS_PER_BLOCK);
    let step_5 = load_step(row_5 + step);
    let scale_5 = block_scale((row_5 + step) / STEPS_PER_BLOCK);
    let step_6 = load_step(row_6 + step);
    let scale_6 = block_scale((row_6 + step) / STEPS_PER_BLOCK);
    let step_7 = load_step(row_7 + step);
    let scale_7 = block_scale((row_7 + step) / STEPS_PER_BLOCK);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0);
    sums[0u] += multiply(weights_0, scale_0, x_0);
    let weights_1 = decode_step(step_1);
    sums[1u] += multiply(weights_1, scale_1, x_0);
    let weights_2 = decode_step(step_2);
    sums[2u] += multiply(weights_2, scale_2, x_0);
    let weights_3 = decode_step(step_3);
    sums[3u] += multiply(weights_3, scale_3, x_0);
    let weights_4 = decode_step(step_4);
    sums[4u] += multiply(weights_4, scale_4, x_0);
    let weights_5 = decode_step(step_5);
    sums[5u] += multiply(weights_5, scale_5, x_0);
    let weights_6 = decode_step(step_6);
    sums[6u] += multiply(weights_6, scale_6, x_0);
    let weights_7 = decode_step(step_7);
    sums[7u] += multiply(weights_7, scale_7, x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
