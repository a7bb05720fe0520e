// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { Cost, Plan } from "./runtime/index.js";

/** What variants of this bundle do together, pass by pass; a variant that does an op alone needs no plan. */
export declare const plans: readonly (Plan & { readonly name: PlanName; readonly op: PlannedOp })[];

/** Nanoseconds of a pass, by the first row that fits its variant: what `select` ranks by. */
export declare const costs: readonly Cost[];

/** The plans of this bundle. */
export type PlanName =
  | "linear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows1_wg32"
  | "linear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows1_wg32_sg"
  | "linear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg32"
  | "linear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg32_sg"
  | "linear.matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4+sum_splits_split4_yf32__wg64"
  | "linear.matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16_n16_k128_t2_x1_a64_split1"
  | "linear.matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m64_n64_k64_t8_x4_a64_split1"
  | "attention.attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128+attention_merge_q16_hd128_splits16_xf32__wg64"
  | "attention.attention_split_q16_kv8_hd128_repeat_cf32_xf32_splits16__wg128_sg+attention_merge_q16_hd128_splits16_xf32__wg64"
  | "argmax.argmax_xf32_c1024__wg64+argmax_merge__wg64"
  | "argmax.argmax_xf32_c1024__wg64_sg+argmax_merge__wg64_sg"
;

/** What these plans do. */
export type PlannedOp =
  | "argmax"
  | "attention"
  | "linear"
;
