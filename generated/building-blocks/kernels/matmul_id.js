// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** matmul_id: Y = X W^T with an expert's W for each pair of token and expert. */
export const matmul_id = {
  kernel: "matmul_id",
  variants: {
    "matmul_id_q4_K_planar_xf32_yf32_m16__tile_n32_k32_t1_x4_split1": {
      name: "matmul_id_q4_K_planar_xf32_yf32_m16__tile_n32_k32_t1_x4_split1",
      computes: "matmul_id_q4_K_planar_xf32_yf32_m16",
      kernel: "matmul_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "activation": "f32", "output": "f32", "epilogue": "store", "route": "tile", "tile_m": 16, "tile_n": 32, "tile_k": 32, "thread_m": 1, "thread_n": 4, "operand": "f32", "num_splits": 1, "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", ["min", ["mul", "T", "USED"], 1], ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 16], "EXPERTS"], 1]], ["ceil_div", "N", 32]],
      uniforms: {"binding": 6, "size": 24, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "x_stride", "type": "u32", "offset": 12, "value": "K", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 16, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 20, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 6144, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["le", "EXPERTS", 256], "why": "expert_rows has a place for 256"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "T", 1], 1], "K"], "K"], 4]}, {"binding": 3, "name": "pairs", "access": "read", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 4, "name": "tiles", "access": "read", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 16], "EXPERTS"], 1]}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul_id: Y = X W^T with an expert's W for each pair of token and expert
// variant matmul_id_q4_K_planar_xf32_yf32_m16__tile_n32_k32_t1_x4_split1
// codes: codes [EXPERTS][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][N][K / 256] of 16 bytes, padded to a word
// x: activations [T][K]
// pairs: pairs, sorted by expert
// tiles: expert, first, count and 0
// y: result [T][USED][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 32u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 1u;
const THREAD_N: u32 = 4u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 1u;
const THREADS_M: u32 = 16u;
const THREADS_N: u32 = 8u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  x_stride: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> pairs: array<u32>;
@group(0) @binding(4) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> x_tile: array<vec4<f32>, TILE_M * TILE_FOURS>;
var<workgroup> w_tile: array<vec4<f32>, TILE_N * TILE_FOURS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// planar: all code words in row order, and all other bytes of the blocks in another plane.
fn code_word(block: u32, at: u32) -> u32 {
  return codes[block * CODE_WORDS + at];
}

// Byte \`at\` of those of a block that are not codes, in the order of the file.
fn header_byte(block: u32, at: u32) -> u32 {
  let byte = block * HEADER_BYTES + at;
  return (scales[byte / 4u] >> (8u * (byte % 4u))) & 0xffu;
}

// The f16 in the bytes \`at\` and \`at\` + 1 of them.
fn header_half(block: u32, at: u32) -> f32 {
  let byte = block * HEADER_BYTES + at;
  return unpack2x16float(scales[byte / 4u])[(byte / 2u) % 2u];
}

// q4_K: eight groups of 32 codes of 4 bits; in a run of 32 bytes the low halves are one group, the high halves the
// next. weight = d * scale * code - m * minimum.
fn load_step(step: u32) -> array<u32, STEP_FOURS> {
  let part = step % STEPS_PER_BLOCK;
  let block = step / STEPS_PER_BLOCK;
  let first = part / 2u * 8u;
  let shift = part % 2u * 4u;
  return array<u32, STEP_FOURS>(
    (code_word(block, first + 0u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 1u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 2u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 3u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 4u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 5u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 6u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 7u) >> shift) & 0x0f0f0f0fu,
  );
}

// x scales the codes, y is added to each weight. Scales and minima 0 to 3 are the low 6 bits of a byte each; of the
// others the low 4 bits stand in one byte, scale below minimum, and the upper 2 bits on top of the first four.
fn step_scale(step: u32) -> vec2<f32> {
  let part = step % STEPS_PER_BLOCK;
  let block = step / STEPS_PER_BLOCK;
  let i = part % 4u;
  let first = vec2<u32>(header_byte(block, 4u + i), header_byte(block, 8u + i));
  let both = header_byte(block, 12u + i);
  let last = vec2<u32>(both & 15u, both >> 4u) | ((first >> vec2<u32>(6u)) << vec2<u32>(4u));
  let sixes = select(first & vec2<u32>(63u), last, part >= 4u);
  return vec2<f32>(header_half(block, 0u), -header_half(block, 2u)) * vec2<f32>(sixes);
}

// Bytes that are made 0 to 255 and placed at bits 0 and 8 of the mantissas of 2^23 and 2^15 each count 1 there, so
// taking off that power and the bias leaves the value, exactly and without a conversion.
fn bytes4(codes: u32) -> vec4<f32> {
  let biased = codes ^ 0x80808080u;
  let bytes = vec4<u32>(biased, biased, biased >> 16u, biased >> 16u) & vec4<u32>(0xffu, 0xff00u, 0xffu, 0xff00u);
  let floats = bitcast<vec4<f32>>(bytes | vec4<u32>(0x4b000000u, 0x47000000u, 0x4b000000u, 0x47000000u));
  return floats - vec4<f32>(8388736.0f, 32896.0f, 8388736.0f, 32896.0f);
}

// The values of one step, still without its scale.
fn decode_step(step: array<u32, STEP_FOURS>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    bytes4(step[0u]),
    bytes4(step[1u]),
    bytes4(step[2u]),
    bytes4(step[3u]),
    bytes4(step[4u]),
    bytes4(step[5u]),
    bytes4(step[6u]),
    bytes4(step[7u]),
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
    scale.x * values[0u] + scale.y,
    scale.x * values[1u] + scale.y,
    scale.x * values[2u] + scale.y,
    scale.x * values[3u] + scale.y,
    scale.x * values[4u] + scale.y,
    scale.x * values[5u] + scale.y,
    scale.x * values[6u] + scale.y,
    scale.x * values[7u] + scale.y,
  );
}

// Where the row of a tile stands in x and in the result: a row is a place in \`pairs\`.
fn x_row(row: u32) -> u32 {
  return pairs[row] / params.used;
}

fn y_row(row: u32) -> u32 {
  return pairs[row];
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
  var sum_0_0_0 = 0.0f;
  var part_0_0_0 = 0.0f;
  var sum_0_0_1 = 0.0f;
  var part_0_0_1 = 0.0f;
  var sum_0_0_2 = 0.0f;
  var part_0_0_2 = 0.0f;
  var sum_0_0_3 = 0.0f;
  var part_0_0_3 = 0.0f;
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
      let w_0_0 = w_tile[tile_place(0u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_0_0_0 += dot(x_0, w_0_0);
      let w_0_1 = w_tile[tile_place(0u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_0_0_1 += dot(x_0, w_0_1);
      let w_0_2 = w_tile[tile_place(0u * TILE_N + thread_n + 2u * THREADS_N, four)];
      part_0_0_2 += dot(x_0, w_0_2);
      let w_0_3 = w_tile[tile_place(0u * TILE_N + thread_n + 3u * THREADS_N, four)];
      part_0_0_3 += dot(x_0, w_0_3);
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
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_0_1);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_0_2);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_0_3);
}
`,
    },
    "matmul_id_q4_K_planar_xf32_yf32_swiglu_m16__tile_n32_k32_t1_x4_split1": {
      name: "matmul_id_q4_K_planar_xf32_yf32_swiglu_m16__tile_n32_k32_t1_x4_split1",
      computes: "matmul_id_q4_K_planar_xf32_yf32_swiglu_m16",
      kernel: "matmul_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "activation": "f32", "output": "f32", "epilogue": "swiglu", "route": "tile", "tile_m": 16, "tile_n": 32, "tile_k": 32, "thread_m": 1, "thread_n": 4, "operand": "f32", "num_splits": 1, "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", ["min", ["mul", "T", "USED"], 1], ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 16], "EXPERTS"], 1]], ["ceil_div", "N", 32]],
      uniforms: {"binding": 6, "size": 24, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "x_stride", "type": "u32", "offset": 12, "value": "K", "doc": "elements from a row of x to the next"}, {"name": "n", "type": "u32", "offset": 16, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 20, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 10240, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["le", "EXPERTS", 256], "why": "expert_rows has a place for 256"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["add", ["mul", ["sub", ["max", "T", 1], 1], "K"], "K"], 4]}, {"binding": 3, "name": "pairs", "access": "read", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 4, "name": "tiles", "access": "read", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 16], "EXPERTS"], 1]}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul_id: Y = X W^T with an expert's W for each pair of token and expert
// variant matmul_id_q4_K_planar_xf32_yf32_swiglu_m16__tile_n32_k32_t1_x4_split1
// codes: codes [EXPERTS][2][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][2][N][K / 256] of 16 bytes, padded to a word
// x: activations [T][K]
// pairs: pairs, sorted by expert
// tiles: expert, first, count and 0
// y: result [T][USED][N]
const TILE_M: u32 = 16u;
const TILE_N: u32 = 32u;
const TILE_K: u32 = 32u;
const THREAD_M: u32 = 1u;
const THREAD_N: u32 = 4u;
const NUM_SPLITS: u32 = 1u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const WORKGROUP_SIZE: u32 = 128u;
const TILE_FOURS: u32 = 8u;
const SUM_TILES: u32 = 16u;
const TILE_STEPS: u32 = 1u;
const THREADS_M: u32 = 16u;
const THREADS_N: u32 = 8u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  x_stride: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> pairs: array<u32>;
@group(0) @binding(4) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> x_tile: array<vec4<f32>, TILE_M * TILE_FOURS>;
var<workgroup> w_tile: array<vec4<f32>, 2u * TILE_N * TILE_FOURS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// planar: all code words in row order, and all other bytes of the blocks in another plane.
fn code_word(block: u32, at: u32) -> u32 {
  return codes[block * CODE_WORDS + at];
}

// Byte \`at\` of those of a block that are not codes, in the order of the file.
fn header_byte(block: u32, at: u32) -> u32 {
  let byte = block * HEADER_BYTES + at;
  return (scales[byte / 4u] >> (8u * (byte % 4u))) & 0xffu;
}

// The f16 in the bytes \`at\` and \`at\` + 1 of them.
fn header_half(block: u32, at: u32) -> f32 {
  let byte = block * HEADER_BYTES + at;
  return unpack2x16float(scales[byte / 4u])[(byte / 2u) % 2u];
}

// q4_K: eight groups of 32 codes of 4 bits; in a run of 32 bytes the low halves are one group, the high halves the
// next. weight = d * scale * code - m * minimum.
fn load_step(step: u32) -> array<u32, STEP_FOURS> {
  let part = step % STEPS_PER_BLOCK;
  let block = step / STEPS_PER_BLOCK;
  let first = part / 2u * 8u;
  let shift = part % 2u * 4u;
  return array<u32, STEP_FOURS>(
    (code_word(block, first + 0u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 1u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 2u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 3u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 4u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 5u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 6u) >> shift) & 0x0f0f0f0fu,
    (code_word(block, first + 7u) >> shift) & 0x0f0f0f0fu,
  );
}

// x scales the codes, y is added to each weight. Scales and minima 0 to 3 are the low 6 bits of a byte each; of the
// others the low 4 bits stand in one byte, scale below minimum, and the upper 2 bits on top of the first four.
fn step_scale(step: u32) -> vec2<f32> {
  let part = step % STEPS_PER_BLOCK;
  let block = step / STEPS_PER_BLOCK;
  let i = part % 4u;
  let first = vec2<u32>(header_byte(block, 4u + i), header_byte(block, 8u + i));
  let both = header_byte(block, 12u + i);
  let last = vec2<u32>(both & 15u, both >> 4u) | ((first >> vec2<u32>(6u)) << vec2<u32>(4u));
  let sixes = select(first & vec2<u32>(63u), last, part >= 4u);
  return vec2<f32>(header_half(block, 0u), -header_half(block, 2u)) * vec2<f32>(sixes);
}

// Bytes that are made 0 to 255 and placed at bits 0 and 8 of the mantissas of 2^23 and 2^15 each count 1 there, so
// taking off that power and the bias leaves the value, exactly and without a conversion.
fn bytes4(codes: u32) -> vec4<f32> {
  let biased = codes ^ 0x80808080u;
  let bytes = vec4<u32>(biased, biased, biased >> 16u, biased >> 16u) & vec4<u32>(0xffu, 0xff00u, 0xffu, 0xff00u);
  let floats = bitcast<vec4<f32>>(bytes | vec4<u32>(0x4b000000u, 0x47000000u, 0x4b000000u, 0x47000000u));
  return floats - vec4<f32>(8388736.0f, 32896.0f, 8388736.0f, 32896.0f);
}

// The values of one step, still without its scale.
fn decode_step(step: array<u32, STEP_FOURS>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    bytes4(step[0u]),
    bytes4(step[1u]),
    bytes4(step[2u]),
    bytes4(step[3u]),
    bytes4(step[4u]),
    bytes4(step[5u]),
    bytes4(step[6u]),
    bytes4(step[7u]),
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
    scale.x * values[0u] + scale.y,
    scale.x * values[1u] + scale.y,
    scale.x * values[2u] + scale.y,
    scale.x * values[3u] + scale.y,
    scale.x * values[4u] + scale.y,
    scale.x * values[5u] + scale.y,
    scale.x * values[6u] + scale.y,
    scale.x * values[7u] + scale.y,
  );
}

// 1 / (1 + exp(-x)) by way of exp(-|x|), which cannot overflow. At -200 that is 0 already, so exp never meets
// numbers at the end of f32. NaN is told by its bits and passed on: exp and min lose it on some devices.
fn sigmoid(x: f32) -> f32 {
  let falling = exp(-min(abs(x), 200.0f));
  let share = select(falling, 1.0f, x >= 0.0f) / (1.0f + falling);
  return select(share, x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}

fn silu(x: f32) -> f32 {
  return x * sigmoid(x);
}

// Where the row of a tile stands in x and in the result: a row is a place in \`pairs\`.
fn x_row(row: u32) -> u32 {
  return pairs[row] / params.used;
}

fn y_row(row: u32) -> u32 {
  return pairs[row];
}

// The row of the weights that stands at \`row\` of the tile's; past the end of a matrix its last one.
fn weight_row(row: u32, first_n: u32, n: u32) -> u32 {
  return row / TILE_N * n + min(first_n + row % TILE_N, n - 1u);
}

// Stores the result of token \`row\` and row \`column\` of W, or nothing past the end of either.
fn store(row: u32, column: u32, split: u32, m: u32, n: u32, sum: f32, up: f32) {
  if (row < m && column < n && split == 0u) {
    let place = y_row(row) * n + column;
    let result = silu(sum) * up;
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
  let first_weight_row = expert * 2u * n;
  let first_n = at / places * TILE_N;
  let split = 0u;
  // An expert that is none has no tile of K, so that its sums are zeros.
  let first_tile = 0u;
  let last_tile = select(0u, (k + TILE_K - 1u) / TILE_K, chosen.x < params.experts);
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
  var sum_1_0_0 = 0.0f;
  var part_1_0_0 = 0.0f;
  var sum_1_0_1 = 0.0f;
  var part_1_0_1 = 0.0f;
  var sum_1_0_2 = 0.0f;
  var part_1_0_2 = 0.0f;
  var sum_1_0_3 = 0.0f;
  var part_1_0_3 = 0.0f;
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
    for (var place = local_index; place < 2u * TILE_N * TILE_STEPS; place += WORKGROUP_SIZE) {
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
      let w_0_0 = w_tile[tile_place(0u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_0_0_0 += dot(x_0, w_0_0);
      let w_0_1 = w_tile[tile_place(0u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_0_0_1 += dot(x_0, w_0_1);
      let w_0_2 = w_tile[tile_place(0u * TILE_N + thread_n + 2u * THREADS_N, four)];
      part_0_0_2 += dot(x_0, w_0_2);
      let w_0_3 = w_tile[tile_place(0u * TILE_N + thread_n + 3u * THREADS_N, four)];
      part_0_0_3 += dot(x_0, w_0_3);
      let w_1_0 = w_tile[tile_place(1u * TILE_N + thread_n + 0u * THREADS_N, four)];
      part_1_0_0 += dot(x_0, w_1_0);
      let w_1_1 = w_tile[tile_place(1u * TILE_N + thread_n + 1u * THREADS_N, four)];
      part_1_0_1 += dot(x_0, w_1_1);
      let w_1_2 = w_tile[tile_place(1u * TILE_N + thread_n + 2u * THREADS_N, four)];
      part_1_0_2 += dot(x_0, w_1_2);
      let w_1_3 = w_tile[tile_place(1u * TILE_N + thread_n + 3u * THREADS_N, four)];
      part_1_0_3 += dot(x_0, w_1_3);
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
      sum_1_0_0 += part_1_0_0;
      part_1_0_0 = 0.0f;
      sum_1_0_1 += part_1_0_1;
      part_1_0_1 = 0.0f;
      sum_1_0_2 += part_1_0_2;
      part_1_0_2 = 0.0f;
      sum_1_0_3 += part_1_0_3;
      part_1_0_3 = 0.0f;
    }
    workgroupBarrier();
  }
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 0u * THREADS_N, split, m, n, sum_0_0_0, sum_1_0_0);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 1u * THREADS_N, split, m, n, sum_0_0_1, sum_1_0_1);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 2u * THREADS_N, split, m, n, sum_0_0_2, sum_1_0_2);
  store(first_m + thread_m + 0u * THREADS_M, first_n + thread_n + 3u * THREADS_N, split, m, n, sum_0_0_3, sum_1_0_3);
}
`,
    },
    "matmul_id_q2_0_g64_planar_xf32_yf32_m32__w1_int8_n64_k64_t4_x4_a64_split1": {
      name: "matmul_id_q2_0_g64_planar_xf32_yf32_m32__w1_int8_n64_k64_t4_x4_a64_split1",
      computes: "matmul_id_q2_0_g64_planar_xf32_yf32_m32",
      kernel: "matmul_id",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "int8", "tile_m": 32, "tile_n": 64, "tile_k": 64, "thread_m": 4, "thread_n": 4, "activation_group": 64, "num_splits": 1, "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", ["min", ["mul", "T", "USED"], 1], ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 32], "EXPERTS"], 1]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 7}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["le", "EXPERTS", 256], "why": "expert_rows has a place for 256"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "T", "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", "T", "K"], 64]}, {"binding": 4, "name": "pairs", "access": "read", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 5, "name": "tiles", "access": "read", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 32], "EXPERTS"], 1]}, {"binding": 6, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matmul_id: Y = X W^T with an expert's W for each pair of token and expert
// variant matmul_id_q2_0_g64_planar_xf32_yf32_m32__w1_int8_n64_k64_t4_x4_a64_split1
// codes: codes [EXPERTS][N][K * 2 / 32] u32
// scales: f16 scales in pairs, [EXPERTS][N][K / 64]
// x8: int8 activations [T][K] as quantize_q8 writes them with stride 4
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

// Where the row of a tile stands in x and in the result: a row is a place in \`pairs\`.
fn x_row(row: u32) -> u32 {
  return pairs[row] / params.used;
}

fn y_row(row: u32) -> u32 {
  return pairs[row];
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
`,
    },
    "matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair__w1_int8_n64_k64_t4_x4_a64_split1": {
      name: "matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair__w1_int8_n64_k64_t4_x4_a64_split1",
      computes: "matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair",
      kernel: "matmul_id",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 1, "activation": "f32", "output": "f32", "epilogue": "store", "route": "int8", "tile_m": 32, "tile_n": 64, "tile_k": 64, "thread_m": 4, "thread_n": 4, "activation_group": 64, "num_splits": 1, "x_of": "pair"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", ["min", ["mul", "T", "USED"], 1], ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 32], "EXPERTS"], 1]], ["ceil_div", "N", 64]],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of W"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 7}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["le", "EXPERTS", 256], "why": "expert_rows has a place for 256"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 16]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", ["mul", "T", "USED"], "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", ["mul", "T", "USED"], "K"], 64]}, {"binding": 4, "name": "pairs", "access": "read", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 5, "name": "tiles", "access": "read", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 32], "EXPERTS"], 1]}, {"binding": 6, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
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

// Where the row of a tile stands in x and in the result: a row is a place in \`pairs\`.
fn x_row(row: u32) -> u32 {
  return pairs[row];
}

fn y_row(row: u32) -> u32 {
  return pairs[row];
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
`,
    },
  },
};
