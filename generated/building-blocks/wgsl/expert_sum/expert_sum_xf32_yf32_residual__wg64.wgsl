// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// expert_sum: y = the weighted sum of what a token's experts made
// variant expert_sum_xf32_yf32_residual__wg64
// x: rows [T][USED][N]
// gates: weight of each pair [T][USED]
// y: added to, and result [T][N]
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  tokens: u32,
  used: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gates: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
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
  let at = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (at < params.tokens * params.n) {
    let first = at / params.n * params.used;
    var sum = y[at];
    for (var pair = first; pair < first + params.used; pair++) {
      let value = x[pair * params.n + at % params.n];
      sum += gates[pair] * value;
    }
    y[at] = sum;
  }
}
