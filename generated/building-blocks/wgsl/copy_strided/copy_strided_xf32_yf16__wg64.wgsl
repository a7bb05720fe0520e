// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// copy_strided: y[strided] = x[strided] over four dimensions
// variant copy_strided_xf32_yf16__wg64
// x: source
// y: destination; what no index reaches stays
enable f16;

const WORKGROUP_SIZE: u32 = 64u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  size_0: u32,
  size_1: u32,
  size_2: u32,
  size_3: u32,
  from_0: u32,
  from_1: u32,
  from_2: u32,
  from_3: u32,
  to_0: u32,
  to_1: u32,
  to_2: u32,
  to_3: u32,
  from_offset: u32,
  to_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f16>;
@group(0) @binding(2) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// What a conversion makes of numbers past the range of f16 differs between devices, so they stay at its end.
fn narrow(value: f32) -> f16 {
  return f16(clamp(value, f32(-F16_MAX), f32(F16_MAX)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let index = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (index < params.size_0 * params.size_1 * params.size_2 * params.size_3) {
    let i3 = index % params.size_3;
    let rows = index / params.size_3;
    let i2 = rows % params.size_2;
    let planes = rows / params.size_2;
    let i1 = planes % params.size_1;
    let i0 = planes / params.size_1;
    let value = x[params.from_offset + i0 * params.from_0 + i1 * params.from_1 + i2 * params.from_2 + i3 * params.from_3];
    y[params.to_offset + i0 * params.to_0 + i1 * params.to_1 + i2 * params.to_2 + i3 * params.to_3] = narrow(value);
  }
}
