// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** argmax: the largest of each chunk of logits and its index, lowest index first, NaN last. */
export declare const argmax: KernelModule<"argmax", ArgmaxVariant>;

/** The variants of argmax in this bundle. */
export type ArgmaxVariant =
  | "argmax_xf32_c1024__wg64"
  | "argmax_xf32_c1024__wg64_sg";
