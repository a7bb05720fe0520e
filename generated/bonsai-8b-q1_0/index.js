// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

import { rms_norm } from "./kernels/rms_norm.js";
import { matvec } from "./kernels/matvec.js";
import { rope_cache_kv } from "./kernels/rope_cache_kv.js";
import { attention_split } from "./kernels/attention_split.js";
import { attention_merge } from "./kernels/attention_merge.js";
import { get_rows } from "./kernels/get_rows.js";
import { lm_head_argmax } from "./kernels/lm_head_argmax.js";
import { argmax_merge } from "./kernels/argmax_merge.js";
import { quantize_q8 } from "./kernels/quantize_q8.js";
import { matmul } from "./kernels/matmul.js";
import { sum_splits } from "./kernels/sum_splits.js";
import { formats } from "./formats.js";
import { costs, plans } from "./plans.js";
import { kitOf } from "./runtime/index.js";

export * from "./runtime/index.js";
export { rms_norm, matvec, rope_cache_kv, attention_split, attention_merge, get_rows, lm_head_argmax, argmax_merge, quantize_q8, matmul, sum_splits, costs, formats, plans };

/**
 * All kernels and plans of this bundle. A page that needs few of them takes `kitOf([matvec, …], plans, costs)`
 * instead, and its bundler drops the others.
 */
export const kit = /* @__PURE__ */ kitOf([rms_norm, matvec, rope_cache_kv, attention_split, attention_merge, get_rows, lm_head_argmax, argmax_merge, quantize_q8, matmul, sum_splits], plans, costs);
