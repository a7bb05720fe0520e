// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** swiglu: y = silu(gate) up, element by element. */
export declare const swiglu: KernelModule<"swiglu", SwigluVariant>;

/** The variants of swiglu in this bundle. */
export type SwigluVariant =
  | "swiglu_xf32__v4_wg64"
  | "swiglu_xf32_packed__v4_wg64"
  | "swiglu_xf16__v4_wg64"
  | "swiglu_xf16_packed__v4_wg64";
