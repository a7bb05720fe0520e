// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** add: y = a + b, element by element. */
export const add = {
  kernel: "add",
  variants: {
    "add_xf32__v4_wg64": {
      name: "add_xf32__v4_wg64",
      computes: "add_xf32",
      kernel: "add",
      entry_point: "main",
      constants: {"activation": "f32", "in_place": false, "vector": 4, "workgroup_size": 64},
      sizes: ["COUNT"],
      alone: null,
      workgroups: ["ceil_div", ["div", "COUNT", 4], 64],
      uniforms: {"binding": 3, "size": 4, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "COUNT", "doc": "elements"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "COUNT", 4], 0], "why": "the elements must be whole loads of 4"}],
      bindings: [{"binding": 0, "name": "a", "access": "read", "element": "vec4<f32>", "length": ["div", "COUNT", 4]}, {"binding": 1, "name": "b", "access": "read", "element": "vec4<f32>", "length": ["div", "COUNT", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", "COUNT", 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
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
`,
    },
    "add_xf32_inplace__v4_wg64": {
      name: "add_xf32_inplace__v4_wg64",
      computes: "add_xf32_inplace",
      kernel: "add",
      entry_point: "main",
      constants: {"activation": "f32", "in_place": true, "vector": 4, "workgroup_size": 64},
      sizes: ["COUNT"],
      alone: null,
      workgroups: ["ceil_div", ["div", "COUNT", 4], 64],
      uniforms: {"binding": 2, "size": 4, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "COUNT", "doc": "elements"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "COUNT", 4], 0], "why": "the elements must be whole loads of 4"}],
      bindings: [{"binding": 0, "name": "b", "access": "read", "element": "vec4<f32>", "length": ["div", "COUNT", 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", "COUNT", 4], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// add: y = a + b, element by element
// variant add_xf32_inplace__v4_wg64
// b: summand [COUNT]
// y: first summand and result [COUNT]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

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
    y[load] = y[load] + b[load];
  }
}
`,
    },
    "add_xf16__v4_wg64": {
      name: "add_xf16__v4_wg64",
      computes: "add_xf16",
      kernel: "add",
      entry_point: "main",
      constants: {"activation": "f16", "in_place": false, "vector": 4, "workgroup_size": 64},
      sizes: ["COUNT"],
      alone: null,
      workgroups: ["ceil_div", ["div", "COUNT", 4], 64],
      uniforms: {"binding": 3, "size": 4, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "COUNT", "doc": "elements"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "COUNT", 4], 0], "why": "the elements must be whole loads of 4"}],
      bindings: [{"binding": 0, "name": "a", "access": "read", "element": "vec4<f16>", "length": ["div", "COUNT", 4]}, {"binding": 1, "name": "b", "access": "read", "element": "vec4<f16>", "length": ["div", "COUNT", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", "COUNT", 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// add: y = a + b, element by element
// variant add_xf16__v4_wg64
// a: summand [COUNT]
// b: summand [COUNT]
// y: result [COUNT]
enable f16;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f16>>;
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
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.count / VECTOR) {
    y[load] = narrow(vec4<f32>(a[load]) + vec4<f32>(b[load]));
  }
}
`,
    },
    "add_xf16_inplace__v4_wg64": {
      name: "add_xf16_inplace__v4_wg64",
      computes: "add_xf16_inplace",
      kernel: "add",
      entry_point: "main",
      constants: {"activation": "f16", "in_place": true, "vector": 4, "workgroup_size": 64},
      sizes: ["COUNT"],
      alone: null,
      workgroups: ["ceil_div", ["div", "COUNT", 4], 64],
      uniforms: {"binding": 2, "size": 4, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "COUNT", "doc": "elements"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "COUNT", 4], 0], "why": "the elements must be whole loads of 4"}],
      bindings: [{"binding": 0, "name": "b", "access": "read", "element": "vec4<f16>", "length": ["div", "COUNT", 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", "COUNT", 4], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
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
`,
    },
  },
};
