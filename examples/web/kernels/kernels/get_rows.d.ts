// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** get_rows: rows of a weight matrix by their ids; zeros for an id out of range. */
export declare const get_rows: KernelModule<"get_rows", GetRowsVariant>;

/** The variants of get_rows in this bundle. */
export type GetRowsVariant =
  | "get_rows_q2_0_g64_planar_yf32__w4_wg64"
  | "get_rows_q2_0_g64_ggml_yf32__w4_wg64"
  | "get_rows_q1_0_g128_planar_yf32__w4_wg64"
  | "get_rows_q1_0_g128_ggml_yf32__w4_wg64";
