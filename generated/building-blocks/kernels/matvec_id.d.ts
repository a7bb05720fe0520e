// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matvec_id: y = W x with an expert's W for each pair of token and expert. */
export declare const matvec_id: KernelModule<"matvec_id", MatvecIdVariant>;

/** The variants of matvec_id in this bundle. */
export type MatvecIdVariant =
  | "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64"
  | "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64"
  | "matvec_id_q4_K_planar_m1_xf32_yf32__float_rows4_wg64_sg"
  | "matvec_id_q4_K_planar_m1_xf32_yf32_swiglu__float_rows4_wg64_sg"
  | "matvec_id_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows4_wg64"
  | "matvec_id_q2_0_g64_planar_m1_xf32_yf32_of_pair__w4_int8_a64_rows4_wg64";
