// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// add: y = a + b, element by element
// variant add_xf16_inplace__v4_wg64
// b: summand [COUNT]
// y: first summand and result [COUNT]
enable f16;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> b: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(2) var<uniform> params: Params;

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
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.count / VECTOR) {
    y[load] = narrow(vec4<f32>(y[load]) + vec4<f32>(b[load]));
  }
}
