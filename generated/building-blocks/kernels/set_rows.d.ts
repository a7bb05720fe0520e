// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** set_rows: rows into a tensor by their ids, quantised if asked. */
export declare const set_rows: KernelModule<"set_rows", SetRowsVariant>;

/** The variants of set_rows in this bundle. */
export type SetRowsVariant =
  | "set_rows_f32_xf32__wg64"
  | "set_rows_f16_xf32__wg64"
  | "set_rows_q8_0_xf32__wg64"
  | "set_rows_q4_0_xf32__wg64";
