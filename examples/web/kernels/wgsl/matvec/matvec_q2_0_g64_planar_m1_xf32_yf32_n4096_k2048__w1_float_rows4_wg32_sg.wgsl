// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q2_0_g64_planar_m1_xf32_yf32_n4096_k2048__w1_float_rows4_wg32_sg
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x: activations [columns][K]
// y: result [columns][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const N: u32 = 4096u;
const K: u32 = 2048u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const REDUCE_VALUES: u32 = 4u;
const SUBGROUP_SLOTS: u32 = 8u;

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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
fn load_step(step: u32) -> u32 {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step, 0u),
    value4(step, 1u),
    value4(step, 2u),
    value4(step, 3u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The activations of a step.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
}

fn load_x(step: u32, column: u32, k: u32) -> Activations {
  let first = column * (k / 4u) + step_four(step);
  let x_0 = vec4<f32>(x[first + 0u]);
  let x_1 = vec4<f32>(x[first + 1u]);
  let x_2 = vec4<f32>(x[first + 2u]);
  let x_3 = vec4<f32>(x[first + 3u]);
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3),
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: f32, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
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
  let n = N;
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = K;
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
