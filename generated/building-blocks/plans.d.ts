// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { Cost, Plan } from "./runtime/index.js";

/** What variants of this bundle do together, pass by pass; a variant that does an op alone needs no plan. */
export declare const plans: readonly (Plan & { readonly name: PlanName; readonly op: PlannedOp })[];

/** Nanoseconds of a pass, by the first row that fits its variant: what `select` ranks by. */
export declare const costs: readonly Cost[];

/** The plans of this bundle. */
export type PlanName =
  | "linear.matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32"
  | "linear.matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32_sg"
  | "linear_id.matvec_id_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows4_wg64"
  | "linear_id.matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair__w4_int8_a64_rows4_wg64"
  | "linear_id.matmul_id_q4_K_planar_xf32_yf32_m16__tile_n32_k32_t1_x4_split1"
  | "linear_id.matmul_id_q4_K_planar_xf32_yf32_swiglu_m16__tile_n32_k32_t1_x4_split1"
  | "linear_id.matmul_id_q2_0_g64_planar_xf32_yf32_m32__w1_int8_n64_k64_t4_x4_a64_split1"
  | "linear_id.matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair__w1_int8_n64_k64_t4_x4_a64_split1"
  | "attention.attention_split_q16_kv8_hd128_repeat_win1024_cf32_xf32_splits8__wg64+attention_merge_q16_hd128_splits8_xf32_gate__wg64"
  | "attention.attention_split_q16_kv8_hd128_repeat_win1024_cf32_xf32_splits8__wg64_sg+attention_merge_q16_hd128_splits8_xf32_gate__wg64"
  | "attention.attention_split_q16_kv8_hd128_tile_win1024_cf32_xf32_splits8__wg64+attention_merge_q16_hd128_splits8_xf32_gate__wg64"
  | "attention.attention_split_q16_kv8_hd128_tile_win1024_cf32_xf32_splits8__wg64_sg+attention_merge_q16_hd128_splits8_xf32_gate__wg64"
  | "argmax.argmax_xf32_c1024__wg64+argmax_merge__wg64"
  | "argmax.argmax_xf32_c1024__wg64+argmax_merge_value__wg64"
  | "argmax.argmax_xf32_c1024__wg64_sg+argmax_merge__wg64_sg"
  | "argmax.argmax_xf32_c1024__wg64_sg+argmax_merge_value__wg64_sg"
  | "argmax.argmax_xf16_c1024__wg64+argmax_merge__wg64"
  | "argmax.argmax_xf16_c1024__wg64+argmax_merge_value__wg64"
  | "argmax.argmax_xf16_c1024__wg64_sg+argmax_merge__wg64_sg"
  | "argmax.argmax_xf16_c1024__wg64_sg+argmax_merge_value__wg64_sg"
  | "top_k.top_k_xf32_k40_c1024__wg128"
  | "top_k.top_k_xf16_k40_c1024__wg128"
  | "top_k.top_k_xf32_k64_c1024__wg128"
  | "top_k.top_k_xf16_k64_c1024__wg128"
;

/** What these plans do. */
export type PlannedOp =
  | "argmax"
  | "attention"
  | "linear"
  | "linear_id"
  | "top_k"
;
