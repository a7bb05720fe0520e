// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q2_0_g64_planar_yf32__w4_wg64
// codes: codes [N][K * 2 / 32] u32
// scales: f16 scales in pairs, [N][K / 64]
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 64u;
const STEPS_PER_BLOCK: u32 = 1u;
const STEP_FOURS: u32 = 16u;
const STEP_STRIDE: u32 = 0u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

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
fn load_step(step: u32) -> vec4<u32> {
  return codes[step];
}

fn step_scale(step: u32) -> f32 {
  let block = step / STEPS_PER_BLOCK;
  return unpack2x16float(scales[block / 2u])[block % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.x, 1u),
    value4(step.x, 2u),
    value4(step.x, 3u),
    value4(step.y, 0u),
    value4(step.y, 1u),
    value4(step.y, 2u),
    value4(step.y, 3u),
    value4(step.z, 0u),
    value4(step.z, 1u),
    value4(step.z, 2u),
    value4(step.z, 3u),
    value4(step.w, 0u),
    value4(step.w, 1u),
    value4(step.w, 2u),
    value4(step.w, 3u),
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
    scale * values[8u],
    scale * values[9u],
    scale * values[10u],
    scale * values[11u],
    scale * values[12u],
    scale * values[13u],
    scale * values[14u],
    scale * values[15u],
  );
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let k = params.k;
  let row_steps = k / BLOCK_SIZE * STEPS_PER_BLOCK;
  let row = workgroup_index(workgroup_id, num_workgroups);
  if (row < params.r) {
    let id = ids[row];
    // An id below the chunk's first row wraps around, and is above all of them: FIRST_ROW + N is a u32.
    let at = id - params.first_row;
    let absent = (id >= params.rows) & (params.first_row == 0u);
    let steps = select(0u, row_steps, (at < params.n) | absent);
    for (var step = local_index; step < steps; step += WORKGROUP_SIZE) {
      var values = array<vec4<f32>, STEP_FOURS>();
      if (at < params.n) {
        values = step_weights(at * row_steps + step);
      }
      let first = row * (k / 4u) + step_four(step);
      y[first + 0u] = values[0u];
      y[first + 1u] = values[1u];
      y[first + 2u] = values[2u];
      y[first + 3u] = values[3u];
      y[first + 4u] = values[4u];
      y[first + 5u] = values[5u];
      y[first + 6u] = values[6u];
      y[first + 7u] = values[7u];
      y[first + 8u] = values[8u];
      y[first + 9u] = values[9u];
      y[first + 10u] = values[10u];
      y[first + 11u] = values[11u];
      y[first + 12u] = values[12u];
      y[first + 13u] = values[13u];
      y[first + 14u] = values[14u];
      y[first + 15u] = values[15u];
    }
  }
}
