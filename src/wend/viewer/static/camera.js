// Which part of the map the stage shows, and how large. Places on the map are in cells, on the stage in CSS pixels.

import { clamp } from "./geometry.js";

const LARGEST_CELL = 96; // pixels; closer there is nothing more to see
const NEAR_CELL = 24; // pixels; large enough to see what one agent does
const MARGIN = 24; // pixels; left free around the map by "fit", both sides together

export class Camera {
  constructor(mapWidth, mapHeight, focus) {
    this.resize(1, 1, 1);
    this.aim(mapWidth, mapHeight, focus);
  }

  /** Look at a map. */
  aim(mapWidth, mapHeight, focus) {
    this.mapWidth = mapWidth;
    this.mapHeight = mapHeight;
    this.focus = focus; // the columns and rows that "fit" shows, as half-open ranges
    this.fit();
  }

  /** Take the size of the stage in CSS pixels, and how many device pixels one of them is. */
  resize(width, height, density) {
    this.width = width;
    this.height = height;
    this.density = density;
    if (this.fitted) this.fit();
  }

  /** The scale at which all of the focus is seen: whole device pixels per cell where cells are large enough to tell. */
  get fitScale() {
    const { x0, y0, x1, y1 } = this.focus;
    const scale = Math.min((this.width - MARGIN) / (x1 - x0), (this.height - MARGIN) / (y1 - y0));
    const device = scale * this.density;
    return clamp(device > 6 ? Math.floor(device) / this.density : scale, 0.01, LARGEST_CELL);
  }

  /** Put all of the focus into the stage. */
  fit() {
    this.fitted = true;
    this.scale = this.fitScale; // CSS pixels per cell
    this.x = (this.focus.x0 + this.focus.x1) / 2; // what is in the middle of the stage
    this.y = (this.focus.y0 + this.focus.y1) / 2;
  }

  centreOn(x, y) {
    this.fitted = false;
    this.x = clamp(x, 0, this.mapWidth);
    this.y = clamp(y, 0, this.mapHeight);
  }

  /** Look at a place from near enough to see what happens there. */
  approach(x, y) {
    this.scale = Math.max(this.scale, NEAR_CELL);
    this.centreOn(x, y);
  }

  panBy(pixelsX, pixelsY) {
    this.centreOn(this.x - pixelsX / this.scale, this.y - pixelsY / this.scale);
  }

  /** Zoom, and keep what is under a pixel of the stage under it. */
  zoomAt(pixelX, pixelY, factor) {
    const [x, y] = this.toMap(pixelX, pixelY);
    const scale = clamp(this.scale * factor, this.fitScale / 2, LARGEST_CELL);
    this.scale = scale;
    this.centreOn(x - (pixelX - this.width / 2) / scale, y - (pixelY - this.height / 2) / scale);
  }

  get showsAll() {
    return this.scale <= this.fitScale;
  }

  /** Where column 0 begins on the stage, on a device pixel so that edges are sharp. */
  get left() {
    return Math.round((this.width / 2 - this.x * this.scale) * this.density) / this.density;
  }

  /** Where row 0 begins. */
  get top() {
    return Math.round((this.height / 2 - this.y * this.scale) * this.density) / this.density;
  }

  toMap(pixelX, pixelY) {
    return [(pixelX - this.left) / this.scale, (pixelY - this.top) / this.scale];
  }

  stageX(x) {
    return this.left + x * this.scale;
  }

  stageY(y) {
    return this.top + y * this.scale;
  }

  /** The columns and rows that the stage shows, as half-open ranges. */
  get shown() {
    const [x0, y0] = this.toMap(0, 0);
    const [x1, y1] = this.toMap(this.width, this.height);
    return {
      x0: Math.max(Math.floor(x0), 0),
      y0: Math.max(Math.floor(y0), 0),
      x1: Math.min(Math.ceil(x1), this.mapWidth),
      y1: Math.min(Math.ceil(y1), this.mapHeight),
    };
  }
}
