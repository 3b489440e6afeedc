// A graph: curves over the ticks, each as shares of its height.
//
// A curve is { colour, at, area, peaks, dash }: `colour` picks one of the page's colours; `at` gives a share from 0 to 1
// by tick, or NaN where there is none; `area` fills the space below it; `peaks` shows the largest where several ticks
// share a pixel, and not the one in the middle; `dash` is the pattern of a broken line.

import { prepareCanvas } from "./canvas.js";
import { clamp } from "./geometry.js";
import { readColours } from "./palette.js";

const DECADES = 3; // that a scale of costs shows: each is a third of its height, and ten times the one below

/** A cost as a share of the height, on a logarithmic scale up to the peak. */
export const costShare = (cost, peak) => clamp(1 + Math.log10(cost / peak) / DECADES, 0, 1);

export class Graph {
  /** `notches` are the ticks at which the map was edited. */
  constructor(canvas, ticks, curves, notches = []) {
    this.canvas = canvas;
    this.ticks = ticks;
    this.curves = curves;
    this.notches = notches;
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    const colours = readColours();
    context.clearRect(0, 0, width, height);
    for (const curve of this.curves) this.drawCurve(context, width, height, curve, curve.colour(colours));
    context.fillStyle = colours.cells[3];
    for (const tick of this.notches) context.fillRect((tick / Math.max(this.ticks, 1)) * width - 1, 0, 2, 7);
  }

  /** A line from left to right, one point per pixel where there is one. */
  drawCurve(context, width, height, { at, area, peaks, dash = [] }, colour) {
    const step = this.ticks / Math.max(width, 1);
    context.beginPath();
    for (let x = 0; x <= width; x += 1) {
      let share = at(Math.round(x * step));
      for (let tick = Math.ceil((x - 0.5) * step); peaks && tick < (x + 0.5) * step && tick <= this.ticks; tick += 1) {
        if (at(tick) > share) share = at(tick);
      }
      context.lineTo(x, height - 1 - share * (height - 2)); // no point if NaN
    }
    context.strokeStyle = colour;
    context.lineWidth = area ? 1.5 : 1.25;
    context.setLineDash(dash);
    context.stroke();
    if (!area) return;
    context.lineTo(width, height);
    context.lineTo(0, height);
    context.fillStyle = colour;
    context.globalAlpha = 0.25;
    context.fill();
    context.globalAlpha = 1;
  }
}
