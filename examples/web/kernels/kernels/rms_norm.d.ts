// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** rms_norm: y = x weight / sqrt(mean(x x) + eps), row by row. */
export declare const rms_norm: KernelModule<"rms_norm", RmsNormVariant>;

/** The variants of rms_norm in this bundle. */
export type RmsNormVariant =
  | "rms_norm_xf32__v4_wg64"
  | "rms_norm_xf32__v4_wg64_sg"
  | "rms_norm_xf32__v4_wg256"
  | "rms_norm_xf32__v4_wg256_sg"
  | "rms_norm_xf32__v1_wg64"
  | "rms_norm_xf32__v1_wg64_sg"
  | "rms_norm_xf32_d2048__v4_wg256_sg";
