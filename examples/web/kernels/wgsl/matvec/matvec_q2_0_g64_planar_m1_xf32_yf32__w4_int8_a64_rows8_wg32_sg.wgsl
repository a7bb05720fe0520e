// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg32_sg
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x8: int8 activations [columns][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// y: result [columns][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const TILE_ROWS: u32 = 8u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;
const CODE_SCALE: i32 = 1i;
const CODE_ZERO: i32 = -1i;
const REDUCE_VALUES: u32 = 8u;
const SUBGROUP_SLOTS: u32 = 8u;
const STEPS_PER_GROUP: u32 = 1u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q2_0: sixteen 2-bit codes a word, element 0 in the lowest bits; a code is its value plus one.
// Bytes 0 to 3 of the result: elements four, 4 + four, 8 + four and 12 + four.
fn packed4(unit: u32, four: u32) -> u32 {
  return (unit >> (2u * four)) & 0x03030303u;
}

// planar: all code words in row order, and all scales in another plane.
fn load_step(step: u32) -> vec4<u32> {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The codes of one step as signed bytes, four elements a word.
fn decode_step(step: vec4<u32>) -> array<u32, STEP_FOURS> {
  return array<u32, STEP_FOURS>(
    packed4(step.x, 0u),
    packed4(step.x, 1u),
    packed4(step.x, 2u),
    packed4(step.x, 3u),
    packed4(step.y, 0u),
    packed4(step.y, 1u),
    packed4(step.y, 2u),
    packed4(step.y, 3u),
    packed4(step.z, 0u),
    packed4(step.z, 1u),
    packed4(step.z, 2u),
    packed4(step.z, 3u),
    packed4(step.w, 0u),
    packed4(step.w, 1u),
    packed4(step.w, 2u),
    packed4(step.w, 3u),
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
  let x_2 = x8[first / 4u + 2u];
  let x_3 = x8[first / 4u + 3u];
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
      x_2.x,
      x_2.y,
      x_2.z,
      x_2.w,
      x_3.x,
      x_3.y,
      x_3.z,
      x_3.w,
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
  products += dot4I8Packed(weights[8u], x.values[8u]);
  products += dot4I8Packed(weights[9u], x.values[9u]);
  products += dot4I8Packed(weights[10u], x.values[10u]);
  products += dot4I8Packed(weights[11u], x.values[11u]);
  products += dot4I8Packed(weights[12u], x.values[12u]);
  products += dot4I8Packed(weights[13u], x.values[13u]);
  products += dot4I8Packed(weights[14u], x.values[14u]);
  products += dot4I8Packed(weights[15u], x.values[15u]);
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
  let tile = workgroup_index(workgroup_id, num_workgroups) * TILE_ROWS;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = min(tile + 0u, n - 1u) * row_steps;
  let start_1 = min(tile + 1u, n - 1u) * row_steps;
  let start_2 = min(tile + 2u, n - 1u) * row_steps;
  let start_3 = min(tile + 3u, n - 1u) * row_steps;
  let start_4 = min(tile + 4u, n - 1u) * row_steps;
  let start_5 = min(tile + 5u, n - 1u) * row_steps;
  let start_6 = min(tile + 6u, n - 1u) * row_steps;
  let start_7 = min(tile + 7u, n - 1u) * row_steps;
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
    let step_4 = load_step(start_4 + step);
    let scale_4 = step_scale(start_4 + step);
    let step_5 = load_step(start_5 + step);
    let scale_5 = step_scale(start_5 + step);
    let step_6 = load_step(start_6 + step);
    let scale_6 = step_scale(start_6 + step);
    let step_7 = load_step(start_7 + step);
    let scale_7 = step_scale(start_7 + step);
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
