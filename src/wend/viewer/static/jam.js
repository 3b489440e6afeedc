// Where the jam is: the place where most units stand close together, away from their goals. Worked out from the units
// alone, whatever planner moves them.

import { IS_STUCK, WAITS } from "./units.js";

const REACH = 4; // cells around a place that count as one jam
const SMALLEST_JAM = 3; // units
const CANDIDATES = 12;

/** The place with the most standing units around it: { cell, units, reach }, or null if nothing is jammed. */
export function findJam(units) {
  const bins = new Map(); // squares of REACH cells; a jam is looked for around the fullest of them
  const places = [...standing(units)];
  for (const [x, y] of places) {
    const bin = `${Math.floor(x / REACH)},${Math.floor(y / REACH)}`;
    if (!bins.has(bin)) bins.set(bin, []);
    bins.get(bin).push([x, y]);
  }
  const near = (a, b) => Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])) <= REACH;
  let best = null;
  for (const bin of [...bins.values()].sort((a, b) => b.length - a.length).slice(0, CANDIDATES)) {
    const middle = [0, 1].map((axis) => Math.round(bin.reduce((sum, place) => sum + place[axis], 0) / bin.length));
    const count = places.filter((place) => near(place, middle)).length;
    if (best === null || count > best.units) best = { cell: middle, units: count, reach: REACH };
  }
  return best !== null && best.units >= SMALLEST_JAM ? best : null;
}

function* standing(units) {
  for (let unit = 0; unit < units.count; unit += 1) {
    const state = units.state(unit);
    if (state === WAITS || state === IS_STUCK) yield units.cell(unit);
  }
}
