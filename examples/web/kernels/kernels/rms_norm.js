// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row. */
export const rms_norm = {
  kernel: "rms_norm",
  variants: {
    "rms_norm_xf32__v4_wg64": {
      name: "rms_norm_xf32__v4_wg64",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 4, "workgroup_size": 64, "subgroups": false},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "weight", "access": "read", "element": "vec4<f32>", "length": ["div", "D", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v4_wg64
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> vec4<f32> {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares.x + squares.y + squares.z + squares.w), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32__v4_wg64_sg": {
      name: "rms_norm_xf32__v4_wg64_sg",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 4, "workgroup_size": 64, "subgroups": true},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 64, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "weight", "access": "read", "element": "vec4<f32>", "length": ["div", "D", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v4_wg64_sg
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
enable subgroups;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 16u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> vec4<f32> {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares.x + squares.y + squares.z + squares.w), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32__v4_wg256": {
      name: "rms_norm_xf32__v4_wg256",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 4, "workgroup_size": 256, "subgroups": false},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 1024, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "weight", "access": "read", "element": "vec4<f32>", "length": ["div", "D", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v4_wg256
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 256u;
const REDUCE_VALUES: u32 = 1u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> vec4<f32> {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares.x + squares.y + squares.z + squares.w), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32__v4_wg256_sg": {
      name: "rms_norm_xf32__v4_wg256_sg",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 4, "workgroup_size": 256, "subgroups": true},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "weight", "access": "read", "element": "vec4<f32>", "length": ["div", "D", 4]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v4_wg256_sg
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
enable subgroups;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 256u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 64u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> vec4<f32> {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares.x + squares.y + squares.z + squares.w), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32__v1_wg64": {
      name: "rms_norm_xf32__v1_wg64",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 1, "workgroup_size": 64, "subgroups": false},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": ["mul", "M", "D"]}, {"binding": 1, "name": "weight", "access": "read", "element": "f32", "length": "D"}, {"binding": 2, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "D"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v1_wg64
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
const VECTOR: u32 = 1u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> f32 {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = f32();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32__v1_wg64_sg": {
      name: "rms_norm_xf32__v1_wg64_sg",
      computes: "rms_norm_xf32",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "vector": 1, "workgroup_size": 64, "subgroups": true},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 64, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "f32", "length": ["mul", "M", "D"]}, {"binding": 1, "name": "weight", "access": "read", "element": "f32", "length": "D"}, {"binding": 2, "name": "y", "access": "read_write", "element": "f32", "length": ["mul", "M", "D"]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32__v1_wg64_sg
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
enable subgroups;

const VECTOR: u32 = 1u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 16u;

struct Params {
  m: u32,
  d: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> f32 {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let d = params.d;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = f32();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
    "rms_norm_xf32_d2048__v4_wg256_sg": {
      name: "rms_norm_xf32_d2048__v4_wg256_sg",
      computes: "rms_norm_xf32_d2048",
      kernel: "rms_norm",
      entry_point: "main",
      constants: {"activation": "f32", "residual": false, "d": 2048, "vector": 4, "workgroup_size": 256, "subgroups": true},
      sizes: ["M", "D"],
      alone: {"op": "norm", "sizes": ["M", "D"], "given": {"M": "M", "D": "D"}, "fixed": {}},
      workgroups: "M",
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "eps", "type": "f32", "offset": 4, "value": "EPS", "doc": "added to the mean square; above 0"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no mean"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}, {"condition": ["eq", "D", 2048], "why": "D is baked in"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", 2048], 4]}, {"binding": 1, "name": "weight", "access": "read", "element": "vec4<f32>", "length": 512}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", 2048], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32_d2048__v4_wg256_sg
// x: input [M][D]
// weight: weight [D], f32
// y: result [M][D]
enable subgroups;

const D: u32 = 2048u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 256u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 64u;

struct Params {
  m: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = sum_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += sum_slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

// What is normalised: read here in both passes over the row.
fn load_x(at: u32) -> vec4<f32> {
  return x[at];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let thread = Thread(local_index, lane, subgroup, subgroups);
  let d = D;
  let loads = d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var squares = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    let value = load_x(first + load);
    squares = fma(value, value, squares);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(squares.x + squares.y + squares.z + squares.w), thread);
  let inverse = inverseSqrt(total_sum(0u, thread) / f32(d) + params.eps);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_x(first + load) * inverse * weight[load];
      y[first + load] = value;
    }
  }
}
`,
    },
  },
};
