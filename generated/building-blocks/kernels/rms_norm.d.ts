// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row. */
export declare const rms_norm: KernelModule<"rms_norm", RmsNormVariant>;

/** The variants of rms_norm in this bundle. */
export type RmsNormVariant =
  | "rms_norm_xf32_res__v4_wg64"
  | "rms_norm_xf32_res__v4_wg64_sg"
  | "rms_norm_xf16_res__v4_wg64"
  | "rms_norm_xf16_res__v4_wg64_sg"
  | "rms_norm_xf32_res_q64_s8__v4_wg64"
  | "rms_norm_xf32_res_q64_s8__v4_wg64_sg"
  | "rms_norm_xf32_res_q128_s8__v4_wg64"
  | "rms_norm_xf32_res_q128_s8__v4_wg64_sg";
