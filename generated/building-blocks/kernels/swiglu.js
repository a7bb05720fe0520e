// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** swiglu: y = silu(gate) up, element by element. */
export const swiglu = {
  kernel: "swiglu",
  variants: {
    "swiglu_xf32__v4_wg64": {
      name: "swiglu_xf32__v4_wg64",
      computes: "swiglu_xf32",
      kernel: "swiglu",
      entry_point: "main",
      constants: {"gelu_tanh": false, "activation": "f32", "packed": false, "vector": 4, "workgroup_size": 64},
      sizes: ["M", "D"],
      alone: null,
      workgroups: ["ceil_div", ["div", ["mul", "M", "D"], 4], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "gate", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "up", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// swiglu: y = silu(gate) up, element by element
// variant swiglu_xf32__v4_wg64
// gate: gate [M][D]
// up: up [M][D]
// y: result [M][D]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  m: u32,
  d: u32,
}

@group(0) @binding(0) var<storage, read> gate: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> up: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
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
  let row_loads = params.d / VECTOR;
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.m * row_loads) {
    let gates = vec4<f32>(gate[load]);
    let ups = vec4<f32>(up[load]);
    let value = vec4<f32>(silu(gates.x), silu(gates.y), silu(gates.z), silu(gates.w)) * ups;
    y[load] = value;
  }
}
`,
    },
    "swiglu_xf32_packed__v4_wg64": {
      name: "swiglu_xf32_packed__v4_wg64",
      computes: "swiglu_xf32_packed",
      kernel: "swiglu",
      entry_point: "main",
      constants: {"gelu_tanh": false, "activation": "f32", "packed": true, "vector": 4, "workgroup_size": 64},
      sizes: ["M", "D"],
      alone: null,
      workgroups: ["ceil_div", ["div", ["mul", "M", "D"], 4], 64],
      uniforms: {"binding": 2, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "gate_up", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", ["mul", 2, "M"], "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// swiglu: y = silu(gate) up, element by element
// variant swiglu_xf32_packed__v4_wg64
// gate_up: gate and up [M][2][D], in every row the gate first
// y: result [M][D]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  m: u32,
  d: u32,
}

@group(0) @binding(0) var<storage, read> gate_up: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
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
  let row_loads = params.d / VECTOR;
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.m * row_loads) {
    let at = load + load / row_loads * row_loads;
    let gates = vec4<f32>(gate_up[at]);
    let ups = vec4<f32>(gate_up[at + row_loads]);
    let value = vec4<f32>(silu(gates.x), silu(gates.y), silu(gates.z), silu(gates.w)) * ups;
    y[load] = value;
  }
}
`,
    },
    "swiglu_xf16__v4_wg64": {
      name: "swiglu_xf16__v4_wg64",
      computes: "swiglu_xf16",
      kernel: "swiglu",
      entry_point: "main",
      constants: {"gelu_tanh": false, "activation": "f16", "packed": false, "vector": 4, "workgroup_size": 64},
      sizes: ["M", "D"],
      alone: null,
      workgroups: ["ceil_div", ["div", ["mul", "M", "D"], 4], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "gate", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "up", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// swiglu: y = silu(gate) up, element by element
// variant swiglu_xf16__v4_wg64
// gate: gate [M][D]
// up: up [M][D]
// y: result [M][D]
enable f16;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  m: u32,
  d: u32,
}

@group(0) @binding(0) var<storage, read> gate: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> up: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
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
  let row_loads = params.d / VECTOR;
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.m * row_loads) {
    let gates = vec4<f32>(gate[load]);
    let ups = vec4<f32>(up[load]);
    let value = vec4<f32>(silu(gates.x), silu(gates.y), silu(gates.z), silu(gates.w)) * ups;
    y[load] = narrow(value);
  }
}
`,
    },
    "swiglu_xf16_packed__v4_wg64": {
      name: "swiglu_xf16_packed__v4_wg64",
      computes: "swiglu_xf16_packed",
      kernel: "swiglu",
      entry_point: "main",
      constants: {"gelu_tanh": false, "activation": "f16", "packed": true, "vector": 4, "workgroup_size": 64},
      sizes: ["M", "D"],
      alone: null,
      workgroups: ["ceil_div", ["div", ["mul", "M", "D"], 4], 64],
      uniforms: {"binding": 2, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "gate_up", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", ["mul", 2, "M"], "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// swiglu: y = silu(gate) up, element by element
// variant swiglu_xf16_packed__v4_wg64
// gate_up: gate and up [M][2][D], in every row the gate first
// y: result [M][D]
enable f16;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  m: u32,
  d: u32,
}

@group(0) @binding(0) var<storage, read> gate_up: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(2) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
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
  let row_loads = params.d / VECTOR;
  let load = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (load < params.m * row_loads) {
    let at = load + load / row_loads * row_loads;
    let gates = vec4<f32>(gate_up[at]);
    let ups = vec4<f32>(gate_up[at + row_loads]);
    let value = vec4<f32>(silu(gates.x), silu(gates.y), silu(gates.z), silu(gates.w)) * ups;
    y[load] = narrow(value);
  }
}
`,
    },
  },
};
