// The GPU of this page: what the browser offers, or why there is none.

import { type Profile, profileOf } from "../kernels/index.js";

/** Why there is no GPU here. */
export type Absence = "insecure" | "no-webgpu" | "no-adapter";

/** Return the browser's adapter, or why there is none. */
export async function findAdapter(): Promise<GPUAdapter | Absence> {
  if (!navigator.gpu) {
    return globalThis.isSecureContext ? "no-webgpu" : "insecure";
  }
  try {
    return (await navigator.gpu.requestAdapter()) ?? "no-adapter";
  } catch {
    return "no-adapter";
  }
}

/**
 * Return a device for what the kernels require, with timestamps where the adapter has them.
 *
 * An adapter makes one device, so each is asked for anew. `lost` hears why a device went away that nobody destroyed.
 */
export async function openDevice(
  needed: { readonly requiredFeatures: GPUFeatureName[]; readonly requiredLimits: Record<string, number> },
  lost: (message: string) => void,
): Promise<GPUDevice> {
  const adapter = await findAdapter();
  if (typeof adapter === "string") {
    throw new Error("The browser offers no adapter any more: reload the page.");
  }
  const timestamps: GPUFeatureName[] = adapter.features.has("timestamp-query") ? ["timestamp-query"] : [];
  const device = await adapter.requestDevice({
    ...needed,
    requiredFeatures: [...needed.requiredFeatures, ...timestamps],
  });
  void device.lost.then(({ reason, message }) => {
    if (reason !== "destroyed") {
      lost(message);
    }
  });
  return device;
}

/** Return what the page knows of an adapter, or the same without any optional feature. */
export function profile(adapter: GPUAdapter, features: boolean): Profile {
  const own = profileOf(adapter);
  return features ? own : { ...own, features: [], subgroups: null, subgroupMatrices: [] };
}

/** Return facts of an adapter for a reader. */
export function facts(adapter: GPUAdapter): [name: string, value: string][] {
  const { vendor, architecture, description } = adapter.info;
  const { subgroups } = profileOf(adapter);
  const has = ["subgroups", "shader-f16", "chromium-experimental-subgroup-matrix", "timestamp-query"] as const;
  const found = has.filter((name) => adapter.features.has(name as GPUFeatureName));
  const lanes = subgroups && (subgroups.min === subgroups.max ? subgroups.min : `${subgroups.min} to ${subgroups.max}`);
  return [
    ["adapter", [...new Set([vendor, architecture, description])].filter(Boolean).join(" · ") || "unnamed"],
    ["has", found.join(", ") || "no optional feature"],
    ["subgroups of", lanes ? String(lanes) : "none"],
    ["largest binding", `${Math.floor(adapter.limits.maxStorageBufferBindingSize / 2 ** 20)} MiB`],
  ];
}
