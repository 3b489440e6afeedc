// The timeline: the slider and the graph below it show the tick, and lead to any other.

import { clamp } from "./geometry.js";
import { Graph } from "./graph.js";
import { byId } from "./page.js";

export class Timeline {
  constructor(recording, survey, player) {
    this.player = player;
    this.graph = new Graph(byId("graph"), recording, survey);
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
