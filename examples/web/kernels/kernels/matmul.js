// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** matmul: Y = X W^T for many tokens. */
export const matmul = {
  kernel: "matmul",
  variants: {
    "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1": {
      name: "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1",
      computes: "matmul_q2_0_g64_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "tile", "tile_m": 16, "tile_n": 32, "tile_k": 32, "thread_m": 2, "thread_n": 2, "operand": "f32", "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: {"op": "linear", "sizes": ["M", "N", "K"], "given": {"M": "M", "N": "N", "K": "K", "X_STRIDE": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 16]], ["ceil_div", "N", 32]],
      uniforms: {"binding": 4, "size": 16, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 12, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 6144, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], "K"], 4]}, {"binding": 3, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x: activations [M][K], rows X_STRIDE elements apart
// y: result [M][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 32u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 2u;
const THREAD_N: u32 = 2u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 2u;
const THREADS_M: u32 = 8u;
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
  var sum_0_1_0 = 0.0f;
  var part_0_1_0 = 0.0f;
  var sum_0_1_1 = 0.0f;
  var part_0_1_1 = 0.0f;
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
      let w_0_0 = w_tile[tile_place(0u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_0_0_0 += dot(x_0, w_0_0);
      part_0_1_0 += dot(x_1, w_0_0);
      let w_0_1 = w_tile[tile_place(0u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_0_0_1 += dot(x_0, w_0_1);
      part_0_1_1 += dot(x_1, w_0_1);
    }
    // Sums of SUM_TILES tiles join the others together, so that no chain of additions is long.
    if ((tile + 1u) % SUM_TILES == 0u || tile + 1u == last_tile) {
      sum_0_0_0 += part_0_0_0;
      part_0_0_0 = 0.0f;
      sum_0_0_1 += part_0_0_1;
      part_0_0_1 = 0.0f;
      sum_0_1_0 += part_0_1_0;
      part_0_1_0 = 0.0f;
      sum_0_1_1 += part_0_1_1;
      part_0_1_1 = 0.0f;
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_0_1);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_1_0);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_1_1);
}
`,
    },
    "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1": {
      name: "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1",
      computes: "matmul_q2_0_g64_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "tile", "tile_m": 64, "tile_n": 64, "tile_k": 32, "thread_m": 4, "thread_n": 4, "operand": "f32", "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: {"op": "linear", "sizes": ["M", "N", "K"], "given": {"M": "M", "N": "N", "K": "K", "X_STRIDE": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 64]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 4, "size": 16, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 12, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 16384, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], "K"], 4]}, {"binding": 3, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
`,
    },
    "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4": {
      name: "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4",
      computes: "matmul_q2_0_g64_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "tile", "tile_m": 16, "tile_n": 32, "tile_k": 32, "thread_m": 2, "thread_n": 2, "operand": "f32", "num_splits": 4},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: null,
      workgroups: ["mul", ["mul", 4, ["ceil_div", "M", 16]], ["ceil_div", "N", 32]],
      uniforms: {"binding": 4, "size": 16, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 12, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 6144, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], "K"], 4]}, {"binding": 3, "name": "partials", "access": "read_write", "element": "f32", "length": ["mul", ["mul", 4, "M"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x: activations [M][K], rows X_STRIDE elements apart
// partials: sums of each part of K [splits][M][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 32u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 2u;
const THREAD_N: u32 = 2u;
const NUM_SPLITS: u32 = 4u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 2u;
const THREADS_M: u32 = 8u;
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
@group(0) @binding(3) var<storage, read_write> partials: array<f32>;
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
fn store(row: u32, column: u32, split: u32, m: u32, n: u32, sum: f32) {
  if (row < m && column < n && split < NUM_SPLITS) {
    partials[(split * m + row) * n + column] = sum;
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
  let first_tile = min(split, NUM_SPLITS) * tiles_k / NUM_SPLITS;
  let last_tile = min(split + 1u, NUM_SPLITS) * tiles_k / NUM_SPLITS;
  let thread_m = local_index / THREADS_N;
  let thread_n = local_index % THREADS_N;
  var sum_0_0_0 = 0.0f;
  var part_0_0_0 = 0.0f;
  var sum_0_0_1 = 0.0f;
  var part_0_0_1 = 0.0f;
  var sum_0_1_0 = 0.0f;
  var part_0_1_0 = 0.0f;
  var sum_0_1_1 = 0.0f;
  var part_0_1_1 = 0.0f;
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
      let w_0_0 = w_tile[tile_place(0u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_0_0_0 += dot(x_0, w_0_0);
      part_0_1_0 += dot(x_1, w_0_0);
      let w_0_1 = w_tile[tile_place(0u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_0_0_1 += dot(x_0, w_0_1);
      part_0_1_1 += dot(x_1, w_0_1);
    }
    // Sums of SUM_TILES tiles join the others together, so that no chain of additions is long.
    if ((tile + 1u) % SUM_TILES == 0u || tile + 1u == last_tile) {
      sum_0_0_0 += part_0_0_0;
      part_0_0_0 = 0.0f;
      sum_0_0_1 += part_0_0_1;
      part_0_0_1 = 0.0f;
      sum_0_1_0 += part_0_1_0;
      part_0_1_0 = 0.0f;
      sum_0_1_1 += part_0_1_1;
      part_0_1_1 = 0.0f;
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_0_1);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_1_0);
  store(first_m + thread_m + 1u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_1_1);
}
`,
    },
    "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16_n16_k128_t2_x1_a64_split1": {
      name: "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16_n16_k128_t2_x1_a64_split1",
      computes: "matmul_q2_0_g64_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "int8", "tile_m": 16, "tile_n": 16, "tile_k": 128, "thread_m": 2, "thread_n": 1, "activation_group": 64, "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: null,
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 16]], ["ceil_div", "N", 16]],
      uniforms: {"binding": 5, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 4992, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 5}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["eq", "X_STRIDE", "K"], "why": "quantize_q8 writes rows one behind the other"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "M", "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", "M", "K"], 64]}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
`,
    },
    "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m64_n64_k64_t8_x4_a64_split1": {
      name: "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m64_n64_k64_t8_x4_a64_split1",
      computes: "matmul_q2_0_g64_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "int8", "tile_m": 64, "tile_n": 64, "tile_k": 64, "thread_m": 8, "thread_n": 4, "activation_group": 64, "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: null,
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 64]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 5, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 8, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 11008, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 5}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["eq", "X_STRIDE", "K"], "why": "quantize_q8 writes rows one behind the other"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "M", "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", "M", "K"], 64]}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m64_n64_k64_t8_x4_a64_split1
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// x8: int8 activations [M][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// y: result [M][N]
const TILE_M: u32 = 64u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 64u;
const THREAD_M: u32 = 8u;
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
  var sum_0_4_0 = 0.0f;
  var sum_0_4_1 = 0.0f;
  var sum_0_4_2 = 0.0f;
  var sum_0_4_3 = 0.0f;
  var sum_0_5_0 = 0.0f;
  var sum_0_5_1 = 0.0f;
  var sum_0_5_2 = 0.0f;
  var sum_0_5_3 = 0.0f;
  var sum_0_6_0 = 0.0f;
  var sum_0_6_1 = 0.0f;
  var sum_0_6_2 = 0.0f;
  var sum_0_6_3 = 0.0f;
  var sum_0_7_0 = 0.0f;
  var sum_0_7_1 = 0.0f;
  var sum_0_7_2 = 0.0f;
  var sum_0_7_3 = 0.0f;
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
      var products_0_4_0 = 0i;
      var products_0_4_1 = 0i;
      var products_0_4_2 = 0i;
      var products_0_4_3 = 0i;
      var products_0_5_0 = 0i;
      var products_0_5_1 = 0i;
      var products_0_5_2 = 0i;
      var products_0_5_3 = 0i;
      var products_0_6_0 = 0i;
      var products_0_6_1 = 0i;
      var products_0_6_2 = 0i;
      var products_0_6_3 = 0i;
      var products_0_7_0 = 0i;
      var products_0_7_1 = 0i;
      var products_0_7_2 = 0i;
      var products_0_7_3 = 0i;
      for (var vector = 0u; vector < SEGMENT_VECTORS; vector++) {
        // All else of a place is a constant, which costs nothing where the loop is unrolled.
        let x_at = x_start + segment * SEGMENT_VECTORS + vector;
        let w_at = w_start + segment * SEGMENT_VECTORS + vector;
        let x_0 = x_tile[x_at + 0u * THREADS_M * TILE_STRIDE];
        let x_1 = x_tile[x_at + 1u * THREADS_M * TILE_STRIDE];
        let x_2 = x_tile[x_at + 2u * THREADS_M * TILE_STRIDE];
        let x_3 = x_tile[x_at + 3u * THREADS_M * TILE_STRIDE];
        let x_4 = x_tile[x_at + 4u * THREADS_M * TILE_STRIDE];
        let x_5 = x_tile[x_at + 5u * THREADS_M * TILE_STRIDE];
        let x_6 = x_tile[x_at + 6u * THREADS_M * TILE_STRIDE];
        let x_7 = x_tile[x_at + 7u * THREADS_M * TILE_STRIDE];
        let w_0_0 = w_tile[w_at + (0u * TILE_N + 0u * THREADS_N) * TILE_STRIDE];
        products_0_0_0 += dot16(w_0_0, x_0);
        products_0_1_0 += dot16(w_0_0, x_1);
        products_0_2_0 += dot16(w_0_0, x_2);
        products_0_3_0 += dot16(w_0_0, x_3);
        products_0_4_0 += dot16(w_0_0, x_4);
        products_0_5_0 += dot16(w_0_0, x_5);
        products_0_6_0 += dot16(w_0_0, x_6);
        products_0_7_0 += dot16(w_0_0, x_7);
        let w_0_1 = w_tile[w_at + (0u * TILE_N + 1u * THREADS_N) * TILE_STRIDE];
        products_0_0_1 += dot16(w_0_1, x_0);
        products_0_1_1 += dot16(w_0_1, x_1);
        products_0_2_1 += dot16(w_0_1, x_2);
        products_0_3_1 += dot16(w_0_1, x_3);
        products_0_4_1 += dot16(w_0_1, x_4);
        products_0_5_1 += dot16(w_0_1, x_5);
        products_0_6_1 += dot16(w_0_1, x_6);
        products_0_7_1 += dot16(w_0_1, x_7);
        let w_0_2 = w_tile[w_at + (0u * TILE_N + 2u * THREADS_N) * TILE_STRIDE];
        products_0_0_2 += dot16(w_0_2, x_0);
        products_0_1_2 += dot16(w_0_2, x_1);
        products_0_2_2 += dot16(w_0_2, x_2);
        products_0_3_2 += dot16(w_0_2, x_3);
        products_0_4_2 += dot16(w_0_2, x_4);
        products_0_5_2 += dot16(w_0_2, x_5);
        products_0_6_2 += dot16(w_0_2, x_6);
        products_0_7_2 += dot16(w_0_2, x_7);
        let w_0_3 = w_tile[w_at + (0u * TILE_N + 3u * THREADS_N) * TILE_STRIDE];
        products_0_0_3 += dot16(w_0_3, x_0);
        products_0_1_3 += dot16(w_0_3, x_1);
        products_0_2_3 += dot16(w_0_3, x_2);
        products_0_3_3 += dot16(w_0_3, x_3);
        products_0_4_3 += dot16(w_0_3, x_4);
        products_0_5_3 += dot16(w_0_3, x_5);
        products_0_6_3 += dot16(w_0_3, x_6);
        products_0_7_3 += dot16(w_0_3, x_7);
      }
      let scale_0 = x_scales[(thread_m + 0u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_1 = x_scales[(thread_m + 1u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_2 = x_scales[(thread_m + 2u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_3 = x_scales[(thread_m + 3u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_4 = x_scales[(thread_m + 4u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_5 = x_scales[(thread_m + 5u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_6 = x_scales[(thread_m + 6u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_7 = x_scales[(thread_m + 7u * THREADS_M) * TILE_GROUPS + segment / SEGMENTS_PER_GROUP];
      let scale_0_0 = w_scales[(0u * TILE_N + thread_n + 0u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_0 += share(products_0_0_0, scale_0_0, scale_0.x, scale_0.y);
      sum_0_1_0 += share(products_0_1_0, scale_0_0, scale_1.x, scale_1.y);
      sum_0_2_0 += share(products_0_2_0, scale_0_0, scale_2.x, scale_2.y);
      sum_0_3_0 += share(products_0_3_0, scale_0_0, scale_3.x, scale_3.y);
      sum_0_4_0 += share(products_0_4_0, scale_0_0, scale_4.x, scale_4.y);
      sum_0_5_0 += share(products_0_5_0, scale_0_0, scale_5.x, scale_5.y);
      sum_0_6_0 += share(products_0_6_0, scale_0_0, scale_6.x, scale_6.y);
      sum_0_7_0 += share(products_0_7_0, scale_0_0, scale_7.x, scale_7.y);
      let scale_0_1 = w_scales[(0u * TILE_N + thread_n + 1u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_1 += share(products_0_0_1, scale_0_1, scale_0.x, scale_0.y);
      sum_0_1_1 += share(products_0_1_1, scale_0_1, scale_1.x, scale_1.y);
      sum_0_2_1 += share(products_0_2_1, scale_0_1, scale_2.x, scale_2.y);
      sum_0_3_1 += share(products_0_3_1, scale_0_1, scale_3.x, scale_3.y);
      sum_0_4_1 += share(products_0_4_1, scale_0_1, scale_4.x, scale_4.y);
      sum_0_5_1 += share(products_0_5_1, scale_0_1, scale_5.x, scale_5.y);
      sum_0_6_1 += share(products_0_6_1, scale_0_1, scale_6.x, scale_6.y);
      sum_0_7_1 += share(products_0_7_1, scale_0_1, scale_7.x, scale_7.y);
      let scale_0_2 = w_scales[(0u * TILE_N + thread_n + 2u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_2 += share(products_0_0_2, scale_0_2, scale_0.x, scale_0.y);
      sum_0_1_2 += share(products_0_1_2, scale_0_2, scale_1.x, scale_1.y);
      sum_0_2_2 += share(products_0_2_2, scale_0_2, scale_2.x, scale_2.y);
      sum_0_3_2 += share(products_0_3_2, scale_0_2, scale_3.x, scale_3.y);
      sum_0_4_2 += share(products_0_4_2, scale_0_2, scale_4.x, scale_4.y);
      sum_0_5_2 += share(products_0_5_2, scale_0_2, scale_5.x, scale_5.y);
      sum_0_6_2 += share(products_0_6_2, scale_0_2, scale_6.x, scale_6.y);
      sum_0_7_2 += share(products_0_7_2, scale_0_2, scale_7.x, scale_7.y);
      let scale_0_3 = w_scales[(0u * TILE_N + thread_n + 3u * THREADS_N) * TILE_SEGMENTS + segment];
      sum_0_0_3 += share(products_0_0_3, scale_0_3, scale_0.x, scale_0.y);
      sum_0_1_3 += share(products_0_1_3, scale_0_3, scale_1.x, scale_1.y);
      sum_0_2_3 += share(products_0_2_3, scale_0_3, scale_2.x, scale_2.y);
      sum_0_3_3 += share(products_0_3_3, scale_0_3, scale_3.x, scale_3.y);
      sum_0_4_3 += share(products_0_4_3, scale_0_3, scale_4.x, scale_4.y);
      sum_0_5_3 += share(products_0_5_3, scale_0_3, scale_5.x, scale_5.y);
      sum_0_6_3 += share(products_0_6_3, scale_0_3, scale_6.x, scale_6.y);
      sum_0_7_3 += share(products_0_7_3, scale_0_3, scale_7.x, scale_7.y);
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
  store(first_m + thread_m + 4u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_4_0);
  store(first_m + thread_m + 4u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_4_1);
  store(first_m + thread_m + 4u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_4_2);
  store(first_m + thread_m + 4u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_4_3);
  store(first_m + thread_m + 5u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_5_0);
  store(first_m + thread_m + 5u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_5_1);
  store(first_m + thread_m + 5u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_5_2);
  store(first_m + thread_m + 5u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_5_3);
  store(first_m + thread_m + 6u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_6_0);
  store(first_m + thread_m + 6u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_6_1);
  store(first_m + thread_m + 6u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_6_2);
  store(first_m + thread_m + 6u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_6_3);
  store(first_m + thread_m + 7u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_7_0);
  store(first_m + thread_m + 7u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_7_1);
  store(first_m + thread_m + 7u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_7_2);
  store(first_m + thread_m + 7u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_7_3);
}
`,
    },
    "matmul_q2_0_g64_planar_xf32_yf32_k2048_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1": {
      name: "matmul_q2_0_g64_planar_xf32_yf32_k2048_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1",
      computes: "matmul_q2_0_g64_planar_xf32_yf32_k2048_opf16",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "k": 2048, "epilogue": "store", "route": "subgroup_matrix", "tile_m": 128, "tile_n": 128, "tile_k": 64, "operand": "f16", "subgroup_m": 4, "subgroup_n": 2, "matrix": "f16_16x16x16", "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: {"op": "linear", "sizes": ["M", "N", "K"], "given": {"M": "M", "N": "N", "K": "K", "X_STRIDE": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 128]], ["ceil_div", "N", 128]],
      uniforms: {"binding": 4, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}]},
      requirements: {"features": ["subgroups", "shader-f16", "chromium-experimental-subgroup-matrix"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 45056, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 4}, "subgroups": {"min": 32, "max": 32}, "subgroup_matrix": {"component": "f16", "result": "f32", "m": 16, "n": 16, "k": 16, "subgroup_size": 32}},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["eq", "K", 2048], "why": "K is baked in"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", 2048], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", 2048], 64], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], 2048], 4]}, {"binding": 3, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
fn store(row: u32, column: u32, split: u32, m: u32, n: u32, sum: f32) {
  if (row < m && column < n && split == 0u) {
    let place = y_row(row) * n + column;
    let result = sum;
    y[place] = result;
  }
}

// Stores what lies in \`results\`: one matrix of each subgroup, from token \`first_m\` and row \`first_n\` of W of the first
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
`,
    },
    "matmul_q1_0_g128_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1": {
      name: "matmul_q1_0_g128_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1",
      computes: "matmul_q1_0_g128_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "tile", "tile_m": 64, "tile_n": 64, "tile_k": 32, "thread_m": 4, "thread_n": 4, "operand": "f32", "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: {"op": "linear", "sizes": ["M", "N", "K"], "given": {"M": "M", "N": "N", "K": "K", "X_STRIDE": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 64]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 4, "size": 16, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 12, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 16384, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 128], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], "K"], 4]}, {"binding": 3, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul: Y = X W^T for many tokens
// variant matmul_q1_0_g128_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1
// codes: codes [N][K * 1 / 32] u32
// scales: f16 scales in pairs, [N][K / 128]
// x: activations [M][K], rows X_STRIDE elements apart
// y: result [M][N]
const TILE_M: u32 = 64u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 4u;
const THREAD_N: u32 = 4u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 128u;
const STEPS_PER_BLOCK: u32 = 4u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const WORKGROUP_SIZE: u32 = 256u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 1u;
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

// The weights of a step of the matrix.
fn step_weights(step: u32) -> array<vec4<f32>, STEP_FOURS> {
  let values = decode_step(load_step(step));
  let scale = step_scale(step);
  return array<vec4<f32>, STEP_FOURS>(
    scale * values[0u],
    scale * values[1u],
    scale * values[2u],
    scale * values[3u],
    scale * values[4u],
    scale * values[5u],
    scale * values[6u],
    scale * values[7u],
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
      w_tile[tile_place(row, four + 4u)] = select(vec4<f32>(), values[4u], inside);
      w_tile[tile_place(row, four + 5u)] = select(vec4<f32>(), values[5u], inside);
      w_tile[tile_place(row, four + 6u)] = select(vec4<f32>(), values[6u], inside);
      w_tile[tile_place(row, four + 7u)] = select(vec4<f32>(), values[7u], inside);
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
`,
    },
    "matmul_q1_0_g128_planar_xf32_yf32__w1_lut_m16_n64_k32_full_split1": {
      name: "matmul_q1_0_g128_planar_xf32_yf32__w1_lut_m16_n64_k32_full_split1",
      computes: "matmul_q1_0_g128_planar_xf32_yf32",
      kernel: "matmul",
      entry_point: "main",
      constants: {"format": "q1_0", "group": 128, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "lut", "tile_m": 16, "tile_n": 64, "tile_k": 32, "operand": "f32", "table": "full", "num_splits": 1},
      sizes: ["M", "N", "K", "X_STRIDE"],
      alone: {"op": "linear", "sizes": ["M", "N", "K"], "given": {"M": "M", "N": "N", "K": "K", "X_STRIDE": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", 1, ["ceil_div", "M", 16]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 4, "size": 16, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "tokens"}, {"name": "x_stride", "type": "u32", "offset": 4, "value": "X_STRIDE", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 12, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 128], 0], "why": "a row must be whole blocks of 128 weights"}, {"condition": ["ge", "X_STRIDE", "K"], "why": "rows of x do not overlap"}, {"condition": ["eq", ["mod", "X_STRIDE", 4], 0], "why": "x is read four elements at a time"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", "N", "K"], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", "N", "K"], 128], 2]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "M", 1], 1], "X_STRIDE"], "K"], 4]}, {"binding": 3, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
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

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return min(first_n + row, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
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
`,
    },
  },
};
