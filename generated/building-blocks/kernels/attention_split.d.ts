// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** attention_split: maxima, sums of exp(s - maximum) and of exp(s - maximum) v over parts of the keys, one token a sequence. */
export declare const attention_split: KernelModule<"attention_split", AttentionSplitVariant>;

/** The variants of attention_split in this bundle. */
export type AttentionSplitVariant =
  | "attention_split_q16_kv8_hd128_repeat_win1024_cf32_xf32_splits8__wg64"
  | "attention_split_q16_kv8_hd128_repeat_win1024_cf32_xf32_splits8__wg64_sg"
  | "attention_split_q16_kv8_hd128_tile_win1024_cf32_xf32_splits8__wg64"
  | "attention_split_q16_kv8_hd128_tile_win1024_cf32_xf32_splits8__wg64_sg"
  | "attention_split_q8_kv2_hd64_repeat_cq8_0_xf32_splits4__wg64"
  | "attention_split_q8_kv2_hd64_repeat_cq8_0_xf32_splits4__wg64_sg"
  | "attention_split_q8_kv2_hd64_repeat_cq4_0_xf32_splits4__wg64"
  | "attention_split_q8_kv2_hd64_repeat_cq4_0_xf32_splits4__wg64_sg";
