import type { Sizes } from "../../kernels/index.js";
import { type Answer, Answers, type Op, pauses, type Problem, sample } from "../problem.js";
import { floats } from "../random.js";

const EPS = 1e-6;

export const norm: Op = {
  name: "norm",
  title: "Norm",
  formula: "y = x w / √(mean x² + ε)",
  fields: [
    { name: "M", label: "rows" },
    { name: "D", label: "length of a row" },
  ],
  presets: [
    { label: "hidden state, one token", sizes: { M: 1, D: 2048 } },
    { label: "hidden state, 256 tokens", sizes: { M: 256, D: 2048 } },
    { label: "rows of an odd length", sizes: { M: 16, D: 333 } },
  ],
  choices: [],
  problem,
};

function problem({ M, D }: Sizes): Problem {
  const x = floats(M * D, 5);
  const weight = floats(D, 6);
  return { inputs: { x, weight }, parameters: { EPS }, answer: () => answer(x, weight, M) };
}

async function answer(x: Float32Array, weight: Float32Array, rows: number): Promise<Answer> {
  const length = weight.length;
  const answers = new Answers();
  const pause = pauses();
  for (const m of sample(rows, length * 32)) {
    const row = x.subarray(m * length, (m + 1) * length);
    const squares = row.reduce((sum, value) => sum + value * value, 0);
    const inverse = 1 / Math.sqrt(squares / length + EPS);
    row.forEach((value, d) => {
      const y = value * weight[d] * inverse;
      answers.add(m * length + d, y, Math.abs(y));
    });
    await pause();
  }
  return answers.done("y", "f32");
}
