// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** softmax: y = exp(x scale - max) / sum, row by row. */
export const softmax = {
  kernel: "softmax",
  variants: {
    "softmax_xf32__v4_wg64": {
      name: "softmax_xf32__v4_wg64",
      computes: "softmax_xf32",
      kernel: "softmax",
      entry_point: "main",
      constants: {"activation": "f32", "masked": false, "vector": 4, "workgroup_size": 64, "subgroups": false},
      sizes: ["M", "D"],
      alone: null,
      workgroups: "M",
      uniforms: {"binding": 2, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "scale", "type": "f32", "offset": 8, "value": "SCALE", "doc": "multiplies x; 0 or above"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 512, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no largest"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// softmax: y = exp(x scale - max) / sum, row by row
// variant softmax_xf32__v4_wg64
// x: input [M][D]
// y: result [M][D]
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const LOWEST_BITS: u32 = 4286578687u;
const EXCLUDED: f32 = -85070591730234615865843651857942052864.0f;

struct Params {
  m: u32,
  d: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_max(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  max_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      max_slots[0u * WORKGROUP_SIZE + thread.index] = max(max_slots[0u * WORKGROUP_SIZE + thread.index], max_slots[0u * WORKGROUP_SIZE + thread.index + stride]);
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  return max_slots[value * WORKGROUP_SIZE];
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

// Whether an element is -inf or f32's lowest number. The bits of both lie side by side, and none of a NaN's do.
fn excluded(value: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(value) - vec4<u32>(LOWEST_BITS)) <= vec4<u32>(1u);
}

// The score of an element, EXCLUDED for one that does not count; NaN stays NaN.
fn load_score(at: u32) -> vec4<f32> {
  let value = x[at];
  return select(value, vec4<f32>(EXCLUDED), excluded(value));
}

// What an element adds to the sum. NaN is told by its bits and passed on: exp loses it on some devices.
fn load_power(at: u32, largest: f32) -> vec4<f32> {
  let score = load_score(at);
  let power = exp((score - vec4<f32>(largest)) * params.scale);
  let broken = (bitcast<vec4<u32>>(score) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
  return select(select(power, score, broken), vec4<f32>(), score == vec4<f32>(EXCLUDED));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let loads = params.d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var most = vec4<f32>(EXCLUDED);
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    most = max(most, load_score(first + load));
  }
  reduce_max(array<f32, REDUCE_VALUES>(max(max(most.x, most.y), max(most.z, most.w))), thread);
  let largest = total_max(0u, thread);
  var powers = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    powers += load_power(first + load, largest);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(powers.x + powers.y + powers.z + powers.w), thread);
  let sum = total_sum(0u, thread);
  // The sum is 0 where everything is excluded, and NaN where something is NaN, which must stay.
  let inverse = 1.0f / select(sum, 1.0f, sum == 0.0f);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_power(first + load, largest) * inverse;
      y[first + load] = value;
    }
  }
}
`,
    },
    "softmax_xf32__v4_wg64_sg": {
      name: "softmax_xf32__v4_wg64_sg",
      computes: "softmax_xf32",
      kernel: "softmax",
      entry_point: "main",
      constants: {"activation": "f32", "masked": false, "vector": 4, "workgroup_size": 64, "subgroups": true},
      sizes: ["M", "D"],
      alone: null,
      workgroups: "M",
      uniforms: {"binding": 2, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "scale", "type": "f32", "offset": 8, "value": "SCALE", "doc": "multiplies x; 0 or above"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no largest"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// softmax: y = exp(x scale - max) / sum, row by row
// variant softmax_xf32__v4_wg64_sg
// x: input [M][D]
// y: result [M][D]
enable subgroups;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 16u;
const LOWEST_BITS: u32 = 4286578687u;
const EXCLUDED: f32 = -85070591730234615865843651857942052864.0f;

struct Params {
  m: u32,
  d: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
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
fn reduce_max(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupMax(values[0u]);
  if (thread.lane == 0u) {
    max_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  var total = max_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total = max(total, max_slots[value * SUBGROUP_SLOTS + slot]);
  }
  return total;
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

// Whether an element is -inf or f32's lowest number. The bits of both lie side by side, and none of a NaN's do.
fn excluded(value: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(value) - vec4<u32>(LOWEST_BITS)) <= vec4<u32>(1u);
}

// The score of an element, EXCLUDED for one that does not count; NaN stays NaN.
fn load_score(at: u32) -> vec4<f32> {
  let value = x[at];
  return select(value, vec4<f32>(EXCLUDED), excluded(value));
}

// What an element adds to the sum. NaN is told by its bits and passed on: exp loses it on some devices.
fn load_power(at: u32, largest: f32) -> vec4<f32> {
  let score = load_score(at);
  let power = exp((score - vec4<f32>(largest)) * params.scale);
  let broken = (bitcast<vec4<u32>>(score) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
  return select(select(power, score, broken), vec4<f32>(), score == vec4<f32>(EXCLUDED));
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
  let loads = params.d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var most = vec4<f32>(EXCLUDED);
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    most = max(most, load_score(first + load));
  }
  reduce_max(array<f32, REDUCE_VALUES>(max(max(most.x, most.y), max(most.z, most.w))), thread);
  let largest = total_max(0u, thread);
  var powers = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    powers += load_power(first + load, largest);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(powers.x + powers.y + powers.z + powers.w), thread);
  let sum = total_sum(0u, thread);
  // The sum is 0 where everything is excluded, and NaN where something is NaN, which must stay.
  let inverse = 1.0f / select(sum, 1.0f, sum == 0.0f);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_power(first + load, largest) * inverse;
      y[first + load] = value;
    }
  }
}
`,
    },
    "softmax_xf16__v4_wg64": {
      name: "softmax_xf16__v4_wg64",
      computes: "softmax_xf16",
      kernel: "softmax",
      entry_point: "main",
      constants: {"activation": "f16", "masked": false, "vector": 4, "workgroup_size": 64, "subgroups": false},
      sizes: ["M", "D"],
      alone: null,
      workgroups: "M",
      uniforms: {"binding": 2, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "scale", "type": "f32", "offset": 8, "value": "SCALE", "doc": "multiplies x; 0 or above"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 512, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no largest"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// softmax: y = exp(x scale - max) / sum, row by row
// variant softmax_xf16__v4_wg64
// x: input [M][D]
// y: result [M][D]
enable f16;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const LOWEST_BITS: u32 = 4286578687u;
const EXCLUDED: f32 = -85070591730234615865843651857942052864.0f;

struct Params {
  m: u32,
  d: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_max(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  max_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      max_slots[0u * WORKGROUP_SIZE + thread.index] = max(max_slots[0u * WORKGROUP_SIZE + thread.index], max_slots[0u * WORKGROUP_SIZE + thread.index + stride]);
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  return max_slots[value * WORKGROUP_SIZE];
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

// Whether an element is -inf or f32's lowest number. The bits of both lie side by side, and none of a NaN's do.
fn excluded(value: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(value) - vec4<u32>(LOWEST_BITS)) <= vec4<u32>(1u);
}

// The score of an element, EXCLUDED for one that does not count; NaN stays NaN.
fn load_score(at: u32) -> vec4<f32> {
  let value = vec4<f32>(x[at]);
  return select(value, vec4<f32>(EXCLUDED), excluded(value));
}

// What an element adds to the sum. NaN is told by its bits and passed on: exp loses it on some devices.
fn load_power(at: u32, largest: f32) -> vec4<f32> {
  let score = load_score(at);
  let power = exp((score - vec4<f32>(largest)) * params.scale);
  let broken = (bitcast<vec4<u32>>(score) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
  return select(select(power, score, broken), vec4<f32>(), score == vec4<f32>(EXCLUDED));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let loads = params.d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var most = vec4<f32>(EXCLUDED);
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    most = max(most, load_score(first + load));
  }
  reduce_max(array<f32, REDUCE_VALUES>(max(max(most.x, most.y), max(most.z, most.w))), thread);
  let largest = total_max(0u, thread);
  var powers = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    powers += load_power(first + load, largest);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(powers.x + powers.y + powers.z + powers.w), thread);
  let sum = total_sum(0u, thread);
  // The sum is 0 where everything is excluded, and NaN where something is NaN, which must stay.
  let inverse = 1.0f / select(sum, 1.0f, sum == 0.0f);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_power(first + load, largest) * inverse;
      y[first + load] = vec4<f16>(value);
    }
  }
}
`,
    },
    "softmax_xf16__v4_wg64_sg": {
      name: "softmax_xf16__v4_wg64_sg",
      computes: "softmax_xf16",
      kernel: "softmax",
      entry_point: "main",
      constants: {"activation": "f16", "masked": false, "vector": 4, "workgroup_size": 64, "subgroups": true},
      sizes: ["M", "D"],
      alone: null,
      workgroups: "M",
      uniforms: {"binding": 2, "size": 12, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "d", "type": "u32", "offset": 4, "value": "D", "doc": "elements of a row"}, {"name": "scale", "type": "f32", "offset": 8, "value": "SCALE", "doc": "multiplies x; 0 or above"}]},
      requirements: {"features": ["shader-f16", "subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 2}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "D", 0], "why": "a row without elements has no largest"}, {"condition": ["eq", ["mod", "D", 4], 0], "why": "a row must be whole loads of 4 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}, {"binding": 1, "name": "y", "access": "read_write", "element": "vec4<f16>", "length": ["div", ["mul", "M", "D"], 4]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// softmax: y = exp(x scale - max) / sum, row by row
// variant softmax_xf16__v4_wg64_sg
// x: input [M][D]
// y: result [M][D]
enable f16;
enable subgroups;

const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 16u;
const LOWEST_BITS: u32 = 4286578687u;
const EXCLUDED: f32 = -85070591730234615865843651857942052864.0f;

struct Params {
  m: u32,
  d: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f16>>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
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
fn reduce_max(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupMax(values[0u]);
  if (thread.lane == 0u) {
    max_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  var total = max_slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total = max(total, max_slots[value * SUBGROUP_SLOTS + slot]);
  }
  return total;
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

// Whether an element is -inf or f32's lowest number. The bits of both lie side by side, and none of a NaN's do.
fn excluded(value: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(value) - vec4<u32>(LOWEST_BITS)) <= vec4<u32>(1u);
}

// The score of an element, EXCLUDED for one that does not count; NaN stays NaN.
fn load_score(at: u32) -> vec4<f32> {
  let value = vec4<f32>(x[at]);
  return select(value, vec4<f32>(EXCLUDED), excluded(value));
}

// What an element adds to the sum. NaN is told by its bits and passed on: exp loses it on some devices.
fn load_power(at: u32, largest: f32) -> vec4<f32> {
  let score = load_score(at);
  let power = exp((score - vec4<f32>(largest)) * params.scale);
  let broken = (bitcast<vec4<u32>>(score) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
  return select(select(power, score, broken), vec4<f32>(), score == vec4<f32>(EXCLUDED));
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
  let loads = params.d / VECTOR;
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * loads;
  var most = vec4<f32>(EXCLUDED);
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    most = max(most, load_score(first + load));
  }
  reduce_max(array<f32, REDUCE_VALUES>(max(max(most.x, most.y), max(most.z, most.w))), thread);
  let largest = total_max(0u, thread);
  var powers = vec4<f32>();
  for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
    powers += load_power(first + load, largest);
  }
  reduce_sum(array<f32, REDUCE_VALUES>(powers.x + powers.y + powers.z + powers.w), thread);
  let sum = total_sum(0u, thread);
  // The sum is 0 where everything is excluded, and NaN where something is NaN, which must stay.
  let inverse = 1.0f / select(sum, 1.0f, sum == 0.0f);
  if (row < params.m) {
    for (var load = thread.index; load < loads; load += WORKGROUP_SIZE) {
      let value = load_power(first + load, largest) * inverse;
      y[first + load] = vec4<f16>(value);
    }
  }
}
`,
    },
  },
};
