// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.
//
// attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence
// variant attention_split_q16_kv8_hd128_repeat_cf16_xf32_splits16__wg128
// q: queries [B][1][16][128]
// k_cache: keys [LAYERS][B][CAPACITY][8][128]
// v_cache: values [LAYERS][B][CAPACITY][8][128]
// lengths: tokens of each sequence [B], those of this call among them
// partials: weighted sums of values [B][16][num_splits][128]
// stats: maximum score and sum of weights [B][16][num_splits]
enable f16;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const WORKGROUP_SIZE: u32 = 128u;
const NUM_SPLITS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const ROWS: u32 = 2u;
const HEAD_FOURS: u32 = 32u;
const SUBSETS: u32 = 4u;
const REDUCE_VALUES: u32 = 2u;
const F32_LOWEST: f32 = -340282346638528859811704183484516925440.0f;
const LEAST_EXPONENT: f32 = -200.0f;
const ROW_TILES: u32 = 1u;

struct Params {
  b: u32,
  capacity: u32,
  layer: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k_cache: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> v_cache: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> partials: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> stats: array<vec2<f32>>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> tile: array<vec4<f32>, ROWS * HEAD_FOURS>;
var<workgroup> weights: array<vec4<f32>, 1u * WORKGROUP_SIZE>;
var<workgroup> slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_max(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      slots[0u * WORKGROUP_SIZE + thread.index] = max(slots[0u * WORKGROUP_SIZE + thread.index], slots[0u * WORKGROUP_SIZE + thread.index + stride]);
      slots[1u * WORKGROUP_SIZE + thread.index] = max(slots[1u * WORKGROUP_SIZE + thread.index], slots[1u * WORKGROUP_SIZE + thread.index + stride]);
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_max for one of the values; any thread may ask.
fn total_max(value: u32, thread: Thread) -> f32 {
  return slots[value * WORKGROUP_SIZE];
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      slots[0u * WORKGROUP_SIZE + thread.index] += slots[0u * WORKGROUP_SIZE + thread.index + stride];
      slots[1u * WORKGROUP_SIZE + thread.index] += slots[1u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return slots[value * WORKGROUP_SIZE];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let count = params.b * (KV_HEADS * ROW_TILES * NUM_SPLITS);
  let index = workgroup_index(workgroup_id, num_workgroups);
  let work = min(index, count - 1u);
  let split = work % NUM_SPLITS;
  let first_row = work / NUM_SPLITS % ROW_TILES * ROWS;
  let last_row = GROUP_HEADS - 1u;
  let kv_head = work / (NUM_SPLITS * ROW_TILES) % KV_HEADS;
  let sequence = work / (NUM_SPLITS * ROW_TILES * KV_HEADS);
  let tokens = 1u;
  // The first `left` parts have one key more than the others.
  let end = min(lengths[sequence], params.capacity);
  let seen = end - first_seen(end);
  let left = seen % NUM_SPLITS;
  let first_key = first_seen(end) + split * (seen / NUM_SPLITS) + min(split, left);
  let end_key = first_key + seen / NUM_SPLITS + select(0u, 1u, split < left);
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
  for (var from_key = first_key; from_key < end_key; from_key += WORKGROUP_SIZE) {
    // Scores: a key for each thread. Keys from end_key on must not be read: they may hold anything, NaN too.
    let key = from_key + thread.index;
    var products_0 = vec4<f32>();
    var products_1 = vec4<f32>();
    if (key < end_key) {
      let key_row = cache_index(sequence, key, kv_head);
      for (var at = 0u; at < HEAD_FOURS; at++) {
        let k = vec4<f32>(k_cache[key_row + at]);
        products_0 = fma(k, tile[0u * HEAD_FOURS + at], products_0);
        products_1 = fma(k, tile[1u * HEAD_FOURS + at], products_1);
      }
    }
    var scores_0 = vec4<f32>(add_four(products_0), add_four(products_1), 0.0f, 0.0f);
    let seen_0 = key < end_key;
    scores_0 = select(vec4<f32>(F32_LOWEST), scores_0, seen_0);
    reduce_max(array<f32, REDUCE_VALUES>(scores_0.x, scores_0.y), thread);
    // Weights, and the factors that bring what was added up before under the new maxima. A score that is no number is
    // told by its bits and passed on, because exp and max lose it on some devices.
    let risen_0 = max(maxima_0, vec4<f32>(total_max(0u, thread), total_max(1u, thread), 0.0f, 0.0f));
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
    workgroupBarrier();
    let keys = min(end_key - from_key, WORKGROUP_SIZE);
    for (var at = select(keys, subset, subset < SUBSETS); at < keys; at += SUBSETS) {
      let v = vec4<f32>(v_cache[cache_index(sequence, from_key + at, kv_head) + four]);
      let weight_0 = weights[0u * WORKGROUP_SIZE + at];
      values_0 = fma(vec4<f32>(weight_0.x), v, values_0);
      values_1 = fma(vec4<f32>(weight_0.y), v, values_1);
    }
  }
  // The barriers in here also part the queries, which end here, from the sums that take their place.
  reduce_sum(array<f32, REDUCE_VALUES>(sums_0.x, sums_0.y), thread);
  if (subset == 0u) {
    tile[0u * HEAD_FOURS + four] = values_0;
    tile[1u * HEAD_FOURS + four] = values_1;
  }
  workgroupBarrier();
  for (var turn = 1u; turn < SUBSETS; turn++) {
    if (subset == turn) {
      tile[0u * HEAD_FOURS + four] += values_0;
      tile[1u * HEAD_FOURS + four] += values_1;
    }
    workgroupBarrier();
  }
  for (var at = thread.index; at < ROWS * HEAD_FOURS; at += WORKGROUP_SIZE) {
    let row = first_row + at / HEAD_FOURS;
    if (index < count && row <= last_row) {
      let part = query_row(sequence, tokens, kv_head, row) * NUM_SPLITS + split;
      partials[part * HEAD_FOURS + at % HEAD_FOURS] = tile[at];
    }
  }
  if (thread.index == 0u && index < count && first_row + 0u <= last_row) {
    let part = query_row(sequence, tokens, kv_head, first_row + 0u) * NUM_SPLITS + split;
    stats[part] = vec2<f32>(maxima_0.x, total_sum(0u, thread));
  }
  if (thread.index == 1u && index < count && first_row + 1u <= last_row) {
    let part = query_row(sequence, tokens, kv_head, first_row + 1u) * NUM_SPLITS + split;
    stats[part] = vec2<f32>(maxima_0.y, total_sum(1u, thread));
  }
}
