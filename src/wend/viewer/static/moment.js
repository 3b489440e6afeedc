// The world at one tick of a recording; it can be moved to any other tick.
//
// A moment is a scene: what the layers of the stage and the inspector look at. A scene has
//   width, height          of the map, in cells
//   cell, goal, state      [agents] where each agent is (NO_CELL if it is not on the map), wants to be, what it does
//   x, y                   [agents] the middle of each agent, in cells; between two cells while it moves
//   flags, leader          [agents] what is special about each (see moves.js), whom it follows or NO_AGENT
//   blocked, wasBlocked    [cells] 1 where a wall is now, and where one was at the start
//   waypoints(agent)       the cells through which its group's route still leads it
//   waited(agent)          for how many ticks it has stood still away from its goal
//   wait(agent)            why it waits: { waitsFor, reason }; null if it does not, or the run does not say
//   waitsFor(agent)        the agents that it waits for, one because of the other; [] if there is none

import { columnOf, rowOf } from "./geometry.js";
import { ABSENT, DX, DY, GONE, NO_AGENT, NO_CELL, WAITING, stateOf } from "./moves.js";
import { CHECKPOINT_TICKS } from "./recording.js";

/** Makes the changes of a log up to any tick in an array, and takes back those after it. */
class Changes {
  constructor(values, log) {
    this.values = values;
    this.log = log; // rows of tick, index, new value; by tick
    this.before = new Int32Array(log.length); // the values that the changes replaced
    this.made = 0;
  }

  /** Go to a tick; return the indices that were touched. */
  seek(tick) {
    const touched = [];
    while (this.made < this.log.length && this.log[this.made][0] <= tick) touched.push(this.make());
    while (this.made > 0 && this.log[this.made - 1][0] > tick) touched.push(this.takeBack());
    return touched;
  }

  make() {
    const [, index, value] = this.log[this.made];
    this.before[this.made] = this.values[index];
    this.values[index] = value;
    this.made += 1;
    return index;
  }

  takeBack() {
    this.made -= 1;
    const index = this.log[this.made][1];
    this.values[index] = this.before[this.made];
    return index;
  }
}

export class Moment {
  constructor(recording, checkpoints) {
    const { width, height, agents, added } = recording;
    this.recording = recording;
    this.checkpoints = checkpoints;
    this.tick = 0;
    this.width = width;
    this.height = height;
    this.cell = new Int32Array(agents);
    this.goal = Int32Array.from(added, (row) => row[2]);
    this.state = new Uint8Array(agents);
    this.x = new Float32Array(agents);
    this.y = new Float32Array(agents);
    this.blocked = recording.blocked.slice();
    this.wasBlocked = recording.blocked;
    this.orders = new Changes(this.goal, recording.orders);
    this.flags = new Uint8Array(agents);
    this.leader = new Int32Array(agents).fill(NO_AGENT);
    this.flagging = new Changes(this.flags, recording.flags);
    this.following = new Changes(this.leader, recording.leaders);
    this.edits = new Changes(this.blocked, recording.edits);
    this.put = new Map(); // tick -> agents that appear, or are put elsewhere, and their cells
    const appear = added.map(([tick, cell], agent) => [tick, agent, cell]);
    for (const [tick, agent, cell] of [...appear, ...recording.jumps]) {
      if (!this.put.has(tick)) this.put.set(tick, []);
      this.put.get(tick).push([agent, cell]);
    }
    this.load(0);
  }

  /** Go to a tick, and `fraction` of the way to the next; return the cells whose terrain changed. */
  seek(tick, fraction) {
    if (tick < this.tick || tick - this.tick > CHECKPOINT_TICKS) this.load(Math.floor(tick / CHECKPOINT_TICKS));
    while (this.tick < tick) this.step();
    this.orders.seek(tick);
    this.flagging.seek(tick);
    this.following.seek(tick);
    this.place(fraction);
    return this.edits.seek(tick);
  }

  load(checkpoint) {
    const { agents } = this.recording;
    this.cell.set(this.checkpoints.subarray(checkpoint * agents, (checkpoint + 1) * agents));
    this.tick = checkpoint * CHECKPOINT_TICKS;
  }

  step() {
    const { cell, recording } = this;
    for (let agent = 0; agent < cell.length; agent += 1) {
      if (cell[agent] === NO_CELL) continue;
      const code = recording.code(agent, this.tick);
      cell[agent] = code === ABSENT ? NO_CELL : cell[agent] + recording.offset[code];
    }
    this.tick += 1;
    for (const [agent, at] of this.put.get(this.tick) ?? []) cell[agent] = at;
  }

  place(fraction) {
    const { recording, width, cell, goal, state, x, y } = this;
    for (let agent = 0; agent < cell.length; agent += 1) {
      const at = cell[agent];
      const code = recording.code(agent, this.tick);
      state[agent] = at === NO_CELL ? GONE : stateOf(at, goal[agent], code);
      x[agent] = columnOf(at, width) + 0.5 + DX[code] * fraction;
      y[agent] = rowOf(at, width) + 0.5 + DY[code] * fraction;
    }
  }

  waypoints(agent) {
    return this.recording.waypoints(agent, this.tick);
  }

  waited(agent) {
    return this.recording.waited(agent, this.tick);
  }

  wait(agent) {
    return this.state[agent] === WAITING ? this.recording.wait(agent, this.tick) : null;
  }

  /** The agents that an agent waits for: the one in its way, the one in the way of that, and so on. If they wait for
   * one another in a circle, the last one is named twice. */
  waitsFor(agent) {
    const chain = [agent];
    for (let closed = false; !closed; ) {
      const next = this.wait(chain.at(-1))?.waitsFor ?? NO_AGENT;
      if (next === NO_AGENT) break;
      closed = chain.includes(next);
      chain.push(next);
    }
    return chain.slice(1);
  }
}
