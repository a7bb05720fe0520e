// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
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

// Byte `at` of those of a block that are not codes, in the order of the file.
fn header_byte(block: u32, at: u32) -> u32 {
  let byte = block * HEADER_BYTES + at;
  return (scales[byte / 4u] >> (8u * (byte % 4u))) & 0xffu;
}

// The f16 in the bytes `at` and `at` + 1 of them.
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
