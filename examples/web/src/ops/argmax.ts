import type { Sizes } from "../../kernels/index.js";
import { type Answer, Answers, type Op, pauses, type Problem } from "../problem.js";
import { floats } from "../random.js";

export const argmax: Op = {
  name: "argmax",
  title: "Arg-max",
  formula: "token = argmax(logits), the lowest index first",
  fields: [
    { name: "M", label: "rows of logits" },
    { name: "N", label: "logits of a row" },
  ],
  presets: [
    { label: "one token", sizes: { M: 1, N: 151669 } },
    { label: "eight sequences", sizes: { M: 8, N: 151669 } },
    { label: "a small one", sizes: { M: 3, N: 1000 } },
  ],
  choices: [],
  problem,
};

function problem({ M, N }: Sizes): Problem {
  const logits = floats(M * N, 10);
  return { inputs: { logits }, parameters: {}, answer: () => answer(logits, M, N) };
}

async function answer(logits: Float32Array, rows: number, length: number): Promise<Answer> {
  const answers = new Answers();
  const pause = pauses();
  for (let m = 0; m < rows; m++) {
    const row = logits.subarray(m * length, (m + 1) * length);
    const largest = row.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    answers.add(m, row.indexOf(largest), 0);
    await pause();
  }
  return answers.done("token", "u32");
}
