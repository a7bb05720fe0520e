// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.

import type { Cost, Plan } from "./runtime/index.js";

/** What variants of this bundle do together, pass by pass; a variant that does an op alone needs no plan. */
export declare const plans: readonly (Plan & { readonly name: PlanName; readonly op: PlannedOp })[];

/** Nanoseconds of a pass, by the first row that fits its variant: what `select` ranks by. */
export declare const costs: readonly Cost[];

/** The plans of this bundle. */
export type PlanName =
  | "linear.matvec_q4_1_planar_m1_xf32_yf32_n960_k576__w2_int8_a32_rows4_wg32"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32_n960_k576__w2_int8_a32_rows4_wg32_sg"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows1_wg32"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows1_wg32_sg"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows1_wg128"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows1_wg128_sg"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows8_wg32"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows8_wg32_sg"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows8_wg128"
  | "linear.matvec_q4_1_planar_m1_xf32_yf32__w4_int8_a32_rows8_wg128_sg"
  | "linear.matmul_q4_1_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4+sum_splits_split4_yf32__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4+sum_splits_split4_yf32_residual__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4+sum_splits_split4_yf32_swiglu__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32_residual__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32_swiglu__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32_residual__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32_swiglu__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "linear.matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split4+sum_splits_split4_yf32__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split4+sum_splits_split4_yf32_residual__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split4+sum_splits_split4_yf32_swiglu__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32_opf16__w1_subgroup_matrix_m16_n64_k64_sm1_sn4_f16_16x16x16_split4+sum_splits_split4_yf32__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32_opf16__w1_subgroup_matrix_m16_n64_k64_sm1_sn4_f16_16x16x16_split4+sum_splits_split4_yf32_residual__wg64"
  | "linear.matmul_q4_1_planar_xf32_yf32_opf16__w1_subgroup_matrix_m16_n64_k64_sm1_sn4_f16_16x16x16_split4+sum_splits_split4_yf32_swiglu__wg64"
  | "linear.matvec_q8_0_planar_m1_xf32_yf32__w4_int8_a32_rows4_wg32"
  | "linear.matvec_q8_0_planar_m1_xf32_yf32__w4_int8_a32_rows4_wg32_sg"
  | "linear.matvec_q8_0_planar_m1_xf32_yf32_k576__w4_int8_a32_rows4_wg32"
  | "linear.matvec_q8_0_planar_m1_xf32_yf32_k576__w4_int8_a32_rows4_wg32_sg"
  | "linear.matmul_q8_0_planar_xf32_yf32__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "attention.attention_split_q9_kv3_hd64_repeat_cf32_xf32_splits16__wg128+attention_merge_q9_hd64_splits16_xf32__wg64"
  | "attention.attention_split_q9_kv3_hd64_repeat_cf16_xf32_splits16__wg128+attention_merge_q9_hd64_splits16_xf32__wg64"
  | "attention.attention_split_q9_kv3_hd64_repeat_cf32_xf32_splits16__wg128_sg+attention_merge_q9_hd64_splits16_xf32__wg64"
  | "attention.attention_split_q9_kv3_hd64_repeat_cf16_xf32_splits16__wg128_sg+attention_merge_q9_hd64_splits16_xf32__wg64"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32+argmax_merge__wg256"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32+argmax_merge__wg128"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32_sg+argmax_merge__wg256_sg"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32+argmax_merge__wg256"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32+argmax_merge__wg128"
  | "linear_argmax.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32_sg+argmax_merge__wg256_sg"
  | "decode_embedding.get_rows_q8_0_planar_yf32_k576__w1_wg64"
  | "decode_layer.q4_1_float_kvf32"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32+argmax_merge__wg256"
  | "decode_layer.q4_1_float_kvf32_wg128"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32+argmax_merge__wg128"
  | "decode_layer.q4_1_float_kvf16"
  | "decode_layer.q4_1_float_kvf16_wg128"
  | "decode_layer.q4_1_float_kvf32_sg"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w1_float_wg32_sg+argmax_merge__wg256_sg"
  | "decode_layer.q4_1_float_kvf16_sg"
  | "decode_embedding.get_rows_q8_0_planar_yf32_k576__w4_wg64"
  | "decode_layer.q4_1_int8_kvf32"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32+argmax_merge__wg256"
  | "decode_layer.q4_1_int8_kvf32_wg128"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32+argmax_merge__wg128"
  | "decode_layer.q4_1_int8_kvf16"
  | "decode_layer.q4_1_int8_kvf16_wg128"
  | "decode_layer.q4_1_int8_kvf32_sg"
  | "decode_head.lm_head_argmax_q8_0_planar_m1_xf32_rows8_k576__w4_int8_a32_wg32_sg+argmax_merge__wg256_sg"
  | "decode_layer.q4_1_int8_kvf16_sg"
;

/** What these plans do. */
export type PlannedOp =
  | "attention"
  | "decode_embedding"
  | "decode_head"
  | "decode_layer"
  | "linear"
  | "linear_argmax"
;
