// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matvec: y = W x for one token or a few columns. */
export declare const matvec: KernelModule<"matvec", MatvecVariant>;

/** The variants of matvec in this bundle. */
export type MatvecVariant =
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096__w1_float_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096__w1_float_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_n4096_k4096_residual__w1_float_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_n4096_k4096_residual__w1_float_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096_swiglu__w1_float_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096_swiglu__w1_float_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k12288_residual__w1_float_rows4_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k12288_residual__w1_float_rows4_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096__w2_int8_a128_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096__w2_int8_a128_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_n4096_k4096_residual__w2_int8_a128_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_n4096_k4096_residual__w2_int8_a128_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096_swiglu__w2_int8_a128_rows4_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k4096_swiglu__w2_int8_a128_rows4_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k12288_residual__w2_int8_a128_rows4_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32_k12288_residual__w2_int8_a128_rows4_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows1_wg32"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows1_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows1_wg128"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows1_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows8_wg32"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows8_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows8_wg128"
  | "matvec_q1_0_g128_planar_m1_xf16_yf32__w1_float_rows8_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows1_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows1_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows1_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows1_wg128_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows8_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows8_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows8_wg128"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w2_int8_a128_rows8_wg128_sg"
  | "matvec_q1_0_g128_ggml_m1_xf32_yf32__w1_float_rows4_wg32"
  | "matvec_q1_0_g128_ggml_m1_xf32_yf32__w1_float_rows4_wg32_sg"
  | "matvec_q1_0_g128_ggml_m1_xf32_yf32__w1_block_rows1_wg64"
  | "matvec_q1_0_g128_ggml_m1_xf32_yf32__w1_block_rows4_wg64"
  | "matvec_q1_0_g128_ggml_m1_xf16_yf32__w1_block_rows1_wg64"
  | "matvec_q1_0_g128_ggml_m1_xf16_yf32__w1_block_rows4_wg64";
