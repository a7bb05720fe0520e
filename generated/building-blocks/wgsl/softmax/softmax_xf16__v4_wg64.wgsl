// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
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
