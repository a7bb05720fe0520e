// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x: activations [M][K], rows X_STRIDE elements apart
// y: result [M][N]
const TILE_M: u32 = 64u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 4u;
const THREAD_N: u32 = 4u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 256u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 2u;
const THREADS_M: u32 = 16u;
const THREADS_N: u32 = 16u;

struct Params {
  m: u32,
  x_stride: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> x_tile: array<vec4<f32>, TILE_M * TILE_FOURS>;
var<workgroup> w_tile: array<vec4<f32>, TILE_N * TILE_FOURS>;

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

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
  );
}

// Where the row of a tile stands: in x, in the result, and in the weights behind the tile's first. They are where a
// kernel comes in that gathers its rows.
fn x_row(row: u32) -> u32 {
  return row;
}

fn y_row(row: u32) -> u32 {
  return row;
}

// The row of the weights that stands at `row` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token `row` and row `column` of W, or nothing past the end of either.
fn store(row: u32, column: u32, split: u32, m: u32, n: u32, sum: f32) {
  if (row < m && column < n && split == 0u) {
    let place = y_row(row) * n + column;
    let result = sum;
    y[place] = result;
  }
}

// The place of four columns of a row: neighbouring rows are exchanged, so that a column of many rows meets all banks.
fn tile_place(row: u32, four: u32) -> u32 {
  return row * TILE_FOURS + (four ^ (row % TILE_FOURS));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let m = params.m;
  let n = params.n;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  // Tiles of one N stand together, so that they find its weights in the cache.
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles_m = (m + TILE_M - 1u) / TILE_M;
  let tiles_n = (n + TILE_N - 1u) / TILE_N;
  let first_m = at % tiles_m * TILE_M;
  let first_weight_row = 0u;
  let first_n = at / tiles_m % tiles_n * TILE_N;
  let split = at / tiles_m / tiles_n;
  let tiles_k = (k + TILE_K - 1u) / TILE_K;
  let first_tile = 0u;
  let last_tile = tiles_k;
  let thread_m = local_index / THREADS_N;
  let thread_n = local_index % THREADS_N;
  var sum_0_0_0 = 0.0f;
  var part_0_0_0 = 0.0f;
  var sum_0_0_1 = 0.0f;
  var part_0_0_1 = 0.0f;
  var sum_0_0_2 = 0.0f;
  var part_0_0_2 = 0.0f;
  var sum_0_0_3 = 0.0f;
  var part_0_0_3 = 0.0f;
  var sum_0_1_0 = 0.0f;
  var part_0_1_0 = 0.0f;
  var sum_0_1_1 = 0.0f;
  var part_0_1_1 = 0.0f;
  var sum_0_1_2 = 0.0f;
  var part_0_1_2 = 0.0f;
  var sum_0_1_3 = 0.0f;
  var part_0_1_3 = 0.0f;
  var sum_0_2_0 = 0.0f;
  var part_0_2_0 = 0.0f;
  var sum_0_2_1 = 0.0f;
  var part_0_2_1 = 0.0f;
  var sum_0_2_2 = 0.0f;
  var part_0_2_2 = 0.0f;
  var sum_0_2_3 = 0.0f;
  var part_0_2_3 = 0.0f;
  var sum_0_3_0 = 0.0f;
  var part_0_3_0 = 0.0f;
  var sum_0_3_1 = 0.0f;
  var part_0_3_1 = 0.0f;
  var sum_0_3_2 = 0.0f;
  var part_0_3_2 = 0.0f;
  var sum_0_3_3 = 0.0f;
  var part_0_3_3 = 0.0f;
  for (var tile = first_tile; tile < last_tile; tile++) {
    let first_four = tile * TILE_FOURS;
    for (var place = local_index; place < TILE_M * TILE_FOURS; place += WORKGROUP_SIZE) {
      let row = place / TILE_FOURS;
      let four = place % TILE_FOURS;
      let inside = first_four + four < k / 4u;
      let from_four = x_row(min(first_m + row, m - 1u)) * (params.x_stride / 4u) + min(first_four + four, k / 4u - 1u);
      let values = select(vec4<f32>(), x[from_four], inside);
      x_tile[tile_place(row, four)] = values;
    }
    let first_step = tile * TILE_STEPS;
    for (var place = local_index; place < 1u * TILE_N * TILE_STEPS; place += WORKGROUP_SIZE) {
      let row = place / TILE_STEPS;
      let step = first_step + place % TILE_STEPS;
      let inside = step < row_steps;
      let w_row = first_weight_row + weight_row(row, first_n, n);
      let values = step_weights(w_row * row_steps + min(step, row_steps - 1u));
      let four = step_four(step) - first_four;
      w_tile[tile_place(row, four + 0u)] = select(vec4<f32>(), values[0u], inside);
      w_tile[tile_place(row, four + 1u)] = select(vec4<f32>(), values[1u], inside);
      w_tile[tile_place(row, four + 2u)] = select(vec4<f32>(), values[2u], inside);
      w_tile[tile_place(row, four + 3u)] = select(vec4<f32>(), values[3u], inside);
    }
    workgroupBarrier();
    for (var four = 0u; four < TILE_FOURS; four++) {
      let x_0 = x_tile[tile_place(thread_m + 0u * THREADS_M, four)];
      let x_1 = x_tile[tile_place(thread_m + 1u * THREADS_M, four)];
      let x_2 = x_tile[tile_place(thread_m + 2u * THREADS_M, four)];
      let x_3 = x_tile[tile_place(thread_m + 3u * THREADS_M, four)];
      let w_0_0 = w_tile[tile_place(0u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_0_0_0 += dot(x_0, w_0_0);
      part_0_1_0 += dot(x_1, w_0_0);
      part_0_2_0 += dot(x_2, w_0_0);
      part_0_3_0 += dot(x_3, w_0_0);
      let w_0_1 = w_tile[tile_place(0u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_0_0_1 += dot(x_0, w_0_1);
      part_0_1_1 += dot(x_1, w_0_1);
      part_0_2_1 += dot(x_2, w_0_1);
      part_0_3_1 += dot(x_3, w_0_1);
      let w_0_2 = w_tile[tile_place(0u * TILE_N + thread_n + 2u * THREADS_N, four)];
      part_0_0_2 += dot(x_0, w_0_2);
      part_0_1_2 += dot(x_1, w_0_2);
      part_0_2_2 += dot(x_2, w_0_2);
      part_0_3_2 += dot(x_3, w_0_2);
      let w_0_3 = w_tile[tile_place(0u * TILE_N + thread_n + 3u * THREADS_N, four)];
      part_0_0_3 += dot(x_0, w_0_3);
      part_0_1_3 += dot(x_1, w_0_3);
      part_0_2_3 += dot(x_2, w_0_3);
      part_0_3_3 += dot(x_3, w_0_3);
    }
    // Sums of SUM_TILES tiles join the others together, so that no chain of additions is long.
    if ((tile + 1u) % SUM_TILES == 0u || tile + 1u == last_tile) {
      sum_0_0_0 += part_0_0_0;
      part_0_0_0 = 0.0f;
      sum_0_0_1 += part_0_0_1;
      part_0_0_1 = 0.0f;
      sum_0_0_2 += part_0_0_2;
      part_0_0_2 = 0.0f;
      sum_0_0_3 += part_0_0_3;
      part_0_0_3 = 0.0f;
      sum_0_1_0 += part_0_1_0;
      part_0_1_0 = 0.0f;
      sum_0_1_1 += part_0_1_1;
      part_0_1_1 = 0.0f;
      sum_0_1_2 += part_0_1_2;
      part_0_1_2 = 0.0f;
      sum_0_1_3 += part_0_1_3;
      part_0_1_3 = 0.0f;
      sum_0_2_0 += part_0_2_0;
      part_0_2_0 = 0.0f;
      sum_0_2_1 += part_0_2_1;
      part_0_2_1 = 0.0f;
      sum_0_2_2 += part_0_2_2;
      part_0_2_2 = 0.0f;
      sum_0_2_3 += part_0_2_3;
      part_0_2_3 = 0.0f;
      sum_0_3_0 += part_0_3_0;
      part_0_3_0 = 0.0f;
      sum_0_3_1 += part_0_3_1;
      part_0_3_1 = 0.0f;
      sum_0_3_2 += part_0_3_2;
      part_0_3_2 = 0.0f;
      sum_0_3_3 += part_0_3_3;
      part_0_3_3 = 0.0f;
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_0_1);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_0_2);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_0_3);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_1_0);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_1_1);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_1_2);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_1_3);
  store(first_m + thread_m + 2u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_2_0);
  store(first_m + thread_m + 2u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_2_1);
  store(first_m + thread_m + 2u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_2_2);
  store(first_m + thread_m + 2u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_2_3);
  store(first_m + thread_m + 3u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_3_0);
  store(first_m + thread_m + 3u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_3_1);
  store(first_m + thread_m + 3u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_3_2);
  store(first_m + thread_m + 3u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_3_3);
}
