// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence. */
export declare const attention_split: KernelModule<"attention_split", AttentionSplitVariant>;

/** The variants of attention_split in this bundle. */
export type AttentionSplitVariant =
  | "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128"
  | "attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128_sg";
