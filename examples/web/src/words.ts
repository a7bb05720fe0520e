// Numbers for readers.

const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
] as const;

/** Return nanoseconds with a unit and three digits. */
export function duration(ns: number): string {
  const [factor, unit] = UNITS.find(([factor]) => ns >= factor) ?? UNITS[2];
  return `${(ns / factor).toPrecision(3)} ${unit}`;
}

/** Return an error with two digits. */
export function small(value: number): string {
  return value === 0 ? "0" : value.toExponential(1);
}

/** Return "1 kernel", "2 kernels". */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
