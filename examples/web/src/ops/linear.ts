import type { Sizes, Want } from "../../kernels/index.js";
import { type Answer, Answers, type Op, pauses, type Problem, sample } from "../problem.js";
import { floats } from "../random.js";
import { dequantiseRow, randomWeights, type Weights } from "../weights.js";
import { FORMAT, LAYOUT, ROUNDING } from "./choices.js";

export const linear: Op = {
  name: "linear",
  title: "Linear",
  formula: "Y = X Wᵀ",
  fields: [
    { name: "M", label: "tokens" },
    { name: "N", label: "rows of W" },
    { name: "K", label: "columns of W" },
  ],
  presets: [
    { label: "attention output, one token", sizes: { M: 1, N: 2048, K: 2048 } },
    { label: "q, k and v, one token", sizes: { M: 1, N: 4096, K: 2048 } },
    { label: "gate and up, one token", sizes: { M: 1, N: 12288, K: 2048 } },
    { label: "down, one token", sizes: { M: 1, N: 2048, K: 6144 } },
    { label: "logits, one token", sizes: { M: 1, N: 151669, K: 2048 } },
    { label: "attention output, 16 tokens", sizes: { M: 16, N: 2048, K: 2048 } },
    { label: "attention output, 256 tokens", sizes: { M: 256, N: 2048, K: 2048 } },
    { label: "a small one", sizes: { M: 1, N: 100, K: 256 } },
  ],
  choices: [FORMAT, LAYOUT, ROUNDING],
  problem,
};

function problem({ M, N, K }: Sizes, want: Want): Problem {
  const weights = randomWeights(want.format === "q1_0" ? "q1_0_g128" : "q2_0_g64", N, K, 1);
  const x = floats(Math.max(1, M) * K, 2); // without tokens the kernels bind a row all the same
  return { inputs: { x }, weights, parameters: {}, answer: () => answer(weights, x, M) };
}

/** Multiply in double precision; beside it goes what rounded activations may change. */
async function answer(weights: Weights, x: Float32Array, tokens: number): Promise<Answer> {
  const { rows, columns, format } = weights;
  const row = new Float32Array(columns);
  const steps = int8Steps(x, format.group);
  const answers = new Answers();
  const int8: number[] = [];
  const pause = pauses();
  for (const n of sample(rows, tokens * columns)) {
    dequantiseRow(weights, n, row);
    for (let m = 0; m < tokens; m++) {
      let value = 0;
      let magnitude = 0;
      let variance = 0;
      for (let k = 0; k < columns; k++) {
        const product = row[k] * x[m * columns + k];
        value += product;
        magnitude += Math.abs(product);
        variance += (row[k] * steps[m * columns + k]) ** 2 / 12;
      }
      answers.add(m * rows + n, value, magnitude);
      int8.push(6 * Math.sqrt(variance)); // six standard deviations of errors that are even within a step
    }
    await pause();
  }
  const exact = answers.done("y", "f32");
  return { ...exact, slack: { int8: Float64Array.from(int8), f16: exact.magnitudes.map((sum) => sum * 2 ** -11) } };
}

/** Return a step of int8 for each activation: 127 steps are the largest of its group. */
function int8Steps(x: Float32Array, group: number): Float32Array {
  const steps = new Float32Array(x.length);
  for (let first = 0; first < x.length; first += group) {
    const largest = x.subarray(first, first + group).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    steps.fill(largest / 127, first, first + group);
  }
  return steps;
}
