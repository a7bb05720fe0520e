// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** expert_sum: y = the weighted sum of what a token's experts made. */
export const expert_sum = {
  kernel: "expert_sum",
  variants: {
    "expert_sum_xf32_yf32__wg64": {
      name: "expert_sum_xf32_yf32__wg64",
      computes: "expert_sum_xf32_yf32",
      kernel: "expert_sum",
      entry_point: "main",
      constants: {"activation": "f32", "output": "f32", "residual": false, "workgroup_size": 64},
      sizes: ["T", "USED", "N"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "T", "N"], 64],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "elements of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}, {"binding": 1, "name": "gates", "access": "read", "element": "f32", "length": ["mul", "T", "USED"]}, {"binding": 2, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "T", "N"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// expert_sum: y = the weighted sum of what a token's experts made
// variant expert_sum_xf32_yf32__wg64
// x: rows [T][USED][N]
// gates: weight of each pair [T][USED]
// y: result [T][N]
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
    var sum = 0.0f;
    for (var pair = first; pair < first + params.used; pair++) {
      let value = x[pair * params.n + at % params.n];
      sum += gates[pair] * value;
    }
    y[at] = sum;
  }
}
`,
    },
    "expert_sum_xf32_yf32_residual__wg64": {
      name: "expert_sum_xf32_yf32_residual__wg64",
      computes: "expert_sum_xf32_yf32_residual",
      kernel: "expert_sum",
      entry_point: "main",
      constants: {"activation": "f32", "output": "f32", "residual": true, "workgroup_size": 64},
      sizes: ["T", "USED", "N"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "T", "N"], 64],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "tokens", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "n", "type": "u32", "offset": 8, "value": "N", "doc": "elements of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": ["mul", ["mul", "T", "USED"], "N"]}, {"binding": 1, "name": "gates", "access": "read", "element": "f32", "length": ["mul", "T", "USED"]}, {"binding": 2, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "T", "N"], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
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
`,
    },
  },
};
