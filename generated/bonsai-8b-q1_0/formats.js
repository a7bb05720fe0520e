// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

/** How the weight formats of this bundle lie in a file, by format and group, for `pack`. */
export const formats = {
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
