// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// Sizes, rules and dispatches are expressions in the manifest: a whole number, a name, or [operator, operand, operand].

/** What each operator does with two whole numbers; division rounds down, comparisons give 0 or 1. */
const OPERATORS = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => Math.floor(a / b),
  mod: (a, b) => a - Math.floor(a / b) * b,
  ceil_div: (a, b) => Math.ceil(a / b),
  round_up: (a, b) => Math.ceil(a / b) * b,
  min: Math.min,
  max: Math.max,
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  le: (a, b) => Number(a <= b),
  lt: (a, b) => Number(a < b),
  ge: (a, b) => Number(a >= b),
  gt: (a, b) => Number(a > b),
  and: (a, b) => Number(a !== 0 && b !== 0),
  or: (a, b) => Number(a !== 0 || b !== 0),
};

/**
 * Return the value of `expression` where names stand for `values`.
 *
 * Throws a RangeError where a number on the way leaves the whole numbers that a double holds exactly, as a division by
 * zero does, and a TypeError for a name without a value.
 */
export function evaluate(expression, values) {
  if (typeof expression === "number") {
    return expression;
  }
  if (typeof expression === "string") {
    const value = values[expression];
    if (value === undefined) {
      throw new TypeError(`no value for ${expression}`);
    }
    return value;
  }
  const [operator, first, second] = expression;
  const result = OPERATORS[operator](evaluate(first, values), evaluate(second, values)) + 0; // no minus zero
  if (!Number.isSafeInteger(result)) {
    throw new RangeError("the sizes lead past 2^53");
  }
  return result;
}
