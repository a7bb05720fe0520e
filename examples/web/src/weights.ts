// Quantised weights as the bytes of a GGUF tensor: made at random, and read back on the CPU.

import { type FormatKey, formats, type WeightFormat } from "../kernels/index.js";
import { generator } from "./random.js";

/** A matrix of `rows` x `columns` weights in blocks along its rows. */
export interface Weights {
  readonly key: FormatKey;
  readonly format: WeightFormat;
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly columns: number;
}

/** Return weights with every code, and with f16 scales of both signs from 2^-6 to 2^-2. */
export function randomWeights(key: FormatKey, rows: number, columns: number, seed: number): Weights {
  const format: WeightFormat = formats[key];
  const next = generator(seed);
  const blocks = (rows * columns) / format.group;
  const words = Uint32Array.from({ length: Math.ceil((blocks * format.block) / 4) }, next);
  const bytes = new Uint8Array(words.buffer, 0, blocks * format.block);
  for (let block = 0; block < blocks; block++) {
    // The scale is a block's first two bytes, the lower byte first: sign, five bits of exponent, ten of fraction.
    const random = next();
    const exponent = 9 + ((random >>> 16) % 4);
    bytes[block * format.block + 1] = ((random >>> 31) << 7) | (exponent << 2) | ((random >>> 8) & 3);
  }
  return { key, format, bytes, rows, columns };
}

/** What a code stands for, in units of the block's scale; bits of a code. */
const CODES: Record<FormatKey, { readonly bits: number; readonly values: readonly number[] }> = {
  q1_0_g128: { bits: 1, values: [-1, 1] },
  q2_0_g64: { bits: 2, values: [-1, 0, 1, 2] },
};

/** Write one row of weights as floats into `into`; every one of them is exact. */
export function dequantiseRow(weights: Weights, row: number, into: Float32Array): void {
  const { bytes, columns, format } = weights;
  const { bits, values } = CODES[weights.key];
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let first = 0; first < columns; first += format.group) {
    const at = ((row * columns + first) / format.group) * format.block;
    const scale = halfToNumber(bytes[at] | (bytes[at + 1] << 8));
    for (let i = 0; i < format.group; i++) {
      const code = (bytes[at + 2 + Math.floor(i / perByte)] >>> (bits * (i % perByte))) & mask;
      into[first + i] = scale * values[code];
    }
  }
}

/** Return the number that the 16 bits of an f16 are. */
export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) {
    return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  }
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}
