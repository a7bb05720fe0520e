import "@fontsource-variable/ibm-plex-sans/wght.css";
import "@fontsource/ibm-plex-mono/latin-400.css";
import "@fontsource/ibm-plex-mono/latin-ext-400.css";
import "./style.css";

import { kit, select } from "../kernels/index.js";
import { bench } from "./bench.js";
import { facts, findAdapter, profile } from "./device.js";
import { byId, el } from "./dom.js";
import { Form } from "./form.js";
import { lost, notice } from "./notice.js";
import { Results } from "./results.js";

/** Show the form and its answers for an adapter. */
function start(adapter: GPUAdapter): void {
  const banner = el("p", { id: "lost", class: "notice", role: "alert", hidden: true });
  const place = el("div", {});
  let results: Results;
  let running: Results | null = null; // those that a run fills now
  let stop = false;

  /** Answer the question of now, without running anything. */
  const ask = () => {
    const { op, sizes, want, features } = form.question;
    results = new Results(form.question, select(kit, op.name, sizes, profile(adapter, features), want));
    place.replaceChildren(results.element);
    form.say(results.problem);
    offer();
  };
  const offer = () => {
    if (!running) {
      form.offer(results.offer, results.names.length > 0);
    } else if (stopped()) {
      form.offer("Stopping…", false);
    } else {
      form.offer("Stop", true);
    }
  };
  /** Whether the person pressed the button again, or asks something else by now. */
  const stopped = () => stop || running !== results;

  const run = async () => {
    ask();
    const { op, sizes, want } = form.question;
    const own = results;
    const say = (what: string) => own === results && form.say(what);
    banner.hidden = true;
    running = own;
    stop = false;
    offer();
    try {
      await bench(own.names, sizes, () => op.problem(sizes, want), {
        say: (what) => say(`${what}…`),
        outcome: (outcome) => own.add(outcome),
        stopped,
        lost: (message) => {
          banner.textContent = lost(message);
          banner.hidden = false;
        },
      });
      say(stop ? "Stopped." : "Done.");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    running = null;
    offer();
  };

  const press = () => {
    if (running) {
      stop = true;
      offer();
    } else {
      void run();
    }
  };

  const form = new Form(ask, press);
  byId("page").replaceChildren(banner, form.element, place);
  byId("adapter").replaceChildren(
    ...facts(adapter).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
  ask();
}

const found = await findAdapter();
if (typeof found === "string") {
  byId("page").replaceChildren(notice(found));
} else {
  start(found);
}
