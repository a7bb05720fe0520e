// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** add: y = a + b, element by element. */
export declare const add: KernelModule<"add", AddVariant>;

/** The variants of add in this bundle. */
export type AddVariant =
  | "add_xf32__v4_wg64"
  | "add_xf32_inplace__v4_wg64"
  | "add_xf16__v4_wg64"
  | "add_xf16_inplace__v4_wg64";
