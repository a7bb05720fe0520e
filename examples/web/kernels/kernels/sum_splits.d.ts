// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** sum_splits: the sums of the parts of K, and what becomes of them. */
export declare const sum_splits: KernelModule<"sum_splits", SumSplitsVariant>;

/** The variants of sum_splits in this bundle. */
export type SumSplitsVariant =
  | "sum_splits_split4_yf32__wg64";
