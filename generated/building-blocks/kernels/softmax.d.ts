// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** softmax: y = exp(x scale - max) / sum, row by row. */
export declare const softmax: KernelModule<"softmax", SoftmaxVariant>;

/** The variants of softmax in this bundle. */
export type SoftmaxVariant =
  | "softmax_xf32__v4_wg64"
  | "softmax_xf32__v4_wg64_sg"
  | "softmax_xf16__v4_wg64"
  | "softmax_xf16__v4_wg64_sg";
