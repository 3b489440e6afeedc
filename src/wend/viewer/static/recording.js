// The whole run: a trace (see trace.js), laid out by agents and by ticks for what the page shows.
//
// "At tick t" means after t ticks, with all orders and map edits given by then. An agent's move number t leads from
// tick t to tick t + 1.

import { clamp, columnOf, rowOf } from "./geometry.js";
import {
  ABSENT, DX, DY, FOLLOWS, HOME, MOVING, NO_AGENT, NO_CELL, PINNED, UNCONTROLLED, WAIT, WAITING, stateOf,
} from "./moves.js";
import { spreadOf } from "./spread.js";

export const CHECKPOINT_TICKS = 64; // a jump replays at most this many ticks
const WAYPOINT_REACH = 3; // cells; an agent that was this near has passed a waypoint

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

/** What happened to each agent: rows, by agent. The agent is the second number of a row. */
function byAgent(agents, rows) {
  const of = Array.from({ length: agents }, () => []);
  for (const row of rows) of[row[1]].push(row);
  return of;
}

/** The waypoints of the routes, -1 where a route has none. Of an agent's routes of one tick only the last counts. */
function routeRows(events, cellOf) {
  const last = new Map(events.filter(({ kind }) => kind === "routed").map((e) => [`${e.tick} ${e.agent}`, e]));
  return [...last.values()].flatMap(({ tick, agent, waypoints }) =>
    waypoints.length > 0 ? waypoints.map((point) => [tick, agent, cellOf(point)]) : [[tick, agent, -1]],
  );
}

/** The flags of the agents, and whom they follow, as they change: rows of tick, agent, value. */
function flagRows(events, agents) {
  const now = new Uint8Array(agents);
  const [flags, leaders] = [[], []];
  const set = (agent, flag, on) => (now[agent] = on ? now[agent] | flag : now[agent] & ~flag);
  for (const event of events) {
    const { tick, kind, agent } = event;
    if (kind === "added") set(agent, UNCONTROLLED, event.controlled === false);
    if (kind === "added" || kind === "pinned") set(agent, PINNED, event.pinned === true);
    if (kind === "followed") {
      set(agent, FOLLOWS, event.other !== null);
      leaders.push([tick, agent, event.other ?? NO_AGENT]);
    }
    if (["added", "pinned", "followed"].includes(kind)) flags.push([tick, agent, now[agent]]);
  }
  return { flags, leaders };
}

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export class Recording {
  constructor(trace) {
    const { width, height, ticks, agents, meta } = trace;
    this.width = width;
    this.height = height;
    this.ticks = ticks;
    this.agents = agents;
    this.moves = trace.moves; // [ticks, agents] codes
    this.offset = DX.map((dx, code) => DY[code] * width + dx);
    this.blocked = Int32Array.from(trace.blocked); // [cells] 1 where a wall is, at the start
    this.planMs = trace.planMs; // [ticks]
    this.expansions = Float64Array.from(trace.expansions, Number); // [ticks]
    this.reasons = trace.reasons; // [] if the run does not say why agents waited
    this.violations = Array.isArray(meta.violations) ? meta.violations.map(textOf) : [];
    this.accused = accusedIn(this.violations); // tick -> agents whose move in that tick is illegal
    const shown = ([name, value]) => value !== null && !(name === "violations" && Array.isArray(value));
    this.meta = Object.fromEntries(Object.entries(meta).filter(shown).map(([name, value]) => [name, textOf(value)]));
    this.readEvents(trace.events);
    const waits = Array.from({ length: trace.waits.length / 4 }, (_, i) => trace.waits.subarray(4 * i, 4 * i + 4));
    this.waitsOf = byAgent(agents, waits); // tick, agent, waits for, reason
    this.spread = spreadOf(this); // [ticks + 1] of the group ordered last; NaN: none; or []
    this.spreadPeak = this.spread.reduce((peak, spread) => (spread > peak ? spread : peak), 0);
  }

  readEvents(given) {
    const cellOf = ([x, y]) => y * this.width + x;
    const events = [...given].sort((a, b) => a.tick - b.tick); // those of one tick stay in order
    const of = (...kinds) => events.filter(({ kind }) => kinds.includes(kind));
    this.events = events;
    this.groups = of("group");
    this.added = []; // [agents] tick, cell, goal
    for (const { tick, agent, at, goal } of of("added")) this.added[agent] = [tick, cellOf(at), cellOf(goal)];
    this.jumps = of("teleported").map(({ tick, agent, to }) => [tick, agent, cellOf(to)]);
    this.orders = of("ordered").map(({ tick, agent, goal }) => [tick, agent, cellOf(goal)]);
    this.edits = of("blocked", "unblocked").flatMap(({ tick, kind, cells }) =>
      cells.map((point) => [tick, cellOf(point), kind === "blocked" ? 1 : 0]),
    );
    Object.assign(this, flagRows(events, this.agents)); // flags and leaders: tick, agent, what is so from then on
    this.jumpsOf = byAgent(this.agents, this.jumps);
    this.ordersOf = byAgent(this.agents, this.orders);
    this.routesOf = byAgent(this.agents, routeRows(events, cellOf)); // tick, agent, waypoint or -1
  }

  /** The move that an agent makes at a tick; at the last tick, the one that led there. */
  code(agent, tick) {
    return this.ticks === 0 ? WAIT : this.moves[Math.min(tick, this.ticks - 1) * this.agents + agent];
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
