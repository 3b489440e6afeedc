// The graph: the shares of agents at their goal and moving, and the spread of a group, over time.

import { prepareCanvas } from "./canvas.js";
import { HOME, MOVING } from "./moves.js";
import { readColours } from "./palette.js";

export class Graph {
  constructor(canvas, recording, { counts, present }) {
    this.canvas = canvas;
    this.recording = recording;
    this.share = (state, tick) => (present[tick] ? counts[state][tick] / present[tick] : 0);
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    const { states, cells, spread } = readColours();
    context.clearRect(0, 0, width, height);
    this.drawHome(context, width, height, states[HOME]);
    this.drawMoving(context, width, height, states[MOVING]);
    this.drawSpread(context, width, height, spread);
    this.drawEdits(context, width, cells[3]);
  }

  /** A share, by tick, as a line from left to right; one point per pixel where there is one. */
  trace(context, width, height, share) {
    context.beginPath();
    for (let x = 0; x <= width; x += 1) {
      const tick = Math.round((x / width) * this.recording.ticks);
      context.lineTo(x, height - 1 - share(tick) * (height - 2)); // no point if NaN
    }
  }

  drawHome(context, width, height, colour) {
    this.trace(context, width, height, (tick) => this.share(HOME, tick));
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
    context.lineTo(width, height);
    context.lineTo(0, height);
    context.fillStyle = colour;
    context.globalAlpha = 0.25;
    context.fill();
    context.globalAlpha = 1;
  }

  drawMoving(context, width, height, colour) {
    this.trace(context, width, height, (tick) => this.share(MOVING, tick));
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }

  /** The spread of the group, as a share of its peak. */
  drawSpread(context, width, height, colour) {
    const { spread, spreadPeak } = this.recording;
    this.trace(context, width, height, (tick) => spread[tick] / Math.max(spreadPeak, 1));
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }

  /** A notch at every tick at which the map was edited. */
  drawEdits(context, width, colour) {
    const { edits, ticks } = this.recording;
    context.fillStyle = colour;
    for (const [tick] of edits) context.fillRect((tick / Math.max(ticks, 1)) * width - 1, 0, 2, 7);
  }
}
