// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.

/** rope_cache_kv: q and k rotated by position, k and v written into the cache. */
export const rope_cache_kv = {
  kernel: "rope_cache_kv",
  variants: {
    "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf32__v4_wg32": {
      name: "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf32__v4_wg32",
      computes: "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf32",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 9, "kv_heads": 3, "head_dim": 64, "pairing": "interleaved", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": false, "source": "packed", "qk_norm": false, "cache": "f32"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 15], 4],
      uniforms: {"binding": 6, "size": 16, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "capacity", "type": "u32", "offset": 8, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 12, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 15], 16]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 9], 16]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 16]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "k_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 3], 16], "kept": true}, {"binding": 5, "name": "v_cache", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 3], 16], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf32__v4_wg32
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
const Q_HEADS: u32 = 9u;
const KV_HEADS: u32 = 3u;
const HEAD_DIM: u32 = 64u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 64u;
const HEADS: u32 = 15u;
const HEAD_LOADS: u32 = 16u;
const UNITS: u32 = 8u;
const ROTARY_UNITS: u32 = 8u;
const HEAD_THREADS: u32 = 8u;
const GROUP_HEADS: u32 = 4u;

struct Params {
  b: u32,
  m: u32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> k_cache: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> v_cache: array<vec4<f32>>;
@group(0) @binding(6) var<uniform> params: Params;

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
  return vec2<u32>(2u * unit, 2u * unit + 1u);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = vec4<f32>(values.low.xz, values.high.xz);
  let b = vec4<f32>(values.low.yw, values.high.yw);
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = vec4<f32>(turned_a.x, turned_b.x, turned_a.y, turned_b.y);
  let high = vec4<f32>(turned_a.z, turned_b.z, turned_a.w, turned_b.w);
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
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
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
    "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf16__v4_wg32": {
      name: "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf16__v4_wg32",
      computes: "rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf16",
      kernel: "rope_cache_kv",
      entry_point: "main",
      constants: {"q_heads": 9, "kv_heads": 3, "head_dim": 64, "pairing": "interleaved", "activation": "f32", "vector": 4, "workgroup_size": 32, "subgroups": false, "source": "packed", "qk_norm": false, "cache": "f16"},
      sizes: ["B", "M", "CAPACITY", "LAYERS", "LAYER", "TABLE_ROWS"],
      alone: null,
      workgroups: ["ceil_div", ["mul", ["mul", "B", "M"], 15], 4],
      uniforms: {"binding": 6, "size": 16, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}, {"name": "m", "type": "u32", "offset": 4, "value": "M", "doc": "tokens of each sequence"}, {"name": "capacity", "type": "u32", "offset": 8, "value": "CAPACITY", "doc": "rows of each sequence in the cache"}, {"name": "layer", "type": "u32", "offset": 12, "value": "LAYER", "doc": "layer that is written, from 0"}]},
      requirements: {"features": ["shader-f16"], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 32, "maxComputeWorkgroupSizeX": 32, "maxStorageBuffersPerShaderStage": 6}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["lt", "LAYER", "LAYERS"], "why": "the caches hold LAYERS layers, counted from 0"}, {"condition": ["ge", "TABLE_ROWS", "CAPACITY"], "why": "every position of the cache needs a row of the table"}],
      bindings: [{"binding": 0, "name": "qkv", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 15], 16]}, {"binding": 1, "name": "q", "access": "read_write", "element": "vec4<f32>", "length": ["mul", ["mul", ["mul", "B", "M"], 9], 16]}, {"binding": 2, "name": "rope_table", "access": "read", "element": "vec4<f32>", "length": ["mul", "TABLE_ROWS", 16]}, {"binding": 3, "name": "lengths", "access": "read", "element": "u32", "length": "B", "below": ["add", "CAPACITY", 1]}, {"binding": 4, "name": "k_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 3], 16], "kept": true}, {"binding": 5, "name": "v_cache", "access": "read_write", "element": "vec4<f16>", "length": ["mul", ["mul", ["mul", ["mul", "LAYERS", "B"], "CAPACITY"], 3], 16], "kept": true}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q9_kv3_hd64_interleaved_xf32_packed_kvf16__v4_wg32
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
enable f16;

const Q_HEADS: u32 = 9u;
const KV_HEADS: u32 = 3u;
const HEAD_DIM: u32 = 64u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const ROTARY_DIM: u32 = 64u;
const HEADS: u32 = 15u;
const HEAD_LOADS: u32 = 16u;
const UNITS: u32 = 8u;
const ROTARY_UNITS: u32 = 8u;
const HEAD_THREADS: u32 = 8u;
const GROUP_HEADS: u32 = 4u;
const F16_MAX: f32 = 65504.0f;

struct Params {
  b: u32,
  m: u32,
  capacity: u32,
  layer: u32,
}

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rope_table: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> k_cache: array<vec4<f16>>;
@group(0) @binding(5) var<storage, read_write> v_cache: array<vec4<f16>>;
@group(0) @binding(6) var<uniform> params: Params;

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
  return vec2<u32>(2u * unit, 2u * unit + 1u);
}

// The unit turned by the angles of its position; what lies behind ROTARY_DIM as it is.
fn rotate(values: Unit, unit: u32, position: u32) -> Unit {
  let turn = position * ROTARY_UNITS + min(unit, ROTARY_UNITS - 1u);
  let first = rope_table[2u * turn];
  let second = rope_table[2u * turn + 1u];
  let cosine = vec4<f32>(first.xz, second.xz);
  let sine = vec4<f32>(first.yw, second.yw);
  let a = vec4<f32>(values.low.xz, values.high.xz);
  let b = vec4<f32>(values.low.yw, values.high.yw);
  let turned_a = a * cosine - b * sine;
  let turned_b = b * cosine + a * sine;
  let low = vec4<f32>(turned_a.x, turned_b.x, turned_a.y, turned_b.y);
  let high = vec4<f32>(turned_a.z, turned_b.z, turned_a.w, turned_b.w);
  return Unit(select(values.low, low, unit < ROTARY_UNITS), select(values.high, high, unit < ROTARY_UNITS));
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
  let place = local_index / HEAD_THREADS;
  let at = token_head(workgroup_index(workgroup_id, num_workgroups) * GROUP_HEADS + place, params.capacity);
  let unit_0 = local_index % HEAD_THREADS + 0u * HEAD_THREADS;
  let loads_0 = unit_loads(unit_0);
  var values_0 = Unit();
  if (at.live && unit_0 < UNITS) {
    values_0 = load_unit(at, loads_0);
  }
  if (at.live && unit_0 < UNITS) {
    if (at.head < Q_HEADS + KV_HEADS) {
      values_0 = rotate(values_0, unit_0, at.position);
    }
    store_unit(at, loads_0, values_0);
  }
}
`,
    },
  },
};
