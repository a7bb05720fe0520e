// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

/** attention_merge: the attention of a token from what attention_split made of parts of its keys. */
export const attention_merge = {
  kernel: "attention_merge",
  variants: {
    "attention_merge_q16_hd128_splits16_xf32__wg64": {
      name: "attention_merge_q16_hd128_splits16_xf32__wg64",
      computes: "attention_merge_q16_hd128_splits16_xf32",
      kernel: "attention_merge",
      entry_point: "main",
      constants: {"q_heads": 16, "head_dim": 128, "num_splits": 16, "activation": "f32", "gate": false, "workgroup_size": 64},
      sizes: ["B"],
      alone: null,
      workgroups: ["ceil_div", ["mul", "B", 512], 64],
      uniforms: {"binding": 3, "size": 4, "fields": [{"name": "b", "type": "u32", "offset": 0, "value": "B", "doc": "sequences"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 0, "maxComputeInvocationsPerWorkgroup": 64, "maxComputeWorkgroupSizeX": 64, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [],
      bindings: [{"binding": 0, "name": "partials", "access": "read", "element": "vec4<f32>", "length": ["mul", ["mul", "B", 16], 512]}, {"binding": 1, "name": "stats", "access": "read", "element": "vec2<f32>", "length": ["mul", ["mul", "B", 16], 16]}, {"binding": 2, "name": "y", "access": "read_write", "element": "vec4<f32>", "length": ["mul", "B", 512]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// attention_merge: the attention of a token from what attention_split made of parts of its keys
// variant attention_merge_q16_hd128_splits16_xf32__wg64
// partials: weighted sums of values [B][16][num_splits][128]
// stats: maximum score and sum of weights [B][16][num_splits]
// y: attention [B][1][16][128]
const Q_HEADS: u32 = 16u;
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
  },
};
