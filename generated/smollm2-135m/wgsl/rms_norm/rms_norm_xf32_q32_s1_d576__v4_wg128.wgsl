// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.
//
// rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row
// variant rms_norm_xf32_q32_s1_d576__v4_wg128
// x: input [M][D]
// weight: weight [D], f32
// x8: int8 activations [M][D], four a word, in the byte order of stride 1
// x_scale: scale and sum of the integers of each group
const Q8_GROUP: u32 = 32u;
const D: u32 = 576u;
const VECTOR: u32 = 4u;
const WORKGROUP_SIZE: u32 = 128u;
const REDUCE_VALUES: u32 = 1u;
const Q8_THREADS: u32 = 8u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;

struct Params {
  m: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> x8: array<u32>;
@group(0) @binding(3) var<storage, read_write> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> sum_slots: array<f32, REDUCE_VALUES * WORKGROUP_SIZE>;
var<workgroup> q8_maxima: array<f32, WORKGROUP_SIZE>;
var<workgroup> q8_sums: array<i32, WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

struct Thread {
  index: u32,
}

// Folds REDUCE_VALUES numbers of each thread over the workgroup, in an order that never changes.
fn reduce_sum(values: array<f32, REDUCE_VALUES>, thread: Thread) {
  sum_slots[0u * WORKGROUP_SIZE + thread.index] = values[0u];
  for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread.index < stride) {
      sum_slots[0u * WORKGROUP_SIZE + thread.index] += sum_slots[0u * WORKGROUP_SIZE + thread.index + stride];
    }
  }
  workgroupBarrier();
}

// The result of the last reduce_sum for one of the values; any thread may ask.
fn total_sum(value: u32, thread: Thread) -> f32 {
  return sum_slots[value * WORKGROUP_SIZE];
}

// The scale of a group whose largest magnitude is `largest`; none where it would be subnormal.
fn scale_of(largest: f32) -> f32 {
  return select(0.0f, largest * INVERSE_127, largest >= SMALLEST);
}

// x / scale, rounded half to even, for a normal scale and x up to 127.5 * scale; zeros for scale 0. The quotient of
// the two significands is taken in whole numbers, because float division may be off by 2.5 ulp and so move a tie.
fn quantise(x: vec4<f32>, scale: f32) -> vec4<i32> {
  let bits = bitcast<vec4<u32>>(x);
  let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
  // A subnormal has the exponent of the smallest normal number, and no bit above its fraction.
  let significand = (bits & vec4<u32>(0x7fffffu)) | (min(exponent, vec4<u32>(1u)) << vec4<u32>(23u));
  let unit = bitcast<u32>(scale);
  // 2 * |x| / scale = significand * 2^shift / (significand of the scale); below 1 for a negative shift.
  let shift = vec4<i32>(max(exponent, vec4<u32>(1u))) - vec4<i32>(i32(unit >> 23u) - 1i);
  let numerator = significand << vec4<u32>(clamp(shift, vec4<i32>(0i), vec4<i32>(8i)));
  let denominator = vec4<u32>((unit & 0x7fffffu) | 0x800000u);
  let halves = numerator / denominator;
  let rest = numerator - halves * denominator;
  // An odd number of halves goes up where there is a rest, or to the even one of two equally near.
  let floors = halves >> vec4<u32>(1u);
  let up = halves & (floors | min(rest, vec4<u32>(1u))) & vec4<u32>(1u);
  let magnitude = select(vec4<i32>(0i), vec4<i32>(floors + up), shift >= vec4<i32>(0i));
  let integers = select(magnitude, -magnitude, bits >= vec4<u32>(0x80000000u));
  return select(vec4<i32>(0i), integers, scale > 0.0f);
}

// Four bytes as a word, the first one lowest.
fn join_bytes(bytes: vec4<u32>) -> u32 {
  let placed = bytes << vec4<u32>(0u, 8u, 16u, 24u);
  return placed.x | placed.y | placed.z | placed.w;
}

fn pack_neighbours(integers: vec4<i32>) -> u32 {
  return join_bytes(vec4<u32>(integers) & vec4<u32>(255u));
}

// Stores what the workgroup holds as int8 activations, the same bits that quantize_q8 makes of these values.
// Thread `index` holds in `values` the four elements of word `word` of x8, which must be the workgroup's first word
// + index; that first word must open a group. Every thread of the workgroup calls this, in uniform control flow and
// once or many times, in a loop, too; `index` is its local invocation index. A thread that does not hold anything
// counts as zeros and stores nothing. Its maxima are read between the two barriers, words and sums only behind the
// second one, and each is written on the other side: so the next call need not wait for the readers of this one.
fn emit_q8(word: u32, values: vec4<f32>, holds: bool, index: u32) {
  let own = select(vec4<f32>(), values, holds);
  let magnitudes = abs(own);
  let pair = max(magnitudes.xy, magnitudes.zw);
  q8_maxima[index] = max(pair.x, pair.y);
  workgroupBarrier();
  // A group has 8, 16 or 32 threads. Eight reads of a round wait for nothing but the barrier, here and at the sums.
  let opens = index - index % Q8_THREADS;
  var maxima = vec4<f32>();
  for (var at = opens; at < opens + Q8_THREADS; at += 8u) {
    let low = vec4<f32>(q8_maxima[at], q8_maxima[at + 1u], q8_maxima[at + 2u], q8_maxima[at + 3u]);
    let high = vec4<f32>(q8_maxima[at + 4u], q8_maxima[at + 5u], q8_maxima[at + 6u], q8_maxima[at + 7u]);
    maxima = max(maxima, max(low, high));
  }
  let halves = max(maxima.xy, maxima.zw);
  let scale = scale_of(max(halves.x, halves.y));
  let integers = quantise(own, scale);
  let neighbours = pack_neighbours(integers);
  q8_sums[index] = integers.x + integers.y + integers.z + integers.w;
  workgroupBarrier();
  if (holds) {
    x8[word] = neighbours;
    if (index == opens) {
      var sums = vec4<i32>();
      for (var at = opens; at < opens + Q8_THREADS; at += 8u) {
        sums += vec4<i32>(q8_sums[at], q8_sums[at + 1u], q8_sums[at + 2u], q8_sums[at + 3u]);
        sums += vec4<i32>(q8_sums[at + 4u], q8_sums[at + 5u], q8_sums[at + 6u], q8_sums[at + 7u]);
      }
      x_scale[word / Q8_THREADS] = vec2<f32>(scale, f32(sums.x + sums.y + sums.z + sums.w));
    }
  }
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
) {
  let thread = Thread(local_index);
  let d = D;
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
  // Every thread goes round equally often, because emit_q8 holds barriers; past the end it reads what is there.
  for (var start = 0u; start < loads; start += WORKGROUP_SIZE) {
    let load = start + thread.index;
    let near = min(load, loads - 1u);
    let holds = row < params.m && load < loads;
    let sum = load_x(first + near);
    emit_q8(first + load, sum * inverse * weight[near], holds, thread.index);
  }
}
