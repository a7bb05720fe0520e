// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** expert_rows: pairs of token and expert, sorted by expert, and the tiles that they make. */
export declare const expert_rows: KernelModule<"expert_rows", ExpertRowsVariant>;

/** The variants of expert_rows in this bundle. */
export type ExpertRowsVariant =
  | "expert_rows_m16__wg256"
  | "expert_rows_m32__wg256";
