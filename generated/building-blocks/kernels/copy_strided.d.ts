// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** copy_strided: y[strided] = x[strided] over four dimensions. */
export declare const copy_strided: KernelModule<"copy_strided", CopyStridedVariant>;

/** The variants of copy_strided in this bundle. */
export type CopyStridedVariant =
  | "copy_strided_xf32_yf32__wg64"
  | "copy_strided_xf32_yf16__wg64"
  | "copy_strided_xf16_yf32__wg64"
  | "copy_strided_xu32_yu32__wg64";
