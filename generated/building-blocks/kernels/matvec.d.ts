// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matvec: y = W x for one token or a few columns. */
export declare const matvec: KernelModule<"matvec", MatvecVariant>;

/** The variants of matvec in this bundle. */
export type MatvecVariant =
  | "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32"
  | "matvec_q2_0_g64_planes_m1_xf32_yf32__w2_popcount_a64_rows4_wg32_sg"
  | "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32"
  | "matvec_q1_0_g128_row4_m1_xf32_yf32__w1_int8_a128_rows4_wg32_sg";
