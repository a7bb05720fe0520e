// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.
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

// Pairs of an expert; the one behind the last stands for all ids from EXPERTS on.
fn belongs(pair: u32, expert: u32) -> bool {
  return min(ids[pair], params.experts) == expert;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(num_workgroups) num_workgroups: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  let count = params.count * params.used;
  let buckets = min(params.experts + 1u, MOST);
  for (var expert = local_index; expert < buckets; expert += WORKGROUP_SIZE) {
    var own = 0u;
    for (var pair = 0u; pair < count; pair++) {
      own += select(0u, 1u, belongs(pair, expert));
    }
    first_pair[expert] = own;
  }
  workgroupBarrier();
  // From numbers of pairs to where they start.
  if (local_index == 0u) {
    var pairs_before = 0u;
    var tiles_before = 0u;
    for (var expert = 0u; expert < buckets; expert++) {
      let own = first_pair[expert];
      first_pair[expert] = pairs_before;
      first_tile[expert] = tiles_before;
      pairs_before += own;
      tiles_before += (own + TILE_M - 1u) / TILE_M;
    }
  }
  workgroupBarrier();
  for (var expert = local_index; expert < buckets; expert += WORKGROUP_SIZE) {
    let first = first_pair[expert];
    var at = first;
    for (var pair = 0u; pair < count; pair++) {
      if (belongs(pair, expert)) {
        pairs[at] = pair;
        at++;
      }
    }
    var tile = first_tile[expert];
    for (var start = first; start < at; start += TILE_M) {
      tiles[tile] = vec4<u32>(expert, start, min(at - start, TILE_M), 0u);
      tile++;
    }
    // The last expert's thread knows where the tiles end.
    if (expert + 1u == buckets) {
      let places = (count + TILE_M - 1u) / TILE_M + params.experts + 1u;
      for (; tile < places; tile++) {
        tiles[tile] = vec4<u32>(params.experts, 0u, 0u, 0u);
      }
    }
  }
}
