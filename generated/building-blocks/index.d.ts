// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { AttentionPrefillVariant } from "./kernels/attention_prefill.js";
import type { AttentionSplitVariant } from "./kernels/attention_split.js";
import type { AttentionMergeVariant } from "./kernels/attention_merge.js";
import type { RopeCacheKvVariant } from "./kernels/rope_cache_kv.js";
import type { QkNormRopeVariant } from "./kernels/qk_norm_rope.js";
import type { RmsNormVariant } from "./kernels/rms_norm.js";
import type { SwigluVariant } from "./kernels/swiglu.js";
import type { AddVariant } from "./kernels/add.js";
import type { SoftmaxVariant } from "./kernels/softmax.js";
import type { CopyStridedVariant } from "./kernels/copy_strided.js";
import type { ArgmaxVariant } from "./kernels/argmax.js";
import type { ArgmaxMergeVariant } from "./kernels/argmax_merge.js";
import type { TopKVariant } from "./kernels/top_k.js";
import type { BinarizeVariant } from "./kernels/binarize.js";
import type { MatvecVariant } from "./kernels/matvec.js";
import type { MatvecIdVariant } from "./kernels/matvec_id.js";
import type { ExpertRowsVariant } from "./kernels/expert_rows.js";
import type { MatmulIdVariant } from "./kernels/matmul_id.js";
import type { QuantizeQ8Variant } from "./kernels/quantize_q8.js";
import type { ExpertSumVariant } from "./kernels/expert_sum.js";
import type { SetRowsVariant } from "./kernels/set_rows.js";
import type { PlanName } from "./plans.js";
import type { Kit } from "./runtime/index.js";

export * from "./runtime/index.js";
export * from "./kernels/attention_prefill.js";
export * from "./kernels/attention_split.js";
export * from "./kernels/attention_merge.js";
export * from "./kernels/rope_cache_kv.js";
export * from "./kernels/qk_norm_rope.js";
export * from "./kernels/rms_norm.js";
export * from "./kernels/swiglu.js";
export * from "./kernels/add.js";
export * from "./kernels/softmax.js";
export * from "./kernels/copy_strided.js";
export * from "./kernels/argmax.js";
export * from "./kernels/argmax_merge.js";
export * from "./kernels/top_k.js";
export * from "./kernels/binarize.js";
export * from "./kernels/matvec.js";
export * from "./kernels/matvec_id.js";
export * from "./kernels/expert_rows.js";
export * from "./kernels/matmul_id.js";
export * from "./kernels/quantize_q8.js";
export * from "./kernels/expert_sum.js";
export * from "./kernels/set_rows.js";
export * from "./formats.js";
export * from "./plans.js";

/** The kernels of this bundle. */
export type KernelName =
  | "attention_prefill"
  | "attention_split"
  | "attention_merge"
  | "rope_cache_kv"
  | "qk_norm_rope"
  | "rms_norm"
  | "swiglu"
  | "add"
  | "softmax"
  | "copy_strided"
  | "argmax"
  | "argmax_merge"
  | "top_k"
  | "binarize"
  | "matvec"
  | "matvec_id"
  | "expert_rows"
  | "matmul_id"
  | "quantize_q8"
  | "expert_sum"
  | "set_rows"
;

/** The variants of this bundle. */
export type VariantName =
  | AttentionPrefillVariant
  | AttentionSplitVariant
  | AttentionMergeVariant
  | RopeCacheKvVariant
  | QkNormRopeVariant
  | RmsNormVariant
  | SwigluVariant
  | AddVariant
  | SoftmaxVariant
  | CopyStridedVariant
  | ArgmaxVariant
  | ArgmaxMergeVariant
  | TopKVariant
  | BinarizeVariant
  | MatvecVariant
  | MatvecIdVariant
  | ExpertRowsVariant
  | MatmulIdVariant
  | QuantizeQ8Variant
  | ExpertSumVariant
  | SetRowsVariant
;

/** All kernels and plans of this bundle. */
export declare const kit: Kit<VariantName, PlanName>;
