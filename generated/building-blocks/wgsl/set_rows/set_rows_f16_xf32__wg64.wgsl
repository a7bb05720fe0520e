// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// set_rows: rows into a tensor by their ids, quantised if asked
// variant set_rows_f16_xf32__wg64
// x: rows [R][K]
// ids: row of the tensor for each row of x, all different; from ROWS on: none
// y: tensor [ROWS][K]
enable f16;

const WORKGROUP_SIZE: u32 = 64u;
const UNIT: u32 = 4u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  r: u32,
  k: u32,
  rows: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// What a conversion makes of numbers past the range of f16 differs between devices, so they stay at its end.
fn narrow(value: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(clamp(value, vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let row_units = params.k / UNIT;
  if (at < params.r * row_units) {
    let id = ids[at / row_units];
    if (id < params.rows) {
      let place = id * row_units + at % row_units;
      let values = x[at];
      y[place] = narrow(values);
    }
  }
}
