// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// From a variant and the sizes of a problem to one dispatch, in numbers, before anything reaches a device.

import { evaluate } from "./expressions.js";

/** Bytes of a binding above which a text could not number its elements, whatever a device allows. */
const MOST_BYTES = 2 ** 32 - 4;

/** WGSL's scalars: how a DataView writes one, its bytes, and which numbers it holds. */
const SCALARS = {
  u32: { set: "setUint32", holds: (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32 },
  i32: { set: "setInt32", holds: (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31 },
  f32: { set: "setFloat32", holds: (value) => Number.isFinite(Math.fround(value)) },
};

/** Return the bytes between two elements of a storage buffer whose elements are of the WGSL type `type`. */
export function elementBytes(type) {
  const [, , lanes, scalar] = /^(vec([234])<|atomic<)?(\w+)>?$/.exec(type);
  return (scalar === "f16" ? 2 : 4) * (lanes === "3" ? 4 : Number(lanes ?? 1));
}

/** Return "M = 1, N = 2" for `{ M: 1, N: 2 }`. */
function spelled(sizes) {
  return Object.entries(sizes)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
}

/** Throw a RangeError unless `sizes` has the names `wanted`, each a u32, and satisfies `rules`. */
export function checkSizes(where, wanted, rules, sizes) {
  const given = Object.keys(sizes);
  if (given.length !== wanted.length || !wanted.every((name) => name in sizes)) {
    throw new RangeError(`${where}: sizes ${given.join(", ") || "none"}; expected ${wanted.join(", ")}`);
  }
  for (const [name, value] of Object.entries(sizes)) {
    if (!SCALARS.u32.holds(value)) {
      throw new RangeError(`${where}: ${name} is ${value}; expected a whole number from 0 to 2^32 - 1`);
    }
  }
  for (const rule of rules) {
    if (!evaluate(rule.condition, sizes)) {
      throw new RangeError(`${where}: ${spelled(sizes)} does not do, because ${rule.why}`);
    }
  }
}

/** Return the bytes of each binding of `variant` for its `sizes`, multiples of 4, by name. */
export function bindingBytes(variant, sizes) {
  const found = {};
  for (const binding of variant.bindings) {
    const bytes = ["mul", binding.length, elementBytes(binding.element)];
    found[binding.name] = evaluate(["round_up", bytes, 4], sizes);
  }
  return found;
}

/**
 * Fold `total` workgroups into [x, y, z] of at most `limit` each; null where there are none.
 *
 * Fewer workgroups than the number of folds are launched in vain. Throws a RangeError for more than fit.
 */
export function fold(total, limit, where = "dispatch") {
  if (total === 0) {
    return null;
  }
  if (total > limit ** 3) {
    throw new RangeError(`${where}: ${total} workgroups do not fit three dimensions of ${limit}`);
  }
  const z = Math.ceil(total / limit ** 2);
  const plane = Math.ceil(total / z);
  const y = Math.ceil(plane / limit);
  return [Math.ceil(plane / y), y, z];
}

/** Return what of a dispatch the limits do not allow, or that a binding is empty; null where nothing is wrong. */
export function excess(bytes, workgroups, limits) {
  for (const [name, size] of Object.entries(bytes)) {
    for (const limit of ["maxStorageBufferBindingSize", "maxBufferSize"]) {
      if (size > limits[limit]) {
        return `binding ${name} has ${size} bytes, above ${limit} ${limits[limit]}`;
      }
    }
    if (size > MOST_BYTES) {
      return `binding ${name} has ${size} bytes, above ${MOST_BYTES}, where u32 ends`;
    }
    if (workgroups && !size) {
      return `binding ${name} is empty`;
    }
  }
  const most = limits.maxComputeWorkgroupsPerDimension ** 3;
  return workgroups > most ? `${workgroups} workgroups do not fit three dimensions` : null;
}

/**
 * Return the bytes of the variant's uniform struct, padded to 16, or null where it has none.
 *
 * Each field takes the value that it names: a number, or an array for a vector. Throws a RangeError for a value that
 * is missing or that the type cannot hold.
 */
export function packUniforms(variant, values) {
  if (!variant.uniforms) {
    return null;
  }
  const packed = new DataView(new ArrayBuffer(Math.ceil(variant.uniforms.size / 16) * 16));
  for (const field of variant.uniforms.fields) {
    const [, lanes, type] = /^(?:vec([234])<)?(\w+)>?$/.exec(field.type);
    const numbers = [values[field.value]].flat();
    if (numbers[0] === undefined) {
      throw new RangeError(`${variant.name}: no value for ${field.value} (uniform ${field.name})`);
    }
    if (numbers.length !== Number(lanes ?? 1) || !numbers.every((value) => typeof value === "number")) {
      const given = values[field.value];
      throw new RangeError(`${variant.name}: uniform ${field.name} is ${given}; expected a ${field.type}`);
    }
    const scalar = SCALARS[type];
    numbers.forEach((value, lane) => {
      if (!scalar.holds(value)) {
        throw new RangeError(`${variant.name}: uniform ${field.name} is ${value}, which is no ${type}`);
      }
      packed[scalar.set](field.offset + 4 * lane, value, true);
    });
  }
  return packed.buffer;
}

/**
 * Return the dispatch of `variant` for `sizes`: `bytes` of each binding, `uniforms` (ArrayBuffer or null) and
 * `workgroups` ([x, y, z] or null where there is nothing to do).
 *
 * `limits` are a device's. Throws a RangeError for sizes that the variant does not accept, for bindings above a limit
 * or empty, for workgroups that do not fit, and for parameters that are missing.
 */
export function launch(variant, sizes, parameters, limits) {
  checkSizes(variant.name, variant.sizes, variant.rules, sizes);
  const bytes = bindingBytes(variant, sizes);
  const total = evaluate(variant.workgroups, sizes);
  const reason = excess(bytes, total, limits);
  if (reason) {
    throw new RangeError(`${variant.name}: ${reason} for ${spelled(sizes)}`);
  }
  const uniforms = packUniforms(variant, { ...parameters, ...sizes });
  return { bytes, uniforms, workgroups: fold(total, limits.maxComputeWorkgroupsPerDimension, variant.name) };
}
