// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matvec: y = W x for one token or a few columns. */
export declare const matvec: KernelModule<"matvec", MatvecVariant>;

/** The variants of matvec in this bundle. */
export type MatvecVariant =
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows1_wg32"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows1_wg32_sg"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows8_wg32"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows8_wg32_sg"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows8_wg128"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows8_wg128_sg"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32_n4096_k2048__w1_float_rows4_wg32_sg"
  | "matvec_q2_0_g64_ggml_m1_xf32_yf32__w1_float_rows4_wg32"
  | "matvec_q2_0_g64_ggml_m1_xf32_yf32__w1_float_rows4_wg32_sg"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows1_wg32"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows1_wg32_sg"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg32"
  | "matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows1_wg32_sg"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg32"
  | "matvec_q1_0_g128_planar_m1_xf32_yf32__w1_float_rows8_wg32_sg";
