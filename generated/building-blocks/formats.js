// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/** How the weight formats of this bundle lie in a file, by format and group, for `pack`. */
export const formats = {
  q2_0_g64: {
    name: "q2_0 with group 64",
    group: 64,
    block: 18,
    codes: {"offset": 2, "bytes": 16},
    layouts: ["ggml", "planar", "row4", "planes"],
    bits: 2,
    times: [-1, 0, 1, 2],
    elements: null,
  },
  q1_0_g128: {
    name: "q1_0 with group 128",
    group: 128,
    block: 18,
    codes: {"offset": 2, "bytes": 16},
    layouts: ["ggml", "planar", "row4", "planes"],
    bits: 1,
    times: [-1, 1],
    elements: null,
  },
  q4_K: {
    name: "q4_K",
    group: 256,
    block: 144,
    codes: {"offset": 16, "bytes": 128},
    layouts: ["ggml", "planar"],
  },
  f32: {
    name: "f32",
    group: 1,
    block: 4,
    codes: {"offset": 0, "bytes": 4},
    layouts: ["ggml"],
  },
  f16: {
    name: "f16",
    group: 1,
    block: 2,
    codes: {"offset": 0, "bytes": 2},
    layouts: ["ggml"],
  },
  q8_0: {
    name: "q8_0",
    group: 32,
    block: 34,
    codes: {"offset": 2, "bytes": 32},
    layouts: ["ggml", "planar", "row4"],
  },
  q4_0: {
    name: "q4_0",
    group: 32,
    block: 18,
    codes: {"offset": 2, "bytes": 16},
    layouts: ["ggml", "planar", "row4"],
  },
};
