// Bars of times, the shortest first, each labelled with its number: there is no axis to read them from.

import { el, svg } from "./dom.js";
import { duration } from "./words.js";

export interface Bar {
  readonly label: string;
  readonly ns: number;
  /** Whether this is the one that was chosen. */
  readonly chosen: boolean;
}

/** Return a plot of the bars; the longest takes the whole width. */
export function plot(bars: readonly Bar[]): HTMLElement {
  const longest = Math.max(...bars.map(({ ns }) => ns));
  const sorted = [...bars].sort((one, other) => one.ns - other.ns);
  return el("ol", { class: "plot" }, ...sorted.map((bar) => row(bar, longest)));
}

function row({ label, ns, chosen }: Bar, longest: number): HTMLElement {
  const width = `${Math.max(0.5, (100 * ns) / longest).toFixed(2)}%`;
  const drawing = svg(
    "svg",
    { "aria-hidden": "true", focusable: "false" },
    svg("rect", { class: "rail", width: "100%", height: "100%" }),
    svg("rect", { class: "bar", width, height: "100%" }),
  );
  const name = el("span", { class: "label" }, label, ...(chosen ? [" ", el("em", {}, "chosen")] : []));
  const value = el("span", { class: "value" }, duration(ns));
  return el("li", { class: chosen ? "chosen" : undefined }, name, drawing, value);
}
