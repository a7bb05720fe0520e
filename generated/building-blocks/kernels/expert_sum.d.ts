// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** expert_sum: y = the weighted sum of what a token's experts made. */
export declare const expert_sum: KernelModule<"expert_sum", ExpertSumVariant>;

/** The variants of expert_sum in this bundle. */
export type ExpertSumVariant =
  | "expert_sum_xf32_yf32__wg64"
  | "expert_sum_xf32_yf32_residual__wg64";
