// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
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
