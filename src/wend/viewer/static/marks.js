// The marks above a pane: selection box, way and chain of the unit that is asked about, ids, brush, cursor, signals.

import { arrow, diamond, disc } from "./canvas.js";
import { clamp } from "./geometry.js";

const READABLE_UNITS = 150; // up to this many on the stage, ids are drawn at any zoom
const SIGNAL_MS = 900; // how long a signal is seen

export class Marks {
  constructor(colours) {
    this.colours = colours;
    this.signals = []; // places where an order was given: a ring that grows and fades
  }

  signal(cell, colour, now) {
    this.signals.push({ cell, colour, from: now });
  }

  /** Whether something moves by itself. */
  isLively(now) {
    this.signals = this.signals.filter(({ from }) => now - from < SIGNAL_MS);
    return this.signals.length > 0;
  }

  drawSignals(pane, now) {
    const { context, camera } = pane;
    for (const { cell, colour, from } of this.signals) {
      const age = clamp((now - from) / SIGNAL_MS, 0, 1);
      const path = new Path2D();
      disc(path, ...pane.stageOfCell(cell), Math.max(camera.scale, 6) * (0.4 + age));
      context.globalAlpha = 1 - age;
      context.strokeStyle = colour;
      context.lineWidth = 2.5;
      context.stroke(path);
      context.globalAlpha = 1;
    }
  }

  drawBox(pane, box) {
    const { context } = pane;
    const { x, y, width, height } = box;
    context.fillStyle = context.strokeStyle = this.colours.accent;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.14;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.strokeRect(x, y, width, height);
  }

  /** What is known about a unit: its way ahead, its goal, and the chain of those that it waits for. */
  drawWhy(pane, why, phase) {
    if (!pane.units.has(why.agent)) return;
    this.drawWay(pane, why, phase);
    this.drawChain(pane, why, phase);
  }

  drawWay(pane, { agent, way, goal, chain: [{ cell }] }, phase) {
    const { context, camera } = pane;
    context.strokeStyle = this.colours.outline;
    context.lineJoin = context.lineCap = "round";
    if (way.length > 0) {
      context.beginPath();
      context.moveTo(...pane.stageOf(agent, phase));
      for (const cell of way) context.lineTo(...pane.stageOfCell(cell));
      context.strokeStyle = this.colours.halo;
      context.lineWidth = clamp(camera.scale * 0.3, 4, 8);
      context.stroke();
      context.strokeStyle = this.colours.accent;
      context.lineWidth = clamp(camera.scale * 0.16, 2, 4);
      context.stroke();
    }
    const [x, y] = pane.stageOf(agent, phase);
    const mark = new Path2D();
    disc(mark, x, y, Math.max(pane.radius, 4) + 3);
    const isThere = goal[0] === cell[0] && goal[1] === cell[1];
    if (!isThere) diamond(mark, ...pane.stageOfCell(goal), Math.max(pane.radius, 6));
    context.strokeStyle = this.colours.outline;
    context.lineWidth = 2;
    context.stroke(mark);
    if (isThere) return;
    context.beginPath();
    context.moveTo(...(way.length > 0 ? pane.stageOfCell(way.at(-1)) : [x, y]));
    context.lineTo(...pane.stageOfCell(goal));
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.stroke();
    context.setLineDash([]);
  }

  /** Arrows from one to the next; where the chain closes, the last one leads back. */
  drawChain(pane, { chain, cycle, back_to: backTo }, phase) {
    const units = chain.map((link) => link.agent);
    if (cycle) units.push(units[backTo]);
    if (!units.every((unit) => pane.units.has(unit))) return;
    const { context } = pane;
    const size = Math.max(pane.radius, 4);
    const path = new Path2D();
    const rings = new Path2D();
    for (let i = 1; i < units.length; i += 1) {
      const [from, to] = [pane.stageOf(units[i - 1], phase), pane.stageOf(units[i], phase)];
      arrow(path, ...from, ...to, size * 0.9, clamp(size * 0.8, 5, 12));
      disc(rings, ...to, size + 3);
    }
    const colour = cycle ? this.colours.bad : this.colours.states[1];
    for (const [stroke, width] of [[this.colours.halo, 6], [colour, 3]]) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke(path);
    }
    context.lineWidth = 2;
    context.stroke(rings);
  }

  /** Ids of the units on the stage, if there are few enough to read them. Answers whether they were drawn. */
  drawIds(pane, phase) {
    const { context, camera, units } = pane;
    const [x0, y0] = camera.toMap(0, 0);
    const [x1, y1] = camera.toMap(camera.width, camera.height);
    const seen = units.inside(x0, y0, x1, y1, phase);
    const digits = Math.max(String(units.count - 1).length, 2);
    const fitting = Math.min((2 * pane.radius) / (0.6 * digits), 20);
    if (fitting < 8 && seen.length > READABLE_UNITS) return false;
    this.beginText(context, `600 ${Math.max(fitting, 9)}px system-ui, sans-serif`);
    for (const unit of seen) {
      const [x, y] = pane.stageOf(unit, phase);
      this.write(context, String(unit), x, y - (fitting < 8 ? pane.radius + 7 : 0));
    }
    return true;
  }

  /** A ring around a place, and words below it. */
  drawNote(pane, { cell, reach, words }) {
    const { context, camera } = pane;
    const [x, y] = pane.stageOfCell(cell);
    const radius = Math.max(reach * camera.scale, 18);
    const path = new Path2D();
    disc(path, x, y, radius);
    for (const [colour, width] of [[this.colours.halo, 6], [this.colours.bad, 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke(path);
    }
    this.beginText(context, "600 13px system-ui, sans-serif");
    const below = y + radius + 14 < camera.height - 8;
    this.write(context, words, clamp(x, 80, camera.width - 80), below ? y + radius + 14 : y - radius - 14);
  }

  drawBrush(pane, [x, y], size) {
    const { context, camera } = pane;
    const from = Math.floor(size / 2);
    context.strokeStyle = this.colours.accent;
    context.lineWidth = 2;
    const side = size * camera.scale;
    context.strokeRect(camera.stageX(x - from), camera.stageY(y - from), side, side);
  }

  beginText(context, font) {
    context.font = font;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = this.colours.halo;
    context.fillStyle = this.colours.text;
  }

  write(context, words, x, y) {
    context.strokeText(words, x, y);
    context.fillText(words, x, y);
  }
}
