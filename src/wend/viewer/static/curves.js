// The curves below the panes: how many are home, what the others do, what a tick costs, how far the units are spread.

import { clamp } from "./geometry.js";
import { Graph } from "./graph.js";
import { byId, element, spreadName } from "./page.js";

const whole = (value) => Math.round(value).toLocaleString("en");

/** A chart shows numbers of a pane's row; those of one pane have colours of their own if there are several. */
const CHARTS = [
  {
    name: "at goal",
    of: [(row) => (row.units ? (100 * row.home) / row.units : 0)],
    top: 100,
    word: (value) => `${Math.floor(value)} %`,
  },
  {
    name: "moving, waiting, stuck",
    of: [(row) => row.moving, (row) => row.waiting, (row) => row.stuck],
    states: [0, 1, 3],
    word: whole,
  },
  { name: "tick time", of: [(row) => row.tick_ms], peaks: true, word: (value) => `${value.toFixed(1)} ms` },
  { name: "expansions", of: [(row) => row.expansions], peaks: true, word: whole },
  { name: "spread", of: [(row) => row.spread ?? NaN], word: spreadName },
];

export class Curves {
  constructor(chosen) {
    this.chosen = chosen; // called when a tick is chosen, or let go
    this.figures = CHARTS.map((chart) => this.build(chart));
    byId("curves").replaceChildren(...this.figures.map(({ figure }) => figure));
    this.clear();
  }

  build(chart) {
    const [canvas, values, cursor] = [element("canvas"), element("span"), element("i")];
    const frame = element("div", canvas, cursor);
    frame.className = "chart";
    canvas.role = "img";
    canvas.ariaLabel = `${chart.name}, over time`;
    frame.addEventListener("pointermove", (event) => this.point(this.tickAt(frame, event)));
    frame.addEventListener("pointerleave", () => this.point(null));
    frame.addEventListener("click", (event) => {
      this.pinned = this.pinned === null ? this.tickAt(frame, event) : null;
      this.chosen();
    });
    const figure = element("figure", element("figcaption", element("b", chart.name), values), frame);
    return { chart, figure, values, cursor, graph: new Graph(canvas, 1, []) };
  }

  clear() {
    this.rows = []; // by tick: the panes' numbers; those of a tick that was not told are those before it
    this.peaks = CHARTS.map(({ top }) => top ?? 1);
    this.pointed = null; // a tick under the pointer
    this.pinned = null; // a tick that was clicked
  }

  add(tick, panes) {
    if (tick < this.last) this.clear();
    const before = this.rows.at(-1) ?? panes;
    while (this.rows.length < tick) this.rows.push(before);
    this.rows[tick] = panes;
    CHARTS.forEach(({ of }, i) => {
      for (const row of panes) for (const value of of) this.peaks[i] = Math.max(this.peaks[i], value(row) || 0);
    });
  }

  get last() {
    return this.rows.length - 1;
  }

  point(tick) {
    this.pointed = tick;
    this.chosen();
  }

  tickAt(frame, event) {
    const { left, width } = frame.getBoundingClientRect();
    return Math.round(clamp((event.clientX - left) / width, 0, 1) * Math.max(this.last, 0));
  }

  /** The tick whose numbers are shown: the one that is chosen, else the newest. */
  get shown() {
    return Math.min(this.pointed ?? this.pinned ?? this.last, this.last);
  }

  draw() {
    const panes = this.rows[this.shown];
    if (!panes) return;
    const isChosen = (this.pointed ?? this.pinned) !== null;
    this.figures.forEach(({ chart, values, cursor, graph }, i) => {
      graph.ticks = Math.max(this.last, 1);
      graph.curves = panes.flatMap((_, pane) => this.curvesOf(chart, this.peaks[i], pane));
      graph.draw();
      const words = (row) => chart.of.map((value) => chart.word(value(row))).join(" · ");
      values.textContent = panes.map(words).join(" | ");
      cursor.hidden = !isChosen;
      cursor.style.left = `${(100 * this.shown) / graph.ticks}%`;
    });
  }

  curvesOf({ of, states, peaks }, peak, pane) {
    return of.map((value, i) => ({
      at: (tick) => value(this.rows[clamp(tick, 0, this.last)][pane]) / peak,
      colour: (colours) => (states ? colours.units[states[i]] : colours.curves[pane]),
      dash: states && pane > 0 ? [4, 3] : [],
      peaks,
    }));
  }
}

/** What a tick cost, in words. */
export function costOf(tick, panes, titles) {
  const told = (row, pane) => {
    const cost = `${row.tick_ms.toFixed(1)} ms and ${whole(row.expansions)} expansions`;
    return panes.length > 1 ? `${titles[pane]} ${cost}` : cost;
  };
  return `Tick ${tick} cost ${panes.map(told).join(", ")}.`;
}
