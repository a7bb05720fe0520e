// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// sum_splits: the sums of the parts of K, and what becomes of them
// variant sum_splits_split4_yf32__wg64
// partials: sums of each part of K [splits][M][N]
// y: result [M][N]
const NUM_SPLITS: u32 = 4u;
const WORKGROUP_SIZE: u32 = 64u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> partials: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// The sum of the numbers at `first` and at every `stride` behind it, one of each part. All loads come before the sum.
fn sum_of(first: u32, stride: u32) -> f32 {
  let part_0 = partials[first + 0u * stride];
  let part_1 = partials[first + 1u * stride];
  let part_2 = partials[first + 2u * stride];
  let part_3 = partials[first + 3u * stride];
  var sum = part_0;
  sum += part_1;
  sum += part_2;
  sum += part_3;
  return sum;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.m * params.n;
  let place = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  if (place < count) {
    let result = sum_of(place, count);
    y[place] = result;
  }
}
