// The timeline: the slider and the graphs below it show the tick, and lead to any other.

import { clamp } from "./geometry.js";
import { Graph, costShare } from "./graph.js";
import { HOME, MOVING } from "./moves.js";
import { byId } from "./page.js";

/** The shares of agents at their goal and moving, and the spread of a group as a share of its peak. */
function progressCurves({ spread, spreadPeak }, { counts, present }) {
  const share = (state) => (tick) => (present[tick] ? counts[state][tick] / present[tick] : 0);
  return [
    { colour: ({ states }) => states[HOME], at: share(HOME), area: true },
    { colour: ({ states }) => states[MOVING], at: share(MOVING) },
    { colour: (colours) => colours.spread, at: (tick) => spread[tick] / Math.max(spreadPeak, 1) },
  ];
}

/** What planning the tick that led to each tick cost, on a logarithmic scale up to the peak. */
function costCurves({ planMs, expansions }) {
  const curve = (costs, colour, dash) => {
    const peak = costs.reduce((most, cost) => Math.max(most, cost), 0);
    const at = (tick) => (tick > 0 ? costShare(costs[tick - 1], peak) : NaN);
    return { colour, at, peaks: true, dash };
  };
  const dashes = [8, 6]; // so that both are seen where they lie on one another
  return [curve(expansions, (colours) => colours.expansions), curve(planMs, (colours) => colours.planning, dashes)];
}

export class Timeline {
  /** `seek(tick)` is called where one is chosen. */
  constructor(seek) {
    const [slider, frame] = [byId("slider"), byId("graph-frame")];
    slider.addEventListener("input", () => seek(slider.valueAsNumber));
    const seekAt = (event) => {
      const { left, width } = frame.getBoundingClientRect();
      seek(Math.round(clamp((event.clientX - left) / width, 0, 1) * slider.max));
    };
    frame.addEventListener("pointerdown", (event) => {
      frame.setPointerCapture(event.pointerId);
      seekAt(event);
    });
    frame.addEventListener("pointermove", (event) => frame.hasPointerCapture(event.pointerId) && seekAt(event));
  }

  load(recording, survey) {
    const { ticks, edits } = recording;
    const edited = edits.map(([tick]) => tick);
    byId("slider").max = ticks;
    this.graphs = [
      new Graph(byId("graph"), ticks, progressCurves(recording, survey), edited),
      new Graph(byId("cost-graph"), ticks, costCurves(recording)),
    ];
  }

  draw() {
    for (const graph of this.graphs) graph.draw();
  }

  /** Show where the player is. */
  show({ tick, time, ticks }) {
    byId("slider").value = tick;
    document.body.style.setProperty("--progress", `${(time / Math.max(ticks, 1)) * 100}%`);
  }
}
