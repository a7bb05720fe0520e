// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// A tensor's bytes, as they lie in a GGUF file, into the planes that a layout's bindings hold. No number is converted.

/** Layouts by name: how rows are parted, and how many rows lie together. */
const LAYOUTS = {
  ggml: { rows: 1, split: (format, bytes) => ({ weights: bytes }) },
  planar: { rows: 1, split: planar },
  row4: { rows: 4, split: row4 },
  planes: { rows: 1, split: planes },
};

/** Return the key in a bundle's `formats` of the weights that `variant` reads. */
export function formatOf({ constants: { format, group } }) {
  return group === undefined ? format : `${format}_g${group}`;
}

/**
 * Return the planes of `n` rows of `k` columns, Uint8Arrays of whole words by the names of their bindings, and the
 * table `grid` of formats that have one.
 *
 * `format` is one of a bundle's `formats`, `bytes` the tensor's (an ArrayBuffer or a view). Throws a RangeError where
 * their number is not that of the rows, or where a layout does not take the format, the rows or a weight.
 */
export function pack(format, layout, bytes, n, k) {
  const chosen = LAYOUTS[layout];
  if (!chosen || !format.layouts.includes(layout)) {
    throw new RangeError(`${format.name}: no layout ${layout}; expected ${format.layouts.join(" or ")}`);
  }
  const given = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  if (!Number.isInteger(k / format.group) || k <= 0 || !Number.isInteger(n) || n < 0) {
    throw new RangeError(`${format.name}: ${n} rows of ${k} columns; expected rows of whole blocks of ${format.group}`);
  }
  const expected = n * (k / format.group) * format.block;
  if (given.length !== expected) {
    throw new RangeError(`${format.name}: ${given.length} bytes; ${n} rows of ${k} columns have ${expected}`);
  }
  if (n % chosen.rows) {
    throw new RangeError(`${format.name}: layout ${layout} stores ${chosen.rows} rows together, and N = ${n} is none`);
  }
  const found = chosen.split(format, given, n, k / format.group);
  for (const [name, plane] of Object.entries(found)) {
    found[name] = wholeWords(plane);
  }
  return format.grid ? { ...found, grid: new Uint8Array(format.grid.buffer) } : found;
}

/** Return the bytes with zeros behind them, up to a multiple of 4. */
function wholeWords(bytes) {
  if (bytes.length % 4 === 0) {
    return bytes;
  }
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return padded;
}

/** Return codes and what is not codes, block by block. */
function planar({ block, codes }, bytes) {
  const count = bytes.length / block;
  const found = { codes: new Uint8Array(count * codes.bytes), scales: new Uint8Array(count * (block - codes.bytes)) };
  const end = codes.offset + codes.bytes;
  for (let at = 0; at < count; at++) {
    const start = at * block;
    found.codes.set(bytes.subarray(start + codes.offset, start + end), at * codes.bytes);
    const rest = at * (block - codes.bytes);
    found.scales.set(bytes.subarray(start, start + codes.offset), rest);
    found.scales.set(bytes.subarray(start + end, start + block), rest + codes.offset);
  }
  return found;
}

/** Return the same with the words of four rows side by side. */
function row4(format, bytes, n, blocks) {
  const parted = planar(format, bytes);
  const header = format.block - format.codes.bytes;
  return {
    codes: interleaved(parted.codes, n, blocks, format.codes.bytes / 4, 4),
    scales: interleaved(parted.scales, n, blocks, 1, header),
  };
}

/** Return [row][block][item] of `size` bytes as [row / 4][block][item][row % 4]. */
function interleaved(bytes, n, blocks, items, size) {
  const found = new Uint8Array(bytes.length);
  let to = 0;
  for (let tile = 0; tile < n; tile += 4) {
    for (let block = 0; block < blocks; block++) {
      for (let item = 0; item < items; item++) {
        for (let row = tile; row < tile + 4; row++) {
          const from = ((row * blocks + block) * items + item) * size;
          found.set(bytes.subarray(from, from + size), to);
          to += size;
        }
      }
    }
  }
  return found;
}

/** Return a plane of bits for +d, one for -d, and the scales; throw for a weight that is neither these nor 0. */
function planes(format, bytes, n, blocks) {
  const { codes, scales } = planar(format, bytes);
  const { group, bits, times, elements } = format;
  const size = (n * blocks * group) / 8;
  const found = { plus: new Uint8Array(size), minus: new Uint8Array(size), scales };
  const mask = (1 << bits) - 1;
  for (let slot = 0; slot < n * blocks * group; slot++) {
    const code = (codes[Math.floor((slot * bits) / 8)] >> ((slot * bits) % 8)) & mask;
    const inBlock = slot % group;
    const at = slot - inBlock + (elements ? elements[inBlock] : inBlock);
    const value = times[code];
    if (value > 1 || value < -1) {
      const where = `row ${Math.floor(at / (blocks * group))}, column ${at % (blocks * group)}`;
      throw new RangeError(`${format.name}: ${where} is ${value}d, and layout planes holds -d, 0 and +d`);
    }
    if (value !== 0) {
      found[value > 0 ? "plus" : "minus"][at >> 3] |= 1 << (at & 7);
    }
  }
  return found;
}
