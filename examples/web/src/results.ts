// The answer: what is chosen, how the candidates compare, what is refused, and the texts.

import { bufferBytes, type Selection } from "../kernels/index.js";
import type { Outcome } from "./bench.js";
import { byReason, candidate, labels, needsOf, variantsOf } from "./candidates.js";
import type { Comparison } from "./compare.js";
import { el } from "./dom.js";
import type { Question } from "./form.js";
import { plot } from "./plot.js";
import { coloured } from "./wgsl.js";
import { counted, duration, small } from "./words.js";

/** Refusals that say nothing about these sizes or this device: the kernel does something else. */
const ELSEWHERE = /^(\w+ is \S+, not |it has no |it rounds operands to |it is for )/;

/** The results of one question; they grow while its candidates run. */
export class Results {
  readonly element = el("div", { class: "results" });
  readonly #outcomes = new Map<string, Outcome>();
  readonly #labels: ReadonlyMap<string, string>;
  readonly #question: Question;
  readonly #selection: Selection;
  readonly #chosen = el("section", { id: "chosen", class: "card" });
  readonly #times = el("section", { id: "times", class: "card", hidden: true });
  readonly #ranking = el("section", { id: "ranking", class: "card" });
  readonly #text = el("section", { id: "text", class: "card" });

  constructor(question: Question, selection: Selection) {
    this.#question = question;
    this.#selection = selection;
    this.#labels = labels(this.names);
    const { plan, refused } = selection;
    if (!plan) {
      this.element.append(nothing(refused), refusals(refused));
      return;
    }
    this.element.append(this.#chosen, this.#times, this.#ranking, refusals(refused), this.#text);
    this.#showText(plan.name);
    this.#draw();
  }

  /** The candidates in the order of their rank. */
  get names(): string[] {
    return this.#selection.ranked.map(({ name }) => name);
  }

  /** What the button says. */
  get offer(): string {
    const count = this.names.length;
    return count === 0 ? "Nothing to run" : `Run ${count === 1 ? "it" : `all ${count}`} here`;
  }

  /** Why there is nothing to run; nothing where there is. */
  get problem(): string {
    return this.names.length > 0 ? "" : closest(this.#selection.refused).join("; ");
  }

  /** Take what became of one candidate. */
  add(outcome: Outcome): void {
    this.#outcomes.set(outcome.name, outcome);
    this.#draw();
  }

  #draw(): void {
    this.#drawChosen();
    this.#drawTimes();
    this.#drawRanking();
  }

  #drawChosen(): void {
    const { plan, ranked } = this.#selection;
    if (!plan) {
      return;
    }
    const bytes = Object.values(bufferBytes(plan, this.#question.sizes)).reduce((sum, each) => sum + each, 0);
    const outcome = this.#outcomes.get(plan.name);
    this.#chosen.replaceChildren(
      el("p", { class: "over" }, "Chosen"),
      el("h2", {}, this.#label(plan.name)),
      ...variantsOf(plan).map(({ name }) => el("p", { class: "name" }, name)),
      el(
        "dl",
        { class: "facts" },
        ...fact("needs", needsOf(plan) || "no optional feature"),
        ...fact("buffers", `${(bytes / 2 ** 20).toFixed(2)} MiB`),
        ...fact("estimate", duration(ranked[0].ns)),
        ...(outcome?.timing ? fact("here", `${duration(outcome.timing.ns)}, by ${outcome.timing.clock}`) : []),
      ),
      ...(outcome ? [verdict(outcome)] : []),
    );
  }

  #drawTimes(): void {
    const timed = [...this.#outcomes.values()].flatMap(({ name, timing }) => (timing ? [{ name, ...timing }] : []));
    this.#times.hidden = timed.length === 0;
    if (timed.length > 0) {
      const bars = timed.map(({ name, ns }) => ({ label: this.#label(name), ns, chosen: this.#isChosen(name) }));
      const clocks = [...new Set(timed.map(({ clock }) => clock))].join(" and ");
      this.#times.replaceChildren(
        el("h2", {}, "Time of each candidate, here"),
        el("p", { class: "quiet" }, `By ${clocks}; a bar is one run of all its passes, the shortest first.`),
        plot(bars),
      );
    }
  }

  #drawRanking(): void {
    const titles = ["", "candidate", "needs", "estimate", "here", "worst error"];
    const head = titles.map((title) => el("th", { scope: "col" }, title));
    const rows = this.#selection.ranked.map(({ name, ns }, index) => this.#row(name, ns, index));
    this.#ranking.replaceChildren(
      el("h2", {}, counted(rows.length, "candidate"), ", as they are ranked"),
      el(
        "p",
        { class: "quiet" },
        "The estimate is the bundle's table of costs, rough lines through what an H200 took. ",
        "An error is relative to the sum of the magnitudes that were added up.",
      ),
      el(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Candidates" },
        el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)),
      ),
    );
  }

  #row(name: string, ns: number, index: number): HTMLElement {
    const outcome = this.#outcomes.get(name);
    const button = el("button", { type: "button", class: "link", title: `${name}: show its text` }, this.#label(name));
    button.addEventListener("click", () => {
      this.#showText(name);
      this.#text.scrollIntoView();
    });
    const { comparison, failed, timing } = outcome ?? {};
    const here = failed ?? (timing ? duration(timing.ns) : "–");
    const error = comparison ? `${small(comparison.error)} ${comparison.good ? "✓" : "✗"}` : "";
    return el(
      "tr",
      { "data-name": name, class: this.#isChosen(name) ? "chosen" : undefined },
      el("td", { class: "number" }, String(index + 1)),
      el("td", {}, button),
      el("td", {}, needsOf(candidate(name)) || "–"),
      el("td", { class: "number" }, duration(ns)),
      el("td", { class: failed ? "bad" : "number" }, here),
      el("td", { class: `number ${comparison && !comparison.good ? "bad" : ""}` }, error || "–"),
    );
  }

  /** Show the texts of a candidate's passes, one at a time. */
  #showText(name: string): void {
    const variants = variantsOf(candidate(name));
    const code = el("code", {});
    const title = el("h2", {});
    const pick = el(
      "select",
      { "aria-label": "Pass" },
      ...variants.map((variant, index) => el("option", { value: index }, `${index + 1}. ${variant.kernel}`)),
    );
    const show = () => {
      const variant = variants[Number(pick.value)];
      title.textContent = `${variant.name}.wgsl`;
      code.replaceChildren(...coloured(variant.text));
    };
    pick.value = String(Math.max(0, variants.findIndex(({ constants }) => "format" in constants)));
    pick.addEventListener("input", show);
    show();
    const pre = el("pre", { tabindex: 0, role: "region", "aria-label": "WGSL" }, code);
    const over = el("p", { class: "over" }, "Text");
    this.#text.replaceChildren(over, title, ...(variants.length > 1 ? [pick] : []), pre);
  }

  #label(name: string): string {
    return this.#labels.get(name) ?? name;
  }

  #isChosen(name: string): boolean {
    return name === this.#selection.plan?.name;
  }
}

function fact(name: string, value: string): HTMLElement[] {
  return [el("div", {}, el("dt", {}, name), el("dd", {}, value))];
}

/** Say how the result of the GPU compares with the CPU's. */
function verdict({ comparison, failed }: Outcome): HTMLElement {
  if (!comparison) {
    return el("p", { class: "verdict bad", role: "alert" }, failed ?? "It did not run.");
  }
  const words = comparison.good ? "Agrees with the CPU." : "Differs from the CPU.";
  const kind = comparison.good ? "good" : "bad";
  return el("p", { class: `verdict ${kind}` }, el("b", {}, words), ` ${detail(comparison)}`);
}

function detail({ error, allowed, compared, total }: Comparison): string {
  if (compared === 0) {
    return "The result is empty.";
  }
  const found = total === compared ? `all ${total} values` : `${compared} of ${total} values`;
  return allowed === 0
    ? `Different values: ${error} of ${compared}.`
    : `Worst error ${small(error)} of ${small(allowed)} allowed, in ${found}.`;
}

/** Return the reasons of what is refused for these sizes or this device; else all reasons. */
function closest(refused: Selection["refused"]): string[] {
  const reasons = byReason(refused).map(([reason]) => reason);
  const close = reasons.filter((reason) => !ELSEWHERE.test(reason));
  return close.length > 0 ? close : reasons;
}

function nothing(refused: Selection["refused"]): HTMLElement {
  return el(
    "section",
    { id: "nothing", class: "card" },
    el("p", { class: "over" }, "Nothing to run"),
    el("h2", {}, "No kernel of this bundle does that"),
    el("ul", {}, ...closest(refused).map((reason) => el("li", {}, reason))),
  );
}

function refusals(refused: Selection["refused"]): HTMLElement {
  const groups = byReason(refused).map(([reason, names]) => {
    const count = el("span", { class: "count" }, String(names.length));
    const listed = names.map((name) => el("li", { class: "name" }, name));
    return el(
      "details",
      {},
      el("summary", {}, el("span", { class: "reason" }, reason), " ", count),
      el("ul", {}, ...listed),
    );
  });
  return el(
    "section",
    { id: "refused", class: "card" },
    el("h2", {}, refused.length > 0 ? `${refused.length} refused, and why` : "None refused"),
    ...groups,
  );
}
