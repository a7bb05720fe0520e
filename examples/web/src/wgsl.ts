// A WGSL text as elements, its words told apart by colour.

import { el } from "./dom.js";

const KINDS = {
  comment: /\/\/[^\n]*/,
  attribute: /@\w+/,
  keyword: /\b(?:break|const|continue|else|enable|fn|for|if|let|loop|return|struct|switch|var|while)\b/,
  type: /\b(?:array|atomic|bool|f16|f32|i32|ptr|u32|vec[234])\b/,
};
const WORDS = new RegExp(
  Object.entries(KINDS)
    .map(([kind, { source }]) => `(?<${kind}>${source})`)
    .join("|"),
  "g",
);

/** Return `text` as text nodes and spans, whose classes say what they are. */
export function coloured(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let last = 0;
  for (const match of text.matchAll(WORDS)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [""];
    parts.push(text.slice(last, match.index), el("span", { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  return [...parts, text.slice(last)];
}
