// Where the jam is: how long units have stood away from their goals lately, by cell, and the place where most of them
// stand close together. Worked out from the units alone, whatever planner moves them.

import { IS_STUCK, WAITS } from "./units.js";

const FADE = 0.94; // what a tick leaves of the heat
const REACH = 4; // cells around a place that count as one jam
const SMALLEST_JAM = 3; // units

export class JamHeat {
  /** Begin with what is known of the units: since when they stand. */
  constructor(width, height, units) {
    this.width = width;
    this.heat = new Float32Array(width * height);
    this.tick = units.tick;
    for (const [[x, y], unit] of standing(units)) {
      this.heat[y * width + x] = (1 - FADE ** (1 + units.tick - units.since[unit])) / (1 - FADE);
    }
  }

  /** Take the units of a new tick. */
  add(units) {
    if (units.tick === this.tick) return;
    this.tick = units.tick;
    for (let cell = 0; cell < this.heat.length; cell += 1) this.heat[cell] *= FADE;
    for (const [[x, y]] of standing(units)) this.heat[y * this.width + x] += 1;
  }

  /** The heat as bytes: 255 where a unit has stood for a long time. */
  get bytes() {
    const longest = 1 / (1 - FADE);
    return Uint8Array.from(this.heat, (value) => Math.min((255 * value) / longest, 255));
  }
}

function* standing(units) {
  for (let unit = 0; unit < units.count; unit += 1) {
    const state = units.state(unit);
    if (state === WAITS || state === IS_STUCK) yield [units.cell(unit), unit];
  }
}

/** The place with the most standing units around it: { cell, units, reach }, or null if nothing is jammed. */
export function findJam(units) {
  const bins = new Map(); // squares of REACH cells; a jam is looked for around the fullest of them
  const places = [...standing(units)].map(([cell]) => cell);
  for (const [x, y] of places) {
    const bin = `${Math.floor(x / REACH)},${Math.floor(y / REACH)}`;
    if (!bins.has(bin)) bins.set(bin, []);
    bins.get(bin).push([x, y]);
  }
  const near = (a, b) => Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])) <= REACH;
  let best = null;
  for (const bin of [...bins.values()].sort((a, b) => b.length - a.length).slice(0, 12)) {
    const middle = [0, 1].map((axis) => Math.round(bin.reduce((sum, place) => sum + place[axis], 0) / bin.length));
    const count = places.filter((place) => near(place, middle)).length;
    if (best === null || count > best.units) best = { cell: middle, units: count, reach: REACH };
  }
  return best !== null && best.units >= SMALLEST_JAM ? best : null;
}
