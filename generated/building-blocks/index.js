// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import { attention_prefill } from "./kernels/attention_prefill.js";
import { attention_split } from "./kernels/attention_split.js";
import { attention_merge } from "./kernels/attention_merge.js";
import { rope_cache_kv } from "./kernels/rope_cache_kv.js";
import { qk_norm_rope } from "./kernels/qk_norm_rope.js";
import { rms_norm } from "./kernels/rms_norm.js";
import { swiglu } from "./kernels/swiglu.js";
import { add } from "./kernels/add.js";
import { softmax } from "./kernels/softmax.js";
import { copy_strided } from "./kernels/copy_strided.js";
import { argmax } from "./kernels/argmax.js";
import { argmax_merge } from "./kernels/argmax_merge.js";
import { top_k } from "./kernels/top_k.js";
import { binarize } from "./kernels/binarize.js";
import { matvec } from "./kernels/matvec.js";
import { matvec_id } from "./kernels/matvec_id.js";
import { expert_rows } from "./kernels/expert_rows.js";
import { matmul_id } from "./kernels/matmul_id.js";
import { quantize_q8 } from "./kernels/quantize_q8.js";
import { expert_sum } from "./kernels/expert_sum.js";
import { set_rows } from "./kernels/set_rows.js";
import { formats } from "./formats.js";
import { costs, plans } from "./plans.js";
import { kitOf } from "./runtime/index.js";

export * from "./runtime/index.js";
export { attention_prefill, attention_split, attention_merge, rope_cache_kv, qk_norm_rope, rms_norm, swiglu, add, softmax, copy_strided, argmax, argmax_merge, top_k, binarize, matvec, matvec_id, expert_rows, matmul_id, quantize_q8, expert_sum, set_rows, costs, formats, plans };

/**
 * All kernels and plans of this bundle. A page that needs few of them takes `kitOf([matvec, …], plans, costs)`
 * instead, and its bundler drops the others.
 */
export const kit = /* @__PURE__ */ kitOf([attention_prefill, attention_split, attention_merge, rope_cache_kv, qk_norm_rope, rms_norm, swiglu, add, softmax, copy_strided, argmax, argmax_merge, top_k, binarize, matvec, matvec_id, expert_rows, matmul_id, quantize_q8, expert_sum, set_rows], plans, costs);
