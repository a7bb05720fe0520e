// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** attention_merge: the attention of a token from what attention_split made of parts of its keys. */
export declare const attention_merge: KernelModule<"attention_merge", AttentionMergeVariant>;

/** The variants of attention_merge in this bundle. */
export type AttentionMergeVariant =
  | "attention_merge_q16_hd128_splits16_xf32__wg64";
