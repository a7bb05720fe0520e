// Cases that are tried in the page on one small bundle; each returns what the test in Python holds against its words.

import * as bundle from "/generated/building-blocks/index.js";
import { deviceWith } from "/page.js";

const { kit, createPlan, planNamed, requirements } = bundle;
const ADD = "add_xf32__v4_wg64";
const IN_PLACE = "add_xf32_inplace__v4_wg64";
const FOUR = { COUNT: 4 };
const device = await deviceWith({});

/** Return the message with which `work` is refused, or null. */
function refusal(work) {
  return work().then(
    () => null,
    (error) => error.message,
  );
}

/** Return a buffer that holds these f32. */
function floats(...values) {
  return bundle.upload(device, new Float32Array(values));
}

/** Return the f32 that a buffer holds. */
async function numbers(buffer) {
  return [...new Float32Array(await bundle.download(device, buffer))];
}

/** Prepare a + b of four elements, or another plan. */
function add(buffers, sizes = FOUR, name = ADD, from = kit, parameters = {}) {
  return createPlan(device, from, planNamed(from, name), sizes, buffers, parameters);
}

/** Return a kit whose one variant differs from ADD. */
function changed(fields) {
  return { variants: { [ADD]: { ...kit.variants[ADD], ...fields } }, plans: [] };
}

const operands = () => ({ a: floats(1, 2, 3, 4), b: floats(1, 1, 1, 1) });

export function c16() {
  const info = { subgroupMinSize: 0, subgroupMaxSize: 0 };
  const sizes = (...features) => bundle.profileOf({ features: new Set(features), limits: {}, info }).subgroups;
  return [sizes("subgroups"), sizes()];
}

export async function c39() {
  const a = floats(1, 2, 3, 4);
  const large = floats(...new Array(256).fill(1));
  const part = (offset) => ({ buffer: large, offset, size: 16 });
  const prepared = await add({ a, b: a });
  await prepared.run();
  return {
    same: await refusal(() => add({ a, b: floats(1, 1, 1, 1), y: a })),
    near: await refusal(() => add({ a, b: part(0), y: part(16) })),
    apart: await refusal(() => add({ a, b: part(0), y: part(256) })),
    rebound: await refusal(async () => prepared.rebind({ y: a })),
    twice: await numbers(prepared.buffers.y.buffer),
  };
}

export async function c40() {
  const text = await refusal(() => add(operands(), FOUR, ADD, changed({ text: "fn main( {" })));
  const entry = await refusal(() => add(operands(), FOUR, ADD, changed({ entry_point: "other" })));
  const held = operands();
  const prepared = await add(held);
  held.a.destroy();
  const run = await refusal(() => prepared.run());
  // Memory does not run out here, so the fourth scope, the plan's own for memory, is made to say so.
  const real = device.popErrorScope;
  let popped = 0;
  device.popErrorScope = () => {
    popped += 1;
    const report = real.call(device);
    return popped === 4 ? report.then(() => new GPUOutOfMemoryError("all is used")) : report;
  };
  const memory = await refusal(() => add({ b: floats(1, 1, 1, 1), y: floats(1, 1, 1, 1) }, FOUR, IN_PLACE));
  device.popErrorScope = real;
  const again = await add(operands());
  await again.run();
  return { text, entry, run, memory, after: await numbers(again.buffers.y.buffer) };
}

export async function c44() {
  let modules = 0;
  const real = device.createShaderModule;
  device.createShaderModule = (descriptor) => {
    modules += 1;
    return real.call(device, descriptor);
  };
  const said = await refusal(() => add({ a: floats(1, 2), b: floats(1, 2) }, FOUR, "add_xf16__v4_wg64"));
  device.createShaderModule = real;
  return [said, modules, requirements(kit, ["add_xf16__v4_wg64"]).requiredFeatures];
}

export function c47() {
  return Object.values(kit.variants).map(({ name, text, bindings, uniforms }) => {
    const listed = [...bindings, ...(uniforms ? [{ ...uniforms, name: "params" }] : [])];
    const declared = [...text.matchAll(/@binding\((\d+)\) var<[^>]*> (\w+)/g)];
    return [
      name,
      listed.map((each) => `${each.binding} ${each.name}`),
      declared.map(([, binding, variable]) => `${binding} ${variable}`),
    ];
  });
}

export async function c55() {
  const [one, other] = [floats(1, 1, 1, 1), floats(10, 10, 10, 10)];
  const step = await add({ b: one, y: other }, FOUR, IN_PLACE);
  const seen = [];
  for (const [b, y] of [[one, other], [other, one], [one, other]]) {
    step.rebind({ b, y });
    await step.run();
    seen.push((await numbers(y))[0]);
  }
  return seen;
}

export async function bytes() {
  const odd = new Uint8Array([9, 1, 2, 3, 4, 5]).subarray(1);
  const buffer = bundle.upload(device, odd);
  const whole = [...new Uint8Array(await bundle.download(device, buffer))];
  const part = [...new Uint8Array(await bundle.download(device, { buffer, offset: 4, size: 4 }))];
  const plain = [...new Uint8Array(await bundle.download(device, bundle.upload(device, odd.slice().buffer)))];
  return [whole, part, plain, bundle.upload(device, new ArrayBuffer(0)).size];
}

export async function mistakes() {
  const a = floats(1, 2, 3, 4);
  const uniform = device.createBuffer({ size: 16, usage: GPUBufferUsage.UNIFORM });
  const norm = { x: a, residual: a, weight: a };
  const tried = [
    () => add({ a, b: a }, { COUNT: 5 }),
    () => add({ a, b: a }, { N: 4 }),
    () => add({ a, b: a }, { COUNT: -4 }),
    () => add({ a }),
    () => add({ a, b: a }, { COUNT: 8 }),
    () => add({ a, b: a, z: a }),
    () => add({ a, b: uniform }),
    () => add(norm, { M: 1, D: 4 }, "rms_norm_xf32_res__v4_wg64"),
  ];
  const said = [];
  for (const work of tried) {
    said.push(await refusal(work));
  }
  return said;
}

export async function selfTests() {
  const { answers } = await import("/generated/building-blocks/selftest.js");
  const name = "swiglu_xf32__v4_wg64";
  const { text } = kit.variants[name];
  const broken = (found, put) => {
    if (!text.includes(found)) {
      throw new Error(`${name} has no ${found}`);
    }
    return { variants: { [name]: { ...kit.variants[name], text: text.replace(found, put) } }, plans: [], costs: [] };
  };
  const failures = async (changedKit) => (await bundle.selfTest(device, changedKit, answers)).failed;
  const { passed, skipped } = await bundle.selfTest(device, kit, answers, [name, "add_xf16__v4_wg64"]);
  const sizes = { B: 1, M: 4, CAPACITY: 64, LAYERS: 1, LAYER: 0 };
  const profile = bundle.profileOf(globalThis.adapter);
  const first = bundle.select(kit, "attention_prefill", sizes, profile).plan.name;
  const choice = bundle.select(kit, "attention_prefill", sizes, { ...profile, failed: [first] });
  const doomed = await (await navigator.gpu.requestAdapter()).requestDevice();
  doomed.destroy();
  return {
    passed,
    skipped,
    scaled: await failures(broken("y[load] = value;", "y[load] = 1.02 * value;")),
    permuted: await failures(broken("y[load] = value;", "y[load ^ 1u] = value;")),
    tail: await failures(broken("if (load < params.m", "if (load + 1u < params.m")),
    nothing: await failures(broken("y[load] = value;", "")),
    text: await failures(broken("fn main(", "fn main( {")),
    unknown: await refusal(() => bundle.selfTest(device, kit, answers, ["matvec_of_nothing"])),
    lost: await refusal(() => bundle.selfTest(doomed, kit, answers, [name])),
    chosen: [
      first,
      choice.plan?.name,
      choice.refused.find((one) => one.name === first),
    ],
  };
}
