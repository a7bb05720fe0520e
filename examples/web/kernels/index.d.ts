// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { MatvecVariant } from "./kernels/matvec.js";
import type { MatmulVariant } from "./kernels/matmul.js";
import type { SumSplitsVariant } from "./kernels/sum_splits.js";
import type { QuantizeQ8Variant } from "./kernels/quantize_q8.js";
import type { GetRowsVariant } from "./kernels/get_rows.js";
import type { RmsNormVariant } from "./kernels/rms_norm.js";
import type { AttentionSplitVariant } from "./kernels/attention_split.js";
import type { AttentionMergeVariant } from "./kernels/attention_merge.js";
import type { AttentionPrefillVariant } from "./kernels/attention_prefill.js";
import type { ArgmaxVariant } from "./kernels/argmax.js";
import type { ArgmaxMergeVariant } from "./kernels/argmax_merge.js";
import type { PlanName } from "./plans.js";
import type { Kit } from "./runtime/index.js";

export * from "./runtime/index.js";
export * from "./kernels/matvec.js";
export * from "./kernels/matmul.js";
export * from "./kernels/sum_splits.js";
export * from "./kernels/quantize_q8.js";
export * from "./kernels/get_rows.js";
export * from "./kernels/rms_norm.js";
export * from "./kernels/attention_split.js";
export * from "./kernels/attention_merge.js";
export * from "./kernels/attention_prefill.js";
export * from "./kernels/argmax.js";
export * from "./kernels/argmax_merge.js";
export * from "./formats.js";
export * from "./plans.js";

/** The kernels of this bundle. */
export type KernelName =
  | "matvec"
  | "matmul"
  | "sum_splits"
  | "quantize_q8"
  | "get_rows"
  | "rms_norm"
  | "attention_split"
  | "attention_merge"
  | "attention_prefill"
  | "argmax"
  | "argmax_merge"
;

/** The variants of this bundle. */
export type VariantName =
  | MatvecVariant
  | MatmulVariant
  | SumSplitsVariant
  | QuantizeQ8Variant
  | GetRowsVariant
  | RmsNormVariant
  | AttentionSplitVariant
  | AttentionMergeVariant
  | AttentionPrefillVariant
  | ArgmaxVariant
  | ArgmaxMergeVariant
;

/** All kernels and plans of this bundle. */
export declare const kit: Kit<VariantName, PlanName>;
