import type { Sizes, Want } from "../../kernels/index.js";
import { type Answer, Answers, type Op, pauses, type Problem, sample } from "../problem.js";
import { generator } from "../random.js";
import { dequantiseRow, randomWeights, type Weights } from "../weights.js";
import { FORMAT, LAYOUT } from "./choices.js";

export const embedding: Op = {
  name: "embedding",
  title: "Embedding",
  formula: "y = W[ids]",
  fields: [
    { name: "R", label: "ids" },
    { name: "N", label: "rows of W" },
    { name: "K", label: "columns of W" },
  ],
  presets: [
    { label: "one token", sizes: { R: 1, N: 151669, K: 2048 } },
    { label: "a prompt of 256 tokens", sizes: { R: 256, N: 151669, K: 2048 } },
    { label: "a small one", sizes: { R: 5, N: 100, K: 256 } },
  ],
  choices: [FORMAT, LAYOUT],
  problem,
};

function problem({ R, N, K }: Sizes, want: Want): Problem {
  const weights = randomWeights(want.format === "q1_0" ? "q1_0_g128" : "q2_0_g64", N, K, 3);
  const next = generator(4);
  const ids = Uint32Array.from({ length: R }, () => next() % Math.max(1, N));
  return { inputs: { ids }, weights, parameters: {}, answer: () => answer(weights, ids) };
}

async function answer(weights: Weights, ids: Uint32Array): Promise<Answer> {
  const { columns } = weights;
  const row = new Float32Array(columns);
  const answers = new Answers();
  const pause = pauses();
  for (const r of sample(ids.length, columns * 32)) {
    dequantiseRow(weights, ids[r], row);
    row.forEach((value, k) => answers.add(r * columns + k, value, Math.abs(value)));
    await pause();
  }
  return answers.done("y", "f32");
}
