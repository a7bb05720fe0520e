// What an op is to this page: what it asks for, the data that it makes of that, and the answer of the CPU.

import type { Sizes, Want } from "../kernels/index.js";
import type { Weights } from "./weights.js";

/** A size that a person gives. */
export interface Field {
  readonly name: string;
  readonly label: string;
}

/** Something else to choose; the values are those of `select`'s `want`. */
export interface Choice {
  readonly name: "format" | "layout" | "rounding";
  readonly label: string;
  readonly values: readonly { readonly value: string; readonly label: string }[];
}

export interface Preset {
  readonly label: string;
  readonly sizes: Sizes;
}

/** What operands are rounded to. */
export type Rounding = "none" | "f16" | "int8" | "signs";

/** What the CPU found for some elements of an output. */
export interface Answer {
  readonly buffer: string;
  readonly type: "f32" | "u32";
  /** Which elements of the output. */
  readonly at: Uint32Array;
  readonly values: Float64Array;
  /** The sum of the magnitudes that were added up for each: what its error is measured against. */
  readonly magnitudes: Float64Array;
  /** How far each may be off where operands are rounded. */
  readonly slack: Partial<Record<Rounding, Float64Array>>;
}

/** Data for one question. */
export interface Problem {
  /** Inputs by the names of a plan's buffers, but for weights. */
  readonly inputs: Readonly<Record<string, Float32Array | Uint32Array>>;
  readonly weights?: Weights;
  readonly parameters: Readonly<Record<string, number>>;
  answer(): Promise<Answer>;
}

export interface Op {
  readonly name: string;
  readonly title: string;
  readonly formula: string;
  readonly fields: readonly Field[];
  readonly presets: readonly Preset[];
  readonly choices: readonly Choice[];
  problem(sizes: Sizes, want: Want): Problem;
}

/** Multiplications that the CPU may spend on an answer; of larger results it checks a part, evenly spread. */
const BUDGET = 2 ** 25;

/** Return which of `count` things to check where each costs so much: all, or some from the first to the last. */
export function sample(count: number, cost: number): number[] {
  const most = Math.max(2, Math.floor(BUDGET / Math.max(1, cost)));
  if (count <= most) {
    return Array.from({ length: count }, (_, index) => index);
  }
  return Array.from({ length: most }, (_, index) => Math.floor((index * (count - 1)) / (most - 1)));
}

/** Let the page draw and answer where the work since the last pause took long. */
export function pauses(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last > 30) {
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
    }
  };
}

/** An answer that grows. */
export class Answers {
  readonly #at: number[] = [];
  readonly #values: number[] = [];
  readonly #magnitudes: number[] = [];

  add(at: number, value: number, magnitude: number): void {
    this.#at.push(at);
    this.#values.push(value);
    this.#magnitudes.push(magnitude);
  }

  done(buffer: string, type: "f32" | "u32", slack: Answer["slack"] = {}): Answer {
    return {
      buffer,
      type,
      at: Uint32Array.from(this.#at),
      values: Float64Array.from(this.#values),
      magnitudes: Float64Array.from(this.#magnitudes),
      slack,
    };
  }
}
