// What tests do in the page: run plans of a bundle through its own runtime, on buffers between guards, and send what
// came out back to the test.

const GUARD = 256;
const UNWRITTEN = 0xaa;
const POISON = 0xff;
const STORAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

const adapter = await navigator.gpu?.requestAdapter();
const devices = new Map();

/** Return a device with these features and limits, once for each set of them; an adapter makes one device alone. */
export async function deviceWith(descriptor) {
  const key = JSON.stringify(descriptor);
  if (!devices.has(key)) {
    const fresh = await navigator.gpu.requestAdapter();
    devices.set(key, await fresh.requestDevice(descriptor));
  }
  return devices.get(key);
}

/** Return a buffer of `size` bytes between guards that begins with `content`; poison lies behind what is only read. */
function guarded(device, size, content, readOnly) {
  const before = readOnly ? 0 : GUARD;
  const buffer = device.createBuffer({ size: before + size + GUARD, usage: STORAGE, mappedAtCreation: true });
  const bytes = new Uint8Array(buffer.getMappedRange());
  bytes.fill(readOnly ? POISON : UNWRITTEN);
  bytes.set(content, before);
  if (readOnly) {
    bytes.fill(0, content.length, size);
  }
  buffer.unmap();
  return { buffer, offset: before, size };
}

/** Return what is between the guards; throw where something wrote outside. */
async function content({ download }, device, name, { buffer, offset, size }) {
  const bytes = new Uint8Array(await download(device, buffer));
  const outside = [...bytes.subarray(0, offset), ...bytes.subarray(offset + size)];
  if (outside.some((byte) => byte !== UNWRITTEN)) {
    throw new Error(`wrote outside ${name}`);
  }
  return bytes.slice(offset, offset + size);
}

/** Run one problem `{ url, plan, sizes, parameters, inputs }`; post each output to `url`. */
async function runOne(bundle, problem) {
  const plan = bundle.planNamed(bundle.kit, problem.plan);
  const device = await deviceWith(bundle.requirements(bundle.kit, [problem.plan]));
  const needed = bundle.bufferBytes(plan, problem.sizes);
  const buffers = {};
  for (const { name, role } of plan.buffers) {
    if (role !== "scratch") {
      const given = problem.inputs.includes(name) ? await (await fetch(`${problem.url}/${name}`)).bytes() : [];
      buffers[name] = guarded(device, needed[name], given, role === "input");
    }
  }
  const prepared = await bundle.createPlan(device, bundle.kit, plan, problem.sizes, buffers, problem.parameters);
  await prepared.run();
  for (const { name, role } of plan.buffers) {
    if (role === "output" || role === "in_out") {
      const body = await content(bundle, device, name, buffers[name]);
      await fetch(`${problem.url}/${name}`, { method: "POST", body });
    }
  }
  prepared.destroy();
  Object.values(buffers).forEach(({ buffer }) => buffer.destroy());
}

/** Run problems of the bundle at `url`; return what went wrong by the number of the problem, none where nothing did. */
async function runAll(url, problems) {
  const bundle = await import(url);
  const wrong = {};
  for (const [index, problem] of problems.entries()) {
    await runOne(bundle, problem).catch((error) => {
      wrong[index] = String(error);
    });
  }
  return wrong;
}

/**
 * Test variants of the bundle at `url` by its stored answers, each on the device that `runOne` runs it on, where it is
 * compiled already; return all results together.
 */
async function selfTested(url, names) {
  const bundle = await import(url);
  const { answers } = await import(url.replace("index.js", "selftest.js"));
  const all = { passed: [], failed: [], skipped: [] };
  for (const name of names) {
    const device = await deviceWith(bundle.requirements(bundle.kit, [name]));
    const found = await bundle.selfTest(device, bundle.kit, answers, [name]);
    Object.entries(found).forEach(([kind, some]) => all[kind].push(...some));
  }
  return all;
}

/** Return the plans and variants of the bundle at `url` that the adapter may run. */
async function admitted(url) {
  const bundle = await import(url);
  const profile = bundle.profileOf(adapter);
  const may = ({ variant }) => bundle.missing(bundle.kit.variants[variant], profile).length === 0;
  const plans = [...Object.keys(bundle.kit.variants), ...bundle.kit.plans.map(({ name }) => name)];
  return plans.filter((name) => bundle.planNamed(bundle.kit, name).passes.every(may));
}

Object.assign(globalThis, { adapter, runAll, selfTested, admitted, ready: true });
