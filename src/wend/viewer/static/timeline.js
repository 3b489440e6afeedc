// The timeline: the slider and the graph below it show the tick, and lead to any other.

import { clamp } from "./geometry.js";
import { Graph } from "./graph.js";
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

export class Timeline {
  constructor(recording, survey, player) {
    this.player = player;
    const edited = recording.edits.map(([tick]) => tick);
    this.graph = new Graph(byId("graph"), recording.ticks, progressCurves(recording, survey), edited);
  }

  start() {
    const [slider, frame] = [byId("slider"), byId("graph-frame")];
    slider.max = this.player.ticks;
    slider.addEventListener("input", () => this.player.seek(slider.valueAsNumber));
    const seek = (event) => {
      const { left, width } = frame.getBoundingClientRect();
      this.player.seek(Math.round(clamp((event.clientX - left) / width, 0, 1) * this.player.ticks));
    };
    frame.addEventListener("pointerdown", (event) => {
      frame.setPointerCapture(event.pointerId);
      seek(event);
    });
    frame.addEventListener("pointermove", (event) => frame.hasPointerCapture(event.pointerId) && seek(event));
  }

  /** Show where the player is. */
  show() {
    const { tick, time, ticks } = this.player;
    byId("slider").value = tick;
    document.body.style.setProperty("--progress", `${(time / Math.max(ticks, 1)) * 100}%`);
  }
}
