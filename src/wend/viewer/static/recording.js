// The whole run, as the page carries it; replay.py describes the format.
//
// "At tick t" means after t ticks, with all orders and map edits given by then. An agent's move number t leads from
// tick t to tick t + 1.

import { clamp, columnOf, rowOf } from "./geometry.js";
import { ABSENT, DX, DY, HOME, MOVING, NO_CELL, WAIT, WAITING, stateOf } from "./moves.js";

export const CHECKPOINT_TICKS = 64; // a jump replays at most this many ticks
const WAYPOINT_REACH = 3; // cells; an agent that was this near has passed a waypoint

/** Undo base64 and deflate. */
async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** One number per bit, highest bit of each byte first. */
function unpackBits(buffer, count) {
  const bytes = new Uint8Array(buffer);
  return Int32Array.from({ length: count }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/** Rows of `columns` numbers each, as arrays. */
function rows(buffer, columns) {
  const flat = new Int32Array(buffer);
  return Array.from({ length: flat.length / columns }, (_, i) => flat.subarray(i * columns, (i + 1) * columns));
}

/** The agents that violations name, by tick: `tick 3: swap of agent 0 and 1 at (2, 5)`. */
export function accusedIn(violations) {
  const accused = new Map();
  for (const text of violations) {
    const found = /^tick (\d+): .*?agent (\d+)(?: and (\d+))?/.exec(text);
    if (found === null) continue;
    const [tick, ...agents] = found.slice(1).filter((digits) => digits !== undefined).map(Number);
    accused.set(tick, [...(accused.get(tick) ?? []), ...agents]);
  }
  return accused;
}

export class Recording {
  static async read(text) {
    const data = JSON.parse(text);
    const names = ["blocked", "moves", "added", "jumps", "orders", "routes", "edits", "spread", "waits"];
    const buffers = await Promise.all(names.map((name) => unpack(data[name])));
    return new Recording(data, Object.fromEntries(names.map((name, i) => [name, buffers[i]])));
  }

  constructor(data, buffers) {
    this.width = data.width;
    this.height = data.height;
    this.ticks = data.ticks;
    this.agents = data.agents;
    this.meta = data.meta;
    this.violations = data.violations;
    this.accused = accusedIn(data.violations); // tick -> agents whose move in that tick is illegal
    this.blocked = unpackBits(buffers.blocked, this.width * this.height); // [cells] 1 where a wall is, at the start
    this.moves = new Uint8Array(buffers.moves); // [agents, ticks] codes
    this.added = rows(buffers.added, 3); // [agents] tick, cell, goal
    this.jumps = rows(buffers.jumps, 3); // tick, agent, cell; by tick
    this.orders = rows(buffers.orders, 3); // tick, agent, goal; by tick
    this.routes = rows(buffers.routes, 3); // tick, agent, waypoint, or -1 where there is none; by tick, in their order
    this.edits = rows(buffers.edits, 3); // tick, cell, blocked; by tick
    this.reasons = data.reasons; // [] if the run does not say why agents waited
    this.spread = new Float32Array(buffers.spread); // [ticks + 1] of the group ordered last; NaN: none; or []
    this.spreadPeak = this.spread.reduce((peak, spread) => (spread > peak ? spread : peak), 0);
    this.offset = DX.map((dx, code) => DY[code] * this.width + dx);
    this.jumpsOf = Array.from({ length: this.agents }, () => []);
    for (const jump of this.jumps) this.jumpsOf[jump[1]].push(jump);
    this.ordersOf = Array.from({ length: this.agents }, () => []);
    for (const order of this.orders) this.ordersOf[order[1]].push(order);
    this.routesOf = Array.from({ length: this.agents }, () => []);
    for (const waypoint of this.routes) this.routesOf[waypoint[1]].push(waypoint);
    this.waitsOf = Array.from({ length: this.agents }, () => []);
    for (const wait of rows(buffers.waits, 4)) this.waitsOf[wait[1]].push(wait); // tick, agent, waits for, reason
  }

  /** The move that an agent makes at a tick; at the last tick, the one that led there. */
  code(agent, tick) {
    return this.ticks === 0 ? WAIT : this.moves[agent * this.ticks + Math.min(tick, this.ticks - 1)];
  }

  /** Call visit(tick, cell, goal, code) for every tick up to `last` at which the agent is on the map. */
  walk(agent, last, visit) {
    const [orders, jumps] = [this.ordersOf[agent], this.jumpsOf[agent]];
    let [tick, cell, goal] = this.added[agent];
    for (let next = 0, jump = 0; tick <= last && cell !== NO_CELL; tick += 1) {
      for (; next < orders.length && orders[next][0] <= tick; next += 1) goal = orders[next][2];
      for (; jump < jumps.length && jumps[jump][0] <= tick; jump += 1) cell = jumps[jump][2];
      const code = this.code(agent, tick);
      visit(tick, cell, goal, code);
      cell = code === ABSENT ? NO_CELL : cell + this.offset[code];
    }
  }

  /** The waypoints of an agent's last group order that it has not come near yet. */
  waypoints(agent, tick) {
    const given = this.routesOf[agent].filter((waypoint) => waypoint[0] <= tick);
    const since = given.length > 0 ? given.at(-1)[0] : 0;
    const route = given.filter((waypoint) => waypoint[0] === since && waypoint[2] >= 0);
    let passed = 0;
    this.walk(agent, tick, (at, cell) => {
      if (at < since) return;
      const near = ([, , waypoint]) =>
        Math.abs(columnOf(cell, this.width) - columnOf(waypoint, this.width)) <= WAYPOINT_REACH &&
        Math.abs(rowOf(cell, this.width) - rowOf(waypoint, this.width)) <= WAYPOINT_REACH;
      passed = Math.max(passed, route.findLastIndex(near) + 1);
    });
    return route.slice(passed).map((waypoint) => waypoint[2]);
  }

  /** How many ticks an agent has stood still away from its goal. */
  waited(agent, tick) {
    let count = 0;
    this.walk(agent, tick - 1, (_, cell, goal, code) => {
      if (stateOf(cell, goal, code) === WAITING) count += 1;
    });
    return count;
  }

  /** Why an agent does not move at a tick: { waitsFor, reason }; null if it moves, or the run does not say. */
  wait(agent, tick) {
    const now = Math.min(tick, this.ticks - 1);
    const told = this.waitsOf[agent].findLast(([since]) => since <= now);
    if (told === undefined) return null;
    const [since, , waitsFor, reason] = told;
    for (let t = since; t <= now; t += 1) if (this.code(agent, t) !== WAIT) return null;
    return { waitsFor, reason: this.reasons[reason] };
  }

  /** The columns and rows that matter, as half-open ranges: all cells that are ever free, and a rim of two. */
  get bounds() {
    const freeAtStart = [...this.blocked.keys()].filter((cell) => !this.blocked[cell]);
    const free = freeAtStart.concat(this.edits.map((edit) => edit[1]));
    const area = { x0: this.width, y0: this.height, x1: 0, y1: 0 };
    for (const cell of free) {
      const [x, y] = [columnOf(cell, this.width), rowOf(cell, this.width)];
      area.x0 = clamp(x - 2, 0, area.x0);
      area.y0 = clamp(y - 2, 0, area.y0);
      area.x1 = clamp(x + 3, area.x1, this.width);
      area.y1 = clamp(y + 3, area.y1, this.height);
    }
    return free.length > 0 ? area : { x0: 0, y0: 0, x1: this.width, y1: this.height };
  }
}

/** One pass over the run: how many agents are in each state at every tick, and all cells at every checkpoint. */
export function survey(recording) {
  const { ticks, agents } = recording;
  const counts = [MOVING, WAITING, HOME].map(() => new Int32Array(ticks + 1));
  const checkpoints = new Int32Array((Math.floor(ticks / CHECKPOINT_TICKS) + 1) * agents).fill(NO_CELL);
  for (let agent = 0; agent < agents; agent += 1) {
    recording.walk(agent, ticks, (tick, cell, goal, code) => {
      counts[stateOf(cell, goal, code)][tick] += 1;
      if (tick % CHECKPOINT_TICKS === 0) checkpoints[(tick / CHECKPOINT_TICKS) * agents + agent] = cell;
    });
  }
  const present = counts[MOVING].map((moving, tick) => moving + counts[WAITING][tick] + counts[HOME][tick]);
  return { counts, present, checkpoints };
}
