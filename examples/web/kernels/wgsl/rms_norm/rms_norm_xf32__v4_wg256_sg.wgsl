// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
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
