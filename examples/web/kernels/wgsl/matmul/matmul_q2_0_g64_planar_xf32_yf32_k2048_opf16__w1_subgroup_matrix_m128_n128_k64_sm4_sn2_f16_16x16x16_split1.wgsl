// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32_k2048_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x: activations [M][K], rows X_STRIDE elements apart
// y: result [M][N]
enable subgroups;
enable f16;
enable chromium_experimental_subgroup_matrix;

const K: u32 = 2048u;
const TILE_M: u32 = 128u;
const TILE_N: u32 = 128u;
const TILE_K: u32 = 64u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 256u;
const TILE_FOURS: u32 = 16u;
const TILE_STEPS: u32 = 4u;
const TILE_STRIDE: u32 = 72u;
const SHARE_M: u32 = 32u;
const SHARE_N: u32 = 64u;
const SUBGROUPS: u32 = 8u;
const MATRIX_M: u32 = 16u;
const MATRIX_N: u32 = 16u;
const MATRIX_K: u32 = 16u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  m: u32,
  x_stride: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> x_tile: array<f16, TILE_M * TILE_STRIDE>;
var<workgroup> w_tile: array<f16, TILE_N * TILE_STRIDE>;
var<workgroup> results: array<f32, 1u * SUBGROUPS * MATRIX_M * MATRIX_N>;

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

// Stores what lies in `results`: one matrix of each subgroup, from token `first_m` and row `first_n` of W of the first
// one's on.
fn store_results(first_m: u32, first_n: u32, split: u32, m: u32, n: u32, index: u32) {
  for (var place = index; place < SUBGROUPS * MATRIX_M * MATRIX_N; place += WORKGROUP_SIZE) {
    let owner = place / (MATRIX_M * MATRIX_N);
    let row = first_m + owner % 4u * SHARE_M + place / MATRIX_N % MATRIX_M;
    let column = first_n + owner / 4u * SHARE_N + place % MATRIX_N;
    store(row, column, split, m, n, results[place]);
  }
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
  let m = params.m;
  let n = params.n;
  let k = K;
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
  let share_m = subgroup % 4u * SHARE_M;
  let share_n = subgroup / 4u * SHARE_N;
  var sum_0_0_0: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_0_1: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_0_2: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_0_3: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_1_0: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_1_1: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_1_2: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  var sum_0_1_3: subgroup_matrix_result<f32, MATRIX_N, MATRIX_M>;
  // What a thread loads of every tile. Places in workgroup memory are spelled out, so that compilers see that they are
  // inside and may store neighbours together.
  let x_four = local_index % TILE_FOURS;
  let x_local = local_index / TILE_FOURS;
  let w_step = local_index % TILE_STEPS;
  let w_local = local_index / TILE_STEPS;
  let x_start_0 = x_row(min(first_m + x_local + 0u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_1 = x_row(min(first_m + x_local + 16u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_2 = x_row(min(first_m + x_local + 32u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_3 = x_row(min(first_m + x_local + 48u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_4 = x_row(min(first_m + x_local + 64u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_5 = x_row(min(first_m + x_local + 80u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_6 = x_row(min(first_m + x_local + 96u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let x_start_7 = x_row(min(first_m + x_local + 112u, m - 1u)) * (params.x_stride / 4u) + x_four;
  let w_start_0 = (first_weight_row + weight_row(w_local + 0u, first_n, n)) * row_steps + w_step;
  let w_start_1 = (first_weight_row + weight_row(w_local + 64u, first_n, n)) * row_steps + w_step;
  for (var tile = first_tile; tile < last_tile; tile++) {
    let x_from = tile * TILE_FOURS;
    let w_from = tile * TILE_STEPS;
    let x_0 = vec4<f16>(clamp(x[x_start_0 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 0u) * TILE_STRIDE + 4u * x_four + 0u] = x_0.x;
    x_tile[(x_local + 0u) * TILE_STRIDE + 4u * x_four + 1u] = x_0.y;
    x_tile[(x_local + 0u) * TILE_STRIDE + 4u * x_four + 2u] = x_0.z;
    x_tile[(x_local + 0u) * TILE_STRIDE + 4u * x_four + 3u] = x_0.w;
    let x_1 = vec4<f16>(clamp(x[x_start_1 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 16u) * TILE_STRIDE + 4u * x_four + 0u] = x_1.x;
    x_tile[(x_local + 16u) * TILE_STRIDE + 4u * x_four + 1u] = x_1.y;
    x_tile[(x_local + 16u) * TILE_STRIDE + 4u * x_four + 2u] = x_1.z;
    x_tile[(x_local + 16u) * TILE_STRIDE + 4u * x_four + 3u] = x_1.w;
    let x_2 = vec4<f16>(clamp(x[x_start_2 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 32u) * TILE_STRIDE + 4u * x_four + 0u] = x_2.x;
    x_tile[(x_local + 32u) * TILE_STRIDE + 4u * x_four + 1u] = x_2.y;
    x_tile[(x_local + 32u) * TILE_STRIDE + 4u * x_four + 2u] = x_2.z;
    x_tile[(x_local + 32u) * TILE_STRIDE + 4u * x_four + 3u] = x_2.w;
    let x_3 = vec4<f16>(clamp(x[x_start_3 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 48u) * TILE_STRIDE + 4u * x_four + 0u] = x_3.x;
    x_tile[(x_local + 48u) * TILE_STRIDE + 4u * x_four + 1u] = x_3.y;
    x_tile[(x_local + 48u) * TILE_STRIDE + 4u * x_four + 2u] = x_3.z;
    x_tile[(x_local + 48u) * TILE_STRIDE + 4u * x_four + 3u] = x_3.w;
    let x_4 = vec4<f16>(clamp(x[x_start_4 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 64u) * TILE_STRIDE + 4u * x_four + 0u] = x_4.x;
    x_tile[(x_local + 64u) * TILE_STRIDE + 4u * x_four + 1u] = x_4.y;
    x_tile[(x_local + 64u) * TILE_STRIDE + 4u * x_four + 2u] = x_4.z;
    x_tile[(x_local + 64u) * TILE_STRIDE + 4u * x_four + 3u] = x_4.w;
    let x_5 = vec4<f16>(clamp(x[x_start_5 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 80u) * TILE_STRIDE + 4u * x_four + 0u] = x_5.x;
    x_tile[(x_local + 80u) * TILE_STRIDE + 4u * x_four + 1u] = x_5.y;
    x_tile[(x_local + 80u) * TILE_STRIDE + 4u * x_four + 2u] = x_5.z;
    x_tile[(x_local + 80u) * TILE_STRIDE + 4u * x_four + 3u] = x_5.w;
    let x_6 = vec4<f16>(clamp(x[x_start_6 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 96u) * TILE_STRIDE + 4u * x_four + 0u] = x_6.x;
    x_tile[(x_local + 96u) * TILE_STRIDE + 4u * x_four + 1u] = x_6.y;
    x_tile[(x_local + 96u) * TILE_STRIDE + 4u * x_four + 2u] = x_6.z;
    x_tile[(x_local + 96u) * TILE_STRIDE + 4u * x_four + 3u] = x_6.w;
    let x_7 = vec4<f16>(clamp(x[x_start_7 + x_from], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    x_tile[(x_local + 112u) * TILE_STRIDE + 4u * x_four + 0u] = x_7.x;
    x_tile[(x_local + 112u) * TILE_STRIDE + 4u * x_four + 1u] = x_7.y;
    x_tile[(x_local + 112u) * TILE_STRIDE + 4u * x_four + 2u] = x_7.z;
    x_tile[(x_local + 112u) * TILE_STRIDE + 4u * x_four + 3u] = x_7.w;
    let w_0 = step_weights(w_start_0 + w_from);
    let w_0_0 = vec4<f16>(clamp(w_0[0u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_0_1 = vec4<f16>(clamp(w_0[1u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_0_2 = vec4<f16>(clamp(w_0[2u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_0_3 = vec4<f16>(clamp(w_0[3u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 0u] = w_0_0.x;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 1u] = w_0_0.y;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 2u] = w_0_0.z;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 3u] = w_0_0.w;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 4u] = w_0_1.x;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 5u] = w_0_1.y;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 6u] = w_0_1.z;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 7u] = w_0_1.w;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 8u] = w_0_2.x;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 9u] = w_0_2.y;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 10u] = w_0_2.z;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 11u] = w_0_2.w;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 12u] = w_0_3.x;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 13u] = w_0_3.y;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 14u] = w_0_3.z;
    w_tile[(w_local + 0u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 15u] = w_0_3.w;
    let w_1 = step_weights(w_start_1 + w_from);
    let w_1_0 = vec4<f16>(clamp(w_1[0u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_1_1 = vec4<f16>(clamp(w_1[1u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_1_2 = vec4<f16>(clamp(w_1[2u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    let w_1_3 = vec4<f16>(clamp(w_1[3u], vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 0u] = w_1_0.x;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 1u] = w_1_0.y;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 2u] = w_1_0.z;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 3u] = w_1_0.w;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 4u] = w_1_1.x;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 5u] = w_1_1.y;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 6u] = w_1_1.z;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 7u] = w_1_1.w;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 8u] = w_1_2.x;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 9u] = w_1_2.y;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 10u] = w_1_2.z;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 11u] = w_1_2.w;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 12u] = w_1_3.x;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 13u] = w_1_3.y;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 14u] = w_1_3.z;
    w_tile[(w_local + 64u) * TILE_STRIDE + 4u * (w_step * STEP_FOURS) + 15u] = w_1_3.w;
    workgroupBarrier();
    let left_0_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 0u * MATRIX_M) * TILE_STRIDE + 0u * MATRIX_K, false, TILE_STRIDE);
    let left_0_1 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 1u * MATRIX_M) * TILE_STRIDE + 0u * MATRIX_K, false, TILE_STRIDE);
    let right_0_0_0 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 0u * MATRIX_N) * TILE_STRIDE + 0u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_0 = subgroupMatrixMultiplyAccumulate(left_0_0, right_0_0_0, sum_0_0_0);
    sum_0_1_0 = subgroupMatrixMultiplyAccumulate(left_0_1, right_0_0_0, sum_0_1_0);
    let right_0_0_1 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 1u * MATRIX_N) * TILE_STRIDE + 0u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_1 = subgroupMatrixMultiplyAccumulate(left_0_0, right_0_0_1, sum_0_0_1);
    sum_0_1_1 = subgroupMatrixMultiplyAccumulate(left_0_1, right_0_0_1, sum_0_1_1);
    let right_0_0_2 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 2u * MATRIX_N) * TILE_STRIDE + 0u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_2 = subgroupMatrixMultiplyAccumulate(left_0_0, right_0_0_2, sum_0_0_2);
    sum_0_1_2 = subgroupMatrixMultiplyAccumulate(left_0_1, right_0_0_2, sum_0_1_2);
    let right_0_0_3 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 3u * MATRIX_N) * TILE_STRIDE + 0u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_3 = subgroupMatrixMultiplyAccumulate(left_0_0, right_0_0_3, sum_0_0_3);
    sum_0_1_3 = subgroupMatrixMultiplyAccumulate(left_0_1, right_0_0_3, sum_0_1_3);
    let left_1_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 0u * MATRIX_M) * TILE_STRIDE + 1u * MATRIX_K, false, TILE_STRIDE);
    let left_1_1 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 1u * MATRIX_M) * TILE_STRIDE + 1u * MATRIX_K, false, TILE_STRIDE);
    let right_1_0_0 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 0u * MATRIX_N) * TILE_STRIDE + 1u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_0 = subgroupMatrixMultiplyAccumulate(left_1_0, right_1_0_0, sum_0_0_0);
    sum_0_1_0 = subgroupMatrixMultiplyAccumulate(left_1_1, right_1_0_0, sum_0_1_0);
    let right_1_0_1 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 1u * MATRIX_N) * TILE_STRIDE + 1u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_1 = subgroupMatrixMultiplyAccumulate(left_1_0, right_1_0_1, sum_0_0_1);
    sum_0_1_1 = subgroupMatrixMultiplyAccumulate(left_1_1, right_1_0_1, sum_0_1_1);
    let right_1_0_2 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 2u * MATRIX_N) * TILE_STRIDE + 1u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_2 = subgroupMatrixMultiplyAccumulate(left_1_0, right_1_0_2, sum_0_0_2);
    sum_0_1_2 = subgroupMatrixMultiplyAccumulate(left_1_1, right_1_0_2, sum_0_1_2);
    let right_1_0_3 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 3u * MATRIX_N) * TILE_STRIDE + 1u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_3 = subgroupMatrixMultiplyAccumulate(left_1_0, right_1_0_3, sum_0_0_3);
    sum_0_1_3 = subgroupMatrixMultiplyAccumulate(left_1_1, right_1_0_3, sum_0_1_3);
    let left_2_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 0u * MATRIX_M) * TILE_STRIDE + 2u * MATRIX_K, false, TILE_STRIDE);
    let left_2_1 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 1u * MATRIX_M) * TILE_STRIDE + 2u * MATRIX_K, false, TILE_STRIDE);
    let right_2_0_0 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 0u * MATRIX_N) * TILE_STRIDE + 2u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_0 = subgroupMatrixMultiplyAccumulate(left_2_0, right_2_0_0, sum_0_0_0);
    sum_0_1_0 = subgroupMatrixMultiplyAccumulate(left_2_1, right_2_0_0, sum_0_1_0);
    let right_2_0_1 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 1u * MATRIX_N) * TILE_STRIDE + 2u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_1 = subgroupMatrixMultiplyAccumulate(left_2_0, right_2_0_1, sum_0_0_1);
    sum_0_1_1 = subgroupMatrixMultiplyAccumulate(left_2_1, right_2_0_1, sum_0_1_1);
    let right_2_0_2 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 2u * MATRIX_N) * TILE_STRIDE + 2u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_2 = subgroupMatrixMultiplyAccumulate(left_2_0, right_2_0_2, sum_0_0_2);
    sum_0_1_2 = subgroupMatrixMultiplyAccumulate(left_2_1, right_2_0_2, sum_0_1_2);
    let right_2_0_3 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 3u * MATRIX_N) * TILE_STRIDE + 2u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_3 = subgroupMatrixMultiplyAccumulate(left_2_0, right_2_0_3, sum_0_0_3);
    sum_0_1_3 = subgroupMatrixMultiplyAccumulate(left_2_1, right_2_0_3, sum_0_1_3);
    let left_3_0 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 0u * MATRIX_M) * TILE_STRIDE + 3u * MATRIX_K, false, TILE_STRIDE);
    let left_3_1 = subgroupMatrixLoad<subgroup_matrix_left<f16, MATRIX_K, MATRIX_M>>(&x_tile, (share_m + 1u * MATRIX_M) * TILE_STRIDE + 3u * MATRIX_K, false, TILE_STRIDE);
    let right_3_0_0 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 0u * MATRIX_N) * TILE_STRIDE + 3u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_0 = subgroupMatrixMultiplyAccumulate(left_3_0, right_3_0_0, sum_0_0_0);
    sum_0_1_0 = subgroupMatrixMultiplyAccumulate(left_3_1, right_3_0_0, sum_0_1_0);
    let right_3_0_1 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 1u * MATRIX_N) * TILE_STRIDE + 3u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_1 = subgroupMatrixMultiplyAccumulate(left_3_0, right_3_0_1, sum_0_0_1);
    sum_0_1_1 = subgroupMatrixMultiplyAccumulate(left_3_1, right_3_0_1, sum_0_1_1);
    let right_3_0_2 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 2u * MATRIX_N) * TILE_STRIDE + 3u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_2 = subgroupMatrixMultiplyAccumulate(left_3_0, right_3_0_2, sum_0_0_2);
    sum_0_1_2 = subgroupMatrixMultiplyAccumulate(left_3_1, right_3_0_2, sum_0_1_2);
    let right_3_0_3 = subgroupMatrixLoad<subgroup_matrix_right<f16, MATRIX_N, MATRIX_K>>(&w_tile, (0u * TILE_N + share_n + 3u * MATRIX_N) * TILE_STRIDE + 3u * MATRIX_K, true, TILE_STRIDE);
    sum_0_0_3 = subgroupMatrixMultiplyAccumulate(left_3_0, right_3_0_3, sum_0_0_3);
    sum_0_1_3 = subgroupMatrixMultiplyAccumulate(left_3_1, right_3_0_3, sum_0_1_3);
    workgroupBarrier();
  }
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_0_0, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 0u * MATRIX_M, first_n + 0u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_0_1, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 0u * MATRIX_M, first_n + 1u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_0_2, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 0u * MATRIX_M, first_n + 2u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_0_3, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 0u * MATRIX_M, first_n + 3u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_1_0, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 1u * MATRIX_M, first_n + 0u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_1_1, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 1u * MATRIX_M, first_n + 1u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_1_2, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 1u * MATRIX_M, first_n + 2u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
  subgroupMatrixStore(&results, (0u * SUBGROUPS + subgroup) * (MATRIX_M * MATRIX_N), sum_0_1_3, false, MATRIX_N);
  workgroupBarrier();
  store_results(first_m + 1u * MATRIX_M, first_n + 3u * MATRIX_N, split, m, n, local_index);
  workgroupBarrier();
}
