// Numbers that look random and are the same in every run, so that two runs of the page can be compared.

/** Return a function that gives whole numbers from 0 to 2^32 - 1 (xorshift of 32 bits). */
export function generator(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Return `count` floats from -`scale` to `scale`. */
export function floats(count: number, seed: number, scale = 1): Float32Array {
  const next = generator(seed);
  return Float32Array.from({ length: count }, () => (next() / 2 ** 31 - 1) * scale);
}
