// The stage: the canvas of the map, the camera that looks at it and the colours of now, as the layers see them.

import { prepareCanvas } from "./canvas.js";
import { columnOf, rowOf } from "./geometry.js";
import { readColours } from "./palette.js";

export class Stage {
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.camera = camera;
    this.resize();
    this.recolour();
  }

  resize() {
    const { context, width, height, density } = prepareCanvas(this.canvas);
    this.context = context;
    this.camera.resize(width, height, density);
  }

  recolour() {
    this.colours = readColours();
  }

  clear() {
    this.context.clearRect(0, 0, this.camera.width, this.camera.height);
  }

  /** Of an agent, in pixels. */
  get radius() {
    return Math.max(this.camera.scale * 0.38, 2);
  }

  /** The middle of a cell, in pixels. */
  middleOf(cell) {
    const { camera } = this;
    const [x, y] = [columnOf(cell, camera.mapWidth), rowOf(cell, camera.mapWidth)];
    return [camera.stageX(x + 0.5), camera.stageY(y + 0.5)];
  }
}
