// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** lm_head_argmax: the largest logit of each tile of rows and its row, lowest row first, NaN last. */
export declare const lm_head_argmax: KernelModule<"lm_head_argmax", LmHeadArgmaxVariant>;

/** The variants of lm_head_argmax in this bundle. */
export type LmHeadArgmaxVariant =
  | "lm_head_argmax_q1_0_g128_planar_m1_xf32_rows8_k2048__w1_float_wg32"
  | "lm_head_argmax_q1_0_g128_planar_m1_xf32_rows8_k2048__w1_float_wg32_sg"
  | "lm_head_argmax_q1_0_g128_planar_m1_xf32_rows8_k2048__w2_int8_a128_wg32"
  | "lm_head_argmax_q1_0_g128_planar_m1_xf32_rows8_k2048__w2_int8_a128_wg32_sg";
