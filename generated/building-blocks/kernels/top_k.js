// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last. */
export const top_k = {
  kernel: "top_k",
  variants: {
    "top_k_xf32_k40_c1024__wg128": {
      name: "top_k_xf32_k40_c1024__wg128",
      computes: "top_k_xf32_k40_c1024",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f32", "k_top": 40, "chunk": 1024, "indexed": false, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 1, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}, {"binding": 2, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf32_k40_c1024__wg128
// logits: words of logits [M][N], f32
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 40u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of element \`at\`.
fn logit(at: u32) -> u32 {
  return logits[at];
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      pair = vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = chunk + at;
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
    "top_k_xf16_k40_c1024__wg128": {
      name: "top_k_xf16_k40_c1024__wg128",
      computes: "top_k_xf16_k40_c1024",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f16", "k_top": 40, "chunk": 1024, "indexed": false, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", "M", "N"], 2]}, {"binding": 1, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}, {"binding": 2, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf16_k40_c1024__wg128
// logits: words of logits [M][N], f16
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 40u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of the f32 that equals the f16 with these bits, NaN included; whole numbers, so that nothing is flushed.
fn widened(half: u32) -> u32 {
  let magnitude = half & 0x7fffu;
  let normal = (magnitude << 13u) + 0x38000000u;
  let special = normal + 0x38000000u;
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8f);
  let bits = select(select(normal, special, magnitude >= 0x7c00u), subnormal, magnitude < 0x0400u);
  return bits | ((half & 0x8000u) << 16u);
}

// The bits of element \`at\` as f32; a word holds two.
fn logit(at: u32) -> u32 {
  return widened((logits[at / 2u] >> (16u * (at % 2u))) & 0xffffu);
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      pair = vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = chunk + at;
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
    "top_k_xf32_k40_c1024_ids__wg128": {
      name: "top_k_xf32_k40_c1024_ids__wg128",
      computes: "top_k_xf32_k40_c1024_ids",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f32", "k_top": 40, "chunk": 1024, "indexed": true, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 4, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 2, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}, {"binding": 3, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 40]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf32_k40_c1024_ids__wg128
// logits: words of logits [M][N], f32
// ids: index of each logit [M][N]; 0xffffffff: none
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 40u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of element \`at\`.
fn logit(at: u32) -> u32 {
  return logits[at];
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      let missing = ids[first + at] == NO_INDEX;
      pair = select(vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at), pair, missing);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = ids[first + at];
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
    "top_k_xf32_k64_c1024__wg128": {
      name: "top_k_xf32_k64_c1024__wg128",
      computes: "top_k_xf32_k64_c1024",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f32", "k_top": 64, "chunk": 1024, "indexed": false, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 1, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}, {"binding": 2, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf32_k64_c1024__wg128
// logits: words of logits [M][N], f32
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 64u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of element \`at\`.
fn logit(at: u32) -> u32 {
  return logits[at];
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      pair = vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = chunk + at;
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
    "top_k_xf16_k64_c1024__wg128": {
      name: "top_k_xf16_k64_c1024__wg128",
      computes: "top_k_xf16_k64_c1024",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f16", "k_top": 64, "chunk": 1024, "indexed": false, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 3, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["ceil_div", ["mul", "M", "N"], 2]}, {"binding": 1, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}, {"binding": 2, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf16_k64_c1024__wg128
// logits: words of logits [M][N], f16
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 64u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of the f32 that equals the f16 with these bits, NaN included; whole numbers, so that nothing is flushed.
fn widened(half: u32) -> u32 {
  let magnitude = half & 0x7fffu;
  let normal = (magnitude << 13u) + 0x38000000u;
  let special = normal + 0x38000000u;
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8f);
  let bits = select(select(normal, special, magnitude >= 0x7c00u), subnormal, magnitude < 0x0400u);
  return bits | ((half & 0x8000u) << 16u);
}

// The bits of element \`at\` as f32; a word holds two.
fn logit(at: u32) -> u32 {
  return widened((logits[at / 2u] >> (16u * (at % 2u))) & 0xffffu);
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      pair = vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = chunk + at;
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
    "top_k_xf32_k64_c1024_ids__wg128": {
      name: "top_k_xf32_k64_c1024_ids__wg128",
      computes: "top_k_xf32_k64_c1024_ids",
      kernel: "top_k",
      entry_point: "main",
      constants: {"activation": "f32", "k_top": 64, "chunk": 1024, "indexed": true, "workgroup_size": 128},
      sizes: ["M", "N"],
      alone: null,
      workgroups: ["mul", "M", ["ceil_div", "N", 1024]],
      uniforms: {"binding": 4, "size": 8, "fields": [{"name": "m", "type": "u32", "offset": 0, "value": "M", "doc": "rows"}, {"name": "n", "type": "u32", "offset": 4, "value": "N", "doc": "logits of a row"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 8192, "maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128, "maxStorageBuffersPerShaderStage": 4}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["gt", "N", 0], "why": "a row without logits has no largest"}],
      bindings: [{"binding": 0, "name": "logits", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 1, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "M", "N"]}, {"binding": 2, "name": "values", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}, {"binding": 3, "name": "indices", "access": "read_write", "element": "u32", "length": ["mul", ["mul", "M", ["ceil_div", "N", 1024]], 64]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last
// variant top_k_xf32_k64_c1024_ids__wg128
// logits: words of logits [M][N], f32
// ids: index of each logit [M][N]; 0xffffffff: none
// values: f32 bits of the largest [M][chunks][K_TOP]
// indices: their indices [M][chunks][K_TOP]
const K_TOP: u32 = 64u;
const CHUNK: u32 = 1024u;
const WORKGROUP_SIZE: u32 = 128u;
const BLOCK: u32 = 64u;
const NO_INDEX: u32 = 4294967295u;
const LOWEST_BITS: u32 = 4286578687u;

struct Params {
  m: u32,
  n: u32,
}

@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> pairs: array<vec2<u32>, CHUNK>;

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

// The bits of element \`at\`.
fn logit(at: u32) -> u32 {
  return logits[at];
}

// Of two pairs (key, index) the one with the higher key, or the lower index where the keys are equal.
fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, (b.x > a.x) | ((b.x == a.x) & (b.y < a.y)));
}

// Put two pairs into order: the better one to \`left\`, or to \`right\`.
fn exchange(left: u32, right: u32, best_left: bool) {
  let a = pairs[left];
  let b = pairs[right];
  let best = better(a, b);
  // A pair occurs once, but for those of no element, which are all alike.
  let other = select(a, b, all(best == a));
  pairs[left] = select(other, best, best_left);
  pairs[right] = select(best, other, best_left);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let chunks = (params.n + CHUNK - 1u) / CHUNK;
  let group = workgroup_index(workgroup_id, num_workgroups);
  let chunk = group % chunks * CHUNK;
  let first = min(group / chunks, params.m - 1u) * params.n + chunk;
  let count = min(CHUNK, params.n - chunk);
  for (var at = local_index; at < CHUNK; at += WORKGROUP_SIZE) {
    // Keys above 0 leave 0 to what is no element, so that it comes behind NaN.
    var pair = vec2<u32>(0u, NO_INDEX);
    if (at < count) {
      let missing = ids[first + at] == NO_INDEX;
      pair = select(vec2<u32>(max(order_key_of_bits(logit(first + at)), 1u), at), pair, missing);
    }
    pairs[at] = pair;
  }
  // \`i + (i & ~(reach - 1u))\` is the i-th place whose bit \`reach\` is 0.
  // Sort every block: runs of alternating order, twice as long each time, and descending in the end.
  for (var run = 2u; run <= BLOCK; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < CHUNK / 2u; i += WORKGROUP_SIZE) {
        let left = i + (i & ~(reach - 1u));
        exchange(left, left + reach, (left & run & (BLOCK - 1u)) == 0u);
      }
    }
  }
  // The best of two sorted blocks, one of them read backwards, rise and fall; that takes one more merge to sort.
  for (var span = BLOCK; span < CHUNK; span *= 2u) {
    workgroupBarrier();
    let left_over = CHUNK / (2u * span) * BLOCK;
    for (var i = local_index; i < left_over; i += WORKGROUP_SIZE) {
      let start = i / BLOCK * (2u * span);
      let within = i % BLOCK;
      pairs[start + within] = better(pairs[start + within], pairs[start + span + BLOCK - 1u - within]);
    }
    for (var reach = BLOCK / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var i = local_index; i < left_over / 2u; i += WORKGROUP_SIZE) {
        let place = i + (i & ~(reach - 1u));
        let left = place / BLOCK * (2u * span) + place % BLOCK;
        exchange(left, left + reach, true);
      }
    }
  }
  workgroupBarrier();
  if (group < params.m * chunks) {
    for (var rank = local_index; rank < K_TOP; rank += WORKGROUP_SIZE) {
      let at = pairs[rank].y;
      var value = LOWEST_BITS;
      var index = NO_INDEX;
      if (at != NO_INDEX) {
        value = logit(first + at);
        index = ids[first + at];
      }
      values[group * K_TOP + rank] = value;
      indices[group * K_TOP + rank] = index;
    }
  }
}
`,
    },
  },
};
