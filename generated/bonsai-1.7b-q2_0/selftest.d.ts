// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

import type { Answers } from "./runtime/index.js";

/** What `selfTest` runs variants on, and what must come out; a page that does not import this does not load it. */
export declare const answers: Answers;
