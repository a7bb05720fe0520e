// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

/** attention_merge: the attention of a token from what attention_split made of parts of its keys. */
export const attention_merge = {
  kernel: "attention_merge",
  variants: {
    "attention_merge_q32_hd128_splits16_xf32__wg64": {
      name: "attention_merge_q32_hd128_splits16_xf32__wg64",
      computes: "attention_merge_q32_hd128_splits16_xf32",
      kernel: "attention_merge",
      entry_point: "main",
      constants: {"q_heads": 32, "head_dim": 128, "num_splits": 16, "activation": "f32", "gate": false, "workgroup_size": 64},
      sizes: ["B"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "B", 1024], 64],
      uniforms: {"binding": 3, "size": 4, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [],
      bindings: [{"binding": 0, "name": "partials", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 16], 1024]}, {"binding": 1, "name": "stats", "access": "read", "element": "vec2<f32>", "length": ["mul", ["mul", "B", 16], 32]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["mul", "B", 1024]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// attention_merge: the attention of a token from what attention_split made of parts of its keys
// variant attention_merge_q32_hd128_splits16_xf32__wg64
// partials: weighted sums of values [B][32][num_splits][128]
// stats: maximum score and sum of weights [B][32][num_splits]
// y: attention [B][1][32][128]
const Q_HEADS: u32 = 32u;
const HEAD_DIM: u32 = 128u;
const NUM_SPLITS: u32 = 16u;
const WORKGROUP_SIZE: u32 = 64u;
const HEAD_FOURS: u32 = 32u;
const LEAST_EXPONENT: f32 = -200.0f;

struct Params {
  b: u32,
}

@group(0) @binding(0) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> stats: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.b * (Q_HEADS * HEAD_FOURS);
  let four = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let at = min(four, count - 1u);
  let first_part = at / HEAD_FOURS * NUM_SPLITS;
  // Written out, because a loop would wait for the loads of each part in turn.
  let stats_0 = stats[first_part + 0u];
  let partial_0 = partials[(first_part + 0u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_1 = stats[first_part + 1u];
  let partial_1 = partials[(first_part + 1u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_2 = stats[first_part + 2u];
  let partial_2 = partials[(first_part + 2u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_3 = stats[first_part + 3u];
  let partial_3 = partials[(first_part + 3u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_4 = stats[first_part + 4u];
  let partial_4 = partials[(first_part + 4u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_5 = stats[first_part + 5u];
  let partial_5 = partials[(first_part + 5u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_6 = stats[first_part + 6u];
  let partial_6 = partials[(first_part + 6u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_7 = stats[first_part + 7u];
  let partial_7 = partials[(first_part + 7u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_8 = stats[first_part + 8u];
  let partial_8 = partials[(first_part + 8u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_9 = stats[first_part + 9u];
  let partial_9 = partials[(first_part + 9u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_10 = stats[first_part + 10u];
  let partial_10 = partials[(first_part + 10u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_11 = stats[first_part + 11u];
  let partial_11 = partials[(first_part + 11u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_12 = stats[first_part + 12u];
  let partial_12 = partials[(first_part + 12u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_13 = stats[first_part + 13u];
  let partial_13 = partials[(first_part + 13u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_14 = stats[first_part + 14u];
  let partial_14 = partials[(first_part + 14u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_15 = stats[first_part + 15u];
  let partial_15 = partials[(first_part + 15u) * HEAD_FOURS + at % HEAD_FOURS];
  var maximum = stats_0.x;
  maximum = max(maximum, stats_1.x);
  maximum = max(maximum, stats_2.x);
  maximum = max(maximum, stats_3.x);
  maximum = max(maximum, stats_4.x);
  maximum = max(maximum, stats_5.x);
  maximum = max(maximum, stats_6.x);
  maximum = max(maximum, stats_7.x);
  maximum = max(maximum, stats_8.x);
  maximum = max(maximum, stats_9.x);
  maximum = max(maximum, stats_10.x);
  maximum = max(maximum, stats_11.x);
  maximum = max(maximum, stats_12.x);
  maximum = max(maximum, stats_13.x);
  maximum = max(maximum, stats_14.x);
  maximum = max(maximum, stats_15.x);
  var total = 0.0f;
  var values = vec4<f32>();
  let weight_0 = exp(max(stats_0.x - maximum, LEAST_EXPONENT));
  total = fma(weight_0, stats_0.y, total);
  values = fma(vec4<f32>(weight_0), partial_0, values);
  let weight_1 = exp(max(stats_1.x - maximum, LEAST_EXPONENT));
  total = fma(weight_1, stats_1.y, total);
  values = fma(vec4<f32>(weight_1), partial_1, values);
  let weight_2 = exp(max(stats_2.x - maximum, LEAST_EXPONENT));
  total = fma(weight_2, stats_2.y, total);
  values = fma(vec4<f32>(weight_2), partial_2, values);
  let weight_3 = exp(max(stats_3.x - maximum, LEAST_EXPONENT));
  total = fma(weight_3, stats_3.y, total);
  values = fma(vec4<f32>(weight_3), partial_3, values);
  let weight_4 = exp(max(stats_4.x - maximum, LEAST_EXPONENT));
  total = fma(weight_4, stats_4.y, total);
  values = fma(vec4<f32>(weight_4), partial_4, values);
  let weight_5 = exp(max(stats_5.x - maximum, LEAST_EXPONENT));
  total = fma(weight_5, stats_5.y, total);
  values = fma(vec4<f32>(weight_5), partial_5, values);
  let weight_6 = exp(max(stats_6.x - maximum, LEAST_EXPONENT));
  total = fma(weight_6, stats_6.y, total);
  values = fma(vec4<f32>(weight_6), partial_6, values);
  let weight_7 = exp(max(stats_7.x - maximum, LEAST_EXPONENT));
  total = fma(weight_7, stats_7.y, total);
  values = fma(vec4<f32>(weight_7), partial_7, values);
  let weight_8 = exp(max(stats_8.x - maximum, LEAST_EXPONENT));
  total = fma(weight_8, stats_8.y, total);
  values = fma(vec4<f32>(weight_8), partial_8, values);
  let weight_9 = exp(max(stats_9.x - maximum, LEAST_EXPONENT));
  total = fma(weight_9, stats_9.y, total);
  values = fma(vec4<f32>(weight_9), partial_9, values);
  let weight_10 = exp(max(stats_10.x - maximum, LEAST_EXPONENT));
  total = fma(weight_10, stats_10.y, total);
  values = fma(vec4<f32>(weight_10), partial_10, values);
  let weight_11 = exp(max(stats_11.x - maximum, LEAST_EXPONENT));
  total = fma(weight_11, stats_11.y, total);
  values = fma(vec4<f32>(weight_11), partial_11, values);
  let weight_12 = exp(max(stats_12.x - maximum, LEAST_EXPONENT));
  total = fma(weight_12, stats_12.y, total);
  values = fma(vec4<f32>(weight_12), partial_12, values);
  let weight_13 = exp(max(stats_13.x - maximum, LEAST_EXPONENT));
  total = fma(weight_13, stats_13.y, total);
  values = fma(vec4<f32>(weight_13), partial_13, values);
  let weight_14 = exp(max(stats_14.x - maximum, LEAST_EXPONENT));
  total = fma(weight_14, stats_14.y, total);
  values = fma(vec4<f32>(weight_14), partial_14, values);
  let weight_15 = exp(max(stats_15.x - maximum, LEAST_EXPONENT));
  total = fma(weight_15, stats_15.y, total);
  values = fma(vec4<f32>(weight_15), partial_15, values);
  // Sums of nothing are 0, and stay it. A total that is no number makes y none: there must be no floor under it.
  let attention = values / select(total, 1.0f, total == 0.0f);
  if (four < count) {
    y[at] = attention;
  }
}
`,
    },
    "attention_merge_q32_hd128_splits16_xf32_q128_s8__wg64": {
      name: "attention_merge_q32_hd128_splits16_xf32_q128_s8__wg64",
      computes: "attention_merge_q32_hd128_splits16_xf32_q128_s8",
      kernel: "attention_merge",
      entry_point: "main",
      constants: {"q_heads": 32, "head_dim": 128, "num_splits": 16, "activation": "f32", "gate": false, "q8_group": 128, "q8_stride": 8, "workgroup_size": 64},
      sizes: ["B"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "B", 1024], 64],
      uniforms: {"binding": 4, "size": 4, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 768, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [],
      bindings: [{"binding": 0, "name": "partials", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 16], 1024]}, {"binding": 1, "name": "stats", "access": "read", "element": "vec2<f32>", "length": ["mul", ["mul", "B", 16], 32]}, {"binding": 2, "name": "x8", "access": "read_write", "element": "u32", "length": ["div", ["mul", "B", 4096], 4]}, {"binding": 3, "name": "x_scale", "access": "read_write", "element": "vec2<f32>", "length": ["div", ["mul", "B", 4096], 128]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// attention_merge: the attention of a token from what attention_split made of parts of its keys
// variant attention_merge_q32_hd128_splits16_xf32_q128_s8__wg64
// partials: weighted sums of values [B][32][num_splits][128]
// stats: maximum score and sum of weights [B][32][num_splits]
// x8: int8 activations [B][1][32][128], four a word, in the byte order of stride 8
// x_scale: scale and sum of the integers of each group
const Q_HEADS: u32 = 32u;
const HEAD_DIM: u32 = 128u;
const NUM_SPLITS: u32 = 16u;
const Q8_GROUP: u32 = 128u;
const WORKGROUP_SIZE: u32 = 64u;
const HEAD_FOURS: u32 = 32u;
const LEAST_EXPONENT: f32 = -200.0f;
const Q8_THREADS: u32 = 32u;
const INVERSE_127: f32 = 0.00787401572f;
const SMALLEST: f32 = 1.49287783e-36f;

struct Params {
  b: u32,
}

@group(0) @binding(0) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> stats: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> x8: array<u32>;
@group(0) @binding(3) var<storage, read_write> x_scale: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> q8_maxima: array<f32, WORKGROUP_SIZE>;
var<workgroup> q8_sums: array<i32, WORKGROUP_SIZE>;
var<workgroup> q8_words: array<u32, WORKGROUP_SIZE>;

// A dispatch above the limit of one dimension is folded into three; this unfolds it.
fn workgroup_index(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.x + count.x * (id.y + count.y * id.z);
}

// The scale of a group whose largest magnitude is \`largest\`; none where it would be subnormal.
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

// Word \`index\` of the workgroup in the byte order of stride 8. Its bytes stand at one place in four words of
// neighbours, which q8_words holds; all of them belong to the same 8 threads.
fn strided_word(index: u32) -> u32 {
  let first = index - index % 8u + index % 8u / 4u;
  let words = vec4<u32>(q8_words[first], q8_words[first + 2u], q8_words[first + 4u], q8_words[first + 6u]);
  return join_bytes((words >> vec4<u32>(8u * (index % 4u))) & vec4<u32>(255u));
}

// Stores what the workgroup holds as int8 activations, the same bits that quantize_q8 makes of these values.
// Thread \`index\` holds in \`values\` the four elements of word \`word\` of x8, which must be the workgroup's first word
// + index; that first word must open a group. Every thread of the workgroup calls this, in uniform control flow and
// once or many times, in a loop, too; \`index\` is its local invocation index. A thread that does not hold anything
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
  q8_words[index] = neighbours;
  q8_sums[index] = integers.x + integers.y + integers.z + integers.w;
  workgroupBarrier();
  if (holds) {
    x8[word] = strided_word(index);
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.b * (Q_HEADS * HEAD_FOURS);
  let four = workgroup_index(workgroup_id, num_workgroups) * WORKGROUP_SIZE + local_index;
  let at = min(four, count - 1u);
  let first_part = at / HEAD_FOURS * NUM_SPLITS;
  // Written out, because a loop would wait for the loads of each part in turn.
  let stats_0 = stats[first_part + 0u];
  let partial_0 = partials[(first_part + 0u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_1 = stats[first_part + 1u];
  let partial_1 = partials[(first_part + 1u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_2 = stats[first_part + 2u];
  let partial_2 = partials[(first_part + 2u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_3 = stats[first_part + 3u];
  let partial_3 = partials[(first_part + 3u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_4 = stats[first_part + 4u];
  let partial_4 = partials[(first_part + 4u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_5 = stats[first_part + 5u];
  let partial_5 = partials[(first_part + 5u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_6 = stats[first_part + 6u];
  let partial_6 = partials[(first_part + 6u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_7 = stats[first_part + 7u];
  let partial_7 = partials[(first_part + 7u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_8 = stats[first_part + 8u];
  let partial_8 = partials[(first_part + 8u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_9 = stats[first_part + 9u];
  let partial_9 = partials[(first_part + 9u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_10 = stats[first_part + 10u];
  let partial_10 = partials[(first_part + 10u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_11 = stats[first_part + 11u];
  let partial_11 = partials[(first_part + 11u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_12 = stats[first_part + 12u];
  let partial_12 = partials[(first_part + 12u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_13 = stats[first_part + 13u];
  let partial_13 = partials[(first_part + 13u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_14 = stats[first_part + 14u];
  let partial_14 = partials[(first_part + 14u) * HEAD_FOURS + at % HEAD_FOURS];
  let stats_15 = stats[first_part + 15u];
  let partial_15 = partials[(first_part + 15u) * HEAD_FOURS + at % HEAD_FOURS];
  var maximum = stats_0.x;
  maximum = max(maximum, stats_1.x);
  maximum = max(maximum, stats_2.x);
  maximum = max(maximum, stats_3.x);
  maximum = max(maximum, stats_4.x);
  maximum = max(maximum, stats_5.x);
  maximum = max(maximum, stats_6.x);
  maximum = max(maximum, stats_7.x);
  maximum = max(maximum, stats_8.x);
  maximum = max(maximum, stats_9.x);
  maximum = max(maximum, stats_10.x);
  maximum = max(maximum, stats_11.x);
  maximum = max(maximum, stats_12.x);
  maximum = max(maximum, stats_13.x);
  maximum = max(maximum, stats_14.x);
  maximum = max(maximum, stats_15.x);
  var total = 0.0f;
  var values = vec4<f32>();
  let weight_0 = exp(max(stats_0.x - maximum, LEAST_EXPONENT));
  total = fma(weight_0, stats_0.y, total);
  values = fma(vec4<f32>(weight_0), partial_0, values);
  let weight_1 = exp(max(stats_1.x - maximum, LEAST_EXPONENT));
  total = fma(weight_1, stats_1.y, total);
  values = fma(vec4<f32>(weight_1), partial_1, values);
  let weight_2 = exp(max(stats_2.x - maximum, LEAST_EXPONENT));
  total = fma(weight_2, stats_2.y, total);
  values = fma(vec4<f32>(weight_2), partial_2, values);
  let weight_3 = exp(max(stats_3.x - maximum, LEAST_EXPONENT));
  total = fma(weight_3, stats_3.y, total);
  values = fma(vec4<f32>(weight_3), partial_3, values);
  let weight_4 = exp(max(stats_4.x - maximum, LEAST_EXPONENT));
  total = fma(weight_4, stats_4.y, total);
  values = fma(vec4<f32>(weight_4), partial_4, values);
  let weight_5 = exp(max(stats_5.x - maximum, LEAST_EXPONENT));
  total = fma(weight_5, stats_5.y, total);
  values = fma(vec4<f32>(weight_5), partial_5, values);
  let weight_6 = exp(max(stats_6.x - maximum, LEAST_EXPONENT));
  total = fma(weight_6, stats_6.y, total);
  values = fma(vec4<f32>(weight_6), partial_6, values);
  let weight_7 = exp(max(stats_7.x - maximum, LEAST_EXPONENT));
  total = fma(weight_7, stats_7.y, total);
  values = fma(vec4<f32>(weight_7), partial_7, values);
  let weight_8 = exp(max(stats_8.x - maximum, LEAST_EXPONENT));
  total = fma(weight_8, stats_8.y, total);
  values = fma(vec4<f32>(weight_8), partial_8, values);
  let weight_9 = exp(max(stats_9.x - maximum, LEAST_EXPONENT));
  total = fma(weight_9, stats_9.y, total);
  values = fma(vec4<f32>(weight_9), partial_9, values);
  let weight_10 = exp(max(stats_10.x - maximum, LEAST_EXPONENT));
  total = fma(weight_10, stats_10.y, total);
  values = fma(vec4<f32>(weight_10), partial_10, values);
  let weight_11 = exp(max(stats_11.x - maximum, LEAST_EXPONENT));
  total = fma(weight_11, stats_11.y, total);
  values = fma(vec4<f32>(weight_11), partial_11, values);
  let weight_12 = exp(max(stats_12.x - maximum, LEAST_EXPONENT));
  total = fma(weight_12, stats_12.y, total);
  values = fma(vec4<f32>(weight_12), partial_12, values);
  let weight_13 = exp(max(stats_13.x - maximum, LEAST_EXPONENT));
  total = fma(weight_13, stats_13.y, total);
  values = fma(vec4<f32>(weight_13), partial_13, values);
  let weight_14 = exp(max(stats_14.x - maximum, LEAST_EXPONENT));
  total = fma(weight_14, stats_14.y, total);
  values = fma(vec4<f32>(weight_14), partial_14, values);
  let weight_15 = exp(max(stats_15.x - maximum, LEAST_EXPONENT));
  total = fma(weight_15, stats_15.y, total);
  values = fma(vec4<f32>(weight_15), partial_15, values);
  // Sums of nothing are 0, and stay it. A total that is no number makes y none: there must be no floor under it.
  let attention = values / select(total, 1.0f, total == 0.0f);
  emit_q8(four, attention, four < count, local_index);
}
`,
    },
  },
};
