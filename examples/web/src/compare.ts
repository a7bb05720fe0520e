// A result of the GPU beside that of the CPU.

import type { Plan } from "../kernels/index.js";
import type { Answer, Rounding } from "./problem.js";

export interface Comparison {
  /** The worst error, over the magnitudes that were added up for its element; for whole numbers, how many differ. */
  readonly error: number;
  /** What is allowed there, in the same unit. */
  readonly allowed: number;
  readonly good: boolean;
  readonly compared: number;
  readonly total: number;
}

/** Return the worst error of `bytes`, measured against what is allowed for its element. */
export function compare(bytes: ArrayBuffer, answer: Answer, tolerance: number, rounding: Rounding): Comparison {
  const got = answer.type === "f32" ? new Float32Array(bytes) : new Uint32Array(bytes);
  const counts = { compared: answer.at.length, total: got.length };
  if (answer.type === "u32") {
    const differ = answer.at.reduce((sum, at, index) => sum + Number(got[at] !== answer.values[index]), 0);
    return { error: differ, allowed: 0, good: differ === 0, ...counts };
  }
  const slack = answer.slack[rounding];
  let worst = { error: 0, allowed: tolerance, ratio: 0 };
  answer.at.forEach((at, index) => {
    const magnitude = answer.magnitudes[index];
    const allowed = tolerance * magnitude + (slack?.[index] ?? 0);
    const difference = Math.abs(got[at] - answer.values[index]);
    const ratio = difference === 0 ? 0 : difference / allowed;
    if (!(ratio <= worst.ratio)) {
      const unit = magnitude || 1;
      // A result that is no number is worse than any.
      worst = { error: difference / unit, allowed: allowed / unit, ratio: Number.isNaN(ratio) ? Infinity : ratio };
    }
  });
  return { error: worst.error, allowed: worst.allowed, good: worst.ratio <= 1, ...counts };
}

/** Return what a plan rounds its operands to, by its passes. */
export function roundingOf(plan: Plan, constants: Readonly<Record<string, unknown>>): Rounding {
  if (plan.passes.some(({ variant }) => variant.startsWith("quantize_q8"))) {
    return "int8";
  }
  return constants.operand === "f16" ? "f16" : "none";
}
