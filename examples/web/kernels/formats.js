// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

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
};
