// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

/// <reference types="@webgpu/types" />

/** A whole number, the name of a size, or [operator, operand, operand]; division rounds down. */
export type Expression = number | string | readonly [operator: string, first: Expression, second: Expression];

/** Sizes by name, each from 0 to 2^32 - 1. */
export type Sizes = Readonly<Record<string, number>>;

/** A condition on the sizes, and what completes "… because". */
export interface Rule {
  readonly condition: Expression;
  readonly why: string;
}

/** A storage buffer in group 0; `length` counts elements of `element`. */
export interface Binding {
  readonly binding: number;
  readonly name: string;
  readonly access: "read" | "read_write";
  readonly element: string;
  readonly length: Expression;
  /** What the elements of a u32 buffer must stay under. */
  readonly below?: Expression;
  /** Whether what a writable buffer held before matters. */
  readonly kept?: boolean;
}

/** A field of the uniform struct; `value` names the size or the parameter that fills it. */
export interface UniformField {
  readonly name: string;
  readonly type: string;
  readonly offset: number;
  readonly value: string;
}

/** Subgroup matrices that are multiplied together. */
export interface MatrixConfig {
  readonly component: string;
  readonly result: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** What a device must offer. */
export interface Requirements {
  readonly features: readonly string[];
  readonly language_features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly subgroups: { readonly min: number; readonly max: number } | null;
  readonly subgroup_matrix: MatrixConfig | null;
}

/** A kernel with all constants fixed. */
export interface Variant<Name extends string = string> {
  readonly name: Name;
  /** Variants with the same may replace each other. */
  readonly computes: string;
  readonly kernel: string;
  readonly entry_point: "main";
  readonly constants: Readonly<Record<string, number | string | boolean>>;
  readonly sizes: readonly string[];
  /** The op that it does without others: sizes of a caller, its own in those, and those that are fixed. */
  readonly alone: {
    readonly op: string;
    readonly sizes: readonly string[];
    readonly given: Readonly<Record<string, Expression>>;
    readonly fixed: Sizes;
  } | null;
  readonly workgroups: Expression;
  readonly bindings: readonly Binding[];
  readonly uniforms: { readonly binding: number; readonly size: number; readonly fields: readonly UniformField[] } | null;
  readonly requirements: Requirements;
  readonly rules: readonly Rule[];
  /** The WGSL. */
  readonly text: string;
}

/** What `kernels/*.js` export. */
export interface KernelModule<Kernel extends string = string, Name extends string = string> {
  readonly kernel: Kernel;
  readonly variants: { readonly [name in Name]: Variant<name> };
}

/** A buffer of a plan: `bytes` is an expression in the plan's sizes. */
export interface PlanBuffer {
  readonly name: string;
  readonly role: "input" | "in_out" | "output" | "scratch";
  readonly bytes: Expression;
}

/** One dispatch of a plan: the plan's buffer for each binding, and an expression for each size. */
export interface Pass {
  readonly variant: string;
  readonly buffers: Readonly<Record<string, string>>;
  readonly sizes: Readonly<Record<string, Expression>>;
}

/** Passes that do an op together. */
export interface Plan {
  readonly name: string;
  readonly op: string;
  readonly sizes: readonly string[];
  readonly parameters: readonly string[];
  /** Sizes of the op that the variants fix. */
  readonly fixed: Sizes;
  readonly rules: readonly Rule[];
  readonly buffers: readonly PlanBuffer[];
  readonly passes: readonly Pass[];
}

/** Nanoseconds of the passes of a kernel that have these constants, as an expression in sizes and CONSTANTS. */
export interface Cost {
  /** The kind of device that it is for; without one it is for all. */
  readonly device?: string;
  readonly kernel: string;
  readonly constants: Readonly<Record<string, number | string | boolean>>;
  readonly ns: Expression;
}

/** What must be computed, beside the op: constants, and what operands may be rounded to at most. */
export interface Want {
  readonly rounding?: "none" | "f16" | "int8" | "signs";
  readonly [constant: string]: number | string | boolean | undefined;
}

/** The cheapest plan, name and cost of all that would do, and why the others would not. */
export interface Selection {
  readonly plan: Plan | null;
  readonly ranked: readonly { readonly name: string; readonly ns: number }[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** Variants and plans that an app took from its bundle. */
export interface Kit<Name extends string = string, Planned extends string = string> {
  readonly variants: { readonly [name in Name]: Variant<name> };
  readonly plans: readonly (Plan & { readonly name: Planned })[];
  readonly costs: readonly Cost[];
}

/** How a weight format lies in a file: blocks of `group` weights in `block` bytes, of which some are codes. */
export interface WeightFormat {
  readonly name: string;
  readonly group: number;
  readonly block: number;
  readonly codes: { readonly offset: number; readonly bytes: number };
  readonly layouts: readonly string[];
  readonly bits?: number;
  readonly times?: readonly number[];
  readonly elements?: readonly number[] | null;
  readonly grid?: Uint32Array;
}

/** What is known of a device. */
export interface Profile {
  readonly name: string;
  /** Whose costs plans have there: "gpu" (the default), "software" for drivers on the CPU, or one of your own. */
  readonly kind?: string;
  readonly features: readonly string[];
  readonly languageFeatures: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  /** null: no subgroups, or their sizes are not known. */
  readonly subgroups: { readonly min: number; readonly max: number; readonly pinned?: number } | null;
  readonly subgroupMatrices: readonly MatrixConfig[];
  /** Variants that failed `selfTest` on the device: `select` refuses them. */
  readonly failed?: readonly string[];
}

/** What a device is tested with: arrays that are written shortly, problems of these, and the problem of each variant. */
export interface Answers {
  readonly arrays: readonly string[];
  readonly problems: readonly Answer[];
  readonly variants: Readonly<Record<string, number>>;
}

/** A problem: its arrays, inputs and outputs, by their numbers. */
export interface Answer {
  readonly sizes: Sizes;
  readonly parameters: Readonly<Record<string, number>>;
  readonly inputs: Readonly<Record<string, number>>;
  readonly outputs: Readonly<Record<string, ExpectedOutput>>;
}

/** The elements that are known of an output, every `step`-th and the last: near a value, or equal to it. */
export interface ExpectedOutput {
  readonly type: string;
  readonly size: number;
  readonly step: number;
  readonly near?: number;
  readonly equal?: number;
}

/** Variants that compute what they should, those that do not, and those that were not run, with the reason. */
export interface SelfTest<Name extends string = string> {
  readonly passed: readonly Name[];
  readonly failed: readonly { readonly name: Name; readonly reason: string }[];
  readonly skipped: readonly { readonly name: Name; readonly reason: string }[];
}

/** A buffer, or a part of one; offset and size in bytes. */
export type BufferView = GPUBuffer | { readonly buffer: GPUBuffer; readonly offset?: number; readonly size?: number };

/** A plan that is ready to run on its device. */
export interface PreparedPlan {
  readonly device: GPUDevice;
  readonly plan: Plan;
  /** All buffers by the plan's names: the caller's, and the scratch and outputs that were made. */
  readonly buffers: Readonly<Record<string, { readonly buffer: GPUBuffer; readonly offset: number; readonly size: number }>>;
  /** Bytes of each buffer by name. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Put other buffers in the place of some, for the dispatches from now on. */
  rebind(buffers: Readonly<Record<string, BufferView>>): void;
  /** Record the dispatches. */
  encode(pass: GPUComputePassEncoder): void;
  /** Run once. The promise of the first run rejects where the device reports an error. */
  run(): Promise<void>;
  /** Free the buffers that were made for the plan. */
  destroy(): void;
}

/** Return the key in a bundle's `formats` of the weights that `variant` reads. */
export declare function formatOf(variant: Variant): string;

/**
 * Return the planes of `n` rows of `k` columns for a layout, by the names of their bindings; `bytes` are those of the
 * tensor in a GGUF file. Throws a RangeError for bytes, rows or weights that do not fit.
 */
export declare function pack(
  format: WeightFormat,
  layout: string,
  bytes: ArrayBuffer | ArrayBufferView,
  n: number,
  k: number,
): Record<string, Uint8Array>;

/** Return a buffer for storage that begins with the bytes of `data`, its size rounded up to 4. */
export declare function upload(device: GPUDevice, data: ArrayBuffer | ArrayBufferView, label?: string): GPUBuffer;

/** Return the bytes of a buffer once all that was submitted is done. */
export declare function download(device: GPUDevice, view: BufferView): Promise<ArrayBuffer>;

/** Return the value of an expression; throws a RangeError past 2^53 and a TypeError for a name without a value. */
export declare function evaluate(expression: Expression, values: Sizes): number;

/** Return a kit of kernels, and of those of `plans` that they can do together. */
export declare function kitOf<Kernel extends { readonly variants: object }, Planned extends string = string>(
  kernels: readonly Kernel[],
  plans?: readonly (Plan & { readonly name: Planned })[],
  costs?: readonly Cost[],
): Kit<Kernel extends KernelModule<string, infer Name> ? Name : never, Planned>;

/** Return the plan `name` of the kit, or the plan of one pass that its variant `name` is. */
export declare function planNamed<Name extends string, Planned extends string>(
  kit: Kit<Name, Planned>,
  name: Name | Planned,
): Plan;

/**
 * Return the plan for `op` with `sizes` on a device of `profile`, and why not the others. Throws a TypeError for an op
 * that nothing in the kit does.
 */
export declare function select(kit: Kit, op: string, sizes: Sizes, profile: Profile, want?: Want): Selection;

/** Return what a kit's plans and variants do, sorted. */
export declare function ops(kit: Kit): string[];

/** Return the plan of one pass in which `variant` does its op alone. */
export declare function alonePlan(variant: Variant): Plan;

/** Return the plan of one pass that `variant` is. */
export declare function planOf(variant: Variant): Plan;

/** Fold `total` workgroups into three dimensions of at most `limit`; null where there are none. */
export declare function fold(total: number, limit: number, where?: string): [number, number, number] | null;

/** Return bytes of the bindings, uniform bytes and workgroups of one dispatch. */
export declare function launch(
  variant: Variant,
  sizes: Sizes,
  parameters: Readonly<Record<string, number>>,
  limits: Readonly<Record<string, number>>,
): {
  bytes: Record<string, number>;
  uniforms: ArrayBuffer | null;
  workgroups: [number, number, number] | null;
};

/** Return the bytes of each buffer of `plan` for its sizes. */
export declare function bufferBytes(plan: Plan, sizes: Sizes): Record<string, number>;

/** Return what `requestDevice` must be asked for, so that all of `wanted` (plans, or names of plans and variants) run. */
export declare function requirements<Name extends string, Planned extends string>(
  kit: Kit<Name, Planned>,
  wanted: readonly (Name | Planned | Plan)[],
  options?: { readonly sizes?: Readonly<Record<string, Sizes>> },
): { requiredFeatures: GPUFeatureName[]; requiredLimits: Record<string, number> };

/** Return why a device of this profile must not run `variant`; nothing where it may. */
export declare function missing(variant: Variant, profile: Profile): string[];

/** Return the profile of an adapter, or of a device, which answers for what it was made with. */
export declare function profileOf(adapter: GPUAdapter | GPUDevice, languageFeatures?: Iterable<string>): Profile;

/**
 * Prepare `plan` for `sizes` on `device`. Outputs and scratch that `buffers` has not are made.
 *
 * Rejects before anything reaches the device for sizes that are refused, features or limits that the device lacks, and
 * buffers that are missing, too small or shared with one that is written; then for what the device reports.
 */
export declare function createPlan(
  device: GPUDevice,
  kit: Kit,
  plan: Plan,
  sizes: Sizes,
  buffers: Readonly<Record<string, BufferView>>,
  parameters?: Readonly<Record<string, number>>,
): Promise<PreparedPlan>;

/**
 * Run variants of `kit`, all by default, on `device` against the `answers` of the bundle's `selftest.js`.
 *
 * What is wrong with a variant never throws. The promise rejects for a name that the kit has not, and where the device
 * is lost.
 */
export declare function selfTest<Name extends string>(
  device: GPUDevice,
  kit: Kit<Name>,
  answers: Answers,
  names?: readonly Name[],
): Promise<SelfTest<Name>>;
