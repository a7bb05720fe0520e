// What may be wrong in a result: the manifest of the bundle says it of each variant, with the reason.

import type { Plan } from "../kernels/index.js";
import manifestUrl from "../kernels/manifest.json?url";

interface Manifest {
  readonly variants: readonly { readonly name: string; readonly tolerance: { readonly element: number } }[];
}

let known: Promise<ReadonlyMap<string, number>> | undefined;

async function read(): Promise<ReadonlyMap<string, number>> {
  const { variants } = (await (await fetch(manifestUrl)).json()) as Manifest;
  return new Map(variants.map(({ name, tolerance }) => [name, tolerance.element]));
}

/** Return how far an element may be off, over the magnitudes that were added up for it: that of all passes together. */
export async function toleranceOf(plan: Plan): Promise<number> {
  known ??= read();
  const elements = await known;
  return plan.passes.reduce((sum, { variant }) => sum + (elements.get(variant) ?? 0), 0);
}
