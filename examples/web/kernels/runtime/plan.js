// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// A plan on a device: pipelines, bind groups and scratch, made once; then dispatches as often as wanted.

import { evaluate } from "./expressions.js";
import { launch } from "./launch.js";
import { bufferBytes, missing, profileOf, sizesOfPlan } from "./requirements.js";

/** Bytes in which views of a buffer are bound; ranges that meet within them would alias. */
const ALIGNMENT = 256;

/** Device → variant → promise of its pipeline and layout, so that plans share what is compiled. */
const compiled = new WeakMap();

/**
 * Compile `variant` for `device` and return `{ pipeline, layout }`; a second call returns the first one's.
 *
 * The bind group layout is explicit: what the manifest lists, used or not.
 */
export function compile(device, variant) {
  const known = compiled.get(device) ?? new Map();
  compiled.set(device, known);
  if (!known.has(variant)) {
    const made = compileAnew(device, variant);
    known.set(variant, made);
    made.catch(() => known.delete(variant));
  }
  return known.get(variant);
}

async function compileAnew(device, variant) {
  const types = variant.bindings.map(({ access }) => (access === "read" ? "read-only-storage" : "storage"));
  if (variant.uniforms) {
    types.push("uniform");
  }
  const [layout, pipeline] = await scoped(device, variant.name, () => {
    const entries = types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
    const bindings = device.createBindGroupLayout({ label: variant.name, entries });
    const module = device.createShaderModule({ label: variant.name, code: variant.text });
    const made = device.createComputePipelineAsync({
      label: variant.name,
      layout: device.createPipelineLayout({ label: variant.name, bindGroupLayouts: [bindings] }),
      compute: { module, entryPoint: variant.entry_point },
    });
    made.catch(() => {}); // awaited below, where the error of the scope comes first
    return [bindings, made];
  });
  return { layout, pipeline: await pipeline };
}

/**
 * Do `work` at once and return what it returns; reject with an Error where the device reports one for it.
 *
 * Nothing is awaited before the scopes are closed, because the scopes of a device are one stack for the whole page.
 */
async function scoped(device, where, work) {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  let result;
  let reports;
  try {
    result = work();
  } finally {
    reports = [device.popErrorScope(), device.popErrorScope()];
  }
  const [invalid, exhausted] = await Promise.all(reports);
  if (invalid) {
    throw new Error(`${where}: the device refuses it: ${invalid.message}`);
  }
  if (exhausted) {
    throw new Error(`${where}: the device is out of memory: ${exhausted.message}`);
  }
  return result;
}

/** Return a view `{ buffer, offset, size }` of a GPUBuffer or of what is one already. */
function viewOf(given) {
  const { buffer, offset = 0, size } = given instanceof GPUBuffer ? { buffer: given } : given;
  return { buffer, offset, size: size ?? buffer.size - offset };
}

/**
 * Throw a RangeError where a binding that a step writes shares bytes with another one: WebGPU refuses that, too.
 *
 * `views` are those of the plan's buffers by name; one that is made for the plan may be missing.
 */
function refuseAliases({ variant, buffers, bytes }, views) {
  const bound = variant.bindings.map(({ name, access }) => {
    const buffer = buffers[name];
    const { buffer: held, offset } = views[buffer] ?? { buffer, offset: 0 };
    return { name, access, held, first: offset, last: Math.ceil((offset + bytes[name]) / ALIGNMENT) * ALIGNMENT };
  });
  bound.forEach((one, at) => {
    for (const other of bound.slice(at + 1)) {
      const written = one.access === "read_write" || other.access === "read_write";
      if (written && one.held === other.held && one.first < other.last && other.first < one.last) {
        throw new RangeError(
          `${variant.name}: bindings ${one.name} and ${other.name} share bytes of one buffer, and one of them is ` +
            "written; expected different buffers",
        );
      }
    }
  });
}

/** A plan that is ready to run on its device; `createPlan` makes it. */
class PreparedPlan {
  #steps;
  #owned;
  #groups = new Map();
  #identities = new WeakMap();
  #ran = false;

  constructor(device, plan, buffers, needed, steps, owned) {
    this.device = device;
    this.plan = plan;
    /** Views of all buffers by the plan's names: the caller's, and scratch and outputs that were made. */
    this.buffers = buffers;
    /** Bytes of each buffer by name. */
    this.bytes = needed;
    this.#steps = steps;
    this.#owned = owned;
  }

  /** Put other buffers in the place of some, for the dispatches from now on. */
  rebind(buffers) {
    const views = { ...this.buffers, ...checkedViews(this.plan, this.bytes, buffers) };
    this.#steps.forEach((step) => refuseAliases(step, views));
    this.buffers = views;
  }

  /** Record the dispatches into a GPUComputePassEncoder. */
  encode(pass) {
    for (const step of this.#steps) {
      if (step.workgroups) {
        pass.setPipeline(step.pipeline);
        pass.setBindGroup(0, this.#group(step));
        pass.dispatchWorkgroups(...step.workgroups);
      }
    }
  }

  /**
   * Run once. The promise of the first run rejects where the device reports an error; later ones only submit.
   */
  async run() {
    if (this.#ran) {
      this.#submit();
      return;
    }
    await scoped(this.device, this.plan.name, () => this.#submit());
    this.#ran = true;
  }

  /** Free the buffers that were made for the plan; those that the caller gave stay. */
  destroy() {
    this.#owned.forEach((buffer) => buffer.destroy());
  }

  #submit() {
    const encoder = this.device.createCommandEncoder({ label: this.plan.name });
    const pass = encoder.beginComputePass({ label: this.plan.name });
    this.encode(pass);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }

  /** Return the bind group of a step's buffers; one is kept for each set of buffers, offsets and sizes. */
  #group(step) {
    const bound = step.variant.bindings.map(({ name }) => {
      const { buffer, offset } = this.buffers[step.buffers[name]];
      return { buffer, offset, size: step.bytes[name] };
    });
    const key = bound.map(({ buffer, offset }) => `${this.#identity(buffer)}+${offset}`).join(" ");
    const known = this.#groups.get(step) ?? new Map();
    this.#groups.set(step, known);
    if (!known.has(key)) {
      const resources = step.uniform ? [...bound, { buffer: step.uniform }] : bound;
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      known.set(key, this.device.createBindGroup({ label: step.variant.name, layout: step.layout, entries }));
    }
    return known.get(key);
  }

  #identity(buffer) {
    if (!this.#identities.has(buffer)) {
      this.#identities.set(buffer, PreparedPlan.#count++);
    }
    return this.#identities.get(buffer);
  }

  static #count = 0;
}

/** Return views of `buffers`; throw where one is no buffer of the plan, too small, or not for storage. */
function checkedViews(plan, needed, buffers) {
  const views = {};
  for (const [name, given] of Object.entries(buffers)) {
    if (!(name in needed)) {
      throw new TypeError(`${plan.name}: has no buffer ${name}; it has ${Object.keys(needed).join(", ")}`);
    }
    const view = viewOf(given);
    if (view.size < needed[name]) {
      throw new RangeError(`${plan.name}: buffer ${name} has ${view.size} bytes; expected ${needed[name]}`);
    }
    if (!(view.buffer.usage & GPUBufferUsage.STORAGE)) {
      throw new TypeError(`${plan.name}: buffer ${name} was made without GPUBufferUsage.STORAGE`);
    }
    views[name] = view;
  }
  return views;
}

/**
 * Prepare `plan` (of `select`, or `planOf` a variant) for `sizes` on `device`.
 *
 * `buffers` gives a GPUBuffer, or `{ buffer, offset, size }`, for each input and each buffer that is changed in place;
 * outputs and scratch are made where it has none. `parameters` are the floats that the plan names.
 *
 * The promise rejects before anything reaches the device for sizes that a variant refuses, features or limits that
 * the device was not made with, and buffers that are missing, too small or shared with one that is written; and after
 * that for what the device reports while pipelines and buffers are made.
 */
export async function createPlan(device, kit, plan, sizes, buffers, parameters = {}) {
  const planned = sizesOfPlan(plan, sizes);
  const needed = bufferBytes(plan, sizes);
  for (const name of plan.parameters) {
    if (!Number.isFinite(parameters[name])) {
      throw new TypeError(`${plan.name}: parameter ${name} is ${parameters[name]}; expected a number`);
    }
  }
  const profile = profileOf(device);
  const given = checkedViews(plan, needed, buffers);
  for (const { name, role } of plan.buffers) {
    if ((role === "input" || role === "in_out") && !(name in given)) {
      throw new TypeError(`${plan.name}: no buffer ${name} (${needed[name]} bytes)`);
    }
  }
  const steps = plan.passes.map((pass) => {
    const variant = kit.variants[pass.variant];
    const reasons = missing(variant, profile);
    if (reasons.length > 0) {
      throw new TypeError(`${variant.name}: the device cannot run it: it ${reasons.join("; it ")}`);
    }
    const own = Object.fromEntries(variant.sizes.map((name) => [name, evaluate(pass.sizes[name], planned)]));
    return { variant, buffers: pass.buffers, ...launch(variant, own, parameters, device.limits) };
  });
  // What is made later shares nothing, so the caller's buffers alone can meet; one that is missing stands for itself.
  steps.forEach((step) => refuseAliases(step, given));

  const owned = [];
  const make = (name, size, usage) => {
    const buffer = device.createBuffer({ label: `${plan.name} ${name}`, size: Math.max(4, size), usage });
    owned.push(buffer);
    return buffer;
  };
  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const uniform = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
  try {
    const pipelines = await Promise.all(steps.map((step) => compile(device, step.variant)));
    return await scoped(device, plan.name, () => {
      const views = { ...given };
      for (const { name } of plan.buffers) {
        views[name] ??= { buffer: make(name, needed[name], storage), offset: 0, size: needed[name] };
      }
      steps.forEach((step, index) => {
        Object.assign(step, pipelines[index]);
        if (step.uniforms) {
          step.uniform = make(step.variant.name, step.uniforms.byteLength, uniform);
          device.queue.writeBuffer(step.uniform, 0, step.uniforms);
        }
      });
      return new PreparedPlan(device, plan, views, needed, steps, owned);
    });
  } catch (error) {
    owned.forEach((buffer) => buffer.destroy());
    throw error;
  }
}
