// The layer of the map: floor, walls, and what was edited since the start.

import { columnOf, rowOf } from "./geometry.js";
import { toPixels } from "./palette.js";

const SMALLEST_GRID = 10; // pixels per cell from which on lines between the cells help

export class TerrainLayer {
  constructor(stage, scene) {
    this.stage = stage;
    this.scene = scene;
    this.map = document.createElement("canvas"); // one pixel per cell, scaled when drawn
    this.map.width = scene.width;
    this.map.height = scene.height;
    this.recolour();
  }

  /** Paint the whole map in the stage's colours. */
  recolour() {
    const palette = toPixels(this.stage.colours.cells);
    const image = new ImageData(this.map.width, this.map.height);
    new Uint32Array(image.data.buffer).forEach((_, cell, pixels) => (pixels[cell] = palette[this.terrainOf(cell)]));
    this.map.getContext("2d").putImageData(image, 0, 0);
  }

  /** Paint the cells whose terrain changed. */
  repaint(cells) {
    const context = this.map.getContext("2d");
    for (const cell of cells) {
      context.fillStyle = this.stage.colours.cells[this.terrainOf(cell)];
      context.fillRect(columnOf(cell, this.map.width), rowOf(cell, this.map.width), 1, 1);
    }
  }

  /** 0 floor, 1 wall, 2 floor that was a wall at the start, 3 wall that was floor. */
  terrainOf(cell) {
    const now = this.scene.blocked[cell];
    return now === this.scene.wasBlocked[cell] ? now : now + 2;
  }

  draw() {
    this.drawMap();
    if (this.stage.camera.scale >= SMALLEST_GRID) this.drawGrid();
  }

  drawMap() {
    const { context, camera, colours } = this.stage;
    const { x0, y0, x1, y1 } = camera.shown;
    if (x1 <= x0 || y1 <= y0) return;
    const [left, top] = [camera.stageX(x0), camera.stageY(y0)];
    const [width, height] = [(x1 - x0) * camera.scale, (y1 - y0) * camera.scale];
    context.imageSmoothingEnabled = camera.scale * camera.density < 1;
    context.drawImage(this.map, x0, y0, x1 - x0, y1 - y0, left, top, width, height);
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  }

  drawGrid() {
    const { context, camera, colours } = this.stage;
    const { density } = camera;
    const { x0, y0, x1, y1 } = camera.shown;
    const [left, top, right, bottom] = [camera.stageX(x0), camera.stageY(y0), camera.stageX(x1), camera.stageY(y1)];
    const sharp = (pixel) => Math.round(pixel * density) / density;
    context.fillStyle = colours.grid;
    for (let x = x0 + 1; x < x1; x += 1) context.fillRect(sharp(camera.stageX(x)), top, 1 / density, bottom - top);
    for (let y = y0 + 1; y < y1; y += 1) context.fillRect(left, sharp(camera.stageY(y)), right - left, 1 / density);
  }
}
