// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** binarize: x as signs with a scale for each group. */
export declare const binarize: KernelModule<"binarize", BinarizeVariant>;

/** The variants of binarize in this bundle. */
export type BinarizeVariant =
  | "binarize_xf32_g64__only"
  | "binarize_xf32_g64__sg"
  | "binarize_xf16_g64__only"
  | "binarize_xf16_g64__sg";
