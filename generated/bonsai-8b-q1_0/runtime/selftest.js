// SPDX-License-Identifier: MIT
// Made by wgslgen from bonsai-8b-q1_0.toml; change that file and run `wgslgen render` instead of editing here.

// Whether variants compute what they should on the device at hand: drivers miscompile single texts.

import { decode, difference } from "./answers.js";
import { download, upload } from "./buffers.js";
import { planOf } from "./kit.js";
import { bindingBytes, excess } from "./launch.js";
import { createPlan } from "./plan.js";
import { missing, profileOf } from "./requirements.js";

/** What outputs hold before a run, so that what is not written shows. */
const UNWRITTEN = 0xaa;

/**
 * Run variants of `kit` on `device` against the stored `answers` of a bundle's `selftest.js`, and return
 * `{ passed, failed, skipped }`: names, then `{ name, reason }` of the wrong ones and of those that were not run,
 * because the device lacks what they need or no answer is stored.
 *
 * `names` are the variants to try, all by default. Give `failed` to `select`, by name, as `failed` of the profile. What
 * is wrong with a variant never throws; the promise rejects for names that the kit has not, and where the device is
 * lost, with the variant during which it was.
 */
export async function selfTest(device, kit, answers, names = Object.keys(kit.variants)) {
  const unknown = names.find((name) => !(name in kit.variants));
  if (unknown !== undefined) {
    throw new TypeError(`this kit has no variant ${unknown}`);
  }
  let lost = null;
  device.lost.then((info) => {
    lost = info;
  });
  const result = { passed: [], failed: [], skipped: [] };
  for (const name of names) {
    const variant = kit.variants[name];
    const problem = answers.problems[answers.variants[name]];
    const obstacle = problem ? lacking(device, variant, problem) : "no answer is stored for it";
    if (obstacle) {
      result.skipped.push({ name, reason: obstacle });
      continue;
    }
    const reason = await wrong(device, kit, variant, problem, answers.arrays).catch((error) => error.message);
    if (lost) {
      throw new Error(`${name}: the device was lost: ${lost.message}`);
    }
    if (reason === null) {
      result.passed.push(name);
    } else {
      result.failed.push({ name, reason });
    }
  }
  return result;
}

/** Return why the device cannot run the problem, or null. */
function lacking(device, variant, { sizes }) {
  const reasons = missing(variant, profileOf(device));
  return reasons.length > 0 ? reasons.join("; ") : excess(bindingBytes(variant, sizes), 0, device.limits);
}

/** Run a variant on its problem and return what is wrong with an output, or null. */
async function wrong(device, kit, variant, { sizes, parameters, inputs, outputs }, arrays) {
  const array = (index) => decode(arrays[index]);
  const bytes = bindingBytes(variant, sizes);
  const buffers = {};
  let prepared;
  try {
    for (const { name } of variant.bindings) {
      const content = name in inputs ? array(inputs[name]) : new Uint8Array(bytes[name]).fill(UNWRITTEN);
      buffers[name] = upload(device, content, `self-test ${name}`);
    }
    prepared = await createPlan(device, kit, planOf(variant), sizes, buffers, parameters);
    await prepared.run();
    for (const [name, expected] of Object.entries(outputs)) {
      const reason = difference(name, expected, await download(device, buffers[name]), array);
      if (reason !== null) {
        return reason;
      }
    }
    return null;
  } finally {
    prepared?.destroy();
    Object.values(buffers).forEach((buffer) => buffer.destroy());
  }
}
