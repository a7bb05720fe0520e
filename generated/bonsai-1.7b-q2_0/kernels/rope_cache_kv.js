// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

/** rope_cache_kv: q and k rotated by position, k and v written into the cache. */
export const rope_cache_kv = {
  kernel: "rope_cache_kv",
  variants: {
    "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32": {
      name: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32",
      computes: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "pairing": "half", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": false, "source": "packed", "qk_norm": true, "cache": "f32"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 32], 2],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}, {"name": "capacity", "type": "u32", "offset": 12, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 16, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 7}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 32], 32]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 16], 32]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 32]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "norm_weight", "access": "read", "element": "vec4<f32>", "length": 64}, {"binding": 5, "name": "k_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}, {"binding": 6, "name": "v_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// norm_weight: weights of q's norm and of k's [2][HEAD_DIM], f32
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 128u;
const HEADS: u32 = 32u;
const HEAD_LOADS: u32 = 32u;
const UNITS: u32 = 16u;
const ROTARY_UNITS: u32 = 16u;
const HEAD_THREADS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const REDUCE_VALUES: u32 = 2u;

struct Params {
  b: u32,
  m: u32,
  eps: f32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read> norm_weight: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> k_cache: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> v_cache: array<vec4<f32>>;
@group(0) @binding(7) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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

// A head of a token, and where that token stands. There is no row for it where \`present\` is false: the token is
// padding in front of its sequence, or past the last row. \`live\` is false for the surplus of a folded dispatch.
struct TokenHead {
  token: u32,
  sequence: u32,
  head: u32,
  position: u32,
  live: bool,
  present: bool,
}

fn token_head(index: u32, rows: u32) -> TokenHead {
  let token = index / HEADS;
  let sequence = token / params.m;
  let live = sequence < params.b;
  // A position in front of the sequence wraps round to one far past the rows.
  let position = lengths[min(sequence, params.b - 1u)] + token % params.m - params.m;
  let present = live && position < rows;
  return TokenHead(token, sequence, index % HEADS, select(0u, position, present), live, present);
}

// What a thread makes of a head at a time: two loads that hold VECTOR pairs.
struct Unit {
  low: vec4<f32>,
  high: vec4<f32>,
}

// Where the two loads of a unit lie in their head.
fn unit_loads(unit: u32) -> vec2<u32> {
  let neighbours = vec2<u32>(2u * unit, 2u * unit + 1u);
  return select(neighbours, vec2<u32>(unit, unit + ROTARY_UNITS), unit < ROTARY_UNITS);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = values.low;
  let b = values.high;
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = turned_a;
  let high = turned_b;
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// What a unit adds to its head's sum of squares.
fn unit_squares(values: Unit) -> f32 {
  let squares = fma(values.low, values.low, values.high * values.high);
  return squares.x + squares.y + squares.z + squares.w;
}

// What the head at a place of the workgroup is multiplied by; every thread gives its part of its own head's squares.
fn inverse_norm(squares: f32, place: u32, thread: Thread) -> f32 {
  let squares_by_place = array<f32, REDUCE_VALUES>(
    select(0.0f, squares, place == 0u),
    select(0.0f, squares, place == 1u),
  );
  reduce_sum(squares_by_place, thread);
  return inverseSqrt(total_sum(place, thread) / f32(HEAD_DIM) + params.eps);
}

// A unit of a normalised head; the weights of its norm begin at a load.
fn normalise(values: Unit, loads: vec2<u32>, inverse: f32, weights: u32) -> Unit {
  let low = values.low * inverse * norm_weight[weights + loads.x];
  let high = values.high * inverse * norm_weight[weights + loads.y];
  return Unit(low, high);
}

// The unit of a head of queries, keys or values that these two loads make.
fn load_unit(at: TokenHead, loads: vec2<u32>) -> Unit {
  let place = (at.token * HEADS + at.head) * HEAD_LOADS + loads;
  return Unit(qkv[place.x], qkv[place.y]);
}

// Queries go to q, keys and values into their row of the cache, if there is one.
fn store_unit(at: TokenHead, loads: vec2<u32>, values: Unit) {
  if (at.head < Q_HEADS) {
    let place = (at.token * Q_HEADS + at.head) * HEAD_LOADS + loads;
    let zero = vec4<f32>();
    q[place.x] = select(zero, values.low, at.present);
    q[place.y] = select(zero, values.high, at.present);
  } else if (at.present) {
    let row = cache_index(at.sequence, at.position, (at.head - Q_HEADS) % KV_HEADS);
    let place = row * (4u / VECTOR) + loads;
    if (at.head < Q_HEADS + KV_HEADS) {
      k_cache[place.x] = values.low;
      k_cache[place.y] = values.high;
    } else {
      v_cache[place.x] = values.low;
      v_cache[place.y] = values.high;
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  let squares = unit_squares(values_0);
  let inverse = inverse_norm(squares, place, thread);
  let weights = select(0u, HEAD_LOADS, at.head >= Q_HEADS);
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = normalise(values_0, loads_0, inverse, weights);
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
    "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32": {
      name: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32",
      computes: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "pairing": "half", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": false, "source": "packed", "qk_norm": true, "cache": "f16"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 32], 2],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}, {"name": "capacity", "type": "u32", "offset": 12, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 16, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 256, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 7}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 32], 32]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 16], 32]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 32]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "norm_weight", "access": "read", "element": "vec4<f32>", "length": 64}, {"binding": 5, "name": "k_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}, {"binding": 6, "name": "v_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// norm_weight: weights of q's norm and of k's [2][HEAD_DIM], f32
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
enable f16;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 128u;
const HEADS: u32 = 32u;
const HEAD_LOADS: u32 = 32u;
const UNITS: u32 = 16u;
const ROTARY_UNITS: u32 = 16u;
const HEAD_THREADS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const REDUCE_VALUES: u32 = 2u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  b: u32,
  m: u32,
  eps: f32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read> norm_weight: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> k_cache: array<vec4<f16>>;
@group(0) @binding(6) var<storage, read_write> v_cache: array<vec4<f16>>;
@group(0) @binding(7) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;

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

// A head of a token, and where that token stands. There is no row for it where \`present\` is false: the token is
// padding in front of its sequence, or past the last row. \`live\` is false for the surplus of a folded dispatch.
struct TokenHead {
  token: u32,
  sequence: u32,
  head: u32,
  position: u32,
  live: bool,
  present: bool,
}

fn token_head(index: u32, rows: u32) -> TokenHead {
  let token = index / HEADS;
  let sequence = token / params.m;
  let live = sequence < params.b;
  // A position in front of the sequence wraps round to one far past the rows.
  let position = lengths[min(sequence, params.b - 1u)] + token % params.m - params.m;
  let present = live && position < rows;
  return TokenHead(token, sequence, index % HEADS, select(0u, position, present), live, present);
}

// What a thread makes of a head at a time: two loads that hold VECTOR pairs.
struct Unit {
  low: vec4<f32>,
  high: vec4<f32>,
}

// Where the two loads of a unit lie in their head.
fn unit_loads(unit: u32) -> vec2<u32> {
  let neighbours = vec2<u32>(2u * unit, 2u * unit + 1u);
  return select(neighbours, vec2<u32>(unit, unit + ROTARY_UNITS), unit < ROTARY_UNITS);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = values.low;
  let b = values.high;
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = turned_a;
  let high = turned_b;
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  sum_slots[1u * WORKGROUP_SIZE + thread.index] = values[1u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
      sum_slots[1u * WORKGROUP_SIZE + thread.index] += sum_slots[1u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// What a unit adds to its head's sum of squares.
fn unit_squares(values: Unit) -> f32 {
  let squares = fma(values.low, values.low, values.high * values.high);
  return squares.x + squares.y + squares.z + squares.w;
}

// What the head at a place of the workgroup is multiplied by; every thread gives its part of its own head's squares.
fn inverse_norm(squares: f32, place: u32, thread: Thread) -> f32 {
  let squares_by_place = array<f32, REDUCE_VALUES>(
    select(0.0f, squares, place == 0u),
    select(0.0f, squares, place == 1u),
  );
  reduce_sum(squares_by_place, thread);
  return inverseSqrt(total_sum(place, thread) / f32(HEAD_DIM) + params.eps);
}

// A unit of a normalised head; the weights of its norm begin at a load.
fn normalise(values: Unit, loads: vec2<u32>, inverse: f32, weights: u32) -> Unit {
  let low = values.low * inverse * norm_weight[weights + loads.x];
  let high = values.high * inverse * norm_weight[weights + loads.y];
  return Unit(low, high);
}

// What a conversion makes of numbers past the range of f16 differs between devices, so they stay at its end.
fn narrow(value: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(clamp(value, vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
}

// The unit of a head of queries, keys or values that these two loads make.
fn load_unit(at: TokenHead, loads: vec2<u32>) -> Unit {
  let place = (at.token * HEADS + at.head) * HEAD_LOADS + loads;
  return Unit(qkv[place.x], qkv[place.y]);
}

// Queries go to q, keys and values into their row of the cache, if there is one.
fn store_unit(at: TokenHead, loads: vec2<u32>, values: Unit) {
  if (at.head < Q_HEADS) {
    let place = (at.token * Q_HEADS + at.head) * HEAD_LOADS + loads;
    let zero = vec4<f32>();
    q[place.x] = select(zero, values.low, at.present);
    q[place.y] = select(zero, values.high, at.present);
  } else if (at.present) {
    let row = cache_index(at.sequence, at.position, (at.head - Q_HEADS) % KV_HEADS);
    let place = row * (4u / VECTOR) + loads;
    if (at.head < Q_HEADS + KV_HEADS) {
      k_cache[place.x] = narrow(values.low);
      k_cache[place.y] = narrow(values.high);
    } else {
      v_cache[place.x] = narrow(values.low);
      v_cache[place.y] = narrow(values.high);
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let thread = Thread(local_index);
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  let squares = unit_squares(values_0);
  let inverse = inverse_norm(squares, place, thread);
  let weights = select(0u, HEAD_LOADS, at.head >= Q_HEADS);
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = normalise(values_0, loads_0, inverse, weights);
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
    "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32_sg": {
      name: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32_sg",
      computes: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "pairing": "half", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": true, "source": "packed", "qk_norm": true, "cache": "f32"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 32], 2],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}, {"name": "capacity", "type": "u32", "offset": 12, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 16, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": ["subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 64, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 7}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 32], 32]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 16], 32]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 32]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "norm_weight", "access": "read", "element": "vec4<f32>", "length": 64}, {"binding": 5, "name": "k_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}, {"binding": 6, "name": "v_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32_sg
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// norm_weight: weights of q's norm and of k's [2][HEAD_DIM], f32
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
enable subgroups;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 128u;
const HEADS: u32 = 32u;
const HEAD_LOADS: u32 = 32u;
const UNITS: u32 = 16u;
const ROTARY_UNITS: u32 = 16u;
const HEAD_THREADS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const REDUCE_VALUES: u32 = 2u;
const SUBGROUP_SLOTS: u32 = 8u;

struct Params {
  b: u32,
  m: u32,
  eps: f32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read> norm_weight: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> k_cache: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> v_cache: array<vec4<f32>>;
@group(0) @binding(7) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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

// A head of a token, and where that token stands. There is no row for it where \`present\` is false: the token is
// padding in front of its sequence, or past the last row. \`live\` is false for the surplus of a folded dispatch.
struct TokenHead {
  token: u32,
  sequence: u32,
  head: u32,
  position: u32,
  live: bool,
  present: bool,
}

fn token_head(index: u32, rows: u32) -> TokenHead {
  let token = index / HEADS;
  let sequence = token / params.m;
  let live = sequence < params.b;
  // A position in front of the sequence wraps round to one far past the rows.
  let position = lengths[min(sequence, params.b - 1u)] + token % params.m - params.m;
  let present = live && position < rows;
  return TokenHead(token, sequence, index % HEADS, select(0u, position, present), live, present);
}

// What a thread makes of a head at a time: two loads that hold VECTOR pairs.
struct Unit {
  low: vec4<f32>,
  high: vec4<f32>,
}

// Where the two loads of a unit lie in their head.
fn unit_loads(unit: u32) -> vec2<u32> {
  let neighbours = vec2<u32>(2u * unit, 2u * unit + 1u);
  return select(neighbours, vec2<u32>(unit, unit + ROTARY_UNITS), unit < ROTARY_UNITS);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = values.low;
  let b = values.high;
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = turned_a;
  let high = turned_b;
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
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
  let value_1 = subgroupAdd(values[1u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    sum_slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
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

// What a unit adds to its head's sum of squares.
fn unit_squares(values: Unit) -> f32 {
  let squares = fma(values.low, values.low, values.high * values.high);
  return squares.x + squares.y + squares.z + squares.w;
}

// What the head at a place of the workgroup is multiplied by; every thread gives its part of its own head's squares.
fn inverse_norm(squares: f32, place: u32, thread: Thread) -> f32 {
  let squares_by_place = array<f32, REDUCE_VALUES>(
    select(0.0f, squares, place == 0u),
    select(0.0f, squares, place == 1u),
  );
  reduce_sum(squares_by_place, thread);
  return inverseSqrt(total_sum(place, thread) / f32(HEAD_DIM) + params.eps);
}

// A unit of a normalised head; the weights of its norm begin at a load.
fn normalise(values: Unit, loads: vec2<u32>, inverse: f32, weights: u32) -> Unit {
  let low = values.low * inverse * norm_weight[weights + loads.x];
  let high = values.high * inverse * norm_weight[weights + loads.y];
  return Unit(low, high);
}

// The unit of a head of queries, keys or values that these two loads make.
fn load_unit(at: TokenHead, loads: vec2<u32>) -> Unit {
  let place = (at.token * HEADS + at.head) * HEAD_LOADS + loads;
  return Unit(qkv[place.x], qkv[place.y]);
}

// Queries go to q, keys and values into their row of the cache, if there is one.
fn store_unit(at: TokenHead, loads: vec2<u32>, values: Unit) {
  if (at.head < Q_HEADS) {
    let place = (at.token * Q_HEADS + at.head) * HEAD_LOADS + loads;
    let zero = vec4<f32>();
    q[place.x] = select(zero, values.low, at.present);
    q[place.y] = select(zero, values.high, at.present);
  } else if (at.present) {
    let row = cache_index(at.sequence, at.position, (at.head - Q_HEADS) % KV_HEADS);
    let place = row * (4u / VECTOR) + loads;
    if (at.head < Q_HEADS + KV_HEADS) {
      k_cache[place.x] = values.low;
      k_cache[place.y] = values.high;
    } else {
      v_cache[place.x] = values.low;
      v_cache[place.y] = values.high;
    }
  }
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
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  let squares = unit_squares(values_0);
  let inverse = inverse_norm(squares, place, thread);
  let weights = select(0u, HEAD_LOADS, at.head >= Q_HEADS);
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = normalise(values_0, loads_0, inverse, weights);
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
    "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32_sg": {
      name: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32_sg",
      computes: "rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 16, "kv_heads": 8, "head_dim": 128, "pairing": "half", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": true, "source": "packed", "qk_norm": true, "cache": "f16"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 32], 2],
      uniforms: {"binding": 7, "size": 20, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "eps", "type": "f32", "offset": 8, "value": "EPS", "doc": "added to the mean square; above 0"}, {"name": "capacity", "type": "u32", "offset": 12, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 16, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": ["shader-f16", "subgroups"], "language_features": ["subgroup_id"], "limits": {"maxComputeWorkgroupStorageSize": 64, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 7}, "subgroups": {"min": 4, "max": 128}, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 32], 32]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 16], 32]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 32]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "norm_weight", "access": "read", "element": "vec4<f32>", "length": 64}, {"binding": 5, "name": "k_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}, {"binding": 6, "name": "v_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 8], 32], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q16_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32_sg
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// norm_weight: weights of q's norm and of k's [2][HEAD_DIM], f32
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
enable f16;
enable subgroups;

const Q_HEADS: u32 = 16u;
const KV_HEADS: u32 = 8u;
const HEAD_DIM: u32 = 128u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 128u;
const HEADS: u32 = 32u;
const HEAD_LOADS: u32 = 32u;
const UNITS: u32 = 16u;
const ROTARY_UNITS: u32 = 16u;
const HEAD_THREADS: u32 = 16u;
const GROUP_HEADS: u32 = 2u;
const REDUCE_VALUES: u32 = 2u;
const SUBGROUP_SLOTS: u32 = 8u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  b: u32,
  m: u32,
  eps: f32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read> norm_weight: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> k_cache: array<vec4<f16>>;
@group(0) @binding(6) var<storage, read_write> v_cache: array<vec4<f16>>;
@group(0) @binding(7) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * SUBGROUP_SLOTS>;

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

// A head of a token, and where that token stands. There is no row for it where \`present\` is false: the token is
// padding in front of its sequence, or past the last row. \`live\` is false for the surplus of a folded dispatch.
struct TokenHead {
  token: u32,
  sequence: u32,
  head: u32,
  position: u32,
  live: bool,
  present: bool,
}

fn token_head(index: u32, rows: u32) -> TokenHead {
  let token = index / HEADS;
  let sequence = token / params.m;
  let live = sequence < params.b;
  // A position in front of the sequence wraps round to one far past the rows.
  let position = lengths[min(sequence, params.b - 1u)] + token % params.m - params.m;
  let present = live && position < rows;
  return TokenHead(token, sequence, index % HEADS, select(0u, position, present), live, present);
}

// What a thread makes of a head at a time: two loads that hold VECTOR pairs.
struct Unit {
  low: vec4<f32>,
  high: vec4<f32>,
}

// Where the two loads of a unit lie in their head.
fn unit_loads(unit: u32) -> vec2<u32> {
  let neighbours = vec2<u32>(2u * unit, 2u * unit + 1u);
  return select(neighbours, vec2<u32>(unit, unit + ROTARY_UNITS), unit < ROTARY_UNITS);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = values.low;
  let b = values.high;
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = turned_a;
  let high = turned_b;
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
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
  let value_1 = subgroupAdd(values[1u]);
  if (thread.lane == 0u) {
    sum_slots[0u * SUBGROUP_SLOTS + thread.subgroup] = value_0;
    sum_slots[1u * SUBGROUP_SLOTS + thread.subgroup] = value_1;
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

// What a unit adds to its head's sum of squares.
fn unit_squares(values: Unit) -> f32 {
  let squares = fma(values.low, values.low, values.high * values.high);
  return squares.x + squares.y + squares.z + squares.w;
}

// What the head at a place of the workgroup is multiplied by; every thread gives its part of its own head's squares.
fn inverse_norm(squares: f32, place: u32, thread: Thread) -> f32 {
  let squares_by_place = array<f32, REDUCE_VALUES>(
    select(0.0f, squares, place == 0u),
    select(0.0f, squares, place == 1u),
  );
  reduce_sum(squares_by_place, thread);
  return inverseSqrt(total_sum(place, thread) / f32(HEAD_DIM) + params.eps);
}

// A unit of a normalised head; the weights of its norm begin at a load.
fn normalise(values: Unit, loads: vec2<u32>, inverse: f32, weights: u32) -> Unit {
  let low = values.low * inverse * norm_weight[weights + loads.x];
  let high = values.high * inverse * norm_weight[weights + loads.y];
  return Unit(low, high);
}

// What a conversion makes of numbers past the range of f16 differs between devices, so they stay at its end.
fn narrow(value: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(clamp(value, vec4<f32>(-F16_MAX), vec4<f32>(F16_MAX)));
}

// The unit of a head of queries, keys or values that these two loads make.
fn load_unit(at: TokenHead, loads: vec2<u32>) -> Unit {
  let place = (at.token * HEADS + at.head) * HEAD_LOADS + loads;
  return Unit(qkv[place.x], qkv[place.y]);
}

// Queries go to q, keys and values into their row of the cache, if there is one.
fn store_unit(at: TokenHead, loads: vec2<u32>, values: Unit) {
  if (at.head < Q_HEADS) {
    let place = (at.token * Q_HEADS + at.head) * HEAD_LOADS + loads;
    let zero = vec4<f32>();
    q[place.x] = select(zero, values.low, at.present);
    q[place.y] = select(zero, values.high, at.present);
  } else if (at.present) {
    let row = cache_index(at.sequence, at.position, (at.head - Q_HEADS) % KV_HEADS);
    let place = row * (4u / VECTOR) + loads;
    if (at.head < Q_HEADS + KV_HEADS) {
      k_cache[place.x] = narrow(values.low);
      k_cache[place.y] = narrow(values.high);
    } else {
      v_cache[place.x] = narrow(values.low);
      v_cache[place.y] = narrow(values.high);
    }
  }
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
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  let squares = unit_squares(values_0);
  let inverse = inverse_norm(squares, place, thread);
  let weights = select(0u, HEAD_LOADS, at.head >= Q_HEADS);
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = normalise(values_0, loads_0, inverse, weights);
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
  },
};
