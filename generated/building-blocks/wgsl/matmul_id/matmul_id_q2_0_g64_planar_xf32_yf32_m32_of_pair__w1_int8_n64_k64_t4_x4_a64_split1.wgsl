// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// matmul_id: Y = X W^T with an expert's W for each pair of token and expert
// variant matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair__w1_int8_n64_k64_t4_x4_a64_split1
// codes: codes [EXPERTS][N][K * 2 / 32] u32
// scales: f16 scales in pairs, [EXPERTS][N][K / 64]
// x8: int8 activations [T][USED][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// pairs: pairs, sorted by expert
// tiles: expert, first, count and 0
// y: result [T][USED][N]
const TILE_M: u32 = 32u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 64u;
const THREAD_M: u32 = 4u;
const THREAD_N: u32 = 4u;
const ACTIVATION_GROUP: u32 = 64u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const CODE_SCALE: i32 = 1i;
const CODE_ZERO: i32 = -1i;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_VECTORS: u32 = 4u;
const TILE_STEPS: u32 = 4u;
const TILE_SEGMENTS: u32 = 1u;
const TILE_STRIDE: u32 = 5u;
const TILE_GROUPS: u32 = 1u;
const SEGMENTS_PER_GROUP: u32 = 1u;
const SEGMENT_VECTORS: u32 = 4u;
const THREADS_M: u32 = 8u;
const THREADS_N: u32 = 16u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> pairs: array<u32>;
@group(0) @binding(5) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

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

// Where the row of a tile stands in x and in the result: a row is a place in `pairs`.
fn x_row(row: u32) -> u32 {
  return pairs[row];
}

fn y_row(row: u32) -> u32 {
  return pairs[row];
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
  let n = params.n;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  // Tiles of one N stand together, so that they find an expert's weights in the cache.
  let at = workgroup_index(workgroup_id, num_workgroups);
  let count = params.tokens * params.used;
  let places = (count + TILE_M - 1u) / TILE_M + params.experts + 1u;
  let chosen = tiles[at % places];
  let first_m = chosen.y;
  // Rows past the end read the tile's last one; a tile without pairs stores nothing.
  let m = chosen.y + chosen.z;
  let expert = min(chosen.x, params.experts - 1u);
  let first_weight_row = expert * n;
  let first_n = at / places * TILE_N;
  let split = 0u;
  // An expert that is none has no tile of K, so that its sums are zeros.
  let first_tile = 0u;
  let last_tile = select(0u, (k + TILE_K - 1u) / TILE_K, chosen.x < params.experts);
  let thread_m = local_index / THREADS_N;
  let thread_n = local_index % THREADS_N;
  let x_start = thread_m * TILE_STRIDE;
  let w_start = thread_n * TILE_STRIDE;
  var sum_0_0_0 = 0.0f;
  var sum_0_0_1 = 0.0f;
  var sum_0_0_2 = 0.0f;
  var sum_0_0_3 = 0.0f;
  var sum_0_1_0 = 0.0f;
  var sum_0_1_1 = 0.0f;
  var sum_0_1_2 = 0.0f;
  var sum_0_1_3 = 0.0f;
  var sum_0_2_0 = 0.0f;
  var sum_0_2_1 = 0.0f;
  var sum_0_2_2 = 0.0f;
  var sum_0_2_3 = 0.0f;
  var sum_0_3_0 = 0.0f;
  var sum_0_3_1 = 0.0f;
  var sum_0_3_2 = 0.0f;
  var sum_0_3_3 = 0.0f;
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
      var products_0_0_1 = 0i;
      var products_0_0_2 = 0i;
      var products_0_0_3 = 0i;
      var products_0_1_0 = 0i;
      var products_0_1_1 = 0i;
      var products_0_1_2 = 0i;
      var products_0_1_3 = 0i;
      var products_0_2_0 = 0i;
      var products_0_2_1 = 0i;
      var products_0_2_2 = 0i;
      var products_0_2_3 = 0i;
      var products_0_3_0 = 0i;
      var products_0_3_1 = 0i;
      var products_0_3_2 = 0i;
      var products_0_3_3 = 0i;
      for (var vector = 0u; vector < SEGMENT_VECTORS; vector++) {
        // All else of a place is a constant, which costs nothing where the loop is unrolled.
        let x_at = x_start + segment * SEGMENT_VECTORS + vector;
        let w_at = w_start + segment * SEGMENT_VECTORS + vector;
        let x_0 = x_tile[x_at + 0u * THREADS_M * TILE_STRIDE];
        let x_1 = x_tile[x_at + 1u * THREADS_M * TILE_STRIDE];
        let x_2 = x_tile[x_at + 2u * THREADS_M * TILE_STRIDE];
        let x_3 = x_tile[x_at + 3u * THREADS_M * TILE_STRIDE];
        let w_0_0 = w_tile[w_at + (0u * TILE_N + 0u * THREADS_N) * TILE_STRIDE];
        products_0_0_0 += dot16(w_0_0, x_0);
        products_0_1_0 += dot16(w_0_0, x_1);
        products_0_2_0 += dot16(w_0_0, x_2);
        products_0_3_0 += dot16(w_0_0, x_3);
        let w_0_1 = w_tile[w_at + (0u * TILE_N + 1u * THREADS_N) * TILE_STRIDE];
        products_0_0_1 += dot16(w_0_1, x_0);
        products_0_1_1 += dot16(w_0_1, x_1);
        products_0_2_1 += dot16(w_0_1, x_2);
        products_0_3_1 += dot16(w_0_1, x_3);
        let w_0_2 = w_tile[w_at + (0u * TILE_N + 2u * THREADS_N) * TILE_STRIDE];
        products_0_0_2 += dot16(w_0_2, x_0);
        products_0_1_2 += dot16(w_0_2, x_1);
        products_0_2_2 += dot16(w_0_2, x_2);
        products_0_3_2 += dot16(w_0_2, x_3);
        let w_0_3 = w_tile[w_at + (0u * TILE_N + 3u * THREADS_N) * TILE_STRIDE];
        products_0_0_3 += dot16(w_0_3, x_0);
        products_0_1_3 += dot16(w_0_3, x_1);
        products_0_2_3 += dot16(w_0_3, x_2);
        products_0_3_3 += dot16(w_0_3, x_3);
      }
      let scale_0 = x_scales[(thread_m + 0u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_1 = x_scales[(thread_m + 1u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_2 = x_scales[(thread_m + 2u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_3 = x_scales[(thread_m + 3u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_0_0 = w_scales[(0u * TILE_N + thread_n + 0u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_0 += share(products_0_0_0, scale_0_0, scale_0.x, scale_0.y);
      sum_0_1_0 += share(products_0_1_0, scale_0_0, scale_1.x, scale_1.y);
      sum_0_2_0 += share(products_0_2_0, scale_0_0, scale_2.x, scale_2.y);
      sum_0_3_0 += share(products_0_3_0, scale_0_0, scale_3.x, scale_3.y);
      let scale_0_1 = w_scales[(0u * TILE_N + thread_n + 1u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_1 += share(products_0_0_1, scale_0_1, scale_0.x, scale_0.y);
      sum_0_1_1 += share(products_0_1_1, scale_0_1, scale_1.x, scale_1.y);
      sum_0_2_1 += share(products_0_2_1, scale_0_1, scale_2.x, scale_2.y);
      sum_0_3_1 += share(products_0_3_1, scale_0_1, scale_3.x, scale_3.y);
      let scale_0_2 = w_scales[(0u * TILE_N + thread_n + 2u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_2 += share(products_0_0_2, scale_0_2, scale_0.x, scale_0.y);
      sum_0_1_2 += share(products_0_1_2, scale_0_2, scale_1.x, scale_1.y);
      sum_0_2_2 += share(products_0_2_2, scale_0_2, scale_2.x, scale_2.y);
      sum_0_3_2 += share(products_0_3_2, scale_0_2, scale_3.x, scale_3.y);
      let scale_0_3 = w_scales[(0u * TILE_N + thread_n + 3u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_3 += share(products_0_0_3, scale_0_3, scale_0.x, scale_0.y);
      sum_0_1_3 += share(products_0_1_3, scale_0_3, scale_1.x, scale_1.y);
      sum_0_2_3 += share(products_0_2_3, scale_0_3, scale_2.x, scale_2.y);
      sum_0_3_3 += share(products_0_3_3, scale_0_3, scale_3.x, scale_3.y);
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
