import type { Choice } from "../problem.js";

export const FORMAT: Choice = {
  name: "format",
  label: "Weights",
  values: [
    { value: "q2_0", label: "q2_0, 2.25 bits" },
    { value: "q1_0", label: "q1_0, 1.125 bits" },
  ],
};

export const LAYOUT: Choice = {
  name: "layout",
  label: "Layout",
  values: [
    { value: "", label: "any" },
    { value: "planar", label: "planar" },
    { value: "ggml", label: "ggml, as in the file" },
  ],
};

export const ROUNDING: Choice = {
  name: "rounding",
  label: "Operands rounded to",
  values: [
    { value: "none", label: "nothing" },
    { value: "f16", label: "f16 at most" },
    { value: "int8", label: "int8 at most" },
  ],
};
