// What could do an op: the plans of the kit under the names that `select` gives, and short labels that tell them apart.

import { alonePlan, kit, type Plan, type Selection, type Variant } from "../kernels/index.js";

/** The kit with names that are any strings, as they come from `select`. */
const variants: Readonly<Record<string, Variant>> = kit.variants;

export type Constants = Readonly<Record<string, number | string | boolean>>;

/** Return the plan that `select` means by a name, in the sizes of its op. */
export function candidate(name: string): Plan {
  return kit.plans.find((plan) => plan.name === name) ?? alonePlan(variants[name]);
}

/** Return the variants of a plan's passes in order. */
export function variantsOf(plan: Plan): Variant[] {
  return plan.passes.map(({ variant }) => variants[variant]);
}

/** Return the constants of a plan's passes together; of those with the same name the last pass's count. */
export function constantsOf(plan: Plan): Constants {
  return Object.assign({}, ...variantsOf(plan).map(({ constants }) => constants)) as Constants;
}

/** Return the variant of a plan that reads weights, if one does. */
export function weighted(plan: Plan): Variant | undefined {
  return variantsOf(plan).find(({ constants }) => "format" in constants);
}

/** Return the features and subgroup sizes that a plan needs, for a reader. */
export function needsOf(plan: Plan): string {
  const needed = variantsOf(plan).flatMap(({ requirements: { features, subgroups } }) => [
    ...features,
    ...(subgroups && subgroups.min === subgroups.max ? [`subgroups of ${subgroups.min}`] : []),
  ]);
  return [...new Set(needed)].join(", ");
}

/** What tells kernels of an op apart at a glance, in the order of a label; nothing is said where there is nothing. */
const TELLING: readonly ((constants: Constants) => string)[] = [
  ({ route }) => String(route ?? ""),
  ({ layout }) => String(layout ?? ""),
  ({ tile_m, tile_n }) => (tile_m && tile_n ? `${tile_m} × ${tile_n}` : ""),
  ({ tile_rows }) => (tile_rows ? `rows ${tile_rows}` : ""),
  ({ workgroup_size }) => (workgroup_size ? `threads ${workgroup_size}` : ""),
  ({ vector }) => (vector ? `vector ${vector}` : ""),
  ({ num_splits }) => (Number(num_splits) > 1 ? `splits ${num_splits}` : ""),
  ({ n }) => (n ? `N ${n}` : ""),
  ({ k }) => (k ? `K ${k}` : ""),
  ({ d }) => (d ? `D ${d}` : ""),
  ({ subgroups }) => (subgroups ? "subgroups" : ""),
];

/** Return a label for each name: the kernels, and in what these candidates differ. */
export function labels(names: readonly string[]): ReadonlyMap<string, string> {
  const plans = names.map(candidate);
  const told = plans.map((plan) => TELLING.map((tell) => tell(constantsOf(plan))));
  const differs = TELLING.map((_, part) => new Set(told.map((parts) => parts[part])).size > 1);
  return new Map(
    plans.map((plan, index) => {
      const kernels = variantsOf(plan).map(({ kernel }) => kernel);
      const parts = told[index].filter((text, part) => text && differs[part]);
      return [plan.name, [kernels.join(" → "), ...parts].join(" · ")];
    }),
  );
}

/** Return the refusals of a selection by their reason; the name of the variant in front of one is no part of it. */
export function byReason(refused: Selection["refused"]): [reason: string, names: string[]][] {
  const groups = new Map<string, string[]>();
  for (const { name, reason } of refused) {
    const [, own = "", rest = ""] = /^(\w+):? (.*)$/.exec(reason) ?? [];
    const said = own in variants ? rest : reason;
    groups.set(said, [...(groups.get(said) ?? []), name]);
  }
  return [...groups].sort(([, one], [, other]) => other.length - one.length);
}
