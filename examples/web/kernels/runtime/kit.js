// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// A kit is the variants and the plans that an app took from its bundle, as data.

import { elementBytes } from "./launch.js";

/**
 * Return the kit `{ variants, plans, costs }` of kernels (the exports of `kernels/*.js`), of those of `plans` that they
 * can do together, and of the table that `select` ranks by.
 */
export function kitOf(kernels, plans = [], costs = []) {
  const variants = Object.assign({}, ...kernels.map((kernel) => kernel.variants));
  return { variants, plans: plans.filter((plan) => plan.passes.every((pass) => pass.variant in variants)), costs };
}

/** Return the plan `name` of the kit, or the plan of one pass that its variant `name` is; throw for other names. */
export function planNamed(kit, name) {
  const plan = kit.plans.find((candidate) => candidate.name === name);
  if (!plan && !(name in kit.variants)) {
    throw new TypeError(`this kit has no plan or variant ${name}`);
  }
  return plan ?? planOf(kit.variants[name]);
}

/**
 * Return the plan of one pass in which `variant` does its op alone: in the op's sizes, of which the variant's follow.
 */
export function alonePlan(variant) {
  const { op, sizes, given, fixed } = variant.alone;
  const plain = planOf(variant);
  const buffers = plain.buffers.map((buffer) => ({ ...buffer, bytes: substituted(buffer.bytes, given) }));
  return { ...plain, op, sizes, fixed, rules: [], buffers, passes: [{ ...plain.passes[0], sizes: given }] };
}

/** Return `expression` with expressions in the place of names. */
function substituted(expression, given) {
  if (typeof expression === "string") {
    return given[expression] ?? expression;
  }
  if (typeof expression === "number") {
    return expression;
  }
  const [operator, first, second] = expression;
  return [operator, substituted(first, given), substituted(second, given)];
}

/** Return the plan of one pass that `variant` is: its bindings are the buffers, under their own names. */
export function planOf(variant) {
  const fields = variant.uniforms?.fields ?? [];
  const role = ({ access, kept }) => (access === "read" ? "input" : kept ? "in_out" : "output");
  return {
    name: variant.name,
    op: variant.kernel,
    sizes: variant.sizes,
    fixed: {},
    parameters: fields.map(({ value }) => value).filter((name) => !variant.sizes.includes(name)),
    rules: variant.rules,
    buffers: variant.bindings.map((binding) => ({
      name: binding.name,
      role: role(binding),
      bytes: ["round_up", ["mul", binding.length, elementBytes(binding.element)], 4],
    })),
    passes: [
      {
        variant: variant.name,
        buffers: Object.fromEntries(variant.bindings.map(({ name }) => [name, name])),
        sizes: Object.fromEntries(variant.sizes.map((name) => [name, name])),
      },
    ],
  };
}
