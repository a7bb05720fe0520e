// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q1_0_g128_planar_xf32_yf32__w1_lut_m16_n64_k32_full_split1
// codes: codes [N][K * 1 / 32] u32
// scales: f16 scales in pairs, [N][K / 128]
// x: activations [M][K], rows X_STRIDE elements apart
// y: result [M][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 32u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const WORKGROUP_SIZE: u32 = 64u;
const TILE_STEPS: u32 = 1u;
const TILE_GROUPS: u32 = 8u;
const ENTRIES: u32 = 16u;
const LANES_M: u32 = 4u;

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

var<workgroup> table: array<vec4<f32>, TILE_GROUPS * ENTRIES * LANES_M>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// planar: all code words in row order, and all scales in another plane.
fn load_step(step: u32) -> u32 {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
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

// Four activations of a token from a group of four on; zeros behind the end of K.
fn load_x(token: u32, group: u32, m: u32, k: u32) -> vec4<f32> {
  let from_four = x_row(min(token, m - 1u)) * (params.x_stride / 4u) + min(group, k / 4u - 1u);
  return select(vec4<f32>(), x[from_four], group < k / 4u);
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
  let start_0 = (first_weight_row + weight_row(local_index, first_n, n)) * row_steps;
  var sum_0_0 = vec4<f32>();
  var part_0_0 = vec4<f32>();
  var sum_0_1 = vec4<f32>();
  var part_0_1 = vec4<f32>();
  var sum_0_2 = vec4<f32>();
  var part_0_2 = vec4<f32>();
  var sum_0_3 = vec4<f32>();
  var part_0_3 = vec4<f32>();
  for (var tile = first_tile; tile < last_tile; tile++) {
    for (var place = local_index; place < TILE_GROUPS * LANES_M; place += WORKGROUP_SIZE) {
      let group = place / LANES_M;
      let lane = place % LANES_M;
      let token_0 = load_x(first_m + 4u * lane + 0u, tile * TILE_GROUPS + group, m, k);
      let token_1 = load_x(first_m + 4u * lane + 1u, tile * TILE_GROUPS + group, m, k);
      let token_2 = load_x(first_m + 4u * lane + 2u, tile * TILE_GROUPS + group, m, k);
      let token_3 = load_x(first_m + 4u * lane + 3u, tile * TILE_GROUPS + group, m, k);
      let x_0 = vec4<f32>(token_0.x, token_1.x, token_2.x, token_3.x);
      let x_1 = vec4<f32>(token_0.y, token_1.y, token_2.y, token_3.y);
      let x_2 = vec4<f32>(token_0.z, token_1.z, token_2.z, token_3.z);
      let x_3 = vec4<f32>(token_0.w, token_1.w, token_2.w, token_3.w);
      let low = array<vec4<f32>, 4>(-x_0 - x_1, x_0 - x_1, x_1 - x_0, x_0 + x_1);
      let high = array<vec4<f32>, 4>(-x_2 - x_3, x_2 - x_3, x_3 - x_2, x_2 + x_3);
      table[(group * ENTRIES + 0u) * LANES_M + lane] = low[0u] + high[0u];
      table[(group * ENTRIES + 1u) * LANES_M + lane] = low[1u] + high[0u];
      table[(group * ENTRIES + 2u) * LANES_M + lane] = low[2u] + high[0u];
      table[(group * ENTRIES + 3u) * LANES_M + lane] = low[3u] + high[0u];
      table[(group * ENTRIES + 4u) * LANES_M + lane] = low[0u] + high[1u];
      table[(group * ENTRIES + 5u) * LANES_M + lane] = low[1u] + high[1u];
      table[(group * ENTRIES + 6u) * LANES_M + lane] = low[2u] + high[1u];
      table[(group * ENTRIES + 7u) * LANES_M + lane] = low[3u] + high[1u];
      table[(group * ENTRIES + 8u) * LANES_M + lane] = low[0u] + high[2u];
      table[(group * ENTRIES + 9u) * LANES_M + lane] = low[1u] + high[2u];
      table[(group * ENTRIES + 10u) * LANES_M + lane] = low[2u] + high[2u];
      table[(group * ENTRIES + 11u) * LANES_M + lane] = low[3u] + high[2u];
      table[(group * ENTRIES + 12u) * LANES_M + lane] = low[0u] + high[3u];
      table[(group * ENTRIES + 13u) * LANES_M + lane] = low[1u] + high[3u];
      table[(group * ENTRIES + 14u) * LANES_M + lane] = low[2u] + high[3u];
      table[(group * ENTRIES + 15u) * LANES_M + lane] = low[3u] + high[3u];
    }
    workgroupBarrier();
    let first_step = tile * TILE_STEPS;
    for (var step = first_step; step < min(first_step + TILE_STEPS, row_steps); step++) {
      let group = (step - first_step) * 8u;
      let word_0 = load_step(start_0 + step);
      for (var nibble = 0u; nibble < 8u; nibble++) {
        let at_0 = ((group + nibble) * ENTRIES + ((word_0 >> (4u * nibble)) & 15u)) * LANES_M;
        part_0_0 += vec4<f32>(table[at_0 + 0u]);
        part_0_1 += vec4<f32>(table[at_0 + 1u]);
        part_0_2 += vec4<f32>(table[at_0 + 2u]);
        part_0_3 += vec4<f32>(table[at_0 + 3u]);
      }
      // The scale once a block, or where the tile ends within one.
      if ((step + 1u) % min(STEPS_PER_BLOCK, TILE_STEPS) == 0u) {
        let scale_0 = step_scale(start_0 + step);
        sum_0_0 += scale_0 * part_0_0;
        part_0_0 = vec4<f32>();
        sum_0_1 += scale_0 * part_0_1;
        part_0_1 = vec4<f32>();
        sum_0_2 += scale_0 * part_0_2;
        part_0_2 = vec4<f32>();
        sum_0_3 += scale_0 * part_0_3;
        part_0_3 = vec4<f32>();
      }
    }
    workgroupBarrier();
  }
  store(first_m + 0u, first_n + local_index, split, m, n, sum_0_0.x);
  store(first_m + 1u, first_n + local_index, split, m, n, sum_0_0.y);
  store(first_m + 2u, first_n + local_index, split, m, n, sum_0_0.z);
  store(first_m + 3u, first_n + local_index, split, m, n, sum_0_0.w);
  store(first_m + 4u, first_n + local_index, split, m, n, sum_0_1.x);
  store(first_m + 5u, first_n + local_index, split, m, n, sum_0_1.y);
  store(first_m + 6u, first_n + local_index, split, m, n, sum_0_1.z);
  store(first_m + 7u, first_n + local_index, split, m, n, sum_0_1.w);
  store(first_m + 8u, first_n + local_index, split, m, n, sum_0_2.x);
  store(first_m + 9u, first_n + local_index, split, m, n, sum_0_2.y);
  store(first_m + 10u, first_n + local_index, split, m, n, sum_0_2.z);
  store(first_m + 11u, first_n + local_index, split, m, n, sum_0_2.w);
  store(first_m + 12u, first_n + local_index, split, m, n, sum_0_3.x);
  store(first_m + 13u, first_n + local_index, split, m, n, sum_0_3.y);
  store(first_m + 14u, first_n + local_index, split, m, n, sum_0_3.z);
  store(first_m + 15u, first_n + local_index, split, m, n, sum_0_3.w);
}
