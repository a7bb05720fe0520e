// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** expert_rows: pairs of token and expert, sorted by expert, and the tiles that they make. */
export const expert_rows = {
  kernel: "expert_rows",
  variants: {
    "expert_rows_m16__wg256": {
      name: "expert_rows_m16__wg256",
      computes: "expert_rows_m16",
      kernel: "expert_rows",
      entry_point: "main",
      constants: {"tile_m": 16, "workgroup_size": 256},
      sizes: ["T", "USED", "EXPERTS"],
      alone: null,
      workgroups: ["min", ["mul", "T", "USED"], 1],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 2080, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["le", "EXPERTS", 256], "why": "256 experts have a place"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 1, "name": "pairs", "access": "read_write", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 2, "name": "tiles", "access": "read_write", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 16], "EXPERTS"], 1]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// expert_rows: pairs of token and expert, sorted by expert, and the tiles that they make
// variant expert_rows_m16__wg256
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// pairs: pairs, sorted by expert
// tiles: expert, first, count and 0
const TILE_M: u32 = 16u;
const WORKGROUP_SIZE: u32 = 256u;
const MOST: u32 = 257u;

struct Params {
  count: u32,
  used: u32,
  experts: u32,
}

@group(0) @binding(0) var<storage, read> ids: array<u32>;
@group(0) @binding(1) var<storage, read_write> pairs: array<u32>;
@group(0) @binding(2) var<storage, read_write> tiles: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> first_pair: array<u32, MOST>;
var<workgroup> first_tile: array<u32, MOST>;

// Pairs of an expert before \`end\`; the expert behind the last one stands for all ids from EXPERTS on.
fn belongs(pair: u32, end: u32, expert: u32) -> bool {
  return (pair < end) & (min(ids[min(pair, end - 1u)], params.experts) == expert);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.count * params.used;
  let buckets = min(params.experts + 1u, MOST);
  // Where threads are more than experts, the pairs are in parts, and a slot is a part of the pairs for an expert.
  let parts = max(WORKGROUP_SIZE / buckets, 1u);
  let part_size = (count + parts - 1u) / parts;
  let slots = buckets * parts;
  for (var slot = local_index; slot < slots; slot += WORKGROUP_SIZE) {
    let expert = slot / parts;
    let end = min((slot % parts + 1u) * part_size, count);
    var own = 0u;
    for (var pair = slot % parts * part_size; pair < end; pair += 4u) {
      own += select(0u, 1u, belongs(pair + 0u, end, expert));
      own += select(0u, 1u, belongs(pair + 1u, end, expert));
      own += select(0u, 1u, belongs(pair + 2u, end, expert));
      own += select(0u, 1u, belongs(pair + 3u, end, expert));
    }
    first_pair[slot] = own;
  }
  workgroupBarrier();
  // From numbers of pairs to where they start.
  if (local_index == 0u) {
    var pairs_before = 0u;
    var tiles_before = 0u;
    for (var expert = 0u; expert < buckets; expert++) {
      let first = pairs_before;
      for (var slot = expert * parts; slot < (expert + 1u) * parts; slot++) {
        let own = first_pair[slot];
        first_pair[slot] = pairs_before;
        pairs_before += own;
      }
      first_tile[expert] = tiles_before;
      tiles_before += (pairs_before - first + TILE_M - 1u) / TILE_M;
    }
  }
  workgroupBarrier();
  for (var slot = local_index; slot < slots; slot += WORKGROUP_SIZE) {
    let expert = slot / parts;
    let end = min((slot % parts + 1u) * part_size, count);
    var at = first_pair[slot];
    for (var pair = slot % parts * part_size; pair < end; pair += 4u) {
      if (belongs(pair + 0u, end, expert)) {
        pairs[at] = pair + 0u;
        at++;
      }
      if (belongs(pair + 1u, end, expert)) {
        pairs[at] = pair + 1u;
        at++;
      }
      if (belongs(pair + 2u, end, expert)) {
        pairs[at] = pair + 2u;
        at++;
      }
      if (belongs(pair + 3u, end, expert)) {
        pairs[at] = pair + 3u;
        at++;
      }
    }
    // The thread of an expert's last part knows where its pairs end, and that of the last expert where the tiles do.
    if ((slot + 1u) % parts == 0u) {
      var tile = first_tile[expert];
      for (var start = first_pair[expert * parts]; start < at; start += TILE_M) {
        tiles[tile] = vec4<u32>(expert, start, min(at - start, TILE_M), 0u);
        tile++;
      }
      if (expert + 1u == buckets) {
        let places = (count + TILE_M - 1u) / TILE_M + params.experts + 1u;
        for (; tile < places; tile++) {
          tiles[tile] = vec4<u32>(params.experts, 0u, 0u, 0u);
        }
      }
    }
  }
}
`,
    },
    "expert_rows_m32__wg256": {
      name: "expert_rows_m32__wg256",
      computes: "expert_rows_m32",
      kernel: "expert_rows",
      entry_point: "main",
      constants: {"tile_m": 32, "workgroup_size": 256},
      sizes: ["T", "USED", "EXPERTS"],
      alone: null,
      workgroups: ["min", ["mul", "T", "USED"], 1],
      uniforms: {"binding": 3, "size": 12, "fields": [{"name": "count", "type": "u32", "offset": 0, "value": "T", "doc": "tokens"}, {"name": "used", "type": "u32", "offset": 4, "value": "USED", "doc": "experts of a token"}, {"name": "experts", "type": "u32", "offset": 8, "value": "EXPERTS", "doc": "experts"}]},
      requirements: {"features": [], "language_features": [], "limits": {"maxComputeWorkgroupStorageSize": 2080, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256, "maxStorageBuffersPerShaderStage": 3}, "subgroups": null, "subgroup_matrix": null},
      rules: [{"condition": ["le", "EXPERTS", 256], "why": "256 experts have a place"}, {"condition": ["ge", "EXPERTS", 1], "why": "there is an expert to go to"}],
      bindings: [{"binding": 0, "name": "ids", "access": "read", "element": "u32", "length": ["mul", "T", "USED"], "below": "EXPERTS"}, {"binding": 1, "name": "pairs", "access": "read_write", "element": "u32", "length": ["mul", "T", "USED"]}, {"binding": 2, "name": "tiles", "access": "read_write", "element": "vec4<u32>", "length": ["add", ["add", ["ceil_div", ["mul", "T", "USED"], 32], "EXPERTS"], 1]}],
      text: `// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run \`wgslgen render\` instead of editing here.
//
// expert_rows: pairs of token and expert, sorted by expert, and the tiles that they make
// variant expert_rows_m32__wg256
// ids: expert of each pair [T][USED]; from EXPERTS on: none
// pairs: pairs, sorted by expert
// tiles: expert, first, count and 0
const TILE_M: u32 = 32u;
const WORKGROUP_SIZE: u32 = 256u;
const MOST: u32 = 257u;

struct Params {
  count: u32,
  used: u32,
  experts: u32,
}

@group(0) @binding(0) var<storage, read> ids: array<u32>;
@group(0) @binding(1) var<storage, read_write> pairs: array<u32>;
@group(0) @binding(2) var<storage, read_write> tiles: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> first_pair: array<u32, MOST>;
var<workgroup> first_tile: array<u32, MOST>;

// Pairs of an expert before \`end\`; the expert behind the last one stands for all ids from EXPERTS on.
fn belongs(pair: u32, end: u32, expert: u32) -> bool {
  return (pair < end) & (min(ids[min(pair, end - 1u)], params.experts) == expert);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.count * params.used;
  let buckets = min(params.experts + 1u, MOST);
  // Where threads are more than experts, the pairs are in parts, and a slot is a part of the pairs for an expert.
  let parts = max(WORKGROUP_SIZE / buckets, 1u);
  let part_size = (count + parts - 1u) / parts;
  let slots = buckets * parts;
  for (var slot = local_index; slot < slots; slot += WORKGROUP_SIZE) {
    let expert = slot / parts;
    let end = min((slot % parts + 1u) * part_size, count);
    var own = 0u;
    for (var pair = slot % parts * part_size; pair < end; pair += 4u) {
      own += select(0u, 1u, belongs(pair + 0u, end, expert));
      own += select(0u, 1u, belongs(pair + 1u, end, expert));
      own += select(0u, 1u, belongs(pair + 2u, end, expert));
      own += select(0u, 1u, belongs(pair + 3u, end, expert));
    }
    first_pair[slot] = own;
  }
  workgroupBarrier();
  // From numbers of pairs to where they start.
  if (local_index == 0u) {
    var pairs_before = 0u;
    var tiles_before = 0u;
    for (var expert = 0u; expert < buckets; expert++) {
      let first = pairs_before;
      for (var slot = expert * parts; slot < (expert + 1u) * parts; slot++) {
        let own = first_pair[slot];
        first_pair[slot] = pairs_before;
        pairs_before += own;
      }
      first_tile[expert] = tiles_before;
      tiles_before += (pairs_before - first + TILE_M - 1u) / TILE_M;
    }
  }
  workgroupBarrier();
  for (var slot = local_index; slot < slots; slot += WORKGROUP_SIZE) {
    let expert = slot / parts;
    let end = min((slot % parts + 1u) * part_size, count);
    var at = first_pair[slot];
    for (var pair = slot % parts * part_size; pair < end; pair += 4u) {
      if (belongs(pair + 0u, end, expert)) {
        pairs[at] = pair + 0u;
        at++;
      }
      if (belongs(pair + 1u, end, expert)) {
        pairs[at] = pair + 1u;
        at++;
      }
      if (belongs(pair + 2u, end, expert)) {
        pairs[at] = pair + 2u;
        at++;
      }
      if (belongs(pair + 3u, end, expert)) {
        pairs[at] = pair + 3u;
        at++;
      }
    }
    // The thread of an expert's last part knows where its pairs end, and that of the last expert where the tiles do.
    if ((slot + 1u) % parts == 0u) {
      var tile = first_tile[expert];
      for (var start = first_pair[expert * parts]; start < at; start += TILE_M) {
        tiles[tile] = vec4<u32>(expert, start, min(at - start, TILE_M), 0u);
        tile++;
      }
      if (expert + 1u == buckets) {
        let places = (count + TILE_M - 1u) / TILE_M + params.experts + 1u;
        for (; tile < places; tile++) {
          tiles[tile] = vec4<u32>(params.experts, 0u, 0u, 0u);
        }
      }
    }
  }
}
`,
    },
  },
};
