// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** quantize_q8: x as int8 with a scale and a sum for each group. */
export declare const quantize_q8: KernelModule<"quantize_q8", QuantizeQ8Variant>;

/** The variants of quantize_q8 in this bundle. */
export type QuantizeQ8Variant =
  | "quantize_q8_xf32_g64_s4__only"
  | "quantize_q8_xf32_g64_s4__sg";
