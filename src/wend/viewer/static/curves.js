// The curves below the panes: how many are home, what the others do, what a tick costs, how far the units are spread.

import { clamp } from "./geometry.js";
import { Graph, costShare } from "./graph.js";
import { byId, element, spreadName } from "./page.js";

const KEPT = 10000; // ticks at least, and twice as many at most; older ones are forgotten
const whole = (value) => Math.round(value).toLocaleString("en");

/** A chart shows numbers of a pane's row; if there are several, each has the colour of its state. Costs are logarithmic. */
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
  { name: "tick time", of: [(row) => row.tick_ms], isCost: true, word: (value) => `${value.toFixed(1)} ms` },
  { name: "expansions", of: [(row) => row.expansions], isCost: true, word: whole },
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
    this.first = 0; // the tick of the first row
    this.rows = []; // the panes' numbers after each tick; those of a tick that was not told are those before it
    this.peaks = CHARTS.map(({ top }) => top ?? 1);
    this.pointed = null; // a tick under the pointer
    this.pinned = null; // a tick that was clicked
  }

  add(tick, panes) {
    if (tick < this.last) this.clear();
    const before = this.rows.at(-1) ?? panes;
    if (tick - this.first > 2 * KEPT) {
      this.rows.splice(0, tick - KEPT - this.first);
      this.first = tick - KEPT;
    }
    while (this.last < tick - 1) this.rows.push(before);
    this.rows[tick - this.first] = panes;
    CHARTS.forEach(({ of }, i) => {
      for (const row of panes) for (const value of of) this.peaks[i] = Math.max(this.peaks[i], value(row) || 0);
    });
  }

  get last() {
    return this.first + this.rows.length - 1;
  }

  /** The panes' numbers after a tick; undefined if none is known. */
  row(tick) {
    return this.rows[clamp(tick, this.first, this.last) - this.first];
  }

  point(tick) {
    this.pointed = tick;
    this.chosen();
  }

  tickAt(frame, event) {
    const { left, width } = frame.getBoundingClientRect();
    const share = clamp((event.clientX - left) / width, 0, 1);
    return Math.round(this.first + share * Math.max(this.last - this.first, 0));
  }

  /** The tick whose numbers are shown: the one that is chosen, else the newest. */
  get shown() {
    return clamp(this.pointed ?? this.pinned ?? this.last, this.first, this.last);
  }

  draw() {
    const panes = this.row(this.shown);
    if (!panes) return;
    const isChosen = (this.pointed ?? this.pinned) !== null;
    this.figures.forEach(({ chart, values, cursor, graph }, i) => {
      graph.ticks = Math.max(this.last - this.first, 1);
      graph.curves = panes.flatMap((_, pane) => this.curvesOf(chart, this.peaks[i], pane));
      graph.draw();
      const words = (row) => chart.of.map((value) => chart.word(value(row))).join(" · ");
      values.textContent = panes.map(words).join(" | ");
      cursor.hidden = !isChosen;
      cursor.style.left = `${(100 * (this.shown - this.first)) / graph.ticks}%`;
    });
  }

  /** Those of the second pane are dashed, so that both are seen where they lie on one another. */
  curvesOf({ of, states, isCost }, peak, pane) {
    const share = isCost ? costShare : (value, most) => value / most;
    return of.map((value, i) => ({
      at: (tick) => share(value(this.row(this.first + tick)[pane]), peak),
      colour: (colours) => (states ? colours.units[states[i]] : colours.curves[pane]),
      dash: pane > 0 ? [8, 6] : [],
      peaks: isCost,
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
