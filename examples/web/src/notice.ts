// What the page says where there is no GPU to run on, and what a person can do about it.

import type { Absence } from "./device.js";
import { el } from "./dom.js";

/** How a Chromium without a GPU gets one in software. */
const SOFTWARE = "chromium --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-features=Vulkan";

const NOTICES: Record<Absence, { readonly title: string; readonly what: string; readonly steps: readonly string[] }> = {
  insecure: {
    title: "WebGPU needs a secure page",
    what: "This page came over plain http from another machine, and browsers hide WebGPU from such pages.",
    steps: ["Open it from https, or from http://localhost on this machine."],
  },
  "no-webgpu": {
    title: "This browser has no WebGPU",
    what: "navigator.gpu is missing, so no kernel can run here.",
    steps: [
      "Use a browser that has it: Chrome or Edge from 113, Safari from 26, Firefox from 141 on Windows.",
      "On Linux, switch it on in chrome://flags/#enable-unsafe-webgpu, and in Firefox set dom.webgpu.enabled.",
    ],
  },
  "no-adapter": {
    title: "This browser finds no GPU",
    what: "It has WebGPU, but requestAdapter gave none.",
    steps: [
      "Switch hardware acceleration on in the settings of the browser, then start it again.",
      "chrome://gpu says whether WebGPU is switched off, and why; a newer driver often helps.",
    ],
  },
};

/** Return the notice for a page without a GPU. */
export function notice(absence: Absence): HTMLElement {
  const { title, what, steps } = NOTICES[absence];
  const software = el("li", {}, "Without any GPU, Chromium can do all of this in software:", el("code", {}, SOFTWARE));
  const items = steps.map((step) => el("li", {}, step));
  return el(
    "section",
    { class: "notice", role: "alert", "data-absence": absence },
    el("h2", {}, title),
    el("p", {}, what),
    el("ul", {}, ...items, ...(absence === "insecure" ? [] : [software])),
  );
}

/** Return what to say when a device goes away by itself. */
export function lost(message: string): string {
  return (
    `The browser lost the GPU: ${message || "it does not say why"}. Run again, which asks for it anew; ` +
    "if that fails, reload the page or take a smaller shape."
  );
}
