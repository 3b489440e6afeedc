// The heads of the panes: which algorithm moves the units, its parameters, and what the units do.

import { fieldFor, readFields, selectOf } from "./fields.js";
import { byId, element } from "./page.js";

const COUNTS = ["home", "moving", "yielding", "waiting", "stuck"];
const WORDS = { home: "at goal", moving: "moving", yielding: "making way", waiting: "waiting", stuck: "stuck" };
const RARE = "yielding"; // shown only where there are any

export class Heads {
  constructor(play) {
    this.play = play;
    this.counts = []; // by pane and count, the elements that show them
  }

  start() {
    byId("parameters-form").addEventListener("submit", (event) => {
      event.preventDefault();
      byId("parameters").hidePopover();
      const { number, name } = this.open;
      this.play.orders.send("algorithm", { pane: number, name, parameters: readFields(byId("parameters-form")) });
    });
  }

  /** Make the head of a pane anew. */
  build(pane, { algorithm, parameters, reason }) {
    const { algorithms } = this.play.offered;
    const choice = selectOf(algorithms.map(({ name, title }) => [name, title ?? name]), algorithm);
    choice.ariaLabel = `Algorithm of pane ${pane.number + 1}`;
    choice.className = "algorithm";
    choice.title = reason; // which planner it has chosen, and why
    choice.addEventListener("change", () => {
      this.play.orders.send("algorithm", { pane: pane.number, name: choice.value, parameters: {} });
    });
    const button = element("button", "…");
    button.type = "button";
    button.title = button.ariaLabel = `Parameters of pane ${pane.number + 1}`;
    button.addEventListener("click", () => this.openParameters(pane.number, algorithm, parameters));
    button.disabled = this.described(algorithm).parameters.length === 0;
    const counts = element("div");
    counts.className = "counts";
    this.counts[pane.number] = COUNTS.map((name) => {
      const [mark, value] = [element("i"), element("output", "0")];
      mark.className = `mark ${name}`;
      const shown = element("span", mark, element("span", WORDS[name]), value);
      shown.title = WORDS[name];
      shown.hidden = name === RARE;
      counts.append(shown);
      return value;
    });
    const swatch = element("i");
    swatch.className = `swatch pane-${pane.number}`;
    pane.head.replaceChildren(swatch, choice, button, counts);
  }

  described(algorithm) {
    return this.play.offered.algorithms.find(({ name }) => name === algorithm) ?? { parameters: [], about: "" };
  }

  openParameters(number, name, set) {
    const { title, about, parameters } = this.described(name);
    this.open = { number, name };
    byId("parameters-title").textContent = `Parameters of ${title ?? name}`;
    byId("parameters-about").textContent = about;
    const button = element("button", "Use them from now on");
    button.className = "primary";
    const fields = parameters.map((parameter) => fieldFor(parameter, set[parameter.name] ?? parameter.value));
    byId("parameters-form").replaceChildren(...fields, button);
    byId("parameters").showPopover();
  }

  /** Show the numbers of every pane. */
  show(panes) {
    panes.forEach((row, pane) => COUNTS.forEach((name, i) => (this.counts[pane][i].value = row[name])));
    panes.forEach((row, pane) => (this.counts[pane][COUNTS.indexOf(RARE)].parentElement.hidden = row[RARE] === 0));
  }
}
