// The units of one pane: eight bytes each, as a full frame has them, before and after the newest tick.
//
// The bytes go to the graphics card as they are, and everything else asks for single units. No object is made per unit.

import { flagChanges, moveCode } from "./frames.js";
import { DX, DY, NO_AGENT } from "./moves.js";

export const RECORD_BYTES = 8; // u16 x, u16 y, u8 move, u8 flags, u16 group
export const FLAGS_AT = 5;

// The states of a unit, in the lowest three bits of its flags.
export const MOVES = 0;
export const WAITS = 1;
export const IS_HOME = 2;
export const IS_STUCK = 3;
export const IS_GONE = 4;
export const STATES = ["moving", "waiting", "at goal", "stuck", "removed", "making way", "cannot get there"];
export const SERVER_STATES = ["moving", "waiting", "arrived", "stuck", "absent", "yielding", "unreachable"];

const STATE_BITS = 7;
export const FOLLOWED = 8;
export const PINNED = 16;
export const UNCONTROLLED = 32;

const FARTHEST_GLIDE = 4; // cells, as in the shader; a unit that is farther from where it was does not glide

export class Units {
  constructor() {
    this.clear();
  }

  clear() {
    this.count = 0;
    this.tick = -1; // before the first full frame
    this.version = 0; // grows with every frame, so that a painter knows what it has
    this.before = this.after = new Uint8Array(0);
    this.wordsBefore = this.words = new Uint16Array(0);
    this.since = new Int32Array(0); // the tick from which on each unit has been in its state
  }

  /** Take a full frame. */
  replace(frame) {
    const follows = frame.count === this.count && frame.tick > this.tick;
    this.take(follows ? this.after : frame.bytes, frame.bytes, frame); // nothing glides within a tick
  }

  /** Take a moves frame; false if it does not follow the tick that is known. */
  advance(frame) {
    if (frame.count !== this.count || frame.tick !== this.tick + 1) return false;
    const bytes = this.after.slice();
    const words = new Uint16Array(bytes.buffer);
    for (let unit = 0; unit < this.count; unit += 1) {
      const code = moveCode(frame, unit);
      words[4 * unit] += DX[code];
      words[4 * unit + 1] += DY[code];
      bytes[RECORD_BYTES * unit + 4] = code;
    }
    for (const [unit, flags] of flagChanges(frame)) bytes[RECORD_BYTES * unit + FLAGS_AT] = flags;
    this.take(this.after, bytes, frame);
    return true;
  }

  take(before, after, { count, tick }) {
    this.watch(after, count, tick);
    const wordsOf = (bytes) => new Uint16Array(bytes.buffer, bytes.byteOffset, 4 * count);
    Object.assign(this, { count, tick, before, after, wordsBefore: wordsOf(before), words: wordsOf(after) });
    this.version += 1;
  }

  /** Keep track of how long the units have been in their states. */
  watch(after, count, tick) {
    if (this.since.length !== count) {
      const known = this.since.subarray(0, count);
      this.since = new Int32Array(count).fill(tick);
      this.since.set(known);
    }
    const known = Math.min(count, this.count);
    for (let at = FLAGS_AT, unit = 0; unit < known; unit += 1, at += RECORD_BYTES) {
      if ((this.after[at] ^ after[at]) & STATE_BITS) this.since[unit] = tick;
    }
  }

  has(unit) {
    return unit >= 0 && unit < this.count && this.state(unit) !== IS_GONE;
  }

  flags(unit) {
    return this.after[RECORD_BYTES * unit + FLAGS_AT];
  }

  state(unit) {
    return this.flags(unit) & STATE_BITS;
  }

  group(unit) {
    return this.words[4 * unit + 3];
  }

  cell(unit) {
    return [this.words[4 * unit], this.words[4 * unit + 1]];
  }

  /** The middle of a unit on its way, in cells: `phase` goes from 0, where it was, to 1, where it is. */
  middle(unit, phase) {
    const [x, y] = this.cell(unit);
    const [dx, dy] = [x - this.wordsBefore[4 * unit], y - this.wordsBefore[4 * unit + 1]];
    const left = Math.max(Math.abs(dx), Math.abs(dy)) > FARTHEST_GLIDE ? 0 : 1 - phase;
    return [x + 0.5 - dx * left, y + 0.5 - dy * left];
  }

  /** The unit nearest to a place of the map, within a reach in cells; or NO_AGENT. */
  nearest(mapX, mapY, reach, phase) {
    let best = NO_AGENT;
    let bestSquare = reach ** 2;
    for (let unit = 0; unit < this.count; unit += 1) {
      const [far, low] = [this.words[4 * unit] - mapX, this.words[4 * unit + 1] - mapY];
      if (Math.abs(far) > reach + FARTHEST_GLIDE || Math.abs(low) > reach + FARTHEST_GLIDE) continue;
      if (this.state(unit) === IS_GONE) continue;
      const [x, y] = this.middle(unit, phase);
      const square = (x - mapX) ** 2 + (y - mapY) ** 2;
      if (square <= bestSquare) [best, bestSquare] = [unit, square];
    }
    return best;
  }

  /** The units inside a rectangle of the map. */
  inside(x0, y0, x1, y1, phase) {
    const found = [];
    for (let unit = 0; unit < this.count; unit += 1) {
      if (this.state(unit) === IS_GONE) continue;
      const [x, y] = this.middle(unit, phase);
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1) found.push(unit);
    }
    return found;
  }
}
