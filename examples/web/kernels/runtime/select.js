// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// Selection: an op, its sizes and what is known of a device → the plan to run, and why not the others. A pure
// function, which gives what wgslgen's `selection` gives in Python, word for word.

import { evaluate } from "./expressions.js";
import { alonePlan } from "./kit.js";
import { bindingBytes, excess } from "./launch.js";
import { missing } from "./requirements.js";

/** What is computed where `want` says nothing. */
const PLAIN = { activation: "f32", output: "f32", epilogue: "store" };
/** What operands are rounded to, from the finest to the coarsest; and the kernels that round. */
const ROUNDINGS = ["none", "f16", "int8", "signs"];
const ROUNDING_OF = { quantize_q8: "int8", binarize: "signs" };
/** Nanoseconds of a pass that the cost table has no row for, and of what is too large to count. */
const ANY = 2500;
const ENDLESS = Number.MAX_SAFE_INTEGER;

/**
 * Return `{ plan, ranked, refused }` for `op` with `sizes` on a device of `profile` (of `profileOf`).
 *
 * `want` says what must be computed: constants such as format, layout, activation, output and epilogue; of what it does
 * not name, activation and output are f32 and the epilogue is store, and the rest is free. `want.rounding` is the most
 * that operands may be rounded to: "none", "f16", "int8" or "signs".
 *
 * `plan` is null where nothing will do. `ranked` has name and cost of all that would, the cheapest first, and `refused`
 * name and reason of the others. Throws a TypeError for an op that nothing does, or a rounding that there is not.
 */
export function select(kit, op, sizes, profile, want = {}) {
  const { rounding: most = "none", ...wanted } = { ...PLAIN, ...want };
  if (!ROUNDINGS.includes(most)) {
    throw new TypeError(`rounding ${most}; expected one of ${ROUNDINGS.join(", ")}`);
  }
  const found = candidates(kit, op);
  if (found.length === 0) {
    throw new TypeError(`nothing does ${op}; there are ${ops(kit).join(", ") || "no ops"}`);
  }
  const ranked = [];
  const refused = [];
  for (const plan of found) {
    const reason = refusal(kit, plan, wanted, want, most, sizes, profile);
    if (reason === null) {
      ranked.push({ plan, ns: cost(kit, plan, sizes, profile) });
    } else {
      refused.push({ name: plan.name, reason });
    }
  }
  ranked.sort((one, other) => one.ns - other.ns); // stable: among equals the kit's order stays
  return {
    plan: ranked[0]?.plan ?? null,
    ranked: ranked.map(({ plan, ns }) => ({ name: plan.name, ns })),
    refused,
  };
}

/** Return what the kit's candidates do, sorted. */
export function ops(kit) {
  const alone = Object.values(kit.variants).flatMap((variant) => (variant.alone ? [variant.alone.op] : []));
  return [...new Set([...alone, ...kit.plans.map((plan) => plan.op)])].sort();
}

/** Return the plans that do `op`: variants that do it alone, then those of several passes. */
function candidates(kit, op) {
  const alone = Object.values(kit.variants).filter((variant) => variant.alone?.op === op);
  return [...alone.map(alonePlan), ...kit.plans.filter((plan) => plan.op === op)];
}

/** Return what a plan computes by its passes' constants: activations of the first pass, all else of the last. */
function facts(kit, plan) {
  let found = {};
  let rounding = 0;
  for (const step of plan.passes) {
    const { kernel, constants } = kit.variants[step.variant];
    found = { ...found, ...constants, ...("activation" in found ? { activation: found.activation } : {}) };
    const own = constants.operand === "f16" ? "f16" : (ROUNDING_OF[kernel] ?? "none");
    rounding = Math.max(rounding, ROUNDINGS.indexOf(own));
  }
  return { ...found, rounding: ROUNDINGS[rounding] };
}

/** Return the first reason why a plan will not do, or null. */
function refusal(kit, plan, wanted, asked, most, sizes, profile) {
  const known = facts(kit, plan);
  for (const [name, value] of Object.entries(wanted)) {
    if (name in known && known[name] !== value) {
      return `${name} is ${known[name]}, not ${value}`;
    }
    if (!(name in known) && name in asked) {
      return `it has no ${name}`;
    }
  }
  if (ROUNDINGS.indexOf(known.rounding) > ROUNDINGS.indexOf(most)) {
    return `it rounds operands to ${known.rounding}, and ${most} is the most that is wanted`;
  }
  for (const [name, value] of Object.entries(plan.fixed)) {
    if ((sizes[name] ?? value) !== value) {
      return `it is for ${name} = ${value}`;
    }
  }
  for (const name of plan.sizes) {
    if (!(name in sizes)) {
      return `it needs the size ${name}`;
    }
  }
  const own = Object.fromEntries(plan.sizes.map((name) => [name, sizes[name]]));
  return counted(() => refusalOfSizes(kit, plan, own, profile), "the sizes lead past 2^53");
}

/** Return what `work` returns, or `otherwise` where its numbers become too large to count. */
function counted(work, otherwise) {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) {
      return otherwise;
    }
    throw error;
  }
}

function refusalOfSizes(kit, plan, sizes, profile) {
  for (const [name, value] of Object.entries(sizes)) {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) {
      return `${name} is ${value}, which is no u32`;
    }
  }
  const broken = (rules, values) => rules.find((rule) => !evaluate(rule.condition, values))?.why;
  const own = broken(plan.rules, sizes);
  if (own) {
    return own;
  }
  for (const step of plan.passes) {
    const variant = kit.variants[step.variant];
    const lacking = missing(variant, profile);
    if (lacking.length > 0) {
      return `${variant.name} ${lacking.join("; ")}`;
    }
    const values = sizesOf(step, variant, sizes);
    const reason =
      broken(variant.rules, values) ??
      excess(bindingBytes(variant, values), evaluate(variant.workgroups, values), profile.limits);
    if (reason) {
      return `${variant.name}: ${reason}`;
    }
  }
  return null;
}

/** Return the sizes of a pass's variant for the plan's sizes. */
function sizesOf(step, variant, sizes) {
  return Object.fromEntries(variant.sizes.map((name) => [name, evaluate(step.sizes[name], sizes)]));
}

/** Return the nanoseconds of a plan by the kit's rows for this kind of device. */
function cost(kit, plan, sizes, { kind = "gpu" }) {
  const rows = kit.costs.filter((row) => row.device === undefined || row.device === kind);
  const total = () =>
    plan.passes.reduce((sum, step) => {
      const variant = kit.variants[step.variant];
      return sum + costOfPass(rows, variant, sizesOf(step, variant, sizes));
    }, 0);
  return Math.min(counted(total, ENDLESS), ENDLESS);
}

function costOfPass(rows, { kernel, constants }, sizes) {
  const fits = (row) => Object.entries(row.constants).every(([name, value]) => constants[name] === value);
  const row = rows.find((each) => each.kernel === kernel && fits(each));
  if (!row) {
    return ANY;
  }
  const numbers = Object.entries(constants)
    .filter(([, value]) => typeof value === "number")
    .map(([name, value]) => [name.toUpperCase(), value]);
  return evaluate(row.ns, { ...Object.fromEntries(numbers), ...sizes });
}
