// Paints ground, heat and units on a plain canvas: where there is no WebGL2, or its context was lost.

import { diamond, disc, ring, square } from "./canvas.js";
import { HUES, toPixels } from "./palette.js";
import { IS_GONE, PINNED } from "./units.js";

const SMALLEST_SHAPE = 3; // pixels of radius; smaller units are all squares

/** A cross, for those that are stuck. */
function cross(path, x, y, radius) {
  const [far, near] = [radius * 0.95, radius * 0.42];
  const turned = [[0, -near], [far - near, -far], [far, -far + near], [near, 0]];
  const corners = [];
  for (let quarter = 0; quarter < 4; quarter += 1) {
    corners.push(...turned.slice(0, 3));
    turned.forEach(([px, py], i) => (turned[i] = [-py, px]));
  }
  corners.forEach(([px, py], i) => (i ? path.lineTo(x + px, y + py) : path.moveTo(x + px, y + py)));
  path.closePath();
}

const SHAPES = [disc, ring, square, cross, disc, disc, square]; // by state

export class PlainPainter {
  constructor(context) {
    this.context = context;
    this.map = document.createElement("canvas"); // one pixel per cell, scaled when drawn
    this.heat = document.createElement("canvas");
    this.heated = false;
  }

  setMap(width, height, classes) {
    this.classes = classes;
    for (const canvas of [this.map, this.heat]) Object.assign(canvas, { width, height });
    this.setHeat(null);
    if (this.colours) this.recolour(this.colours);
  }

  setHeat(values) {
    this.values = values;
    this.heated = values !== null;
    if (this.heated && this.colours) this.paintHeat();
  }

  recolour(colours) {
    this.colours = colours;
    if (!this.classes) return;
    const palette = toPixels(colours.cells);
    this.paint(this.map, (cell) => palette[Math.min(this.classes[cell], 3)]);
    if (this.heated) this.paintHeat();
  }

  paintHeat() {
    const [warm, hot] = [this.colours.warm, this.colours.hot].map((colour) => new Uint8Array(toPixels([colour]).buffer));
    const ramp = new Uint32Array(256);
    const bytes = new Uint8Array(ramp.buffer);
    for (let value = 1; value < 256; value += 1) {
      for (let i = 0; i < 3; i += 1) bytes[4 * value + i] = warm[i] + ((hot[i] - warm[i]) * value) / 255;
      bytes[4 * value + 3] = 64 + 0.6 * value;
    }
    this.paint(this.heat, (cell) => ramp[this.values[cell]]);
  }

  paint(canvas, colourOf) {
    const image = new ImageData(canvas.width, canvas.height);
    new Uint32Array(image.data.buffer).forEach((_, cell, pixels) => (pixels[cell] = colourOf(cell)));
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  draw({ camera, units, selection, phase, hued, radius }) {
    const { context } = this;
    context.imageSmoothingEnabled = camera.scale * camera.density < 1;
    for (const canvas of this.heated ? [this.map, this.heat] : [this.map]) {
      const [width, height] = [canvas.width * camera.scale, canvas.height * camera.scale];
      context.drawImage(canvas, camera.left, camera.top, width, height);
    }
    this.drawUnits(camera, units, selection, phase, hued, radius);
  }

  drawUnits(camera, units, selection, phase, hued, radius) {
    const { context, colours } = this;
    const palette = hued ? colours.hues : colours.units;
    const paths = palette.map(() => new Path2D());
    const [rings, pins] = [new Path2D(), new Path2D()];
    for (let unit = 0; unit < units.count; unit += 1) {
      const state = units.state(unit);
      if (state === IS_GONE) continue;
      const [mapX, mapY] = units.middle(unit, phase);
      const [x, y] = [camera.stageX(mapX), camera.stageY(mapY)];
      if (x < -radius || y < -radius || x > camera.width + radius || y > camera.height + radius) continue;
      const shape = radius < SMALLEST_SHAPE ? square : SHAPES[state];
      shape(paths[hued ? (units.group(unit) || unit) % HUES : state], x, y, radius);
      if (units.flags(unit) & PINNED) diamond(pins, x, y, radius * 0.4);
      if (selection.has(unit)) disc(rings, x, y, radius + 2.5);
    }
    paths.forEach((path, i) => {
      context.fillStyle = palette[i];
      context.fill(path);
    });
    context.fillStyle = context.strokeStyle = colours.outline;
    context.fill(pins);
    context.lineWidth = 2;
    context.stroke(rings);
  }
}
