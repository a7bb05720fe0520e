// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence. */
export const attention_split = {
  kernel: "attention_split",
  variants: {
    "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128": {
      name: "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128",
      computes: "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16",
      kernel: "attention_split",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "head_map": "repeat", "cache": "f32", "activation": "f32", "workgroup_size": 128, "subgroups": false, "num_splits": 16},
      sizes: ["B", "CAPACITY", "LAYERS", "LAYER"],
      alone: null,
      workgroups: ["mul", ["mul", ["mul", "B", 8], 1], 16],
      uniforms: {"binding": 6, "size": 16, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "capacity", "type": "u32", "offset": 4, "value": "CAPACITY", "doc": "rows of the cache for a sequence"}, {"name": "layer", "type": "u32", "offset": 8, "value": "LAYER", "doc": "layer of the cache"}, {"name": "scale", "type": "f32", "offset": 12, "value": "SCALE", "doc": "factor of the scores, as 1 / sqrt(head_dim)"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 4096, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the cache has LAYERS layers, counted from 0"}],
      bindings: [{"binding": 0, "name": "q", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 1], 512]}, {"binding": 1, "name": "k_cache", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 256]}, {"binding": 2, "name": "v_cache", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 256]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "partials", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 16], 512]}, {"binding": 5, "name": "stats", "access": "read_write", "element": "vec2<f32>", "length": ["mul", ["mul", "B", 16], 16]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence
// variant attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128
// q: queries [B][1][16][128]
// k_cache: keys [LAYERS][B][CAPACITY][8][128]
// v_cache: values [LAYERS][B][CAPACITY][8][128]
// lengths: tokens of each sequence [B], those of this call among them
// partials: weighted sums of values [B][16][num_splits][128]
// stats: maximum score and sum of weights [B][16][num_splits]
const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const WORKGROUP_SIZE: u32 = 128u;
const NUM_SPLITS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const ROWS: u32 = 2u;
const HEAD_FOURS: u32 = 32u;
const SUBSETS: u32 = 4u;
const KEY_LOADS: u32 = 16u;
const VALUE_LOADS: u32 = 16u;
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
@group(0) @binding(1) var<storage, read> k_cache: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v_cache: array<vec4<f32>>;
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

// Which row of q, [sequences][tokens][Q_HEADS], stands at \`row\` in the list of a key head's queries: token by token,
// and head by head of its group.
fn query_row(sequence: u32, tokens: u32, kv_head: u32, row: u32) -> u32 {
  let member = row % GROUP_HEADS;
  let head = kv_head * GROUP_HEADS + member;
  return (sequence * tokens + row / GROUP_HEADS) * Q_HEADS + head;
}

// The first key that a query sees which sees no key from \`end\` on.
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
  // The first \`left\` parts have one key more than the others.
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
        let k_8 = k_cache[key_row + at + 8u];
        let k_9 = k_cache[key_row + at + 9u];
        let k_10 = k_cache[key_row + at + 10u];
        let k_11 = k_cache[key_row + at + 11u];
        let k_12 = k_cache[key_row + at + 12u];
        let k_13 = k_cache[key_row + at + 13u];
        let k_14 = k_cache[key_row + at + 14u];
        let k_15 = k_cache[key_row + at + 15u];
        let key_0 = vec4<f32>(k_0);
        products_0 = fma(key_0, tile[0u * HEAD_FOURS + at + 0u], products_0);
        products_1 = fma(key_0, tile[1u * HEAD_FOURS + at + 0u], products_1);
        let key_1 = vec4<f32>(k_1);
        products_0 = fma(key_1, tile[0u * HEAD_FOURS + at + 1u], products_0);
        products_1 = fma(key_1, tile[1u * HEAD_FOURS + at + 1u], products_1);
        let key_2 = vec4<f32>(k_2);
        products_0 = fma(key_2, tile[0u * HEAD_FOURS + at + 2u], products_0);
        products_1 = fma(key_2, tile[1u * HEAD_FOURS + at + 2u], products_1);
        let key_3 = vec4<f32>(k_3);
        products_0 = fma(key_3, tile[0u * HEAD_FOURS + at + 3u], products_0);
        products_1 = fma(key_3, tile[1u * HEAD_FOURS + at + 3u], products_1);
        let key_4 = vec4<f32>(k_4);
        products_0 = fma(key_4, tile[0u * HEAD_FOURS + at + 4u], products_0);
        products_1 = fma(key_4, tile[1u * HEAD_FOURS + at + 4u], products_1);
        let key_5 = vec4<f32>(k_5);
        products_0 = fma(key_5, tile[0u * HEAD_FOURS + at + 5u], products_0);
        products_1 = fma(key_5, tile[1u * HEAD_FOURS + at + 5u], products_1);
        let key_6 = vec4<f32>(k_6);
        products_0 = fma(key_6, tile[0u * HEAD_FOURS + at + 6u], products_0);
        products_1 = fma(key_6, tile[1u * HEAD_FOURS + at + 6u], products_1);
        let key_7 = vec4<f32>(k_7);
        products_0 = fma(key_7, tile[0u * HEAD_FOURS + at + 7u], products_0);
        products_1 = fma(key_7, tile[1u * HEAD_FOURS + at + 7u], products_1);
        let key_8 = vec4<f32>(k_8);
        products_0 = fma(key_8, tile[0u * HEAD_FOURS + at + 8u], products_0);
        products_1 = fma(key_8, tile[1u * HEAD_FOURS + at + 8u], products_1);
        let key_9 = vec4<f32>(k_9);
        products_0 = fma(key_9, tile[0u * HEAD_FOURS + at + 9u], products_0);
        products_1 = fma(key_9, tile[1u * HEAD_FOURS + at + 9u], products_1);
        let key_10 = vec4<f32>(k_10);
        products_0 = fma(key_10, tile[0u * HEAD_FOURS + at + 10u], products_0);
        products_1 = fma(key_10, tile[1u * HEAD_FOURS + at + 10u], products_1);
        let key_11 = vec4<f32>(k_11);
        products_0 = fma(key_11, tile[0u * HEAD_FOURS + at + 11u], products_0);
        products_1 = fma(key_11, tile[1u * HEAD_FOURS + at + 11u], products_1);
        let key_12 = vec4<f32>(k_12);
        products_0 = fma(key_12, tile[0u * HEAD_FOURS + at + 12u], products_0);
        products_1 = fma(key_12, tile[1u * HEAD_FOURS + at + 12u], products_1);
        let key_13 = vec4<f32>(k_13);
        products_0 = fma(key_13, tile[0u * HEAD_FOURS + at + 13u], products_0);
        products_1 = fma(key_13, tile[1u * HEAD_FOURS + at + 13u], products_1);
        let key_14 = vec4<f32>(k_14);
        products_0 = fma(key_14, tile[0u * HEAD_FOURS + at + 14u], products_0);
        products_1 = fma(key_14, tile[1u * HEAD_FOURS + at + 14u], products_1);
        let key_15 = vec4<f32>(k_15);
        products_0 = fma(key_15, tile[0u * HEAD_FOURS + at + 15u], products_0);
        products_1 = fma(key_15, tile[1u * HEAD_FOURS + at + 15u], products_1);
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
      let at_8 = at + 8u * SUBSETS;
      let near_8 = min(at_8, keys - 1u);
      let v_8 = v_cache[cache_index(sequence, from_key + near_8, kv_head) + four];
      let at_9 = at + 9u * SUBSETS;
      let near_9 = min(at_9, keys - 1u);
      let v_9 = v_cache[cache_index(sequence, from_key + near_9, kv_head) + four];
      let at_10 = at + 10u * SUBSETS;
      let near_10 = min(at_10, keys - 1u);
      let v_10 = v_cache[cache_index(sequence, from_key + near_10, kv_head) + four];
      let at_11 = at + 11u * SUBSETS;
      let near_11 = min(at_11, keys - 1u);
      let v_11 = v_cache[cache_index(sequence, from_key + near_11, kv_head) + four];
      let at_12 = at + 12u * SUBSETS;
      let near_12 = min(at_12, keys - 1u);
      let v_12 = v_cache[cache_index(sequence, from_key + near_12, kv_head) + four];
      let at_13 = at + 13u * SUBSETS;
      let near_13 = min(at_13, keys - 1u);
      let v_13 = v_cache[cache_index(sequence, from_key + near_13, kv_head) + four];
      let at_14 = at + 14u * SUBSETS;
      let near_14 = min(at_14, keys - 1u);
      let v_14 = v_cache[cache_index(sequence, from_key + near_14, kv_head) + four];
      let at_15 = at + 15u * SUBSETS;
      let near_15 = min(at_15, keys - 1u);
      let v_15 = v_cache[cache_index(sequence, from_key + near_15, kv_head) + four];
      let value_0 = select(vec4<f32>(), vec4<f32>(v_0), at_0 < keys);
      let weight_0_0 = weights[0u * WORKGROUP_SIZE + near_0];
      values_0 = fma(vec4<f32>(weight_0_0.x), value_0, values_0);
      values_1 = fma(vec4<f32>(weight_0_0.y), value_0, values_1);
      let value_1 = select(vec4<f32>(), vec4<f32>(v_1), at_1 < keys);
      let weight_0_1 = weights[0u * WORKGROUP_SIZE + near_1];
      values_0 = fma(vec4<f32>(weight_0_1.x), value_1, values_0);
      values_1 = fma(vec4<f32>(weight_0_1.y), value_1, values_1);
      let value_2 = select(vec4<f32>(), vec4<f32>(v_2), at_2 < keys);
      let weight_0_2 = weights[0u * WORKGROUP_SIZE + near_2];
      values_0 = fma(vec4<f32>(weight_0_2.x), value_2, values_0);
      values_1 = fma(vec4<f32>(weight_0_2.y), value_2, values_1);
      let value_3 = select(vec4<f32>(), vec4<f32>(v_3), at_3 < keys);
      let weight_0_3 = weights[0u * WORKGROUP_SIZE + near_3];
      values_0 = fma(vec4<f32>(weight_0_3.x), value_3, values_0);
      values_1 = fma(vec4<f32>(weight_0_3.y), value_3, values_1);
      let value_4 = select(vec4<f32>(), vec4<f32>(v_4), at_4 < keys);
      let weight_0_4 = weights[0u * WORKGROUP_SIZE + near_4];
      values_0 = fma(vec4<f32>(weight_0_4.x), value_4, values_0);
      values_1 = fma(vec4<f32>(weight_0_4.y), value_4, values_1);
      let value_5 = select(vec4<f32>(), vec4<f32>(v_5), at_5 < keys);
      let weight_0_5 = weights[0u * WORKGROUP_SIZE + near_5];
      values_0 = fma(vec4<f32>(weight_0_5.x), value_5, values_0);
      values_1 = fma(vec4<f32>(weight_0_5.y), value_5, values_1);
      let value_6 = select(vec4<f32>(), vec4<f32>(v_6), at_6 < keys);
      let weight_0_6 = weights[0u * WORKGROUP_SIZE + near_6];
      values_0 = fma(vec4<f32>(weight_0_6.x), value_6, values_0);
      values_1 = fma(vec4<f32>(weight_0_6.y), value_6, values_1);
      let value_7 = select(vec4<f32>(), vec4<f32>(v_7), at_7 < keys);
      let weight_0_7 = weights[0u * WORKGROUP_SIZE + near_7];
      values_0 = fma(vec4<f32>(weight_0_7.x), value_7, values_0);
      values_1 = fma(vec4<f32>(weight_0_7.y), value_7, values_1);
      let value_8 = select(vec4<f32>(), vec4<f32>(v_8), at_8 < keys);
      let weight_0_8 = weights[0u * WORKGROUP_SIZE + near_8];
      values_0 = fma(vec4<f32>(weight_0_8.x), value_8, values_0);
      values_1 = fma(vec4<f32>(weight_0_8.y), value_8, values_1);
      let value_9 = select(vec4<f32>(), vec4<f32>(v_9), at_9 < keys);
      let weight_0_9 = weights[0u * WORKGROUP_SIZE + near_9];
      values_0 = fma(vec4<f32>(weight_0_9.x), value_9, values_0);
      values_1 = fma(vec4<f32>(weight_0_9.y), value_9, values_1);
      let value_10 = select(vec4<f32>(), vec4<f32>(v_10), at_10 < keys);
      let weight_0_10 = weights[0u * WORKGROUP_SIZE + near_10];
      values_0 = fma(vec4<f32>(weight_0_10.x), value_10, values_0);
      values_1 = fma(vec4<f32>(weight_0_10.y), value_10, values_1);
      let value_11 = select(vec4<f32>(), vec4<f32>(v_11), at_11 < keys);
      let weight_0_11 = weights[0u * WORKGROUP_SIZE + near_11];
      values_0 = fma(vec4<f32>(weight_0_11.x), value_11, values_0);
      values_1 = fma(vec4<f32>(weight_0_11.y), value_11, values_1);
      let value_12 = select(vec4<f32>(), vec4<f32>(v_12), at_12 < keys);
      let weight_0_12 = weights[0u * WORKGROUP_SIZE + near_12];
      values_0 = fma(vec4<f32>(weight_0_12.x), value_12, values_0);
      values_1 = fma(vec4<f32>(weight_0_12.y), value_12, values_1);
      let value_13 = select(vec4<f32>(), vec4<f32>(v_13), at_13 < keys);
      let weight_0_13 = weights[0u * WORKGROUP_SIZE + near_13];
      values_0 = fma(vec4<f32>(weight_0_13.x), value_13, values_0);
      values_1 = fma(vec4<f32>(weight_0_13.y), value_13, values_1);
      let value_14 = select(vec4<f32>(), vec4<f32>(v_14), at_14 < keys);
      let weight_0_14 = weights[0u * WORKGROUP_SIZE + near_14];
      values_0 = fma(vec4<f32>(weight_0_14.x), value_14, values_0);
      values_1 = fma(vec4<f32>(weight_0_14.y), value_14, values_1);
      let value_15 = select(vec4<f32>(), vec4<f32>(v_15), at_15 < keys);
      let weight_0_15 = weights[0u * WORKGROUP_SIZE + near_15];
      values_0 = fma(vec4<f32>(weight_0_15.x), value_15, values_0);
      values_1 = fma(vec4<f32>(weight_0_15.y), value_15, values_1);
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
`,
    },
    "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128_sg": {
      name: "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128_sg",
      computes: "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16",
      kernel: "attention_split",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "head_map": "repeat", "cache": "f32", "activation": "f32", "workgroup_size": 128, "subgroups": true, "num_splits": 16},
      sizes: ["B", "CAPACITY", "LAYERS", "LAYER"],
      alone: null,
      workgroups: ["mul", ["mul", ["mul", "B", 8], 1], 16],
      uniforms: {"binding": 6, "size": 16, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "capacity", "type": "u32", "offset": 4, "value": "CAPACITY", "doc": "rows of the cache for a sequence"}, {"name": "layer", "type": "u32", "offset": 8, "value": "LAYER", "doc": "layer of the cache"}, {"name": "scale", "type": "f32", "offset": 12, "value": "SCALE", "doc": "factor of the scores, as 1 / sqrt(head_dim)"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 3328, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 6}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the cache has LAYERS layers, counted from 0"}],
      bindings: [{"binding": 0, "name": "q", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 1], 512]}, {"binding": 1, "name": "k_cache", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 256]}, {"binding": 2, "name": "v_cache", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 256]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "partials", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 16], 512]}, {"binding": 5, "name": "stats", "access": "read_write", "element": "vec2<f32>", "length": ["mul", ["mul", "B", 16], 16]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence
// variant attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128_sg
// q: queries [B][1][16][128]
// k_cache: keys [LAYERS][B][CAPACITY][8][128]
// v_cache: values [LAYERS][B][CAPACITY][8][128]
// lengths: tokens of each sequence [B], those of this call among them
// partials: weighted sums of values [B][16][num_splits][128]
// stats: maximum score and sum of weights [B][16][num_splits]
enable subgroups;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const WORKGROUP_SIZE: u32 = 128u;
const NUM_SPLITS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const ROWS: u32 = 2u;
const HEAD_FOURS: u32 = 32u;
const SUBSETS: u32 = 4u;
const KEY_LOADS: u32 = 16u;
const VALUE_LOADS: u32 = 16u;
const REDUCE_VALUES: u32 = 2u;
const SUBGROUP_SLOTS: u32 = 32u;
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
@group(0) @binding(1) var<storage, read> k_cache: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v_cache: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> partials: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> stats: array<vec2<f32>>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> tile: array<vec4<f32>, ROWS * HEAD_FOURS>;
var<workgroup> weights: array<vec4<f32>, 1u * WORKGROUP_SIZE>;
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

// Which row of q, [sequences][tokens][Q_HEADS], stands at \`row\` in the list of a key head's queries: token by token,
// and head by head of its group.
fn query_row(sequence: u32, tokens: u32, kv_head: u32, row: u32) -> u32 {
  let member = row % GROUP_HEADS;
  let head = kv_head * GROUP_HEADS + member;
  return (sequence * tokens + row / GROUP_HEADS) * Q_HEADS + head;
}

// The first key that a query sees which sees no key from \`end\` on.
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
  if (thread.lane == 0u) {
    slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
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
  if (thread.lane == 0u) {
    slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
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
  let count = params.b * (KV_HEADS * ROW_TILES * NUM_SPLITS);
  let index = workgroup_index(workgroup_id, num_workgroups);
  let work = min(index, count - 1u);
  let split = work % NUM_SPLITS;
  let first_row = work / NUM_SPLITS % ROW_TILES * ROWS;
  let last_row = GROUP_HEADS - 1u;
  let kv_head = work / (NUM_SPLITS * ROW_TILES) % KV_HEADS;
  let sequence = work / (NUM_SPLITS * ROW_TILES * KV_HEADS);
  let tokens = 1u;
  // The first \`left\` parts have one key more than the others.
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
        let k_8 = k_cache[key_row + at + 8u];
        let k_9 = k_cache[key_row + at + 9u];
        let k_10 = k_cache[key_row + at + 10u];
        let k_11 = k_cache[key_row + at + 11u];
        let k_12 = k_cache[key_row + at + 12u];
        let k_13 = k_cache[key_row + at + 13u];
        let k_14 = k_cache[key_row + at + 14u];
        let k_15 = k_cache[key_row + at + 15u];
        let key_0 = vec4<f32>(k_0);
        products_0 = fma(key_0, tile[0u * HEAD_FOURS + at + 0u], products_0);
        products_1 = fma(key_0, tile[1u * HEAD_FOURS + at + 0u], products_1);
        let key_1 = vec4<f32>(k_1);
        products_0 = fma(key_1, tile[0u * HEAD_FOURS + at + 1u], products_0);
        products_1 = fma(key_1, tile[1u * HEAD_FOURS + at + 1u], products_1);
        let key_2 = vec4<f32>(k_2);
        products_0 = fma(key_2, tile[0u * HEAD_FOURS + at + 2u], products_0);
        products_1 = fma(key_2, tile[1u * HEAD_FOURS + at + 2u], products_1);
        let key_3 = vec4<f32>(k_3);
        products_0 = fma(key_3, tile[0u * HEAD_FOURS + at + 3u], products_0);
        products_1 = fma(key_3, tile[1u * HEAD_FOURS + at + 3u], products_1);
        let key_4 = vec4<f32>(k_4);
        products_0 = fma(key_4, tile[0u * HEAD_FOURS + at + 4u], products_0);
        products_1 = fma(key_4, tile[1u * HEAD_FOURS + at + 4u], products_1);
        let key_5 = vec4<f32>(k_5);
        products_0 = fma(key_5, tile[0u * HEAD_FOURS + at + 5u], products_0);
        products_1 = fma(key_5, tile[1u * HEAD_FOURS + at + 5u], products_1);
        let key_6 = vec4<f32>(k_6);
        products_0 = fma(key_6, tile[0u * HEAD_FOURS + at + 6u], products_0);
        products_1 = fma(key_6, tile[1u * HEAD_FOURS + at + 6u], products_1);
        let key_7 = vec4<f32>(k_7);
        products_0 = fma(key_7, tile[0u * HEAD_FOURS + at + 7u], products_0);
        products_1 = fma(key_7, tile[1u * HEAD_FOURS + at + 7u], products_1);
        let key_8 = vec4<f32>(k_8);
        products_0 = fma(key_8, tile[0u * HEAD_FOURS + at + 8u], products_0);
        products_1 = fma(key_8, tile[1u * HEAD_FOURS + at + 8u], products_1);
        let key_9 = vec4<f32>(k_9);
        products_0 = fma(key_9, tile[0u * HEAD_FOURS + at + 9u], products_0);
        products_1 = fma(key_9, tile[1u * HEAD_FOURS + at + 9u], products_1);
        let key_10 = vec4<f32>(k_10);
        products_0 = fma(key_10, tile[0u * HEAD_FOURS + at + 10u], products_0);
        products_1 = fma(key_10, tile[1u * HEAD_FOURS + at + 10u], products_1);
        let key_11 = vec4<f32>(k_11);
        products_0 = fma(key_11, tile[0u * HEAD_FOURS + at + 11u], products_0);
        products_1 = fma(key_11, tile[1u * HEAD_FOURS + at + 11u], products_1);
        let key_12 = vec4<f32>(k_12);
        products_0 = fma(key_12, tile[0u * HEAD_FOURS + at + 12u], products_0);
        products_1 = fma(key_12, tile[1u * HEAD_FOURS + at + 12u], products_1);
        let key_13 = vec4<f32>(k_13);
        products_0 = fma(key_13, tile[0u * HEAD_FOURS + at + 13u], products_0);
        products_1 = fma(key_13, tile[1u * HEAD_FOURS + at + 13u], products_1);
        let key_14 = vec4<f32>(k_14);
        products_0 = fma(key_14, tile[0u * HEAD_FOURS + at + 14u], products_0);
        products_1 = fma(key_14, tile[1u * HEAD_FOURS + at + 14u], products_1);
        let key_15 = vec4<f32>(k_15);
        products_0 = fma(key_15, tile[0u * HEAD_FOURS + at + 15u], products_0);
        products_1 = fma(key_15, tile[1u * HEAD_FOURS + at + 15u], products_1);
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
      let at_8 = at + 8u * SUBSETS;
      let near_8 = min(at_8, keys - 1u);
      let v_8 = v_cache[cache_index(sequence, from_key + near_8, kv_head) + four];
      let at_9 = at + 9u * SUBSETS;
      let near_9 = min(at_9, keys - 1u);
      let v_9 = v_cache[cache_index(sequence, from_key + near_9, kv_head) + four];
      let at_10 = at + 10u * SUBSETS;
      let near_10 = min(at_10, keys - 1u);
      let v_10 = v_cache[cache_index(sequence, from_key + near_10, kv_head) + four];
      let at_11 = at + 11u * SUBSETS;
      let near_11 = min(at_11, keys - 1u);
      let v_11 = v_cache[cache_index(sequence, from_key + near_11, kv_head) + four];
      let at_12 = at + 12u * SUBSETS;
      let near_12 = min(at_12, keys - 1u);
      let v_12 = v_cache[cache_index(sequence, from_key + near_12, kv_head) + four];
      let at_13 = at + 13u * SUBSETS;
      let near_13 = min(at_13, keys - 1u);
      let v_13 = v_cache[cache_index(sequence, from_key + near_13, kv_head) + four];
      let at_14 = at + 14u * SUBSETS;
      let near_14 = min(at_14, keys - 1u);
      let v_14 = v_cache[cache_index(sequence, from_key + near_14, kv_head) + four];
      let at_15 = at + 15u * SUBSETS;
      let near_15 = min(at_15, keys - 1u);
      let v_15 = v_cache[cache_index(sequence, from_key + near_15, kv_head) + four];
      let value_0 = select(vec4<f32>(), vec4<f32>(v_0), at_0 < keys);
      let weight_0_0 = weights[0u * WORKGROUP_SIZE + near_0];
      values_0 = fma(vec4<f32>(weight_0_0.x), value_0, values_0);
      values_1 = fma(vec4<f32>(weight_0_0.y), value_0, values_1);
      let value_1 = select(vec4<f32>(), vec4<f32>(v_1), at_1 < keys);
      let weight_0_1 = weights[0u * WORKGROUP_SIZE + near_1];
      values_0 = fma(vec4<f32>(weight_0_1.x), value_1, values_0);
      values_1 = fma(vec4<f32>(weight_0_1.y), value_1, values_1);
      let value_2 = select(vec4<f32>(), vec4<f32>(v_2), at_2 < keys);
      let weight_0_2 = weights[0u * WORKGROUP_SIZE + near_2];
      values_0 = fma(vec4<f32>(weight_0_2.x), value_2, values_0);
      values_1 = fma(vec4<f32>(weight_0_2.y), value_2, values_1);
      let value_3 = select(vec4<f32>(), vec4<f32>(v_3), at_3 < keys);
      let weight_0_3 = weights[0u * WORKGROUP_SIZE + near_3];
      values_0 = fma(vec4<f32>(weight_0_3.x), value_3, values_0);
      values_1 = fma(vec4<f32>(weight_0_3.y), value_3, values_1);
      let value_4 = select(vec4<f32>(), vec4<f32>(v_4), at_4 < keys);
      let weight_0_4 = weights[0u * WORKGROUP_SIZE + near_4];
      values_0 = fma(vec4<f32>(weight_0_4.x), value_4, values_0);
      values_1 = fma(vec4<f32>(weight_0_4.y), value_4, values_1);
      let value_5 = select(vec4<f32>(), vec4<f32>(v_5), at_5 < keys);
      let weight_0_5 = weights[0u * WORKGROUP_SIZE + near_5];
      values_0 = fma(vec4<f32>(weight_0_5.x), value_5, values_0);
      values_1 = fma(vec4<f32>(weight_0_5.y), value_5, values_1);
      let value_6 = select(vec4<f32>(), vec4<f32>(v_6), at_6 < keys);
      let weight_0_6 = weights[0u * WORKGROUP_SIZE + near_6];
      values_0 = fma(vec4<f32>(weight_0_6.x), value_6, values_0);
      values_1 = fma(vec4<f32>(weight_0_6.y), value_6, values_1);
      let value_7 = select(vec4<f32>(), vec4<f32>(v_7), at_7 < keys);
      let weight_0_7 = weights[0u * WORKGROUP_SIZE + near_7];
      values_0 = fma(vec4<f32>(weight_0_7.x), value_7, values_0);
      values_1 = fma(vec4<f32>(weight_0_7.y), value_7, values_1);
      let value_8 = select(vec4<f32>(), vec4<f32>(v_8), at_8 < keys);
      let weight_0_8 = weights[0u * WORKGROUP_SIZE + near_8];
      values_0 = fma(vec4<f32>(weight_0_8.x), value_8, values_0);
      values_1 = fma(vec4<f32>(weight_0_8.y), value_8, values_1);
      let value_9 = select(vec4<f32>(), vec4<f32>(v_9), at_9 < keys);
      let weight_0_9 = weights[0u * WORKGROUP_SIZE + near_9];
      values_0 = fma(vec4<f32>(weight_0_9.x), value_9, values_0);
      values_1 = fma(vec4<f32>(weight_0_9.y), value_9, values_1);
      let value_10 = select(vec4<f32>(), vec4<f32>(v_10), at_10 < keys);
      let weight_0_10 = weights[0u * WORKGROUP_SIZE + near_10];
      values_0 = fma(vec4<f32>(weight_0_10.x), value_10, values_0);
      values_1 = fma(vec4<f32>(weight_0_10.y), value_10, values_1);
      let value_11 = select(vec4<f32>(), vec4<f32>(v_11), at_11 < keys);
      let weight_0_11 = weights[0u * WORKGROUP_SIZE + near_11];
      values_0 = fma(vec4<f32>(weight_0_11.x), value_11, values_0);
      values_1 = fma(vec4<f32>(weight_0_11.y), value_11, values_1);
      let value_12 = select(vec4<f32>(), vec4<f32>(v_12), at_12 < keys);
      let weight_0_12 = weights[0u * WORKGROUP_SIZE + near_12];
      values_0 = fma(vec4<f32>(weight_0_12.x), value_12, values_0);
      values_1 = fma(vec4<f32>(weight_0_12.y), value_12, values_1);
      let value_13 = select(vec4<f32>(), vec4<f32>(v_13), at_13 < keys);
      let weight_0_13 = weights[0u * WORKGROUP_SIZE + near_13];
      values_0 = fma(vec4<f32>(weight_0_13.x), value_13, values_0);
      values_1 = fma(vec4<f32>(weight_0_13.y), value_13, values_1);
      let value_14 = select(vec4<f32>(), vec4<f32>(v_14), at_14 < keys);
      let weight_0_14 = weights[0u * WORKGROUP_SIZE + near_14];
      values_0 = fma(vec4<f32>(weight_0_14.x), value_14, values_0);
      values_1 = fma(vec4<f32>(weight_0_14.y), value_14, values_1);
      let value_15 = select(vec4<f32>(), vec4<f32>(v_15), at_15 < keys);
      let weight_0_15 = weights[0u * WORKGROUP_SIZE + near_15];
      values_0 = fma(vec4<f32>(weight_0_15.x), value_15, values_0);
      values_1 = fma(vec4<f32>(weight_0_15.y), value_15, values_1);
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
`,
    },
  },
};
