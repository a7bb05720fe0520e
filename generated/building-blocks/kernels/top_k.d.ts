// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** top_k: the K_TOP largest of each chunk of logits, descending, lowest index first, NaN last. */
export declare const top_k: KernelModule<"top_k", TopKVariant>;

/** The variants of top_k in this bundle. */
export type TopKVariant =
  | "top_k_xf32_k40_c1024__wg128"
  | "top_k_xf16_k40_c1024__wg128"
  | "top_k_xf32_k40_c1024_ids__wg128"
  | "top_k_xf32_k64_c1024__wg128"
  | "top_k_xf16_k64_c1024__wg128"
  | "top_k_xf32_k64_c1024_ids__wg128";
