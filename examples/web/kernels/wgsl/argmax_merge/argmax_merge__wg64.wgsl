// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// argmax_merge: the index of the best of a row's slots, lowest index first, NaN last
// variant argmax_merge__wg64
// best_value: f32 bits of the best [M][SLOTS]
// best_index: its index in its row [M][SLOTS]
// token: index of the best of all [M]
const WORKGROUP_SIZE: u32 = 64u;
const BEST_SLOTS: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const SLOTS_A_ROUND: u32 = 8u;

struct Params {
  m: u32,
  slots: u32,
}

@group(0) @binding(0) var<storage, read> best_value: array<u32>;
@group(0) @binding(1) var<storage, read> best_index: array<u32>;
@group(0) @binding(2) var<storage, read_write> token: array<u32>;
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
  let row = workgroup_index(workgroup_id, num_workgroups);
  let first = min(row, params.m - 1u) * params.slots;
  let last = params.slots - 1u;
  var best = vec2<u32>(0u, NO_INDEX);
  // Loads of a round wait for nothing but their slots, so all are in flight at once. Past the end the last slot is
  // seen again, which changes nothing.
  for (var slot = thread.index; slot < params.slots; slot += SLOTS_A_ROUND * WORKGROUP_SIZE) {
    let slot_0 = min(slot + 0u * WORKGROUP_SIZE, last);
    let bits_0 = best_value[first + slot_0];
    let index_0 = best_index[first + slot_0];
    let slot_1 = min(slot + 1u * WORKGROUP_SIZE, last);
    let bits_1 = best_value[first + slot_1];
    let index_1 = best_index[first + slot_1];
    let slot_2 = min(slot + 2u * WORKGROUP_SIZE, last);
    let bits_2 = best_value[first + slot_2];
    let index_2 = best_index[first + slot_2];
    let slot_3 = min(slot + 3u * WORKGROUP_SIZE, last);
    let bits_3 = best_value[first + slot_3];
    let index_3 = best_index[first + slot_3];
    let slot_4 = min(slot + 4u * WORKGROUP_SIZE, last);
    let bits_4 = best_value[first + slot_4];
    let index_4 = best_index[first + slot_4];
    let slot_5 = min(slot + 5u * WORKGROUP_SIZE, last);
    let bits_5 = best_value[first + slot_5];
    let index_5 = best_index[first + slot_5];
    let slot_6 = min(slot + 6u * WORKGROUP_SIZE, last);
    let bits_6 = best_value[first + slot_6];
    let index_6 = best_index[first + slot_6];
    let slot_7 = min(slot + 7u * WORKGROUP_SIZE, last);
    let bits_7 = best_value[first + slot_7];
    let index_7 = best_index[first + slot_7];
    let best_0 = better(best, vec2<u32>(order_key_of_bits(bits_0), index_0));
    let best_1 = better(best_0, vec2<u32>(order_key_of_bits(bits_1), index_1));
    let best_2 = better(best_1, vec2<u32>(order_key_of_bits(bits_2), index_2));
    let best_3 = better(best_2, vec2<u32>(order_key_of_bits(bits_3), index_3));
    let best_4 = better(best_3, vec2<u32>(order_key_of_bits(bits_4), index_4));
    let best_5 = better(best_4, vec2<u32>(order_key_of_bits(bits_5), index_5));
    let best_6 = better(best_5, vec2<u32>(order_key_of_bits(bits_6), index_6));
    let best_7 = better(best_6, vec2<u32>(order_key_of_bits(bits_7), index_7));
    best = best_7;
  }
  reduce_best(best, thread);
  let winner = total_best(thread);
  if (thread.index == 0u && row < params.m) {
    token[row] = winner.y;
  }
}
