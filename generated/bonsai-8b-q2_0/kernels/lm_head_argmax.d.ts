// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** lm_head_argmax: the largest logit of each tile of rows and its row, lowest row first, NaN last. */
export declare const lm_head_argmax: KernelModule<"lm_head_argmax", LmHeadArgmaxVariant>;

/** The variants of lm_head_argmax in this bundle. */
export type LmHeadArgmaxVariant =
  | "lm_head_argmax_q2_0_g64_planar_m1_xf32_rows8_k4096__w1_float_wg32"
  | "lm_head_argmax_q2_0_g64_planar_m1_xf32_rows8_k4096__w1_float_wg32_sg"
  | "lm_head_argmax_q2_0_g64_planar_m1_xf32_rows8_k4096__w4_int8_a64_wg32"
  | "lm_head_argmax_q2_0_g64_planar_m1_xf32_rows8_k4096__w4_int8_a64_wg32_sg";
