// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.

/** How the weight formats of this bundle lie in a file, by format and group, for `pack`. */
export const formats = {
  q4_1: {
    name: "q4_1",
    group: 32,
    block: 20,
    codes: {"offset": 4, "bytes": 16},
    layouts: ["ggml", "planar", "row4"],
  },
  q8_0: {
    name: "q8_0",
    group: 32,
    block: 34,
    codes: {"offset": 2, "bytes": 32},
    layouts: ["ggml", "planar", "row4"],
  },
};
