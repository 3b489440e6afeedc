// A pane: one world as the server shows it. Its painter draws ground and units, a canvas above carries the marks.

import { prepareCanvas } from "./canvas.js";
import { CELLS_FRAME, FULL_FRAME, MAP_FRAME, MOVES_FRAME, OVERLAY_FRAME, cellChanges } from "./frames.js";
import { element } from "./page.js";
import { PlainPainter } from "./plain.js";
import { Units } from "./units.js";
import { createGlPainter } from "./webgl.js";

export class Pane {
  constructor(number, camera, colours, changed) {
    this.number = number;
    this.camera = camera;
    this.colours = colours;
    this.changed = changed; // called when something must be drawn anew
    this.units = new Units();
    this.cells = null; // the class of every cell
    this.size = [1, 1];
    this.heat = null; // values over the cells, or null
    this.heatPeak = 0;
    this.ground = element("canvas");
    this.ground.className = "ground";
    this.above = element("canvas");
    this.above.className = "above";
    this.above.tabIndex = 0;
    this.above.role = "application";
    this.head = element("div");
    this.head.className = "pane-head";
    const view = element("div", this.ground, this.above);
    view.className = "view";
    this.element = element("section", this.head, view);
    this.element.className = "pane";
  }

  /** Call once the pane is part of the page. */
  start() {
    this.ground.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // so that it comes back
      this.choosePainter(null);
    });
    const asked = new URLSearchParams(location.search).get("painter"); // "plain", "webgl", or what is better
    const create = () => (asked === "plain" ? null : createGlPainter(this.ground, asked === "webgl"));
    this.ground.addEventListener("webglcontextrestored", () => this.choosePainter(create()));
    this.choosePainter(create());
    this.resize();
  }

  /** Draw with this painter, or on the plain canvas if it is null. */
  choosePainter(painter) {
    this.painter = painter ?? new PlainPainter(this.above.getContext("2d"));
    this.element.dataset.painter = painter ? "webgl" : "plain";
    this.ground.hidden = painter === null;
    if (this.cells) this.painter.setMap(...this.size, this.cells);
    if (this.cells) this.painter.setHeat(this.heat);
    this.painter.recolour(this.colours);
    this.changed();
  }

  resize() {
    const { context, width, height, density } = prepareCanvas(this.above);
    this.context = context;
    Object.assign(this.ground, { width: this.above.width, height: this.above.height });
    this.camera.resize(width, height, density);
  }

  recolour(colours) {
    this.colours = colours;
    this.painter.recolour(colours);
  }

  /** Start another scene. */
  clear(width, height) {
    this.size = [width, height];
    this.units.clear();
    this.cells = null;
    this.heat = null;
  }

  /** Take a frame; false if it does not fit to what is known. */
  take(frame) {
    if (frame.kind === FULL_FRAME) this.units.replace(frame);
    else if (frame.kind === MOVES_FRAME) return this.units.advance(frame);
    else if (frame.kind === CELLS_FRAME) this.editMap(frame);
    else if (frame.count !== this.size[0] * this.size[1]) return false;
    else if (frame.kind === MAP_FRAME) this.setMap(frame.bytes);
    else if (frame.kind === OVERLAY_FRAME) this.setHeat(frame.bytes, frame.peak);
    return true;
  }

  setMap(cells) {
    this.cells = cells;
    this.painter.setMap(...this.size, cells);
    this.painter.setHeat(this.heat);
  }

  editMap(frame) {
    const cells = this.cells.slice(); // the bytes of a frame may be those of the other pane, too
    for (const [cell, what] of cellChanges(frame)) cells[cell] = what;
    this.setMap(cells);
  }

  setHeat(values, peak = 0) {
    this.heat = values;
    this.heatPeak = peak;
    if (this.cells) this.painter.setHeat(values);
  }

  /** Draw ground and units; the marks come on top. */
  draw(view) {
    const { context, camera } = this;
    context.clearRect(0, 0, camera.width, camera.height);
    if (this.cells) this.painter.draw({ ...view, units: this.units, radius: this.radius });
  }

  /** Of a unit, in pixels. */
  get radius() {
    return Math.max(this.camera.scale * 0.38, 1.5);
  }

  /** The middle of a unit, or of a cell [x, y], on the stage. */
  stageOf(unit, phase) {
    const [x, y] = this.units.middle(unit, phase);
    return [this.camera.stageX(x), this.camera.stageY(y)];
  }

  stageOfCell([x, y]) {
    return [this.camera.stageX(x + 0.5), this.camera.stageY(y + 0.5)];
  }

  /** The cell at a pixel of the stage, as [x, y]; it may be off the map. */
  cellAt([pixelX, pixelY]) {
    return this.camera.toMap(pixelX, pixelY).map(Math.floor);
  }

  /** The unit at a pixel of the stage, or NO_AGENT: a small one counts from a few pixels away. */
  unitAt([pixelX, pixelY], phase, pixels = 7) {
    const reach = Math.max(0.6, pixels / this.camera.scale);
    return this.units.nearest(...this.camera.toMap(pixelX, pixelY), reach, phase);
  }
}
