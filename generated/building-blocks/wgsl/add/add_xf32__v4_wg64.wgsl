// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// add: y = a + b, element by element
// variant add_xf32__v4_wg64
// a: summand [COUNT]
// b: summand [COUNT]
// y: result [COUNT]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.count / VECTOR) {
    y[load] = a[load] + b[load];
  }
}
