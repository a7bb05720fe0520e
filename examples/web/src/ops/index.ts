// The ops that stand alone; an op is one file and one line here.

import type { Op } from "../problem.js";
import { argmax } from "./argmax.js";
import { attention, attentionPrefill } from "./attention.js";
import { embedding } from "./embedding.js";
import { linear } from "./linear.js";
import { norm } from "./norm.js";

export const OPS: readonly Op[] = [linear, embedding, norm, attention, attentionPrefill, argmax];
