// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// argmax: the largest of each chunk of logits and its index, lowest index first, NaN last
// variant argmax_xf32_c1024__wg64
// logits: words of logits [M][N], f32
// best_value: f32 bits of the best [M][SLOTS]
// best_index: its index in its row [M][SLOTS]
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 64u;
const BEST_SLOTS: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> best_value: array<u32>;
@group(0) @binding(2) var<storage, read_write> best_index: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> best_slots: array<vec2<u32>, BEST_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// A u32 for the bits of each f32, ordered as the numbers are; -0 and +0 share one, and 0, below all others, is NaN's.
// All in whole numbers: compilers may assume that no float is NaN, and compare floats accordingly.
fn order_key_of_bits(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  let key = select(0x80000000u + magnitude, 0x80000000u - magnitude, bits != magnitude);
  return select(key, 0u, magnitude > 0x7f800000u);
}

fn order_key(value: f32) -> u32 {
  return order_key_of_bits(bitcast<u32>(value));
}

// The bits of element `at`.
fn logit(at: u32) -> u32 {
  return logits[at];
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

struct Thread {
  index: u32,
}

// Folds a pair (key, index) of each thread over the workgroup.
fn reduce_best(pair: vec2<u32>, thread: Thread) {
  best_slots[thread.index] = pair;
  for (var stride = BEST_SLOTS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      best_slots[thread.index] = better(best_slots[thread.index], best_slots[thread.index + stride]);
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_best; any thread may ask.
fn total_best(thread: Thread) -> vec2<u32> {
  return best_slots[0u];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let slots = (params.n + CHUNK - 1u) / CHUNK;
  let slot = workgroup_index(workgroup_id, num_workgroups);
  let first = min(slot / slots, params.m - 1u) * params.n;
  let chunk = slot % slots * CHUNK;
  let end = min(chunk + CHUNK, params.n);
  var best = vec2<u32>(0u, NO_INDEX);
  for (var index = chunk + thread.index; index < end; index += WORKGROUP_SIZE) {
    best = better(best, vec2<u32>(order_key_of_bits(logit(first + index)), index));
  }
  reduce_best(best, thread);
  let index = total_best(thread).y;
  if (thread.index == 0u && slot < params.m * slots) {
    best_value[slot] = logit(first + index);
    best_index[slot] = index;
  }
}
