// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
//
// rope_cache_kv: q and k rotated by position, k and v written into the cache
// variant rope_cache_kv_q24_kv4_hd256_r64_interleaved_xf32_packed_kvf32__v4_wg32
// qkv: queries, keys and values [B][M][HEADS][HEAD_DIM]
// q: rotated queries [B][M][Q_HEADS][HEAD_DIM]
// rope_table: (cos, sin) of each pair [TABLE_ROWS][ROTARY_DIM / 2], f32
// lengths: tokens of each sequence, those of this call among them [B]
// k_cache: keys, rotated [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
// v_cache: values [LAYERS][B][CAPACITY][KV_HEADS][HEAD_DIM]
const Q_HEADS: u32 = 24u;
const KV_HEADS: u32 = 4u;
const HEAD_DIM: u32 = 256u;
const ROTARY_DIM: u32 = 64u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 32u;
const HEADS: u32 = 32u;
const HEAD_LOADS: u32 = 64u;
const UNITS: u32 = 32u;
const ROTARY_UNITS: u32 = 8u;
const HEAD_THREADS: u32 = 32u;
const GROUP_HEADS: u32 = 1u;

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

// A head of a token, and where that token stands. There is no row for it where `present` is false: the token is
// padding in front of its sequence, or past the last row. `live` is false for the surplus of a folded dispatch.
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
