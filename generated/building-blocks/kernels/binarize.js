// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** binarize: x as signs with a scale for each group. */
export const binarize = {
  kernel: "binarize",
  variants: {
    "binarize_xf32_g64__only": {
      name: "binarize_xf32_g64__only",
      computes: "binarize_xf32_g64",
      kernel: "binarize",
      entry_point: "main",
      constants: {"activation": "f32", "group": 64, "subgroups": false},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x1", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 32]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "f32", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// binarize: x as signs with a scale for each group
// variant binarize_xf32_g64__only
// x: activations [M][K], under 2^126 in magnitude
// x1: signs [M][K / 32], the first element in the lowest bit; 1 is +1 and 0 is -1
// x_scale: mean magnitude of each group
const GROUP: u32 = 64u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const GROUP_WORDS: u32 = 2u;
const INVERSE_GROUP: f32 = 0.015625f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> x1: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> nibbles: array<u32, WORKGROUP_SIZE>;

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

// Bit i of the result: whether element i is zero, of either sign, or above. Among the bits of finite floats, those
// of -0 lie between the ones above zero and the ones below.
fn signs(x: vec4<f32>) -> u32 {
  let bits = select(vec4<u32>(), vec4<u32>(1u, 2u, 4u, 8u), bitcast<vec4<u32>>(x) <= vec4<u32>(0x80000000u));
  return bits.x | bits.y | bits.z | bits.w;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let groups = params.k / GROUP * params.m;
  let index = workgroup_index(workgroup_id, num_workgroups);
  let values = vec4<f32>(x[min(index, groups - 1u) * WORKGROUP_SIZE + thread.index]);
  nibbles[thread.index] = signs(values);
  let shares = abs(values) * INVERSE_GROUP;
  // The barriers in here also let every thread see all nibbles.
  reduce_sum(array<f32, REDUCE_VALUES>(shares.x + shares.y + shares.z + shares.w), thread);
  if (index < groups && thread.index < GROUP_WORDS) {
    let first = 8u * thread.index;
    let low = nibbles[first] | (nibbles[first + 1u] << 4u) | (nibbles[first + 2u] << 8u) | (nibbles[first + 3u] << 12u);
    let high = nibbles[first + 4u] | (nibbles[first + 5u] << 4u) | (nibbles[first + 6u] << 8u) | (nibbles[first + 7u] << 12u);
    x1[index * GROUP_WORDS + thread.index] = low | (high << 16u);
    if (thread.index == 0u) {
      x_scale[index] = total_sum(0u, thread);
    }
  }
}
`,
    },
    "binarize_xf32_g64__sg": {
      name: "binarize_xf32_g64__sg",
      computes: "binarize_xf32_g64",
      kernel: "binarize",
      entry_point: "main",
      constants: {"activation": "f32", "group": 64, "subgroups": true},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 80, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x1", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 32]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "f32", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// binarize: x as signs with a scale for each group
// variant binarize_xf32_g64__sg
// x: activations [M][K], under 2^126 in magnitude
// x1: signs [M][K / 32], the first element in the lowest bit; 1 is +1 and 0 is -1
// x_scale: mean magnitude of each group
enable subgroups;

const GROUP: u32 = 64u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 4u;
const GROUP_WORDS: u32 = 2u;
const INVERSE_GROUP: f32 = 0.015625f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> x1: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
var<workgroup> nibbles: array<u32, WORKGROUP_SIZE>;

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

// Bit i of the result: whether element i is zero, of either sign, or above. Among the bits of finite floats, those
// of -0 lie between the ones above zero and the ones below.
fn signs(x: vec4<f32>) -> u32 {
  let bits = select(vec4<u32>(), vec4<u32>(1u, 2u, 4u, 8u), bitcast<vec4<u32>>(x) <= vec4<u32>(0x80000000u));
  return bits.x | bits.y | bits.z | bits.w;
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
  let groups = params.k / GROUP * params.m;
  let index = workgroup_index(workgroup_id, num_workgroups);
  let values = vec4<f32>(x[min(index, groups - 1u) * WORKGROUP_SIZE + thread.index]);
  nibbles[thread.index] = signs(values);
  let shares = abs(values) * INVERSE_GROUP;
  // The barriers in here also let every thread see all nibbles.
  reduce_sum(array<f32, REDUCE_VALUES>(shares.x + shares.y + shares.z + shares.w), thread);
  if (index < groups && thread.index < GROUP_WORDS) {
    let first = 8u * thread.index;
    let low = nibbles[first] | (nibbles[first + 1u] << 4u) | (nibbles[first + 2u] << 8u) | (nibbles[first + 3u] << 12u);
    let high = nibbles[first + 4u] | (nibbles[first + 5u] << 4u) | (nibbles[first + 6u] << 8u) | (nibbles[first + 7u] << 12u);
    x1[index * GROUP_WORDS + thread.index] = low | (high << 16u);
    if (thread.index == 0u) {
      x_scale[index] = total_sum(0u, thread);
    }
  }
}
`,
    },
    "binarize_xf16_g64__only": {
      name: "binarize_xf16_g64__only",
      computes: "binarize_xf16_g64",
      kernel: "binarize",
      entry_point: "main",
      constants: {"activation": "f16", "group": 64, "subgroups": false},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 128, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x1", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 32]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "f32", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// binarize: x as signs with a scale for each group
// variant binarize_xf16_g64__only
// x: activations [M][K], under 2^126 in magnitude
// x1: signs [M][K / 32], the first element in the lowest bit; 1 is +1 and 0 is -1
// x_scale: mean magnitude of each group
enable f16;

const GROUP: u32 = 64u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const GROUP_WORDS: u32 = 2u;
const INVERSE_GROUP: f32 = 0.015625f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> x1: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> nibbles: array<u32, WORKGROUP_SIZE>;

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

// Bit i of the result: whether element i is zero, of either sign, or above. Among the bits of finite floats, those
// of -0 lie between the ones above zero and the ones below.
fn signs(x: vec4<f32>) -> u32 {
  let bits = select(vec4<u32>(), vec4<u32>(1u, 2u, 4u, 8u), bitcast<vec4<u32>>(x) <= vec4<u32>(0x80000000u));
  return bits.x | bits.y | bits.z | bits.w;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let groups = params.k / GROUP * params.m;
  let index = workgroup_index(workgroup_id, num_workgroups);
  let values = vec4<f32>(x[min(index, groups - 1u) * WORKGROUP_SIZE + thread.index]);
  nibbles[thread.index] = signs(values);
  let shares = abs(values) * INVERSE_GROUP;
  // The barriers in here also let every thread see all nibbles.
  reduce_sum(array<f32, REDUCE_VALUES>(shares.x + shares.y + shares.z + shares.w), thread);
  if (index < groups && thread.index < GROUP_WORDS) {
    let first = 8u * thread.index;
    let low = nibbles[first] | (nibbles[first + 1u] << 4u) | (nibbles[first + 2u] << 8u) | (nibbles[first + 3u] << 12u);
    let high = nibbles[first + 4u] | (nibbles[first + 5u] << 4u) | (nibbles[first + 6u] << 8u) | (nibbles[first + 7u] << 12u);
    x1[index * GROUP_WORDS + thread.index] = low | (high << 16u);
    if (thread.index == 0u) {
      x_scale[index] = total_sum(0u, thread);
    }
  }
}
`,
    },
    "binarize_xf16_g64__sg": {
      name: "binarize_xf16_g64__sg",
      computes: "binarize_xf16_g64",
      kernel: "binarize",
      entry_point: "main",
      constants: {"activation": "f16", "group": 64, "subgroups": true},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": ["shader-f16", "subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 80, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f16>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x1", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 32]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "f32", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// binarize: x as signs with a scale for each group
// variant binarize_xf16_g64__sg
// x: activations [M][K], under 2^126 in magnitude
// x1: signs [M][K / 32], the first element in the lowest bit; 1 is +1 and 0 is -1
// x_scale: mean magnitude of each group
enable f16;
enable subgroups;

const GROUP: u32 = 64u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 4u;
const GROUP_WORDS: u32 = 2u;
const INVERSE_GROUP: f32 = 0.015625f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> x1: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
var<workgroup> nibbles: array<u32, WORKGROUP_SIZE>;

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

// Bit i of the result: whether element i is zero, of either sign, or above. Among the bits of finite floats, those
// of -0 lie between the ones above zero and the ones below.
fn signs(x: vec4<f32>) -> u32 {
  let bits = select(vec4<u32>(), vec4<u32>(1u, 2u, 4u, 8u), bitcast<vec4<u32>>(x) <= vec4<u32>(0x80000000u));
  return bits.x | bits.y | bits.z | bits.w;
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
  let groups = params.k / GROUP * params.m;
  let index = workgroup_index(workgroup_id, num_workgroups);
  let values = vec4<f32>(x[min(index, groups - 1u) * WORKGROUP_SIZE + thread.index]);
  nibbles[thread.index] = signs(values);
  let shares = abs(values) * INVERSE_GROUP;
  // The barriers in here also let every thread see all nibbles.
  reduce_sum(array<f32, REDUCE_VALUES>(shares.x + shares.y + shares.z + shares.w), thread);
  if (index < groups && thread.index < GROUP_WORDS) {
    let first = 8u * thread.index;
    let low = nibbles[first] | (nibbles[first + 1u] << 4u) | (nibbles[first + 2u] << 8u) | (nibbles[first + 3u] << 12u);
    let high = nibbles[first + 4u] | (nibbles[first + 5u] << 4u) | (nibbles[first + 6u] << 8u) | (nibbles[first + 7u] << 12u);
    x1[index * GROUP_WORDS + thread.index] = low | (high << 16u);
    if (thread.index == 0u) {
      x_scale[index] = total_sum(0u, thread);
    }
  }
}
`,
    },
  },
};
