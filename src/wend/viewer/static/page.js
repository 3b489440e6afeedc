// Elements of the page, and how numbers and places are worded. Nothing from a run is ever parsed as markup.

import { columnOf, rowOf } from "./geometry.js";

export const byId = (id) => document.getElementById(id);

/** An element with text or with children. */
export function element(tag, ...content) {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}

/** Fill a list of terms and descriptions. */
export function fillPairs(list, pairs) {
  const items = pairs.flatMap(([term, what]) => [element("dt", ...[term].flat()), element("dd", String(what))]);
  list.replaceChildren(...items);
}

export const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
export const spreadName = (spread) => (Number.isFinite(spread) ? spread.toFixed(1) : "–");
export const placeName = (cell, width) => `(${columnOf(cell, width)}, ${rowOf(cell, width)})`;
export const numberName = (number) => (number >= 100 ? Math.round(number).toLocaleString("en") : number.toPrecision(3));
