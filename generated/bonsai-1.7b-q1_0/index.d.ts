// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { RmsNormVariant } from "./kernels/rms_norm.js";
import type { MatvecVariant } from "./kernels/matvec.js";
import type { RopeCacheKvVariant } from "./kernels/rope_cache_kv.js";
import type { AttentionSplitVariant } from "./kernels/attention_split.js";
import type { AttentionMergeVariant } from "./kernels/attention_merge.js";
import type { GetRowsVariant } from "./kernels/get_rows.js";
import type { LmHeadArgmaxVariant } from "./kernels/lm_head_argmax.js";
import type { ArgmaxMergeVariant } from "./kernels/argmax_merge.js";
import type { QuantizeQ8Variant } from "./kernels/quantize_q8.js";
import type { MatmulVariant } from "./kernels/matmul.js";
import type { SumSplitsVariant } from "./kernels/sum_splits.js";
import type { PlanName } from "./plans.js";
import type { Kit } from "./runtime/index.js";

export * from "./runtime/index.js";
export * from "./kernels/rms_norm.js";
export * from "./kernels/matvec.js";
export * from "./kernels/rope_cache_kv.js";
export * from "./kernels/attention_split.js";
export * from "./kernels/attention_merge.js";
export * from "./kernels/get_rows.js";
export * from "./kernels/lm_head_argmax.js";
export * from "./kernels/argmax_merge.js";
export * from "./kernels/quantize_q8.js";
export * from "./kernels/matmul.js";
export * from "./kernels/sum_splits.js";
export * from "./formats.js";
export * from "./plans.js";

/** The kernels of this bundle. */
export type KernelName =
  | "rms_norm"
  | "matvec"
  | "rope_cache_kv"
  | "attention_split"
  | "attention_merge"
  | "get_rows"
  | "lm_head_argmax"
  | "argmax_merge"
  | "quantize_q8"
  | "matmul"
  | "sum_splits"
;

/** The variants of this bundle. */
export type VariantName =
  | RmsNormVariant
  | MatvecVariant
  | RopeCacheKvVariant
  | AttentionSplitVariant
  | AttentionMergeVariant
  | GetRowsVariant
  | LmHeadArgmaxVariant
  | ArgmaxMergeVariant
  | QuantizeQ8Variant
  | MatmulVariant
  | SumSplitsVariant
;

/** All kernels and plans of this bundle. */
export declare const kit: Kit<VariantName, PlanName>;
