// A page in TypeScript that uses a bundle: what must compile, and what must not.

import {
  createPlan,
  formatOf,
  formats,
  kit,
  kitOf,
  matvec,
  pack,
  planNamed,
  plans,
  profileOf,
  requirements,
  select,
  selfTest,
  upload,
  type FormatKey,
  type Kit,
  type MatvecVariant,
  type PlanName,
  type VariantName,
} from "bonsai-1.7b-q2_0";
import { rms_norm } from "bonsai-1.7b-q2_0/kernels/rms_norm";
import { answers } from "bonsai-1.7b-q2_0/selftest";

const name: MatvecVariant = "matvec_q2_0_g64_planar_m1_xf32_yf32__w1_float_rows8_wg32";
const planned: PlanName = plans[0]!.name;
const any: VariantName = name;

export async function product(device: GPUDevice, codes: GPUBuffer, scales: GPUBuffer, x: GPUBuffer): Promise<GPUBuffer> {
  const plan = planNamed(kit, name);
  const prepared = await createPlan(device, kit, plan, { N: 64, K: 128 }, { codes, scales, x: { buffer: x, offset: 256 } });
  await prepared.run();
  prepared.rebind({ x });
  return prepared.buffers["y"]!.buffer;
}

export function weights(device: GPUDevice, bytes: ArrayBuffer): Record<string, GPUBuffer> {
  const key: FormatKey = formatOf(matvec.variants[name]) as FormatKey;
  const planes = pack(formats[key], "planar", bytes, 64, 128);
  return Object.fromEntries(Object.entries(planes).map(([plane, words]) => [plane, upload(device, words, plane)]));
}

export async function open(adapter: GPUAdapter): Promise<[GPUDevice, string]> {
  const few: Kit = kitOf([matvec, rms_norm], plans);
  const device = await adapter.requestDevice(requirements(few, [any, planned]));
  const workgroups = matvec.variants[name].workgroups;
  return [device, `${profileOf(device).name} ${JSON.stringify(workgroups)}`];
}

export function choice(adapter: GPUAdapter): string {
  const { plan, refused } = select(kit, "linear", { M: 1, N: 64, K: 128 }, profileOf(adapter), { rounding: "int8" });
  return plan?.name ?? refused.map(({ name, reason }) => `${name}: ${reason}`).join("\n");
}

export async function tested(device: GPUDevice): Promise<string> {
  const { failed } = await selfTest(device, kit, answers, [name]);
  const profile = { ...profileOf(device), failed: failed.map((one) => one.name) };
  return select(kit, "linear", { M: 1, N: 64, K: 128 }, profile).plan?.name ?? failed[0]?.reason ?? "";
}

// @ts-expect-error operands are not rounded to that
select(kit, "linear", {}, profileOf({} as GPUAdapter), { rounding: "int4" });
// @ts-expect-error a variant that the bundle has not
planNamed(kit, "matvec_of_nothing");
// @ts-expect-error a kernel's variants do not have other kernels' names
matvec.variants["rms_norm_xf32__v4_wg64"];
// @ts-expect-error sizes are numbers
createPlan({} as GPUDevice, kit, planNamed(kit, name), { N: "64", K: 128 }, {});
