// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** quantize_q8: x as int8 with a scale and a sum for each group. */
export const quantize_q8 = {
  kernel: "quantize_q8",
  variants: {
    "quantize_q8_xf32_g64_s4__only": {
      name: "quantize_q8_xf32_g64_s4__only",
      computes: "quantize_q8_xf32_g64_s4",
      kernel: "quantize_q8",
      entry_point: "main",
      constants: {"activation": "f32", "group": 64, "stride": 4, "subgroups": false},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 192, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x8", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "vec2<f32>", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// quantize_q8: x as int8 with a scale and a sum for each group
// variant quantize_q8_xf32_g64_s4__only
// x: activations [M][K], finite
// x8: int8 activations [M][K], four a word, in the byte order of stride 4
// x_scale: scale and sum of the integers of each group
const GROUP: u32 = 64u;
const STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> x8: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<vec2<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> q8_words: array<u32, WORKGROUP_SIZE>;

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

// The scale of a group whose largest magnitude is \`largest\`; none where it would be subnormal.
fn scale_of(largest: f32) -> f32 {
  return select(0.0f, largest * INVERSE_127, largest >= SMALLEST);
}

// x / scale, rounded half to even, for a normal scale and x up to 127.5 * scale; zeros for scale 0. The quotient of
// the two significands is taken in whole numbers, because float division may be off by 2.5 ulp and so move a tie.
fn quantise(x: vec4<f32>, scale: f32) -> vec4<i32> {
  let bits = bitcast<vec4<u32>>(x);
  let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
  // A subnormal has the exponent of the smallest normal number, and no bit above its fraction.
  let significand = (bits & vec4<u32>(0x7fffffu)) | (min(exponent, vec4<u32>(1u)) << vec4<u32>(23u));
  let unit = bitcast<u32>(scale);
  // 2 * |x| / scale = significand * 2^shift / (significand of the scale); below 1 for a negative shift.
  let shift = vec4<i32>(max(exponent, vec4<u32>(1u))) - vec4<i32>(i32(unit >> 23u) - 1i);
  let numerator = significand << vec4<u32>(clamp(shift, vec4<i32>(0i), vec4<i32>(8i)));
  let denominator = vec4<u32>((unit & 0x7fffffu) | 0x800000u);
  let halves = numerator / denominator;
  let rest = numerator - halves * denominator;
  // An odd number of halves goes up where there is a rest, or to the even one of two equally near.
  let floors = halves >> vec4<u32>(1u);
  let up = halves & (floors | min(rest, vec4<u32>(1u))) & vec4<u32>(1u);
  let magnitude = select(vec4<i32>(0i), vec4<i32>(floors + up), shift >= vec4<i32>(0i));
  let integers = select(magnitude, -magnitude, bits >= vec4<u32>(0x80000000u));
  return select(vec4<i32>(0i), integers, scale > 0.0f);
}

// Four bytes as a word, the first one lowest.
fn join_bytes(bytes: vec4<u32>) -> u32 {
  let placed = bytes << vec4<u32>(0u, 8u, 16u, 24u);
  return placed.x | placed.y | placed.z | placed.w;
}

fn pack_neighbours(integers: vec4<i32>) -> u32 {
  return join_bytes(vec4<u32>(integers) & vec4<u32>(255u));
}

// Word \`index\` of the workgroup in the byte order of stride 4. Its bytes stand at one place in four words of
// neighbours, which q8_words holds; all of them belong to the same 4 threads.
fn strided_word(index: u32) -> u32 {
  let first = index - index % 4u + index % 4u / 4u;
  let words = vec4<u32>(q8_words[first], q8_words[first + 1u], q8_words[first + 2u], q8_words[first + 3u]);
  return join_bytes((words >> vec4<u32>(8u * (index % 4u))) & vec4<u32>(255u));
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
  let word = min(index, groups - 1u) * WORKGROUP_SIZE + thread.index;
  let values = vec4<f32>(x[word]);
  let magnitudes = abs(values);
  let pair = max(magnitudes.xy, magnitudes.zw);
  reduce_max(array<f32, REDUCE_VALUES>(max(pair.x, pair.y)), thread);
  let scale = scale_of(total_max(0u, thread));
  let integers = quantise(values, scale);
  let neighbours = pack_neighbours(integers);
  q8_words[thread.index] = neighbours;
  // The barriers in here also let every thread see all words.
  reduce_sum(array<f32, REDUCE_VALUES>(f32(integers.x + integers.y + integers.z + integers.w)), thread);
  if (index < groups) {
    x8[word] = strided_word(thread.index);
    if (thread.index == 0u) {
      x_scale[index] = vec2<f32>(scale, total_sum(0u, thread));
    }
  }
}
`,
    },
    "quantize_q8_xf32_g64_s4__sg": {
      name: "quantize_q8_xf32_g64_s4__sg",
      computes: "quantize_q8_xf32_g64_s4",
      kernel: "quantize_q8",
      entry_point: "main",
      constants: {"activation": "f32", "group": 64, "stride": 4, "subgroups": true},
      sizes: ["M", "K"],
      alone: null,
      workgroups: ["div", ["mul", "M", "K"], 64],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows of x"}, {"name": "k", "type": "u32", "offset": 4, "value": "K", "doc": "columns of x"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 96, "maxComputeInvocationsPerWorkgroup": 16, "maxComputeWorkgroupSizeX": 16, "maxStorageBuffersPerShaderStage": 3}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["eq", ["mod", "K", 64], 0], "why": "a row must be whole groups of 64 elements"}],
      bindings: [{"binding": 0, "name": "x", "access": "read", "element": "vec4<f32>", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 1, "name": "x8", "access": "read_write", "element": "u32", "length": ["div", ["mul", "M", "K"], 4]}, {"binding": 2, "name": "x_scale", "access": "read_write", "element": "vec2<f32>", "length": ["div", ["mul", "M", "K"], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// quantize_q8: x as int8 with a scale and a sum for each group
// variant quantize_q8_xf32_g64_s4__sg
// x: activations [M][K], finite
// x8: int8 activations [M][K], four a word, in the byte order of stride 4
// x_scale: scale and sum of the integers of each group
enable subgroups;

const GROUP: u32 = 64u;
const STRIDE: u32 = 4u;
const WORKGROUP_SIZE: u32 = 16u;
const REDUCE_VALUES: u32 = 1u;
const SUBGROUP_SLOTS: u32 = 4u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;

struct Params {
  m: u32,
  k: u32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> x8: array<u32>;
@group(0) @binding(2) var<storage, read_write> x_scale: array<vec2<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> max_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;
var<workgroup> q8_words: array<u32, WORKGROUP_SIZE>;

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

// The scale of a group whose largest magnitude is \`largest\`; none where it would be subnormal.
fn scale_of(largest: f32) -> f32 {
  return select(0.0f, largest * INVERSE_127, largest >= SMALLEST);
}

// x / scale, rounded half to even, for a normal scale and x up to 127.5 * scale; zeros for scale 0. The quotient of
// the two significands is taken in whole numbers, because float division may be off by 2.5 ulp and so move a tie.
fn quantise(x: vec4<f32>, scale: f32) -> vec4<i32> {
  let bits = bitcast<vec4<u32>>(x);
  let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
  // A subnormal has the exponent of the smallest normal number, and no bit above its fraction.
  let significand = (bits & vec4<u32>(0x7fffffu)) | (min(exponent, vec4<u32>(1u)) << vec4<u32>(23u));
  let unit = bitcast<u32>(scale);
  // 2 * |x| / scale = significand * 2^shift / (significand of the scale); below 1 for a negative shift.
  let shift = vec4<i32>(max(exponent, vec4<u32>(1u))) - vec4<i32>(i32(unit >> 23u) - 1i);
  let numerator = significand << vec4<u32>(clamp(shift, vec4<i32>(0i), vec4<i32>(8i)));
  let denominator = vec4<u32>((unit & 0x7fffffu) | 0x800000u);
  let halves = numerator / denominator;
  let rest = numerator - halves * denominator;
  // An odd number of halves goes up where there is a rest, or to the even one of two equally near.
  let floors = halves >> vec4<u32>(1u);
  let up = halves & (floors | min(rest, vec4<u32>(1u))) & vec4<u32>(1u);
  let magnitude = select(vec4<i32>(0i), vec4<i32>(floors + up), shift >= vec4<i32>(0i));
  let integers = select(magnitude, -magnitude, bits >= vec4<u32>(0x80000000u));
  return select(vec4<i32>(0i), integers, scale > 0.0f);
}

// Four bytes as a word, the first one lowest.
fn join_bytes(bytes: vec4<u32>) -> u32 {
  let placed = bytes << vec4<u32>(0u, 8u, 16u, 24u);
  return placed.x | placed.y | placed.z | placed.w;
}

fn pack_neighbours(integers: vec4<i32>) -> u32 {
  return join_bytes(vec4<u32>(integers) & vec4<u32>(255u));
}

// Word \`index\` of the workgroup in the byte order of stride 4. Its bytes stand at one place in four words of
// neighbours, which q8_words holds; all of them belong to the same 4 threads.
fn strided_word(index: u32) -> u32 {
  let first = index - index % 4u + index % 4u / 4u;
  let words = vec4<u32>(q8_words[first], q8_words[first + 1u], q8_words[first + 2u], q8_words[first + 3u]);
  return join_bytes((words >> vec4<u32>(8u * (index % 4u))) & vec4<u32>(255u));
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
  let word = min(index, groups - 1u) * WORKGROUP_SIZE + thread.index;
  let values = vec4<f32>(x[word]);
  let magnitudes = abs(values);
  let pair = max(magnitudes.xy, magnitudes.zw);
  reduce_max(array<f32, REDUCE_VALUES>(max(pair.x, pair.y)), thread);
  let scale = scale_of(total_max(0u, thread));
  let integers = quantise(values, scale);
  let neighbours = pack_neighbours(integers);
  q8_words[thread.index] = neighbours;
  // The barriers in here also let every thread see all words.
  reduce_sum(array<f32, REDUCE_VALUES>(f32(integers.x + integers.y + integers.z + integers.w)), thread);
  if (index < groups) {
    x8[word] = strided_word(thread.index);
    if (thread.index == 0u) {
      x_scale[index] = vec2<f32>(scale, total_sum(0u, thread));
    }
  }
}
`,
    },
  },
};
