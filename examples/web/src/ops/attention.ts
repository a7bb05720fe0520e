import type { Sizes } from "../../kernels/index.js";
import { type Answer, Answers, type Op, pauses, type Problem, sample } from "../problem.js";
import { floats } from "../random.js";

/** The heads of this page's kernels: query heads share a key head in groups of two. */
const Q_HEADS = 16;
const KV_HEADS = 8;
const HEAD_DIM = 128;
const SCALE = 1 / Math.sqrt(HEAD_DIM);

const CACHE = [
  { name: "B", label: "sequences" },
  { name: "CAPACITY", label: "tokens in a cache" },
  { name: "LAYERS", label: "layers of the cache" },
  { name: "LAYER", label: "layer, from 0" },
];

export const attention: Op = {
  name: "attention",
  title: "Attention",
  formula: "y = softmax(q Kᵀ / √d) V, one token",
  fields: CACHE,
  presets: [
    { label: "a cache of 256", sizes: { B: 1, CAPACITY: 256, LAYERS: 1, LAYER: 0 } },
    { label: "a cache of 4096", sizes: { B: 1, CAPACITY: 4096, LAYERS: 1, LAYER: 0 } },
    { label: "two sequences, second of two layers", sizes: { B: 2, CAPACITY: 64, LAYERS: 2, LAYER: 1 } },
  ],
  choices: [],
  problem: (sizes) => problem({ ...sizes, M: 1 }),
};

export const attentionPrefill: Op = {
  name: "attention_prefill",
  title: "Attention of a prompt",
  formula: "the same, causal, for M tokens",
  fields: [CACHE[0], { name: "M", label: "tokens of a sequence" }, ...CACHE.slice(1)],
  presets: [
    { label: "32 tokens behind 96", sizes: { B: 1, M: 32, CAPACITY: 128, LAYERS: 1, LAYER: 0 } },
    { label: "a prompt of 256", sizes: { B: 1, M: 256, CAPACITY: 256, LAYERS: 1, LAYER: 0 } },
    { label: "two sequences of 7", sizes: { B: 2, M: 7, CAPACITY: 64, LAYERS: 1, LAYER: 0 } },
  ],
  choices: [],
  problem,
};

interface Caches {
  readonly q: Float32Array;
  readonly keys: Float32Array;
  readonly values: Float32Array;
  readonly lengths: Uint32Array;
}

function problem(sizes: Sizes): Problem {
  const { B, M, CAPACITY, LAYERS } = sizes;
  const count = LAYERS * B * CAPACITY * KV_HEADS * HEAD_DIM;
  const q = floats(B * M * Q_HEADS * HEAD_DIM, 7, 4);
  const keys = floats(count, 8);
  const values = floats(count, 9);
  // The first sequence fills its cache, each of the others leaves a little more of it free.
  const lengths = Uint32Array.from({ length: B }, (_, b) => CAPACITY - Math.floor((b * CAPACITY) / (2 * B)));
  return {
    inputs: { q, k_cache: keys, v_cache: values, lengths },
    parameters: { SCALE },
    answer: () => answer(sizes, { q, keys, values, lengths }),
  };
}

async function answer({ B, M, CAPACITY, LAYER }: Sizes, { q, keys, values, lengths }: Caches): Promise<Answer> {
  const answers = new Answers();
  const pause = pauses();
  for (const which of sample(B * M * Q_HEADS, CAPACITY * HEAD_DIM * 4)) {
    const head = which % Q_HEADS;
    const token = Math.floor(which / Q_HEADS) % M;
    const b = Math.floor(which / (Q_HEADS * M));
    const seen = Math.max(0, lengths[b] - M + token + 1); // a token sees itself and what came before
    const first = (LAYER * B + b) * CAPACITY;
    const at = (key: number) => ((first + key) * KV_HEADS + Math.floor((head * KV_HEADS) / Q_HEADS)) * HEAD_DIM;
    const query = q.subarray(which * HEAD_DIM, (which + 1) * HEAD_DIM);
    attend(query, keys, values, seen, at).forEach(([value, magnitude], d) => {
      answers.add(which * HEAD_DIM + d, value, magnitude);
    });
    await pause();
  }
  return answers.done("y", "f32");
}

/**
 * Return each element of a head's attention over `seen` keys, and the magnitude that its error is relative to.
 *
 * A weight exp(s - maximum) is off by as much as its exponent is, which grows with what q·k adds up and with the
 * exponent itself; so magnitudes hold 1 + |q|·|k| of the key and of the largest one + (maximum - s) for each key.
 */
function attend(
  query: Float32Array,
  keys: Float32Array,
  values: Float32Array,
  seen: number,
  at: (key: number) => number,
): [value: number, magnitude: number][] {
  const scores = new Float64Array(seen);
  const sums = new Float64Array(seen);
  for (let key = 0; key < seen; key++) {
    for (let d = 0; d < HEAD_DIM; d++) {
      const product = query[d] * keys[at(key) + d] * SCALE;
      scores[key] += product;
      sums[key] += Math.abs(product);
    }
  }
  const maximum = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const atMaximum = sums[scores.indexOf(maximum)];
  const result = new Float64Array(HEAD_DIM);
  const heavy = new Float64Array(HEAD_DIM);
  let total = 0;
  let heavyTotal = 0;
  for (let key = 0; key < seen; key++) {
    const weight = Math.exp(scores[key] - maximum);
    const doubt = weight * (1 + sums[key] + atMaximum + maximum - scores[key]);
    total += weight;
    heavyTotal += doubt;
    for (let d = 0; d < HEAD_DIM; d++) {
      const value = values[at(key) + d];
      result[d] += weight * value;
      heavy[d] += doubt * Math.abs(value);
    }
  }
  const divisor = total || 1; // no key: all is 0
  return Array.from(result, (sum, d) => [
    sum / divisor,
    (heavy[d] + (Math.abs(sum) * heavyTotal) / divisor) / divisor,
  ]);
}
