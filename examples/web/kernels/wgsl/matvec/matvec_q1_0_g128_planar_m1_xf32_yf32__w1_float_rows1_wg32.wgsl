// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matvec: y = W x for one token or a few columns
// variant matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg32
// codes: codes [N][K * 1 / 32] u32
// scales: f16 scales in pairs, [N][K / 128]
// x: activations [columns][K]
// y: result [columns][N]
const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 1u;
const WORKGROUP_SIZE: u32 = 32u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const REDUCE_VALUES: u32 = 1u;

struct Params {
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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
    value4(step, 4u),
    value4(step, 5u),
    value4(step, 6u),
    value4(step, 7u),
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
  let x_4 = vec4<f32>(x[first + 4u]);
  let x_5 = vec4<f32>(x[first + 5u]);
  let x_6 = vec4<f32>(x[first + 6u]);
  let x_7 = vec4<f32>(x[first + 7u]);
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7),
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
  let total = products.x + products.y + products.z + products.w;
  return scale * total;
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
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
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_steps; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let x_0 = load_x(step, 0u, k);
    let weights_0 = decode_step(step_0);
    sums[0u] += multiply(weights_0, scale_0, x_0);
  }
  reduce_sum(sums, thread);
  let row = tile + thread.index % TILE_ROWS;
  if (thread.index < COLUMNS * TILE_ROWS && row < n) {
    let at = thread.index / TILE_ROWS * n + row;
    let result = total_sum(thread.index, thread);
    y[at] = result;
  }
}
