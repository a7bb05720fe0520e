// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** rope_cache_kv: q and k rotated by position, k and v written into the cache. */
export declare const rope_cache_kv: KernelModule<"rope_cache_kv", RopeCacheKvVariant>;

/** The variants of rope_cache_kv in this bundle. */
export type RopeCacheKvVariant =
  | "rope_cache_kv_q32_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32"
  | "rope_cache_kv_q32_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32"
  | "rope_cache_kv_q32_kv8_hd128_half_xf32_packed_norm_kvf32__v4_wg32_sg"
  | "rope_cache_kv_q32_kv8_hd128_half_xf32_packed_norm_kvf16__v4_wg32_sg";
