// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { WeightFormat } from "./runtime/index.js";

/** How the weight formats of this bundle lie in a file, by format and group, for `pack`. */
export declare const formats: { readonly [key in FormatKey]: WeightFormat };

/** The weight formats of this bundle, each with its group. */
export type FormatKey =
  | "q2_0_g64"
  | "q1_0_g128"
;
