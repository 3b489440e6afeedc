// What the reader tells the server to do: orders to the selected units, edits of the map, the clock, other scenes.

import { clamp } from "./geometry.js";

const SPEEDS = [1, 2, 5, 10, 20, 40, 80, 120]; // ticks per second

export class Orders {
  constructor(link, selection) {
    this.link = link;
    this.selection = selection;
    this.cells = new Map(); // cells to send with the next frame, by what is done with them
    this.speed = 10;
  }

  send(type, fields = {}) {
    return this.link.send({ type, ...fields });
  }

  /** Tell the selected units something; the answer is why not, or nothing. */
  tell(type, fields = {}) {
    if (this.selection.size === 0) return "Select units first.";
    return this.send(type, { agents: this.selection.list, ...fields }) ? "" : "Nothing was sent: the server is gone.";
  }

  paint(cells, as) {
    this.gather(`paint ${as}`, cells, (gathered) => this.send("paint", { cells: gathered, as }));
  }

  add(cells) {
    this.gather("add", cells, (gathered) => this.send("add", { cells: gathered }));
  }

  /** A stroke passes over many cells within a frame: they are sent as one message. */
  gather(what, cells, send) {
    if (!this.cells.has(what)) this.cells.set(what, { cells: [], send });
    this.cells.get(what).cells.push(...cells);
  }

  flush() {
    for (const { cells, send } of this.cells.values()) send(cells);
    this.cells.clear();
  }

  /** Faster or slower, by steps. */
  shift(steps) {
    const gear = SPEEDS.findLastIndex((speed) => speed <= this.speed);
    this.speed = SPEEDS[clamp(gear + steps, 0, SPEEDS.length - 1)];
    this.send("speed", { ticks_per_second: this.speed });
  }
}
