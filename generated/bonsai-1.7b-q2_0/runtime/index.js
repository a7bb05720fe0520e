// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

// What a page calls. Nothing here knows a bundle; index.js beside this folder binds it to one.

export { download, upload } from "./buffers.js";
export { evaluate } from "./expressions.js";
export { alonePlan, kitOf, planNamed, planOf } from "./kit.js";
export { fold, launch } from "./launch.js";
export { formatOf, pack } from "./pack.js";
export { createPlan } from "./plan.js";
export { bufferBytes, missing, profileOf, requirements } from "./requirements.js";
export { ops, select } from "./select.js";
export { selfTest } from "./selftest.js";
