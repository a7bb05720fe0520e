// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.
//
// attention_prefill: causal attention of M tokens a sequence over the cache
// variant attention_prefill_q16_kv8_hd128_repeat_cf32_xf32__wg64_sg_rows8
// q: queries [B][M][16][128]
// k_cache: keys [LAYERS][B][CAPACITY][8][128]
// v_cache: values [LAYERS][B][CAPACITY][8][128]
// lengths: tokens of each sequence [B], those of this call among them
// y: attention [B][M][16][128]
enable subgroups;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const WORKGROUP_SIZE: u32 = 64u;
const GROUP_HEADS: u32 = 2u;
const ROWS: u32 = 8u;
const HEAD_FOURS: u32 = 32u;
const SUBSETS: u32 = 2u;
const KEY_LOADS: u32 = 8u;
const VALUE_LOADS: u32 = 8u;
const REDUCE_VALUES: u32 = 8u;
const SUBGROUP_SLOTS: u32 = 16u;
const F32_LOWEST: f32 = -340282346638528859811704183484516925440.0f;
const LEAST_EXPONENT: f32 = -200.0f;

struct Params {
  b: u32,
  capacity: u32,
  layer: u32,
  scale: f32,
  m: u32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k_cache: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v_cache: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> tile: array<vec4<f32>, ROWS * HEAD_FOURS>;
var<workgroup> weights: array<vec4<f32>, 2u * WORKGROUP_SIZE>;
var<workgroup> slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// Where the key or value of a head at a position begins, counted in vec4: k_cache and v_cache are both
// [layers][params.b][params.capacity][KV_HEADS][HEAD_DIM], and the layer is params.layer. A row lies where the
// capacity puts it, never the length, so that it stays there while the sequence grows. The position must be below
// the capacity. Four elements at dim d are at cache_index(…) + d / 4.
fn cache_index(sequence: u32, position: u32, head: u32) -> u32 {
  return (((params.layer * params.b + sequence) * params.capacity + position) * KV_HEADS + head) * (HEAD_DIM / 4u);
}

// Which row of q, [sequences][tokens][Q_HEADS], stands at `row` in the list of a key head's queries: token by token,
// and head by head of its group.
fn query_row(sequence: u32, tokens: u32, kv_head: u32, row: u32) -> u32 {
  let member = row % GROUP_HEADS;
  let head = kv_head * GROUP_HEADS + member;
  return (sequence * tokens + row / GROUP_HEADS) * Q_HEADS + head;
}

// The first key that a query sees which sees no key from `end` on.
fn first_seen(end: u32) -> u32 {
  return 0u;
}

fn add_four(values: vec4<f32>) -> f32 {
  return values.x + values.y + (values.z + values.w);
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
  let value_1 = subgroupMax(values[1u]);
  let value_2 = subgroupMax(values[2u]);
  let value_3 = subgroupMax(values[3u]);
  let value_4 = subgroupMax(values[4u]);
  let value_5 = subgroupMax(values[5u]);
  let value_6 = subgroupMax(values[6u]);
  let value_7 = subgroupMax(values[7u]);
  if (thread.lane == 0u) {
    slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
    slots[2u * SUBGROUP_SLOTS + thread.subgroup] = value_2;
    slots[3u * SUBGROUP_SLOTS + thread.subgroup] = value_3;
    slots[4u * SUBGROUP_SLOTS + thread.subgroup] = value_4;
    slots[5u * SUBGROUP_SLOTS + thread.subgroup] = value_5;
    slots[6u * SUBGROUP_SLOTS + thread.subgroup] = value_6;
    slots[7u * SUBGROUP_SLOTS + thread.subgroup] = value_7;
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  var total = slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total = max(total, slots[value * SUBGROUP_SLOTS + slot]);
  }
  return total;
}

// Folds REDUCE_VALUES numbers of each thread over its subgroup; one slot a subgroup holds the result.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  let value_0 = subgroupAdd(values[0u]);
  let value_1 = subgroupAdd(values[1u]);
  let value_2 = subgroupAdd(values[2u]);
  let value_3 = subgroupAdd(values[3u]);
  let value_4 = subgroupAdd(values[4u]);
  let value_5 = subgroupAdd(values[5u]);
  let value_6 = subgroupAdd(values[6u]);
  let value_7 = subgroupAdd(values[7u]);
  if (thread.lane == 0u) {
    slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
    slots[2u * SUBGROUP_SLOTS + thread.subgroup] = value_2;
    slots[3u * SUBGROUP_SLOTS + thread.subgroup] = value_3;
    slots[4u * SUBGROUP_SLOTS + thread.subgroup] = value_4;
    slots[5u * SUBGROUP_SLOTS + thread.subgroup] = value_5;
    slots[6u * SUBGROUP_SLOTS + thread.subgroup] = value_6;
    slots[7u * SUBGROUP_SLOTS + thread.subgroup] = value_7;
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  var total = slots[value * SUBGROUP_SLOTS];
  for (var slot = 1u; slot < thread.subgroups; slot++) {
    total += slots[value * SUBGROUP_SLOTS + slot];
  }
  return total;
}

// Where the keys of a row's token end: behind its own, at position length - m + token; 0 where that is negative.
fn end_of(length: u32, row: u32) -> u32 {
  return max(length + row / GROUP_HEADS + 1u, params.m) - params.m;
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
  let tokens = params.m;
  let row_tiles = (tokens * GROUP_HEADS + ROWS - 1u) / ROWS;
  let count = params.b * KV_HEADS * row_tiles;
  let index = workgroup_index(workgroup_id, num_workgroups);
  let work = min(index, count - 1u);
  let first_row = work % row_tiles * ROWS;
  let last_row = tokens * GROUP_HEADS - 1u;
  let kv_head = work / row_tiles % KV_HEADS;
  let sequence = work / row_tiles / KV_HEADS;
  let length = min(lengths[sequence], params.capacity);
  let row_0 = min(first_row + 0u, last_row);
  let row_1 = min(first_row + 1u, last_row);
  let row_2 = min(first_row + 2u, last_row);
  let row_3 = min(first_row + 3u, last_row);
  let ends_0 = vec4<u32>(end_of(length, row_0), end_of(length, row_1), end_of(length, row_2), end_of(length, row_3));
  let starts_0 = vec4<u32>(first_seen(ends_0.x), first_seen(ends_0.y), first_seen(ends_0.z), first_seen(ends_0.w));
  let row_4 = min(first_row + 4u, last_row);
  let row_5 = min(first_row + 5u, last_row);
  let row_6 = min(first_row + 6u, last_row);
  let row_7 = min(first_row + 7u, last_row);
  let ends_1 = vec4<u32>(end_of(length, row_4), end_of(length, row_5), end_of(length, row_6), end_of(length, row_7));
  let starts_1 = vec4<u32>(first_seen(ends_1.x), first_seen(ends_1.y), first_seen(ends_1.z), first_seen(ends_1.w));
  // Later rows see later keys, so the first row of the tile sees the first key, and the last row the last.
  let first_key = starts_0.x;
  let end_key = end_of(length, row_7);
  for (var at = thread.index; at < ROWS * HEAD_FOURS; at += WORKGROUP_SIZE) {
    let row = query_row(sequence, tokens, kv_head, min(first_row + at / HEAD_FOURS, last_row));
    tile[at] = vec4<f32>(q[row * HEAD_FOURS + at % HEAD_FOURS]) * params.scale;
  }
  workgroupBarrier();
  // This thread's part of the values: four dims, and of each tile's keys every SUBSETS-th. Some threads may have none.
  let four = thread.index % HEAD_FOURS;
  let subset = thread.index / HEAD_FOURS;
  var maxima_0 = vec4<f32>(F32_LOWEST);
  var sums_0 = vec4<f32>();
  var values_0 = vec4<f32>();
  var values_1 = vec4<f32>();
  var values_2 = vec4<f32>();
  var values_3 = vec4<f32>();
  var maxima_1 = vec4<f32>(F32_LOWEST);
  var sums_1 = vec4<f32>();
  var values_4 = vec4<f32>();
  var values_5 = vec4<f32>();
  var values_6 = vec4<f32>();
  var values_7 = vec4<f32>();
  for (var from_key = first_key; from_key < end_key; from_key += WORKGROUP_SIZE) {
    // Scores: a key for each thread. Keys from end_key on must not be read: they may hold anything, NaN too.
    let key = from_key + thread.index;
    var products_0 = vec4<f32>();
    var products_1 = vec4<f32>();
    var products_2 = vec4<f32>();
    var products_3 = vec4<f32>();
    var products_4 = vec4<f32>();
    var products_5 = vec4<f32>();
    var products_6 = vec4<f32>();
    var products_7 = vec4<f32>();
    if (key < end_key) {
      let key_row = cache_index(sequence, key, kv_head);
      // Loads of a round wait for nothing, here and at the values, so all are in flight at once.
      for (var at = 0u; at < HEAD_FOURS; at += KEY_LOADS) {
        let k_0 = k_cache[key_row + at + 0u];
        let k_1 = k_cache[key_row + at + 1u];
        let k_2 = k_cache[key_row + at + 2u];
        let k_3 = k_cache[key_row + at + 3u];
        let k_4 = k_cache[key_row + at + 4u];
        let k_5 = k_cache[key_row + at + 5u];
        let k_6 = k_cache[key_row + at + 6u];
        let k_7 = k_cache[key_row + at + 7u];
        let key_0 = vec4<f32>(k_0);
        products_0 = fma(key_0, tile[0u * HEAD_FOURS + at + 0u], products_0);
        products_1 = fma(key_0, tile[1u * HEAD_FOURS + at + 0u], products_1);
        products_2 = fma(key_0, tile[2u * HEAD_FOURS + at + 0u], products_2);
        products_3 = fma(key_0, tile[3u * HEAD_FOURS + at + 0u], products_3);
        products_4 = fma(key_0, tile[4u * HEAD_FOURS + at + 0u], products_4);
        products_5 = fma(key_0, tile[5u * HEAD_FOURS + at + 0u], products_5);
        products_6 = fma(key_0, tile[6u * HEAD_FOURS + at + 0u], products_6);
        products_7 = fma(key_0, tile[7u * HEAD_FOURS + at + 0u], products_7);
        let key_1 = vec4<f32>(k_1);
        products_0 = fma(key_1, tile[0u * HEAD_FOURS + at + 1u], products_0);
        products_1 = fma(key_1, tile[1u * HEAD_FOURS + at + 1u], products_1);
        products_2 = fma(key_1, tile[2u * HEAD_FOURS + at + 1u], products_2);
        products_3 = fma(key_1, tile[3u * HEAD_FOURS + at + 1u], products_3);
        products_4 = fma(key_1, tile[4u * HEAD_FOURS + at + 1u], products_4);
        products_5 = fma(key_1, tile[5u * HEAD_FOURS + at + 1u], products_5);
        products_6 = fma(key_1, tile[6u * HEAD_FOURS + at + 1u], products_6);
        products_7 = fma(key_1, tile[7u * HEAD_FOURS + at + 1u], products_7);
        let key_2 = vec4<f32>(k_2);
        products_0 = fma(key_2, tile[0u * HEAD_FOURS + at + 2u], products_0);
        products_1 = fma(key_2, tile[1u * HEAD_FOURS + at + 2u], products_1);
        products_2 = fma(key_2, tile[2u * HEAD_FOURS + at + 2u], products_2);
        products_3 = fma(key_2, tile[3u * HEAD_FOURS + at + 2u], products_3);
        products_4 = fma(key_2, tile[4u * HEAD_FOURS + at + 2u], products_4);
        products_5 = fma(key_2, tile[5u * HEAD_FOURS + at + 2u], products_5);
        products_6 = fma(key_2, tile[6u * HEAD_FOURS + at + 2u], products_6);
        products_7 = fma(key_2, tile[7u * HEAD_FOURS + at + 2u], products_7);
        let key_3 = vec4<f32>(k_3);
        products_0 = fma(key_3, tile[0u * HEAD_FOURS + at + 3u], products_0);
        products_1 = fma(key_3, tile[1u * HEAD_FOURS + at + 3u], products_1);
        products_2 = fma(key_3, tile[2u * HEAD_FOURS + at + 3u], products_2);
        products_3 = fma(key_3, tile[3u * HEAD_FOURS + at + 3u], products_3);
        products_4 = fma(key_3, tile[4u * HEAD_FOURS + at + 3u], products_4);
        products_5 = fma(key_3, tile[5u * HEAD_FOURS + at + 3u], products_5);
        products_6 = fma(key_3, tile[6u * HEAD_FOURS + at + 3u], products_6);
        products_7 = fma(key_3, tile[7u * HEAD_FOURS + at + 3u], products_7);
        let key_4 = vec4<f32>(k_4);
        products_0 = fma(key_4, tile[0u * HEAD_FOURS + at + 4u], products_0);
        products_1 = fma(key_4, tile[1u * HEAD_FOURS + at + 4u], products_1);
        products_2 = fma(key_4, tile[2u * HEAD_FOURS + at + 4u], products_2);
        products_3 = fma(key_4, tile[3u * HEAD_FOURS + at + 4u], products_3);
        products_4 = fma(key_4, tile[4u * HEAD_FOURS + at + 4u], products_4);
        products_5 = fma(key_4, tile[5u * HEAD_FOURS + at + 4u], products_5);
        products_6 = fma(key_4, tile[6u * HEAD_FOURS + at + 4u], products_6);
        products_7 = fma(key_4, tile[7u * HEAD_FOURS + at + 4u], products_7);
        let key_5 = vec4<f32>(k_5);
        products_0 = fma(key_5, tile[0u * HEAD_FOURS + at + 5u], products_0);
        products_1 = fma(key_5, tile[1u * HEAD_FOURS + at + 5u], products_1);
        products_2 = fma(key_5, tile[2u * HEAD_FOURS + at + 5u], products_2);
        products_3 = fma(key_5, tile[3u * HEAD_FOURS + at + 5u], products_3);
        products_4 = fma(key_5, tile[4u * HEAD_FOURS + at + 5u], products_4);
        products_5 = fma(key_5, tile[5u * HEAD_FOURS + at + 5u], products_5);
        products_6 = fma(key_5, tile[6u * HEAD_FOURS + at + 5u], products_6);
        products_7 = fma(key_5, tile[7u * HEAD_FOURS + at + 5u], products_7);
        let key_6 = vec4<f32>(k_6);
        products_0 = fma(key_6, tile[0u * HEAD_FOURS + at + 6u], products_0);
        products_1 = fma(key_6, tile[1u * HEAD_FOURS + at + 6u], products_1);
        products_2 = fma(key_6, tile[2u * HEAD_FOURS + at + 6u], products_2);
        products_3 = fma(key_6, tile[3u * HEAD_FOURS + at + 6u], products_3);
        products_4 = fma(key_6, tile[4u * HEAD_FOURS + at + 6u], products_4);
        products_5 = fma(key_6, tile[5u * HEAD_FOURS + at + 6u], products_5);
        products_6 = fma(key_6, tile[6u * HEAD_FOURS + at + 6u], products_6);
        products_7 = fma(key_6, tile[7u * HEAD_FOURS + at + 6u], products_7);
        let key_7 = vec4<f32>(k_7);
        products_0 = fma(key_7, tile[0u * HEAD_FOURS + at + 7u], products_0);
        products_1 = fma(key_7, tile[1u * HEAD_FOURS + at + 7u], products_1);
        products_2 = fma(key_7, tile[2u * HEAD_FOURS + at + 7u], products_2);
        products_3 = fma(key_7, tile[3u * HEAD_FOURS + at + 7u], products_3);
        products_4 = fma(key_7, tile[4u * HEAD_FOURS + at + 7u], products_4);
        products_5 = fma(key_7, tile[5u * HEAD_FOURS + at + 7u], products_5);
        products_6 = fma(key_7, tile[6u * HEAD_FOURS + at + 7u], products_6);
        products_7 = fma(key_7, tile[7u * HEAD_FOURS + at + 7u], products_7);
      }
    }
    var scores_0 = vec4<f32>(add_four(products_0), add_four(products_1), add_four(products_2), add_four(products_3));
    let seen_0 = (vec4<u32>(key) >= starts_0) & (vec4<u32>(key) < ends_0);
    scores_0 = select(vec4<f32>(F32_LOWEST), scores_0, seen_0);
    var scores_1 = vec4<f32>(add_four(products_4), add_four(products_5), add_four(products_6), add_four(products_7));
    let seen_1 = (vec4<u32>(key) >= starts_1) & (vec4<u32>(key) < ends_1);
    scores_1 = select(vec4<f32>(F32_LOWEST), scores_1, seen_1);
    reduce_max(array<f32, REDUCE_VALUES>(scores_0.x, scores_0.y, scores_0.z, scores_0.w, scores_1.x, scores_1.y, scores_1.z, scores_1.w), thread);
    // Weights, and the factors that bring what was added up before under the new maxima. A score that is no number is
    // told by its bits and passed on, because exp and max lose it on some devices.
    let risen_0 = max(maxima_0, vec4<f32>(total_max(0u, thread), total_max(1u, thread), total_max(2u, thread), total_max(3u, thread)));
    let factors_0 = exp(max(maxima_0 - risen_0, vec4<f32>(LEAST_EXPONENT)));
    let exponents_0 = select(vec4<f32>(), scores_0 - risen_0, seen_0);
    let broken_0 = (bitcast<vec4<u32>>(scores_0) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
    let powers_0 = select(exp(exponents_0), scores_0, broken_0);
    let weights_0 = select(vec4<f32>(), powers_0, seen_0);
    weights[0u * WORKGROUP_SIZE + thread.index] = weights_0;
    sums_0 = fma(sums_0, factors_0, weights_0);
    maxima_0 = risen_0;
    values_0 *= factors_0.x;
    values_1 *= factors_0.y;
    values_2 *= factors_0.z;
    values_3 *= factors_0.w;
    let risen_1 = max(maxima_1, vec4<f32>(total_max(4u, thread), total_max(5u, thread), total_max(6u, thread), total_max(7u, thread)));
    let factors_1 = exp(max(maxima_1 - risen_1, vec4<f32>(LEAST_EXPONENT)));
    let exponents_1 = select(vec4<f32>(), scores_1 - risen_1, seen_1);
    let broken_1 = (bitcast<vec4<u32>>(scores_1) & vec4<u32>(0x7fffffffu)) >= vec4<u32>(0x7f800001u);
    let powers_1 = select(exp(exponents_1), scores_1, broken_1);
    let weights_1 = select(vec4<f32>(), powers_1, seen_1);
    weights[1u * WORKGROUP_SIZE + thread.index] = weights_1;
    sums_1 = fma(sums_1, factors_1, weights_1);
    maxima_1 = risen_1;
    values_4 *= factors_1.x;
    values_5 *= factors_1.y;
    values_6 *= factors_1.z;
    values_7 *= factors_1.w;
    workgroupBarrier();
    // Past the end the last key is read again, and its value replaced by 0: a weight of 0 would not hide an infinity.
    let keys = min(end_key - from_key, WORKGROUP_SIZE);
    for (var at = select(keys, subset, subset < SUBSETS); at < keys; at += VALUE_LOADS * SUBSETS) {
      let at_0 = at + 0u * SUBSETS;
      let near_0 = min(at_0, keys - 1u);
      let v_0 = v_cache[cache_index(sequence, from_key + near_0, kv_head) + four];
      let at_1 = at + 1u * SUBSETS;
      let near_1 = min(at_1, keys - 1u);
      let v_1 = v_cache[cache_index(sequence, from_key + near_1, kv_head) + four];
      let at_2 = at + 2u * SUBSETS;
      let near_2 = min(at_2, keys - 1u);
      let v_2 = v_cache[cache_index(sequence, from_key + near_2, kv_head) + four];
      let at_3 = at + 3u * SUBSETS;
      let near_3 = min(at_3, keys - 1u);
      let v_3 = v_cache[cache_index(sequence, from_key + near_3, kv_head) + four];
      let at_4 = at + 4u * SUBSETS;
      let near_4 = min(at_4, keys - 1u);
      let v_4 = v_cache[cache_index(sequence, from_key + near_4, kv_head) + four];
      let at_5 = at + 5u * SUBSETS;
      let near_5 = min(at_5, keys - 1u);
      let v_5 = v_cache[cache_index(sequence, from_key + near_5, kv_head) + four];
      let at_6 = at + 6u * SUBSETS;
      let near_6 = min(at_6, keys - 1u);
      let v_6 = v_cache[cache_index(sequence, from_key + near_6, kv_head) + four];
      let at_7 = at + 7u * SUBSETS;
      let near_7 = min(at_7, keys - 1u);
      let v_7 = v_cache[cache_index(sequence, from_key + near_7, kv_head) + four];
      let value_0 = select(vec4<f32>(), vec4<f32>(v_0), at_0 < keys);
      let weight_0_0 = weights[0u * WORKGROUP_SIZE + near_0];
      values_0 = fma(vec4<f32>(weight_0_0.x), value_0, values_0);
      values_1 = fma(vec4<f32>(weight_0_0.y), value_0, values_1);
      values_2 = fma(vec4<f32>(weight_0_0.z), value_0, values_2);
      values_3 = fma(vec4<f32>(weight_0_0.w), value_0, values_3);
      let weight_1_0 = weights[1u * WORKGROUP_SIZE + near_0];
      values_4 = fma(vec4<f32>(weight_1_0.x), value_0, values_4);
      values_5 = fma(vec4<f32>(weight_1_0.y), value_0, values_5);
      values_6 = fma(vec4<f32>(weight_1_0.z), value_0, values_6);
      values_7 = fma(vec4<f32>(weight_1_0.w), value_0, values_7);
      let value_1 = select(vec4<f32>(), vec4<f32>(v_1), at_1 < keys);
      let weight_0_1 = weights[0u * WORKGROUP_SIZE + near_1];
      values_0 = fma(vec4<f32>(weight_0_1.x), value_1, values_0);
      values_1 = fma(vec4<f32>(weight_0_1.y), value_1, values_1);
      values_2 = fma(vec4<f32>(weight_0_1.z), value_1, values_2);
      values_3 = fma(vec4<f32>(weight_0_1.w), value_1, values_3);
      let weight_1_1 = weights[1u * WORKGROUP_SIZE + near_1];
      values_4 = fma(vec4<f32>(weight_1_1.x), value_1, values_4);
      values_5 = fma(vec4<f32>(weight_1_1.y), value_1, values_5);
      values_6 = fma(vec4<f32>(weight_1_1.z), value_1, values_6);
      values_7 = fma(vec4<f32>(weight_1_1.w), value_1, values_7);
      let value_2 = select(vec4<f32>(), vec4<f32>(v_2), at_2 < keys);
      let weight_0_2 = weights[0u * WORKGROUP_SIZE + near_2];
      values_0 = fma(vec4<f32>(weight_0_2.x), value_2, values_0);
      values_1 = fma(vec4<f32>(weight_0_2.y), value_2, values_1);
      values_2 = fma(vec4<f32>(weight_0_2.z), value_2, values_2);
      values_3 = fma(vec4<f32>(weight_0_2.w), value_2, values_3);
      let weight_1_2 = weights[1u * WORKGROUP_SIZE + near_2];
      values_4 = fma(vec4<f32>(weight_1_2.x), value_2, values_4);
      values_5 = fma(vec4<f32>(weight_1_2.y), value_2, values_5);
      values_6 = fma(vec4<f32>(weight_1_2.z), value_2, values_6);
      values_7 = fma(vec4<f32>(weight_1_2.w), value_2, values_7);
      let value_3 = select(vec4<f32>(), vec4<f32>(v_3), at_3 < keys);
      let weight_0_3 = weights[0u * WORKGROUP_SIZE + near_3];
      values_0 = fma(vec4<f32>(weight_0_3.x), value_3, values_0);
      values_1 = fma(vec4<f32>(weight_0_3.y), value_3, values_1);
      values_2 = fma(vec4<f32>(weight_0_3.z), value_3, values_2);
      values_3 = fma(vec4<f32>(weight_0_3.w), value_3, values_3);
      let weight_1_3 = weights[1u * WORKGROUP_SIZE + near_3];
      values_4 = fma(vec4<f32>(weight_1_3.x), value_3, values_4);
      values_5 = fma(vec4<f32>(weight_1_3.y), value_3, values_5);
      values_6 = fma(vec4<f32>(weight_1_3.z), value_3, values_6);
      values_7 = fma(vec4<f32>(weight_1_3.w), value_3, values_7);
      let value_4 = select(vec4<f32>(), vec4<f32>(v_4), at_4 < keys);
      let weight_0_4 = weights[0u * WORKGROUP_SIZE + near_4];
      values_0 = fma(vec4<f32>(weight_0_4.x), value_4, values_0);
      values_1 = fma(vec4<f32>(weight_0_4.y), value_4, values_1);
      values_2 = fma(vec4<f32>(weight_0_4.z), value_4, values_2);
      values_3 = fma(vec4<f32>(weight_0_4.w), value_4, values_3);
      let weight_1_4 = weights[1u * WORKGROUP_SIZE + near_4];
      values_4 = fma(vec4<f32>(weight_1_4.x), value_4, values_4);
      values_5 = fma(vec4<f32>(weight_1_4.y), value_4, values_5);
      values_6 = fma(vec4<f32>(weight_1_4.z), value_4, values_6);
      values_7 = fma(vec4<f32>(weight_1_4.w), value_4, values_7);
      let value_5 = select(vec4<f32>(), vec4<f32>(v_5), at_5 < keys);
      let weight_0_5 = weights[0u * WORKGROUP_SIZE + near_5];
      values_0 = fma(vec4<f32>(weight_0_5.x), value_5, values_0);
      values_1 = fma(vec4<f32>(weight_0_5.y), value_5, values_1);
      values_2 = fma(vec4<f32>(weight_0_5.z), value_5, values_2);
      values_3 = fma(vec4<f32>(weight_0_5.w), value_5, values_3);
      let weight_1_5 = weights[1u * WORKGROUP_SIZE + near_5];
      values_4 = fma(vec4<f32>(weight_1_5.x), value_5, values_4);
      values_5 = fma(vec4<f32>(weight_1_5.y), value_5, values_5);
      values_6 = fma(vec4<f32>(weight_1_5.z), value_5, values_6);
      values_7 = fma(vec4<f32>(weight_1_5.w), value_5, values_7);
      let value_6 = select(vec4<f32>(), vec4<f32>(v_6), at_6 < keys);
      let weight_0_6 = weights[0u * WORKGROUP_SIZE + near_6];
      values_0 = fma(vec4<f32>(weight_0_6.x), value_6, values_0);
      values_1 = fma(vec4<f32>(weight_0_6.y), value_6, values_1);
      values_2 = fma(vec4<f32>(weight_0_6.z), value_6, values_2);
      values_3 = fma(vec4<f32>(weight_0_6.w), value_6, values_3);
      let weight_1_6 = weights[1u * WORKGROUP_SIZE + near_6];
      values_4 = fma(vec4<f32>(weight_1_6.x), value_6, values_4);
      values_5 = fma(vec4<f32>(weight_1_6.y), value_6, values_5);
      values_6 = fma(vec4<f32>(weight_1_6.z), value_6, values_6);
      values_7 = fma(vec4<f32>(weight_1_6.w), value_6, values_7);
      let value_7 = select(vec4<f32>(), vec4<f32>(v_7), at_7 < keys);
      let weight_0_7 = weights[0u * WORKGROUP_SIZE + near_7];
      values_0 = fma(vec4<f32>(weight_0_7.x), value_7, values_0);
      values_1 = fma(vec4<f32>(weight_0_7.y), value_7, values_1);
      values_2 = fma(vec4<f32>(weight_0_7.z), value_7, values_2);
      values_3 = fma(vec4<f32>(weight_0_7.w), value_7, values_3);
      let weight_1_7 = weights[1u * WORKGROUP_SIZE + near_7];
      values_4 = fma(vec4<f32>(weight_1_7.x), value_7, values_4);
      values_5 = fma(vec4<f32>(weight_1_7.y), value_7, values_5);
      values_6 = fma(vec4<f32>(weight_1_7.z), value_7, values_6);
      values_7 = fma(vec4<f32>(weight_1_7.w), value_7, values_7);
    }
  }
  // The barriers in here also part the queries, which end here, from the sums that take their place.
  reduce_sum(array<f32, REDUCE_VALUES>(sums_0.x, sums_0.y, sums_0.z, sums_0.w, sums_1.x, sums_1.y, sums_1.z, sums_1.w), thread);
  if (subset == 0u) {
    tile[0u * HEAD_FOURS + four] = values_0;
    tile[1u * HEAD_FOURS + four] = values_1;
    tile[2u * HEAD_FOURS + four] = values_2;
    tile[3u * HEAD_FOURS + four] = values_3;
    tile[4u * HEAD_FOURS + four] = values_4;
    tile[5u * HEAD_FOURS + four] = values_5;
    tile[6u * HEAD_FOURS + four] = values_6;
    tile[7u * HEAD_FOURS + four] = values_7;
  }
  workgroupBarrier();
  for (var turn = 1u; turn < SUBSETS; turn++) {
    if (subset == turn) {
      tile[0u * HEAD_FOURS + four] += values_0;
      tile[1u * HEAD_FOURS + four] += values_1;
      tile[2u * HEAD_FOURS + four] += values_2;
      tile[3u * HEAD_FOURS + four] += values_3;
      tile[4u * HEAD_FOURS + four] += values_4;
      tile[5u * HEAD_FOURS + four] += values_5;
      tile[6u * HEAD_FOURS + four] += values_6;
      tile[7u * HEAD_FOURS + four] += values_7;
    }
    workgroupBarrier();
  }
  for (var at = thread.index; at < ROWS * HEAD_FOURS; at += WORKGROUP_SIZE) {
    let row = first_row + at / HEAD_FOURS;
    if (index < count && row <= last_row) {
      let result = query_row(sequence, tokens, kv_head, row) * HEAD_FOURS + at % HEAD_FOURS;
      // Sums of nothing are 0, and stay it. A total that is no number makes y none: there must be no floor under it.
      let total = total_sum(at / HEAD_FOURS, thread);
      let attention = tile[at] / select(total, 1.0f, total == 0.0f);
      y[result] = attention;
    }
  }
}
