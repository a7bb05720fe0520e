// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q2_0.toml; change that file and run `wgslgen render` instead of editing here.

// Stored answers: arrays as wgslgen's `copies` wrote them down, and whether an output is what was expected.

/**
 * Return the bytes of an array that is written down as `text`: base64 of a run of (literal count, literals, copy count,
 * distance), the numbers seven bits a byte, the lowest first, with 128 added where more follow.
 */
export function decode(text) {
  const code = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let bytes = new Uint8Array(4 * code.length);
  let length = 0;
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = code[at++];
      value += (byte & 127) * scale;
      if (byte < 128) {
        return value;
      }
    }
  };
  const makeRoom = (count) => {
    if (length + count > bytes.length) {
      const larger = new Uint8Array(2 * (length + count));
      larger.set(bytes);
      bytes = larger;
    }
  };
  while (at < code.length) {
    const literals = number();
    makeRoom(literals);
    bytes.set(code.subarray(at, at + literals), length);
    at += literals;
    length += literals;
    const copied = number();
    const distance = number();
    makeRoom(copied);
    for (const end = length + copied; length < end; length++) {
      bytes[length] = bytes[length - distance];
    }
  }
  return bytes.slice(0, length);
}

/** How an element of each type is read from a DataView. */
const READ = {
  f32: (view, index) => view.getFloat32(4 * index, true),
  f16: (view, index) => half(view.getUint16(2 * index, true)),
  u32: (view, index) => view.getUint32(4 * index, true),
  u16: (view, index) => view.getUint16(2 * index, true),
  u8: (view, index) => view.getUint8(index),
  i8: (view, index) => view.getInt8(index),
  i4: nibble,
};

/** Return the number that an f16 is. */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) {
    return fraction ? NaN : sign * Infinity;
  }
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

/** Return an element of blocks that have sixteen in the low halves of sixteen bytes, and sixteen in the high ones. */
function nibble(view, index) {
  const byte = view.getUint8(16 * (index >> 5) + (index & 15));
  return index & 16 ? byte >> 4 : byte & 15;
}

/** Return [value, tolerance] of a word: the upper 24 bits are the value as f32, the others an exponent, 0 for none. */
function expectation(word) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, word & 0xffffff00);
  return [view.getFloat32(0), word & 255 ? 2 ** ((word & 255) - 126) : 0];
}

/**
 * Return what is wrong with the bytes `raw` of an output, such as "element 17 of y is 3.1, expected 3.4", or null.
 *
 * `expected` has the type and number of the elements, and which of them are known: every `step`-th and the last, either
 * `near` a value or `equal` to it. `array` gives the bytes of a stored array by its number.
 */
export function difference(name, expected, raw, array) {
  const { type, size, step, near, equal } = expected;
  const view = new DataView(raw);
  const known = array(near ?? equal);
  const kept = new DataView(known.buffer);
  const count = Math.ceil((size - 1) / step) + 1;
  const width = known.length / count;
  for (let turn = 0; turn < count; turn++) {
    const index = Math.min(turn * step, size - 1);
    const got = READ[type](view, index);
    let value;
    let right;
    if (near === undefined) {
      value = READ[type](kept, turn);
      right = sameBytes(view, index * width, kept, turn * width, width);
    } else {
      const [about, within] = expectation(kept.getUint32(4 * turn, true));
      value = about;
      right = got === about || (Number.isNaN(got) && Number.isNaN(about)) || Math.abs(got - about) <= within;
    }
    if (!right) {
      return `element ${index} of ${name} is ${spelled(got)}, expected ${spelled(value)}`;
    }
  }
  return null;
}

function sameBytes(one, at, other, start, count) {
  for (let byte = 0; byte < count; byte++) {
    if (one.getUint8(at + byte) !== other.getUint8(start + byte)) {
      return false;
    }
  }
  return true;
}

/** Return a number as people read it. */
function spelled(value) {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}
