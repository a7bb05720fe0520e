// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import { matvec } from "./kernels/matvec.js";
import { matmul } from "./kernels/matmul.js";
import { sum_splits } from "./kernels/sum_splits.js";
import { quantize_q8 } from "./kernels/quantize_q8.js";
import { get_rows } from "./kernels/get_rows.js";
import { rms_norm } from "./kernels/rms_norm.js";
import { attention_split } from "./kernels/attention_split.js";
import { attention_merge } from "./kernels/attention_merge.js";
import { attention_prefill } from "./kernels/attention_prefill.js";
import { argmax } from "./kernels/argmax.js";
import { argmax_merge } from "./kernels/argmax_merge.js";
import { formats } from "./formats.js";
import { costs, plans } from "./plans.js";
import { kitOf } from "./runtime/index.js";

export * from "./runtime/index.js";
export { matvec, matmul, sum_splits, quantize_q8, get_rows, rms_norm, attention_split, attention_merge, attention_prefill, argmax, argmax_merge, costs, formats, plans };

/**
 * All kernels and plans of this bundle. A page that needs few of them takes `kitOf([matvec, …], plans, costs)`
 * instead, and its bundler drops the others.
 */
export const kit = /* @__PURE__ */ kitOf([matvec, matmul, sum_splits, quantize_q8, get_rows, rms_norm, attention_split, attention_merge, attention_prefill, argmax, argmax_merge], plans, costs);
