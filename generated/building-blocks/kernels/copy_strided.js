// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** copy_strided: y[strided] = x[strided] over four dimensions. */
export const copy_strided = {
  kernel: "copy_strided",
  variants: {
    "copy_strided_xf32_yf32__wg64": {
      name: "copy_strided_xf32_yf32__wg64",
      computes: "copy_strided_xf32_yf32",
      kernel: "copy_strided",
      entry_point: "main",
      constants: {"source": "f32", "destination": "f32", "workgroup_size": 64},
      sizes: ["S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "D0", "D1", "D2", "D3", "SRC_OFFSET", "DST_OFFSET", "SRC_LENGTH", "DST_LENGTH"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 64],
      uniforms: {"binding": 2, "size": 56, "fields": [{"name": "size_0", "type": "u32", "offset": 0, "value": "S0", "doc": "elements of dimension 0"}, {"name": "size_1", "type": "u32", "offset": 4, "value": "S1", "doc": "elements of dimension 1"}, {"name": "size_2", "type": "u32", "offset": 8, "value": "S2", "doc": "elements of dimension 2"}, {"name": "size_3", "type": "u32", "offset": 12, "value": "S3", "doc": "elements of dimension 3"}, {"name": "from_0", "type": "u32", "offset": 16, "value": "A0", "doc": "source stride of dimension 0"}, {"name": "from_1", "type": "u32", "offset": 20, "value": "A1", "doc": "source stride of dimension 1"}, {"name": "from_2", "type": "u32", "offset": 24, "value": "A2", "doc": "source stride of dimension 2"}, {"name": "from_3", "type": "u32", "offset": 28, "value": "A3", "doc": "source stride of dimension 3"}, {"name": "to_0", "type": "u32", "offset": 32, "value": "D0", "doc": "destination stride of dimension 0"}, {"name": "to_1", "type": "u32", "offset": 36, "value": "D1", "doc": "destination stride of dimension 1"}, {"name": "to_2", "type": "u32", "offset": 40, "value": "D2", "doc": "destination stride of dimension 2"}, {"name": "to_3", "type": "u32", "offset": 44, "value": "D3", "doc": "destination stride of dimension 3"}, {"name": "from_offset", "type": "u32", "offset": 48, "value": "SRC_OFFSET", "doc": "first element of the source"}, {"name": "to_offset", "type": "u32", "offset": 52, "value": "DST_OFFSET", "doc": "first element of the destination"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "SRC_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "A0"]], ["mul", ["sub", ["max", "S1", 1], 1], "A1"]], ["mul", ["sub", ["max", "S2", 1], 1], "A2"]], ["mul", ["sub", ["max", "S3", 1], 1], "A3"]], "SRC_LENGTH"]], "why": "the source ends before that"}, {"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "DST_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "D0"]], ["mul", ["sub", ["max", "S1", 1], 1], "D1"]], ["mul", ["sub", ["max", "S2", 1], 1], "D2"]], ["mul", ["sub", ["max", "S3", 1], 1], "D3"]], "DST_LENGTH"]], "why": "the destination ends before that"}, {"condition": ["or", ["le", "S0", 1], ["gt", "D0", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S1", 1], ["gt", "D1", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S2", 1], ["gt", "D2", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S3", 1], ["gt", "D3", 0]], "why": "elements would be written over each other"}, {"condition": ["le", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], "DST_LENGTH"], "why": "elements would be written over each other"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": "SRC_LENGTH"}, {"binding": 1, "name": "y", "access": "read_write", "element": "f32", "length": "DST_LENGTH", "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// copy_strided: y[strided] = x[strided] over four dimensions
// variant copy_strided_xf32_yf32__wg64
// x: source
// y: destination; what no index reaches stays
const WORKGROUP_SIZE: u32 = 64u;

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
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
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
  let index = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (index < params.size_0 * params.size_1 * params.size_2 * params.size_3) {
    let i3 = index % params.size_3;
    let rows = index / params.size_3;
    let i2 = rows % params.size_2;
    let planes = rows / params.size_2;
    let i1 = planes % params.size_1;
    let i0 = planes / params.size_1;
    let value = x[params.from_offset + i0 * params.from_0 + i1 * params.from_1 + i2 * params.from_2 + i3 * params.from_3];
    y[params.to_offset + i0 * params.to_0 + i1 * params.to_1 + i2 * params.to_2 + i3 * params.to_3] = value;
  }
}
`,
    },
    "copy_strided_xf32_yf16__wg64": {
      name: "copy_strided_xf32_yf16__wg64",
      computes: "copy_strided_xf32_yf16",
      kernel: "copy_strided",
      entry_point: "main",
      constants: {"source": "f32", "destination": "f16", "workgroup_size": 64},
      sizes: ["S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "D0", "D1", "D2", "D3", "SRC_OFFSET", "DST_OFFSET", "SRC_LENGTH", "DST_LENGTH"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 64],
      uniforms: {"binding": 2, "size": 56, "fields": [{"name": "size_0", "type": "u32", "offset": 0, "value": "S0", "doc": "elements of dimension 0"}, {"name": "size_1", "type": "u32", "offset": 4, "value": "S1", "doc": "elements of dimension 1"}, {"name": "size_2", "type": "u32", "offset": 8, "value": "S2", "doc": "elements of dimension 2"}, {"name": "size_3", "type": "u32", "offset": 12, "value": "S3", "doc": "elements of dimension 3"}, {"name": "from_0", "type": "u32", "offset": 16, "value": "A0", "doc": "source stride of dimension 0"}, {"name": "from_1", "type": "u32", "offset": 20, "value": "A1", "doc": "source stride of dimension 1"}, {"name": "from_2", "type": "u32", "offset": 24, "value": "A2", "doc": "source stride of dimension 2"}, {"name": "from_3", "type": "u32", "offset": 28, "value": "A3", "doc": "source stride of dimension 3"}, {"name": "to_0", "type": "u32", "offset": 32, "value": "D0", "doc": "destination stride of dimension 0"}, {"name": "to_1", "type": "u32", "offset": 36, "value": "D1", "doc": "destination stride of dimension 1"}, {"name": "to_2", "type": "u32", "offset": 40, "value": "D2", "doc": "destination stride of dimension 2"}, {"name": "to_3", "type": "u32", "offset": 44, "value": "D3", "doc": "destination stride of dimension 3"}, {"name": "from_offset", "type": "u32", "offset": 48, "value": "SRC_OFFSET", "doc": "first element of the source"}, {"name": "to_offset", "type": "u32", "offset": 52, "value": "DST_OFFSET", "doc": "first element of the destination"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "SRC_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "A0"]], ["mul", ["sub", ["max", "S1", 1], 1], "A1"]], ["mul", ["sub", ["max", "S2", 1], 1], "A2"]], ["mul", ["sub", ["max", "S3", 1], 1], "A3"]], "SRC_LENGTH"]], "why": "the source ends before that"}, {"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "DST_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "D0"]], ["mul", ["sub", ["max", "S1", 1], 1], "D1"]], ["mul", ["sub", ["max", "S2", 1], 1], "D2"]], ["mul", ["sub", ["max", "S3", 1], 1], "D3"]], "DST_LENGTH"]], "why": "the destination ends before that"}, {"condition": ["or", ["le", "S0", 1], ["gt", "D0", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S1", 1], ["gt", "D1", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S2", 1], ["gt", "D2", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S3", 1], ["gt", "D3", 0]], "why": "elements would be written over each other"}, {"condition": ["le", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], "DST_LENGTH"], "why": "elements would be written over each other"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": "SRC_LENGTH"}, {"binding": 1, "name": "y", "access": "read_write", "element": "f16", "length": "DST_LENGTH", "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
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
`,
    },
    "copy_strided_xf16_yf32__wg64": {
      name: "copy_strided_xf16_yf32__wg64",
      computes: "copy_strided_xf16_yf32",
      kernel: "copy_strided",
      entry_point: "main",
      constants: {"source": "f16", "destination": "f32", "workgroup_size": 64},
      sizes: ["S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "D0", "D1", "D2", "D3", "SRC_OFFSET", "DST_OFFSET", "SRC_LENGTH", "DST_LENGTH"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 64],
      uniforms: {"binding": 2, "size": 56, "fields": [{"name": "size_0", "type": "u32", "offset": 0, "value": "S0", "doc": "elements of dimension 0"}, {"name": "size_1", "type": "u32", "offset": 4, "value": "S1", "doc": "elements of dimension 1"}, {"name": "size_2", "type": "u32", "offset": 8, "value": "S2", "doc": "elements of dimension 2"}, {"name": "size_3", "type": "u32", "offset": 12, "value": "S3", "doc": "elements of dimension 3"}, {"name": "from_0", "type": "u32", "offset": 16, "value": "A0", "doc": "source stride of dimension 0"}, {"name": "from_1", "type": "u32", "offset": 20, "value": "A1", "doc": "source stride of dimension 1"}, {"name": "from_2", "type": "u32", "offset": 24, "value": "A2", "doc": "source stride of dimension 2"}, {"name": "from_3", "type": "u32", "offset": 28, "value": "A3", "doc": "source stride of dimension 3"}, {"name": "to_0", "type": "u32", "offset": 32, "value": "D0", "doc": "destination stride of dimension 0"}, {"name": "to_1", "type": "u32", "offset": 36, "value": "D1", "doc": "destination stride of dimension 1"}, {"name": "to_2", "type": "u32", "offset": 40, "value": "D2", "doc": "destination stride of dimension 2"}, {"name": "to_3", "type": "u32", "offset": 44, "value": "D3", "doc": "destination stride of dimension 3"}, {"name": "from_offset", "type": "u32", "offset": 48, "value": "SRC_OFFSET", "doc": "first element of the source"}, {"name": "to_offset", "type": "u32", "offset": 52, "value": "DST_OFFSET", "doc": "first element of the destination"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "SRC_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "A0"]], ["mul", ["sub", ["max", "S1", 1], 1], "A1"]], ["mul", ["sub", ["max", "S2", 1], 1], "A2"]], ["mul", ["sub", ["max", "S3", 1], 1], "A3"]], "SRC_LENGTH"]], "why": "the source ends before that"}, {"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "DST_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "D0"]], ["mul", ["sub", ["max", "S1", 1], 1], "D1"]], ["mul", ["sub", ["max", "S2", 1], 1], "D2"]], ["mul", ["sub", ["max", "S3", 1], 1], "D3"]], "DST_LENGTH"]], "why": "the destination ends before that"}, {"condition": ["or", ["le", "S0", 1], ["gt", "D0", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S1", 1], ["gt", "D1", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S2", 1], ["gt", "D2", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S3", 1], ["gt", "D3", 0]], "why": "elements would be written over each other"}, {"condition": ["le", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], "DST_LENGTH"], "why": "elements would be written over each other"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f16", "length": "SRC_LENGTH"}, {"binding": 1, "name": "y", "access": "read_write", "element": "f32", "length": "DST_LENGTH", "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// copy_strided: y[strided] = x[strided] over four dimensions
// variant copy_strided_xf16_yf32__wg64
// x: source
// y: destination; what no index reaches stays
enable f16;

const WORKGROUP_SIZE: u32 = 64u;

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

@group(0) @binding(0) var<storage, read> x: array<f16>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
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
  let index = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (index < params.size_0 * params.size_1 * params.size_2 * params.size_3) {
    let i3 = index % params.size_3;
    let rows = index / params.size_3;
    let i2 = rows % params.size_2;
    let planes = rows / params.size_2;
    let i1 = planes % params.size_1;
    let i0 = planes / params.size_1;
    let value = x[params.from_offset + i0 * params.from_0 + i1 * params.from_1 + i2 * params.from_2 + i3 * params.from_3];
    y[params.to_offset + i0 * params.to_0 + i1 * params.to_1 + i2 * params.to_2 + i3 * params.to_3] = f32(value);
  }
}
`,
    },
    "copy_strided_xu32_yu32__wg64": {
      name: "copy_strided_xu32_yu32__wg64",
      computes: "copy_strided_xu32_yu32",
      kernel: "copy_strided",
      entry_point: "main",
      constants: {"source": "u32", "destination": "u32", "workgroup_size": 64},
      sizes: ["S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "D0", "D1", "D2", "D3", "SRC_OFFSET", "DST_OFFSET", "SRC_LENGTH", "DST_LENGTH"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 64],
      uniforms: {"binding": 2, "size": 56, "fields": [{"name": "size_0", "type": "u32", "offset": 0, "value": "S0", "doc": "elements of dimension 0"}, {"name": "size_1", "type": "u32", "offset": 4, "value": "S1", "doc": "elements of dimension 1"}, {"name": "size_2", "type": "u32", "offset": 8, "value": "S2", "doc": "elements of dimension 2"}, {"name": "size_3", "type": "u32", "offset": 12, "value": "S3", "doc": "elements of dimension 3"}, {"name": "from_0", "type": "u32", "offset": 16, "value": "A0", "doc": "source stride of dimension 0"}, {"name": "from_1", "type": "u32", "offset": 20, "value": "A1", "doc": "source stride of dimension 1"}, {"name": "from_2", "type": "u32", "offset": 24, "value": "A2", "doc": "source stride of dimension 2"}, {"name": "from_3", "type": "u32", "offset": 28, "value": "A3", "doc": "source stride of dimension 3"}, {"name": "to_0", "type": "u32", "offset": 32, "value": "D0", "doc": "destination stride of dimension 0"}, {"name": "to_1", "type": "u32", "offset": 36, "value": "D1", "doc": "destination stride of dimension 1"}, {"name": "to_2", "type": "u32", "offset": 40, "value": "D2", "doc": "destination stride of dimension 2"}, {"name": "to_3", "type": "u32", "offset": 44, "value": "D3", "doc": "destination stride of dimension 3"}, {"name": "from_offset", "type": "u32", "offset": 48, "value": "SRC_OFFSET", "doc": "first element of the source"}, {"name": "to_offset", "type": "u32", "offset": 52, "value": "DST_OFFSET", "doc": "first element of the destination"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "SRC_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "A0"]], ["mul", ["sub", ["max", "S1", 1], 1], "A1"]], ["mul", ["sub", ["max", "S2", 1], 1], "A2"]], ["mul", ["sub", ["max", "S3", 1], 1], "A3"]], "SRC_LENGTH"]], "why": "the source ends before that"}, {"condition": ["or", ["eq", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], 0], ["lt", ["add", ["add", ["add", ["add", "DST_OFFSET", ["mul", ["sub", ["max", "S0", 1], 1], "D0"]], ["mul", ["sub", ["max", "S1", 1], 1], "D1"]], ["mul", ["sub", ["max", "S2", 1], 1], "D2"]], ["mul", ["sub", ["max", "S3", 1], 1], "D3"]], "DST_LENGTH"]], "why": "the destination ends before that"}, {"condition": ["or", ["le", "S0", 1], ["gt", "D0", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S1", 1], ["gt", "D1", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S2", 1], ["gt", "D2", 0]], "why": "elements would be written over each other"}, {"condition": ["or", ["le", "S3", 1], ["gt", "D3", 0]], "why": "elements would be written over each other"}, {"condition": ["le", ["mul", ["mul", ["mul", "S0", "S1"], "S2"], "S3"], "DST_LENGTH"], "why": "elements would be written over each other"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "u32", "length": "SRC_LENGTH"}, {"binding": 1, "name": "y", "access": "read_write", "element": "u32", "length": "DST_LENGTH", "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// copy_strided: y[strided] = x[strided] over four dimensions
// variant copy_strided_xu32_yu32__wg64
// x: source
// y: destination; what no index reaches stays
const WORKGROUP_SIZE: u32 = 64u;

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

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
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
  let index = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (index < params.size_0 * params.size_1 * params.size_2 * params.size_3) {
    let i3 = index % params.size_3;
    let rows = index / params.size_3;
    let i2 = rows % params.size_2;
    let planes = rows / params.size_2;
    let i1 = planes % params.size_1;
    let i0 = planes / params.size_1;
    let value = x[params.from_offset + i0 * params.from_0 + i1 * params.from_1 + i2 * params.from_2 + i3 * params.from_3];
    y[params.to_offset + i0 * params.to_0 + i1 * params.to_1 + i2 * params.to_2 + i3 * params.to_3] = value;
  }
}
`,
    },
  },
};
