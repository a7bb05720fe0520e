// Runs all candidates of a question, one behind the other: each is checked against the CPU, then timed.

import {
  createPlan,
  download,
  formatOf,
  formats,
  type FormatKey,
  kit,
  pack,
  type Plan,
  requirements,
  type Sizes,
  upload,
} from "../kernels/index.js";
import { candidate, constantsOf, weighted } from "./candidates.js";
import { compare, type Comparison, roundingOf } from "./compare.js";
import { openDevice } from "./device.js";
import type { Answer, Problem } from "./problem.js";
import { time, type Timing } from "./timing.js";
import { toleranceOf } from "./tolerances.js";

export interface Outcome {
  readonly name: string;
  readonly comparison?: Comparison;
  readonly timing?: Timing;
  /** What went wrong instead, as the runtime or the device says it. */
  readonly failed?: string;
}

export interface Listener {
  say(what: string): void;
  outcome(outcome: Outcome): void;
  lost(message: string): void;
  /** Whether to run no further candidate. */
  stopped(): boolean;
}

/** Run the candidates `names` on a device of their own, which is gone when this is done. */
export async function bench(
  names: readonly string[],
  sizes: Sizes,
  make: () => Problem,
  listener: Listener,
): Promise<void> {
  const plans = names.map(candidate);
  const needed = requirements(kit, plans, { sizes: Object.fromEntries(plans.map(({ name }) => [name, sizes])) });
  const device = await openDevice(needed, listener.lost);
  try {
    listener.say("Making data, and the CPU's answer");
    await new Promise((resolve) => setTimeout(resolve)); // so that it is read before the page is busy
    const problem = make();
    const answer = await problem.answer();
    const buffers = new Inputs(device, problem);
    for (const [index, plan] of plans.entries()) {
      if (listener.stopped()) {
        return;
      }
      listener.say(`Running ${index + 1} of ${plans.length}`);
      listener.outcome(await runOne(device, plan, sizes, buffers.of(plan), problem, answer));
    }
  } finally {
    device.destroy();
  }
}

async function runOne(
  device: GPUDevice,
  plan: Plan,
  sizes: Sizes,
  buffers: Record<string, GPUBuffer>,
  problem: Problem,
  answer: Answer,
): Promise<Outcome> {
  try {
    const prepared = await createPlan(device, kit, plan, sizes, buffers, problem.parameters);
    await prepared.run();
    const bytes = await download(device, prepared.buffers[answer.buffer]);
    const comparison = compare(bytes, answer, await toleranceOf(plan), roundingOf(plan, constantsOf(plan)));
    const timing = await time(prepared);
    prepared.destroy();
    return { name: plan.name, comparison, timing };
  } catch (error) {
    return { name: plan.name, failed: error instanceof Error ? error.message : String(error) };
  }
}

/** The inputs of a problem on the device; weights once in each layout that a plan asks for. */
class Inputs {
  readonly #device: GPUDevice;
  readonly #problem: Problem;
  readonly #plain: Record<string, GPUBuffer>;
  readonly #packed = new Map<string, Record<string, GPUBuffer>>();

  constructor(device: GPUDevice, problem: Problem) {
    this.#device = device;
    this.#problem = problem;
    this.#plain = this.#uploaded(problem.inputs);
  }

  of(plan: Plan): Record<string, GPUBuffer> {
    const variant = weighted(plan);
    const { weights } = this.#problem;
    if (!variant || !weights) {
      return this.#plain;
    }
    const layout = String(variant.constants.layout);
    const { bytes, rows, columns } = weights;
    const packed =
      this.#packed.get(layout) ??
      this.#uploaded(pack(formats[formatOf(variant) as FormatKey], layout, bytes, rows, columns));
    this.#packed.set(layout, packed);
    return { ...this.#plain, ...packed };
  }

  #uploaded(arrays: Readonly<Record<string, ArrayBufferView>>): Record<string, GPUBuffer> {
    return Object.fromEntries(
      Object.entries(arrays).map(([name, array]) => [name, upload(this.#device, array, name)]),
    );
  }
}
