// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16_n16_k128_t2_x1_a64_split1
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x8: int8 activations [M][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// y: result [M][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 16u;
const TILE_K: u32 = 128u;
const THREAD_M: u32 = 2u;
const THREAD_N: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const CODE_SCALE: i32 = 1i;
const CODE_ZERO: i32 = -1i;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_VECTORS: u32 = 8u;
const TILE_STEPS: u32 = 8u;
const TILE_SEGMENTS: u32 = 2u;
const TILE_STRIDE: u32 = 9u;
const TILE_GROUPS: u32 = 2u;
const SEGMENTS_PER_GROUP: u32 = 1u;
const SEGMENT_VECTORS: u32 = 4u;
const THREADS_M: u32 = 8u;
const THREADS_N: u32 = 16u;

struct Params {
  m: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> x_tile: array<vec4<u32>, TILE_M * TILE_STRIDE>;
var<workgroup> w_tile: array<vec4<u32>, TILE_N * TILE_STRIDE>;
var<workgroup> x_scales: array<vec2<f32>, TILE_M * TILE_GROUPS>;
var<workgroup> w_scales: array<f32, TILE_N * TILE_SEGMENTS>;

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
fn load_step(step: u32) -> u32 {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The codes of one step as signed bytes, four elements a word.
fn decode_step(step: u32) -> array<u32, STEP_FOURS> {
  return array<u32, STEP_FOURS>(
    packed4(step, 0u),
    packed4(step, 1u),
    packed4(step, 2u),
    packed4(step, 3u),
  );
}

// The first group of four elements of a step of a row; the step's others follow in steps of four_offsets.
fn step_four(step: u32) -> u32 {
  return step / STEPS_PER_BLOCK * (BLOCK_SIZE / 4u) + step % STEPS_PER_BLOCK * STEP_STRIDE;
}

// The codes of a step of the matrix, four signed bytes a word.
fn step_codes(step: u32) -> array<u32, STEP_FOURS> {
  return decode_step(load_step(step));
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

fn dot16(a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) + dot4I8Packed(a.w, b.w);
}

// A segment's share of a result: its integer products, the scale of the weights, and scale and sum of the activations.
fn share(products: i32, scale: f32, x_scale: f32, x_sum: f32) -> f32 {
  let codes = f32(CODE_SCALE * products) + f32(CODE_ZERO) * x_sum;
  return x_scale * (scale * codes);
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
  let x_start = thread_m * TILE_STRIDE;
  let w_start = thread_n * TILE_STRIDE;
  var sum_0_0_0 = 0.0f;
  var sum_0_1_0 = 0.0f;
  for (var tile = first_tile; tile < last_tile; tile++) {
    // Past the end of K only the weights' scales are zeros, which is enough.
    for (var place = local_index; place < TILE_M * TILE_VECTORS; place += WORKGROUP_SIZE) {
      let row = place / TILE_VECTORS;
      let vector = place % TILE_VECTORS;
      let column = min(tile * TILE_VECTORS + vector, k / 16u - 1u);
      x_tile[row * TILE_STRIDE + vector] = x8[x_row(min(first_m + row, m - 1u)) * (k / 16u) + column];
    }
    for (var place = local_index; place < TILE_M * TILE_GROUPS; place += WORKGROUP_SIZE) {
      let column = min(tile * TILE_K + place % TILE_GROUPS * ACTIVATION_GROUP, k - 1u);
      x_scales[place] = x_scale[(x_row(min(first_m + place / TILE_GROUPS, m - 1u)) * k + column) / ACTIVATION_GROUP];
    }
    for (var place = local_index; place < 1u * TILE_N * TILE_STEPS; place += WORKGROUP_SIZE) {
      let row = place / TILE_STEPS;
      let step = tile * TILE_STEPS + place % TILE_STEPS;
      let w_row = first_weight_row + weight_row(row, first_n, n);
      let from_step = w_row * row_steps + min(step, row_steps - 1u);
      let codes = step_codes(from_step);
      let vector = step_four(step) / 4u - tile * TILE_VECTORS;
      w_tile[row * TILE_STRIDE + vector + 0u] = vec4<u32>(codes[0u], codes[1u], codes[2u], codes[3u]);
      let scale = select(f32(), step_scale(from_step), step < row_steps);
      let segment = row * TILE_SEGMENTS + vector / SEGMENT_VECTORS;
      if (step % 4u == 0u) {
        w_scales[segment] = scale;
      }
    }
    workgroupBarrier();
    for (var segment = 0u; segment < TILE_SEGMENTS; segment++) {
      var products_0_0_0 = 0i;
      var products_0_1_0 = 0i;
      for (var vector = 0u; vector < SEGMENT_VECTORS; vector++) {
        // All else of a place is a constant, which costs nothing where the loop is unrolled.
        let x_at = x_start + segment * SEGMENT_VECTORS + vector;
        let w_at = w_start + segment * SEGMENT_VECTORS + vector;
        let x_0 = x_tile[x_at + 0u * THREADS_M * TILE_STRIDE];
        let x_1 = x_tile[x_at + 1u * THREADS_M * TILE_STRIDE];
        let w_0_0 = w_tile[w_at + (0u * TILE_N + 0u * THREADS_N) * TILE_STRIDE];
        products_0_0_0 += dot16(w_0_0, x_0);
        products_0_1_0 += dot16(w_0_0, x_1);
      }
      let scale_0 = x_scales[(thread_m + 0u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_1 = x_scales[(thread_m + 1u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_0_0 = w_scales[(0u * TILE_N + thread_n + 0u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_0 += share(products_0_0_0, scale_0_0, scale_0.x, scale_0.y);
      sum_0_1_0 += share(products_0_1_0, scale_0_0, scale_1.x, scale_1.y);
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_1_0);
}
