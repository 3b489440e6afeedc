// The card about what is selected: of one unit, why it does what it does, in every pane; of several, what they do.

import { NO_AGENT } from "./moves.js";
import { byId, counted, element, fillPairs } from "./page.js";
import { IS_HOME, SERVER_STATES, STATES } from "./units.js";

const ASK_MS = 200; // between two questions about the same unit
const NAMED_LINKS = 8; // of a chain; the rest is counted

export class Why {
  constructor(play) {
    this.play = play;
    this.answers = []; // by pane, the newest
    this.unit = NO_AGENT; // that is asked about
    this.askedAt = -Infinity;
    this.shown = ""; // what the card says, so that nothing is made anew that has not changed
  }

  /** Ask about another unit, or about none. */
  choose(unit) {
    this.unit = unit;
    this.answers = [];
    this.askedAt = -Infinity;
  }

  /** Ask the server, unless it was asked a moment ago. */
  ask(now) {
    if (this.unit === NO_AGENT) return;
    if (now - this.askedAt < ASK_MS) {
      const isOld = this.play.panes.some(({ number, units }) => units.tick > (this.answers[number]?.tick ?? -1));
      if (isOld) this.timer ??= setTimeout(() => this.askAgain(), ASK_MS); // also if no other frame comes
      return;
    }
    this.askedAt = now;
    for (const { number } of this.play.panes) this.play.link.send({ type: "why", pane: number, agent: this.unit });
  }

  askAgain() {
    this.timer = undefined;
    this.play.schedule();
  }

  /** Take an answer; one about a unit that is no longer selected is out of date. */
  take(answer) {
    if (answer.agent === this.unit) this.answers[answer.pane] = answer;
  }

  show() {
    const { selection, panes } = this.play;
    const card = byId("card");
    card.classList.toggle("empty", selection.size === 0);
    if (selection.size === 0) return;
    const content = selection.size === 1 ? this.about(this.unit) : this.summary(selection.list);
    const key = JSON.stringify([selection.size, this.unit, content, panes.length]);
    if (key === this.shown) return;
    this.shown = key;
    byId("camera").disabled = selection.size > 1; // it follows one
    byId("card-title").textContent = selection.size === 1 ? `Unit ${this.unit}` : counted(selection.size, "unit");
    byId("card-body").replaceChildren(...content.map((part) => this.build(part)));
    byId("compare").hidden = selection.size > 1 || panes.length > 1;
  }

  /** What the card says about one unit: plain data, from which the elements are made. */
  about(unit) {
    const { panes } = this.play;
    const parts = panes.map(({ number, units, title }) => {
      if (!units.has(unit)) return { title, state: "gone", sentence: "It is not on the map." };
      const answer = this.answers[number]; // all is of its tick, so that nothing contradicts its sentence
      const state = answer ? SERVER_STATES.indexOf(answer.state) : units.state(unit);
      return {
        title: panes.length > 1 ? title : "",
        state: STATES[state],
        code: state,
        sentence: answer?.sentence ?? "…",
        chain: (answer?.chain ?? []).slice(1).map((link) => link.agent),
        cycle: answer?.cycle ?? false,
        pairs: [
          ["Cell", place(answer ? answer.chain[0].cell : units.cell(unit))],
          ...(answer ? [["Goal", place(answer.goal)]] : []),
          ...(answer?.way.length ? [["Way ahead", counted(answer.way.length, "step")]] : []),
        ],
      };
    });
    return panes.length > 1 ? [{ verdict: comparison(unit, panes) }, ...parts] : parts;
  }

  summary(units) {
    return this.play.panes.map((pane) => {
      const counts = new Array(STATES.length).fill(0);
      for (const unit of units) if (unit < pane.units.count) counts[pane.units.state(unit)] += 1;
      const pairs = STATES.map((name, state) => [name, counts[state]]).filter(([, count]) => count > 0);
      return { title: this.play.panes.length > 1 ? pane.title : "", pairs };
    });
  }

  build({ title, state, code, sentence, chain, cycle, pairs, verdict }) {
    const part = element("div");
    part.className = "answer";
    if (verdict) part.append(classed("p", "comparison", verdict));
    if (title) part.append(element("h3", title));
    if (state) part.append(classed("span", `state state-${code}`, state));
    if (sentence) part.append(classed("p", "sentence", sentence));
    if (chain?.length) part.append(this.buildChain(chain, cycle));
    if (pairs) {
      const list = classed("dl", "pairs");
      fillPairs(list, pairs);
      part.append(list);
    }
    return part;
  }

  /** The units that it waits for, each a button that leads to it. */
  buildChain(chain, cycle) {
    const links = chain.slice(0, NAMED_LINKS).map((unit) => {
      const button = element("button", String(unit));
      button.type = "button";
      button.ariaLabel = `Unit ${unit}: select it`;
      button.addEventListener("click", () => this.play.selection.set([unit]));
      return button;
    });
    const list = classed("div", cycle ? "chain cycle" : "chain", "waits for");
    links.forEach((link, i) => list.append(i ? " → " : " ", link));
    if (chain.length > NAMED_LINKS) list.append(` → ${chain.length - NAMED_LINKS} more`);
    if (cycle) list.append(" ↺ in a circle");
    return list;
  }
}

const place = ([x, y]) => `(${x}, ${y})`;

function classed(tag, name, ...content) {
  const made = element(tag, ...content);
  made.className = name;
  return made;
}

/** Whether the one or the other algorithm got a unit to its goal, in words. */
function comparison(unit, panes) {
  const home = panes.filter(({ units }) => units.has(unit) && units.state(unit) === IS_HOME);
  if (home.length === 0) return `Neither has got unit ${unit} to its goal yet.`;
  const told = ({ title, units }) => `${title} by tick ${units.since[unit]}`;
  if (home.length === panes.length) return `Both got unit ${unit} to its goal: ${home.map(told).join(", ")}.`;
  const [other] = panes.filter((pane) => !home.includes(pane));
  return `${home[0].title} got unit ${unit} to its goal by tick ${home[0].units.since[unit]}; ${other.title} has not yet.`;
}
