// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.
//
// get_rows: rows of a weight matrix by their ids; zeros for an id out of range
// variant get_rows_q8_0_ggml_yf32__w4_wg64
// weights: blocks [N][K / 32] of 34 bytes, padded to a word at the end
// ids: ids of the rows; from ROWS on: zeros
// y: rows [R][K]
const WORKGROUP_SIZE: u32 = 64u;
const BLOCK_SIZE: u32 = 32u;
const STEPS_PER_BLOCK: u32 = 2u;
const STEP_FOURS: u32 = 4u;
const STEP_STRIDE: u32 = 4u;
const BLOCK_BYTES: u32 = 34u;
const CODE_OFFSET: u32 = 2u;

struct Params {
  n: u32,
  r: u32,
  k: u32,
  first_row: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// q8_0: four signed bytes a word; the value is code * d.
fn value4(unit: u32, four: u32) -> vec4<f32> {
  return vec4<f32>((vec4<i32>(bitcast<i32>(unit)) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u));
}

// ggml: the file's blocks as they are; a block may start in the middle of a word.
fn load_step(step: u32) -> vec4<u32> {
  let block = step / STEPS_PER_BLOCK;
  let byte = block * BLOCK_BYTES + CODE_OFFSET + (step % STEPS_PER_BLOCK) * 16u;
  let word = byte / 4u;
  let word_0 = weights[word + 0u];
  let word_1 = weights[word + 1u];
  let word_2 = weights[word + 2u];
  let word_3 = weights[word + 3u];
  // One word more where the step starts in the middle of one; no branch, which some compilers cannot afford here.
  let odd = (byte / 2u) % 2u;
  let word_4 = weights[word + 3u + odd];
  let here = vec4<u32>(word_0, word_1, word_2, word_3);
  let next = vec4<u32>(word_1, word_2, word_3, word_4);
  return select(here, (here >> vec4<u32>(16u)) | (next << vec4<u32>(16u)), odd == 1u);
}

fn step_scale(step: u32) -> f32 {
  let byte = step / STEPS_PER_BLOCK * BLOCK_BYTES;
  return unpack2x16float(weights[byte / 4u])[(byte / 2u) % 2u];
}

// The values of one step, still without the block's scale.
fn decode_step(step: vec4<u32>) -> array<vec4<f32>, STEP_FOURS> {
  return array<vec4<f32>, STEP_FOURS>(
    value4(step.x, 0u),
    value4(step.y, 0u),
    value4(step.z, 0u),
    value4(step.w, 0u),
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
    }
  }
}
