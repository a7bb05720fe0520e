// The question: an op, its sizes, what must be computed, and how much of the device may be used.

import type { Sizes, Want } from "../kernels/index.js";
import { el } from "./dom.js";
import { OPS } from "./ops/index.js";
import type { Choice, Op } from "./problem.js";

export interface Question {
  readonly op: Op;
  readonly sizes: Sizes;
  readonly want: Want;
  /** Whether optional features of the device may be used. */
  readonly features: boolean;
}

/** The value of a shape that is no preset. */
const OWN = "own";

/** The form; `changed` hears of each new question, `press` of the button. */
export class Form {
  readonly element: HTMLFormElement;
  readonly #own = el("div", { class: "own" });
  readonly #features = el("input", { type: "checkbox", id: "features", checked: true });
  readonly #button = el("button", { type: "submit", id: "run" });
  readonly #status = el("p", { role: "status", id: "status" });
  readonly #changed: (question: Question) => void;
  #op = OPS[0];

  constructor(changed: (question: Question) => void, press: () => void) {
    this.#changed = changed;
    const ops = el("fieldset", { class: "ops" }, el("legend", {}, "Op"), ...OPS.map((op) => this.#radio(op)));
    const features = el("label", { class: "check" }, this.#features, "Use the device's optional features");
    this.element = el(
      "form",
      { id: "question", autocomplete: "off", novalidate: true, "aria-label": "Question" },
      ops,
      this.#own,
      features,
      this.#button,
      this.#status,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      press();
    });
    this.element.addEventListener("input", (event) => this.#input(event.target));
    this.#show();
  }

  get question(): Question {
    const sizes = Object.fromEntries(this.#op.fields.map(({ name }) => [name, this.#size(name)]));
    const chosen = this.#op.choices.map(({ name }) => [name, this.#value(name)]).filter(([, value]) => value !== "");
    return { op: this.#op, sizes, want: Object.fromEntries(chosen), features: this.#features.checked };
  }

  /** Say what the button would do; it does nothing where nothing can run. */
  offer(what: string, possible: boolean): void {
    this.#button.textContent = what;
    this.#button.disabled = !possible;
  }

  say(what: string): void {
    this.#status.textContent = what;
  }

  #radio(op: Op): HTMLElement {
    const input = el("input", { type: "radio", name: "op", value: op.name, checked: op === this.#op });
    return el("label", {}, input, el("span", {}, op.title));
  }

  #input(target: EventTarget | null): void {
    if (target instanceof HTMLInputElement && target.name === "op") {
      this.#op = OPS.find(({ name }) => name === target.value) ?? OPS[0];
      this.#show();
    }
    if (target instanceof HTMLSelectElement && target.name === "preset") {
      this.#fill(Number(target.value));
    }
    if (target instanceof HTMLInputElement && this.#op.fields.some(({ name }) => name === target.name)) {
      this.#named("preset").value = OWN;
    }
    this.#changed(this.question);
  }

  /** Show the fields of the op, filled with its first preset. */
  #show(): void {
    const { formula, fields, presets, choices } = this.#op;
    const options = [
      ...presets.map(({ label }, index) => el("option", { value: index }, label)),
      el("option", { value: OWN, hidden: true }, "your own"),
    ];
    const sizes = fields.map(({ name, label }) => {
      const input = el("input", { name, id: `size-${name}`, inputmode: "numeric", spellcheck: "false" });
      return el("label", {}, el("span", {}, el("b", {}, name), ` ${label}`), input);
    });
    this.#own.replaceChildren(
      el("p", { class: "formula" }, formula),
      el("label", {}, "Shape", el("select", { name: "preset" }, ...options)),
      el("div", { class: "sizes" }, ...sizes),
      ...(choices.length > 0 ? [el("div", { class: "choices" }, ...choices.map(chooser))] : []),
    );
    this.#fill(0);
  }

  #fill(preset: number): void {
    for (const [name, value] of Object.entries(this.#op.presets[preset].sizes)) {
      this.#named(name).value = String(value);
    }
  }

  /** What is no number goes to `select` as such, which says what is wrong with it. */
  #size(name: string): number {
    const text = this.#value(name).trim();
    return text === "" ? Number.NaN : Number(text);
  }

  #value(name: string): string {
    return this.#named(name).value;
  }

  #named(name: string): HTMLInputElement | HTMLSelectElement {
    return this.element.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;
  }
}

function chooser({ name, label, values }: Choice): HTMLElement {
  const options = values.map((each) => el("option", { value: each.value }, each.label));
  return el("label", {}, label, el("select", { name }, ...options));
}
