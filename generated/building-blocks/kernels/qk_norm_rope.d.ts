// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** qk_norm_rope: heads of q and k normalised, then rotated by position. */
export declare const qk_norm_rope: KernelModule<"qk_norm_rope", QkNormRopeVariant>;

/** The variants of qk_norm_rope in this bundle. */
export type QkNormRopeVariant =
  | "qk_norm_rope_q16_kv8_hd128_half_xf32__v4_wg32"
  | "qk_norm_rope_q16_kv8_hd128_half_xf32__v4_wg32_sg"
  | "qk_norm_rope_q16_kv8_hd128_half_xf16__v4_wg32"
  | "qk_norm_rope_q16_kv8_hd128_half_xf16__v4_wg32_sg";
