// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** argmax_merge: the index of the best of a row's slots, lowest index first, NaN last. */
export declare const argmax_merge: KernelModule<"argmax_merge", ArgmaxMergeVariant>;

/** The variants of argmax_merge in this bundle. */
export type ArgmaxMergeVariant =
  | "argmax_merge__wg256"
  | "argmax_merge__wg256_sg"
  | "argmax_merge__wg128";
