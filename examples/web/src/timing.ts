// How long a plan takes: by the GPU's own clock where the page may read it, else by this page's.

import type { PreparedPlan } from "../kernels/index.js";

export interface Timing {
  /** Nanoseconds of one run of the plan. */
  readonly ns: number;
  readonly clock: "GPU timestamps" | "wall clock";
}

/** Milliseconds that a round should take: far above the step of the clocks, which browsers make coarse. */
const ROUND_MS = 8;
const ROUNDS = 3;
/** Milliseconds of one run from which a single round must do: a GPU made of software is that slow. */
const SLOW_MS = 50;
const MOST = 500;
/** Milliseconds of the first run from which no other follows. */
const PATIENCE_MS = 1000;

/** Return the median of some rounds; a round repeats the plan so often that the clock's step does not matter. */
export async function time(prepared: PreparedPlan): Promise<Timing> {
  const { device } = prepared;
  const first = await submitted(prepared, 1);
  if (first > PATIENCE_MS) {
    return { ns: first * 1e6, clock: "wall clock" };
  }
  const once = Math.max(0.01, await submitted(prepared, 1));
  const count = Math.min(MOST, Math.max(1, Math.round(ROUND_MS / once)));
  const rounds = once < SLOW_MS ? ROUNDS : 1;
  if (device.features.has("timestamp-query")) {
    const ns = await byTimestamps(prepared, count, rounds);
    if (ns > 0) {
      return { ns, clock: "GPU timestamps" };
    }
  }
  return { ns: await bySlope(prepared, count, rounds), clock: "wall clock" };
}

async function byTimestamps(prepared: PreparedPlan, count: number, rounds: number): Promise<number> {
  const { device } = prepared;
  const querySet = device.createQuerySet({ type: "timestamp", count: 2 });
  const resolved = device.createBuffer({ size: 16, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  const read = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const encoder = device.createCommandEncoder();
    record(prepared, encoder, count, { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 });
    encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, read, 0, 16);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(GPUMapMode.READ);
    const [begin, end] = new BigInt64Array(read.getMappedRange());
    times.push(Number(end - begin) / count);
    read.unmap();
  }
  [querySet, resolved, read].forEach((made) => made.destroy());
  return median(times);
}

/** What a submit costs in itself falls out of the slope between few and many runs. */
async function bySlope(prepared: PreparedPlan, count: number, rounds: number): Promise<number> {
  const slopes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const few = await submitted(prepared, count);
    const many = await submitted(prepared, 3 * count);
    const slope = (many - few) / (2 * count);
    slopes.push((slope > 0 ? slope : many / (3 * count)) * 1e6);
  }
  return median(slopes);
}

/** Run `count` times in one submit and return the milliseconds until the GPU is done. */
async function submitted(prepared: PreparedPlan, count: number): Promise<number> {
  const { queue } = prepared.device;
  const encoder = prepared.device.createCommandEncoder();
  record(prepared, encoder, count);
  const begin = performance.now();
  queue.submit([encoder.finish()]);
  await queue.onSubmittedWorkDone();
  return performance.now() - begin;
}

function record(
  prepared: PreparedPlan,
  encoder: GPUCommandEncoder,
  count: number,
  timestampWrites?: GPUComputePassTimestampWrites,
): void {
  const pass = encoder.beginComputePass(timestampWrites ? { timestampWrites } : {});
  for (let each = 0; each < count; each++) {
    prepared.encode(pass);
  }
  pass.end();
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}
