// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** attention_prefill: causal attention of M tokens a sequence over the cache. */
export declare const attention_prefill: KernelModule<"attention_prefill", AttentionPrefillVariant>;

/** The variants of attention_prefill in this bundle. */
export type AttentionPrefillVariant =
  | "attention_prefill_q16_kv8_hd128_repeat_cf32_xf32__wg64_rows8"
  | "attention_prefill_q16_kv8_hd128_repeat_cf32_xf32__wg64_sg_rows8";
