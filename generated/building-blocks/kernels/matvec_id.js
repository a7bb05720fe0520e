// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** matvec_id: y = W x with an expert's W for each pair of token and expert. */
export const matvec_id = {
  kernel: "matvec_id",
  variants: {
    "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64": {
      name: "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64",
      computes: "matvec_id_q4_K_planar_m1_xf32_yf32",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "columns": 1, "activation": "f32", "route": "float", "tile_rows": 4, "workgroup_size": 64, "subgroups": false, "output": "f32", "epilogue": "store", "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: {"op": "linear_id", "sizes": ["T", "USED", "EXPERTS", "N", "K"], "given": {"T": "T", "USED": "USED", "EXPERTS": "EXPERTS", "N": "N", "K": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 5, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 1024, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 5}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "T", "K"], 4]}, {"binding": 3, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64
// codes: codes [EXPERTS][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][N][K / 256] of 16 bytes, padded to a word
// x: activations [columns][K]
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const REDUCE_VALUES: u32 = 4u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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

// The activations of a step, and their sum.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
  sum: f32,
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
  let sums = x_0 + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7;
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7),
    sums.x + sums.y + sums.z + sums.w,
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: vec2<f32>, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
  products = fma(weights[4u], x.values[4u], products);
  products = fma(weights[5u], x.values[5u], products);
  products = fma(weights[6u], x.values[6u], products);
  products = fma(weights[7u], x.values[7u], products);
  let total = products.x + products.y + products.z + products.w;
  return scale.x * total + scale.y * x.sum;
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
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
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * n;
  let x_at = pair / params.used;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = total_sum(thread.index, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
    "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64": {
      name: "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64",
      computes: "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "columns": 1, "activation": "f32", "route": "float", "tile_rows": 4, "workgroup_size": 64, "subgroups": false, "output": "f32", "epilogue": "swiglu", "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: {"op": "linear_id", "sizes": ["T", "USED", "EXPERTS", "N", "K"], "given": {"T": "T", "USED": "USED", "EXPERTS": "EXPERTS", "N": "N", "K": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 5, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 2048, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 5}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "T", "K"], 4]}, {"binding": 3, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64
// codes: codes [EXPERTS][2][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][2][N][K / 256] of 16 bytes, padded to a word
// x: activations [columns][K]
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const REDUCE_VALUES: u32 = 8u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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

// The activations of a step, and their sum.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
  sum: f32,
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
  let sums = x_0 + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7;
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7),
    sums.x + sums.y + sums.z + sums.w,
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: vec2<f32>, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
  products = fma(weights[4u], x.values[4u], products);
  products = fma(weights[5u], x.values[5u], products);
  products = fma(weights[6u], x.values[6u], products);
  products = fma(weights[7u], x.values[7u], products);
  let total = products.x + products.y + products.z + products.w;
  return scale.x * total + scale.y * x.sum;
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  sum_slots[4u * WORKGROUP_SIZE + thread.index] = values[4u];
  sum_slots[5u * WORKGROUP_SIZE + thread.index] = values[5u];
  sum_slots[6u * WORKGROUP_SIZE + thread.index] = values[6u];
  sum_slots[7u * WORKGROUP_SIZE + thread.index] = values[7u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[4u * WORKGROUP_SIZE + thread.index] += sum_slots[4u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[5u * WORKGROUP_SIZE + thread.index] += sum_slots[5u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[6u * WORKGROUP_SIZE + thread.index] += sum_slots[6u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[7u * WORKGROUP_SIZE + thread.index] += sum_slots[7u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let n = params.n;
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * 2u * n;
  let x_at = pair / params.used;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let start_4 = start_0 + n * row_steps;
  let start_5 = start_1 + n * row_steps;
  let start_6 = start_2 + n * row_steps;
  let start_7 = start_3 + n * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
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
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = silu(total_sum(thread.index, thread)) * total_sum(thread.index + TILE_ROWS, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
    "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64_sg": {
      name: "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64_sg",
      computes: "matvec_id_q4_K_planar_m1_xf32_yf32",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "columns": 1, "activation": "f32", "route": "float", "tile_rows": 4, "workgroup_size": 64, "subgroups": true, "output": "f32", "epilogue": "store", "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: {"op": "linear_id", "sizes": ["T", "USED", "EXPERTS", "N", "K"], "given": {"T": "T", "USED": "USED", "EXPERTS": "EXPERTS", "N": "N", "K": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 5, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 5}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "T", "K"], 4]}, {"binding": 3, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64_sg
// codes: codes [EXPERTS][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][N][K / 256] of 16 bytes, padded to a word
// x: activations [columns][K]
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const REDUCE_VALUES: u32 = 4u;
const SUBGROUP_SLOTS: u32 = 16u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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

// The activations of a step, and their sum.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
  sum: f32,
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
  let sums = x_0 + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7;
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7),
    sums.x + sums.y + sums.z + sums.w,
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: vec2<f32>, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
  products = fma(weights[4u], x.values[4u], products);
  products = fma(weights[5u], x.values[5u], products);
  products = fma(weights[6u], x.values[6u], products);
  products = fma(weights[7u], x.values[7u], products);
  let total = products.x + products.y + products.z + products.w;
  return scale.x * total + scale.y * x.sum;
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
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * n;
  let x_at = pair / params.used;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = total_sum(thread.index, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
    "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64_sg": {
      name: "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64_sg",
      computes: "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q4_K", "layout": "planar", "columns": 1, "activation": "f32", "route": "float", "tile_rows": 4, "workgroup_size": 64, "subgroups": true, "output": "f32", "epilogue": "swiglu", "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: {"op": "linear_id", "sizes": ["T", "USED", "EXPERTS", "N", "K"], "given": {"T": "T", "USED": "USED", "EXPERTS": "EXPERTS", "N": "N", "K": "K"}, "fixed": {}},
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 5, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 512, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 5}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 256], 0], "why": "a row must be whole blocks of 256 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "u32", "length": ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 32]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", ["div", ["mul", ["mul", ["mul", "EXPERTS", 2], "N"], "K"], 256], 16], 4]}, {"binding": 2, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "T", "K"], 4]}, {"binding": 3, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 4, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64_sg
// codes: codes [EXPERTS][2][N][K / 256][32] u32
// scales: what is not codes, [EXPERTS][2][N][K / 256] of 16 bytes, padded to a word
// x: activations [columns][K]
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
enable subgroups;

const COLUMNS: u32 = 1u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 256u;
const STEPS_PER_BLOCK: u32 = 8u;
const STEP_FOURS: u32 = 8u;
const STEP_STRIDE: u32 = 8u;
const CODE_WORDS: u32 = 32u;
const HEADER_BYTES: u32 = 16u;
const REDUCE_VALUES: u32 = 8u;
const SUBGROUP_SLOTS: u32 = 16u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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

// The activations of a step, and their sum.
struct Activations {
  values: array<vec4<f32>, STEP_FOURS>,
  sum: f32,
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
  let sums = x_0 + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7;
  return Activations(
    array<vec4<f32>, STEP_FOURS>(x_0, x_1, x_2, x_3, x_4, x_5, x_6, x_7),
    sums.x + sums.y + sums.z + sums.w,
  );
}

fn multiply(weights: array<vec4<f32>, STEP_FOURS>, scale: vec2<f32>, x: Activations) -> f32 {
  var products = weights[0u] * x.values[0u];
  products = fma(weights[1u], x.values[1u], products);
  products = fma(weights[2u], x.values[2u], products);
  products = fma(weights[3u], x.values[3u], products);
  products = fma(weights[4u], x.values[4u], products);
  products = fma(weights[5u], x.values[5u], products);
  products = fma(weights[6u], x.values[6u], products);
  products = fma(weights[7u], x.values[7u], products);
  let total = products.x + products.y + products.z + products.w;
  return scale.x * total + scale.y * x.sum;
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
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * 2u * n;
  let x_at = pair / params.used;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let start_4 = start_0 + n * row_steps;
  let start_5 = start_1 + n * row_steps;
  let start_6 = start_2 + n * row_steps;
  let start_7 = start_3 + n * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
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
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = silu(total_sum(thread.index, thread)) * total_sum(thread.index + TILE_ROWS, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
    "matvec_id_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows4_wg64": {
      name: "matvec_id_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows4_wg64",
      computes: "matvec_id_q2_0_g64_planar_m1_xf32_yf32",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 4, "columns": 1, "activation": "f32", "route": "int8", "activation_group": 64, "tile_rows": 4, "workgroup_size": 64, "subgroups": false, "output": "f32", "epilogue": "store", "x_of": "token"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 6, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 1024, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", "T", "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", "T", "K"], 64]}, {"binding": 4, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows4_wg64
// codes: codes [EXPERTS][N][K * 2 / 32] u32
// scales: f16 scales in pairs, [EXPERTS][N][K / 64]
// x8: int8 activations [columns][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;
const CODE_SCALE: i32 = 1i;
const CODE_ZERO: i32 = -1i;
const REDUCE_VALUES: u32 = 4u;
const STEPS_PER_GROUP: u32 = 1u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> ids: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
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
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * n;
  let x_at = pair / params.used;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = total_sum(thread.index, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
    "matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair__w4_int8_a64_rows4_wg64": {
      name: "matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair__w4_int8_a64_rows4_wg64",
      computes: "matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair",
      kernel: "matvec_id",
      entry_point: "main",
      constants: {"format": "q2_0", "group": 64, "layout": "planar", "step_words": 4, "columns": 1, "activation": "f32", "route": "int8", "activation_group": 64, "tile_rows": 4, "workgroup_size": 64, "subgroups": false, "output": "f32", "epilogue": "store", "x_of": "pair"},
      sizes: ["T", "USED", "EXPERTS", "N", "K"],
      alone: null,
      workgroups: ["mul", ["mul", "T", "USED"], ["ceil_div", "N", 4]],
      uniforms: {"binding": 6, "size": 20, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}, {"name": "n", "type": "u32", "offset": 12, "value": "N", "doc": "rows of y"}, {"name": "k", "type": "u32", "offset": 16, "value": "K", "doc": "columns of W"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 1024, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole blocks of 64 weights"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "codes", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64]}, {"binding": 1, "name": "scales", "access": "read", "element": "u32", "length": ["ceil_div", ["div", ["mul", ["mul", "EXPERTS", "N"], "K"], 64], 2]}, {"binding": 2, "name": "x8", "access": "read", "element": "vec4<u32>", "length": ["div", ["mul", ["mul", "T", "USED"], "K"], 16]}, {"binding": 3, "name": "x_scale", "access": "read", "element": "vec2<f32>", "length": ["div", ["mul", ["mul", "T", "USED"], "K"], 64]}, {"binding": 4, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 5, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// matvec_id: y = W x with an expert's W for each pair of token and expert
// variant matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair__w4_int8_a64_rows4_wg64
// codes: codes [EXPERTS][N][K * 2 / 32] u32
// scales: f16 scales in pairs, [EXPERTS][N][K / 64]
// x8: int8 activations [columns][K] as quantize_q8 writes them with stride 4
// x_scale: scale and sum of the integers of each activation group
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// y: result [T][USED][N]
const COLUMNS: u32 = 1u;
const ACTIVATION_GROUP: u32 = 64u;
const TILE_ROWS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;
const CODE_SCALE: i32 = 1i;
const CODE_ZERO: i32 = -1i;
const REDUCE_VALUES: u32 = 4u;
const STEPS_PER_GROUP: u32 = 1u;

struct Params {
  tokens: u32,
  used: u32,
  experts: u32,
  n: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> x8: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> ids: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  sum_slots[2u * WORKGROUP_SIZE + thread.index] = values[2u];
  sum_slots[3u * WORKGROUP_SIZE + thread.index] = values[3u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[2u * WORKGROUP_SIZE + thread.index] += sum_slots[2u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[3u * WORKGROUP_SIZE + thread.index] += sum_slots[3u * WORKGROUP_SIZE + thread.index + stride];
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
  let at = workgroup_index(workgroup_id, num_workgroups);
  let tiles = (n + TILE_ROWS - 1u) / TILE_ROWS;
  let tile = at % tiles * TILE_ROWS;
  let pairs = params.tokens * params.used;
  let pair = min(at / tiles, pairs - 1u);
  let expert = ids[pair];
  // For an expert that is none no step is made, so its sums are zeros.
  let known = expert < params.experts;
  let weight_row = min(expert, params.experts - 1u) * n;
  let x_at = pair;
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let start_0 = (weight_row + min(tile + 0u, n - 1u)) * row_steps;
  let start_1 = (weight_row + min(tile + 1u, n - 1u)) * row_steps;
  let start_2 = (weight_row + min(tile + 2u, n - 1u)) * row_steps;
  let start_3 = (weight_row + min(tile + 3u, n - 1u)) * row_steps;
  let row_end = select(0u, row_steps, known);
  // The sums of a thread: [matrix][column][row of the tile].
  var sums = array<f32, REDUCE_VALUES>();
  for (var step = thread.index; step < row_end; step += WORKGROUP_SIZE) {
    // All loads of a step come first, so that they are in flight together.
    let step_0 = load_step(start_0 + step);
    let scale_0 = step_scale(start_0 + step);
    let step_1 = load_step(start_1 + step);
    let scale_1 = step_scale(start_1 + step);
    let step_2 = load_step(start_2 + step);
    let scale_2 = step_scale(start_2 + step);
    let step_3 = load_step(start_3 + step);
    let scale_3 = step_scale(start_3 + step);
    let x_0 = load_x(step, x_at, k);
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
  let row = tile + thread.index;
  if (thread.index < TILE_ROWS && row < n && at < pairs * tiles) {
    let result = total_sum(thread.index, thread);
    y[pair * n + row] = result;
  }
}
`,
    },
  },
};
