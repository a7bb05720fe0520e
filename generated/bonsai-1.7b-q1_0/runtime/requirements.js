// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-1.7b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

// What a device must offer for variants: asked of an adapter before a device is made, and checked before a text is.

import { evaluate } from "./expressions.js";
import { planNamed } from "./kit.js";
import { checkSizes } from "./launch.js";

/**
 * Return `{ requiredFeatures, requiredLimits }` for `requestDevice`, enough for all of `wanted`: plans, or names of
 * plans and variants.
 *
 * Limits are the largest that a variant needs, as exact numbers; WebGPU takes one under its default for the default.
 * Weights decide how large buffers and bindings are: give `{ sizes }`, the sizes of each plan by its name, and the
 * limits of buffers and bindings are among the answer.
 */
export function requirements(kit, wanted, { sizes = {} } = {}) {
  const plans = wanted.map((plan) => (typeof plan === "string" ? planNamed(kit, plan) : plan));
  const features = new Set();
  const limits = {};
  const raise = (limit, value) => {
    limits[limit] = Math.max(limits[limit] ?? 0, value);
  };
  for (const pass of plans.flatMap((plan) => plan.passes)) {
    const needed = kit.variants[pass.variant].requirements;
    needed.features.forEach((feature) => features.add(feature));
    Object.entries(needed.limits).forEach(([limit, value]) => raise(limit, value));
  }
  for (const plan of plans.filter(({ name }) => name in sizes)) {
    for (const bytes of Object.values(bufferBytes(plan, sizes[plan.name]))) {
      raise("maxBufferSize", bytes);
      raise("maxStorageBufferBindingSize", bytes);
    }
  }
  return { requiredFeatures: [...features], requiredLimits: limits };
}

/** Return the bytes of each buffer of `plan` for its sizes. */
export function bufferBytes(plan, sizes) {
  const own = sizesOfPlan(plan, sizes);
  return Object.fromEntries(plan.buffers.map((buffer) => [buffer.name, evaluate(buffer.bytes, own)]));
}

/** Return the plan's own sizes; those of its op that its variants fix may be given, too. Throws for others. */
export function sizesOfPlan(plan, sizes) {
  const own = { ...sizes };
  for (const [name, value] of Object.entries(plan.fixed)) {
    if ((own[name] ?? value) !== value) {
      throw new RangeError(`${plan.name}: ${name} = ${own[name]} does not do, because it is for ${name} = ${value}`);
    }
    delete own[name];
  }
  checkSizes(plan.name, plan.sizes, plan.rules, own);
  return own;
}

/** Return why a device of this `profile` must not run `variant`: a sentence for each reason, none if it may. */
export function missing(variant, profile) {
  const { features, language_features, limits, subgroups, subgroup_matrix: matrix } = variant.requirements;
  const reasons = [
    ...features.filter((name) => !profile.features.includes(name)).map((name) => `needs feature ${name}`),
    ...language_features
      .filter((name) => !profile.languageFeatures.includes(name))
      .map((name) => `needs language feature ${name}`),
  ];
  for (const [limit, value] of Object.entries(limits)) {
    if (value > profile.limits[limit]) {
      reasons.push(`needs ${limit} ${value}, has ${profile.limits[limit]}`);
    }
  }
  if (subgroups && profile.subgroups) {
    const { min, max } = profile.subgroups;
    if (min < subgroups.min || max > subgroups.max) {
      reasons.push(`needs subgroups of ${subgroups.min} to ${subgroups.max}, has ${min} to ${max}`);
    }
  }
  if (matrix && !profile.subgroupMatrices.some((offered) => MATRIX.every((part) => offered[part] === matrix[part]))) {
    reasons.push(`needs subgroup matrices of ${matrix.component} ${matrix.m}x${matrix.n}x${matrix.k}`);
  }
  if (profile.failed?.includes(variant.name)) {
    reasons.push("failed the self-test on this device");
  }
  return reasons;
}

/** What of a product of subgroup matrices must be equal. */
const MATRIX = ["component", "result", "m", "n", "k"];

/** Architectures of drivers that run on the CPU. */
const SOFTWARE = ["swiftshader", "llvmpipe", "warp"];

/**
 * Return the profile of a GPUAdapter, or of a GPUDevice, which answers for what it was made with.
 *
 * `languageFeatures` are those of `navigator.gpu.wgslLanguageFeatures`.
 */
export function profileOf(adapter, languageFeatures = globalThis.navigator?.gpu?.wgslLanguageFeatures ?? []) {
  const info = adapter.adapterInfo ?? adapter.info ?? {};
  const features = [...adapter.features];
  const limits = {};
  for (const name in adapter.limits) {
    if (typeof adapter.limits[name] === "number") {
      limits[name] = adapter.limits[name];
    }
  }
  const sizes = { min: info.subgroupMinSize || 4, max: info.subgroupMaxSize || 128 };
  return {
    name: [info.vendor, info.architecture].filter(Boolean).join(" ") || "device",
    kind: info.isFallbackAdapter || SOFTWARE.includes(info.architecture) ? "software" : "gpu",
    features,
    languageFeatures: [...languageFeatures],
    limits,
    subgroups: features.includes("subgroups") ? sizes : null,
    subgroupMatrices: [...(info.subgroupMatrixConfigs ?? [])].map((config) => ({
      component: config.componentType,
      result: config.resultType,
      m: config.M,
      n: config.N,
      k: config.K,
    })),
  };
}
