// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** get_rows: rows of a weight matrix by their ids; zeros for an id out of range. */
export declare const get_rows: KernelModule<"get_rows", GetRowsVariant>;

/** The variants of get_rows in this bundle. */
export type GetRowsVariant =
  | "get_rows_q8_0_planar_yf32_k576__w1_wg64"
  | "get_rows_q8_0_planar_yf32_k576__w4_wg64"
  | "get_rows_q8_0_planar_yf32__w4_wg64"
  | "get_rows_q8_0_planar_yf16__w4_wg64"
  | "get_rows_q8_0_ggml_yf32__w4_wg64"
  | "get_rows_q8_0_ggml_yf16__w4_wg64";
