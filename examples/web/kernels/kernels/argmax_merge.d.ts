// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** argmax_merge: the index of the best of a row's slots, lowest index first, NaN last. */
export declare const argmax_merge: KernelModule<"argmax_merge", ArgmaxMergeVariant>;

/** The variants of argmax_merge in this bundle. */
export type ArgmaxMergeVariant =
  | "argmax_merge__wg64"
  | "argmax_merge__wg64_sg";
