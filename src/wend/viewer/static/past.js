// The layer of the past: where the agents of a recording have been.

import { clamp, columnOf, rowOf } from "./geometry.js";
import { DX, DY, GONE, WAIT } from "./moves.js";

export const TRAIL_TICKS = 20;

export class PastLayer {
  constructor(stage, moment, agents) {
    this.stage = stage;
    this.moment = moment;
    this.agents = agents; // their layer: trails are drawn for the agents, and in the colours, that it shows
  }

  drawTrails() {
    const { context, radius } = this.stage;
    context.globalAlpha = 0.45;
    context.lineWidth = clamp(radius * 0.5, 1, 6);
    context.lineJoin = "round";
    const trails = this.agents.gather(this.agents.visible, (path, agent) => this.addTrail(path, agent));
    for (const { path, colour } of trails) {
      context.strokeStyle = colour;
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  /** The last ticks of an agent's way, from where it is now backwards; one line per straight run. */
  addTrail(path, agent) {
    const { moment, stage: { camera } } = this;
    const { recording, width } = moment;
    let [x, y] = [columnOf(moment.cell[agent], width) + 0.5, rowOf(moment.cell[agent], width) + 0.5];
    path.moveTo(...this.agents.middleOf(agent));
    const jump = recording.jumpsOf[agent].findLast(([tick]) => tick <= moment.tick);
    const first = Math.max((jump ?? recording.added[agent])[0], moment.tick - TRAIL_TICKS);
    for (let tick = moment.tick - 1, run = WAIT; tick >= first; tick -= 1) {
      const code = recording.code(agent, tick);
      if (code !== run) path.lineTo(camera.stageX(x), camera.stageY(y));
      [x, y, run] = [x - DX[code], y - DY[code], code];
    }
    path.lineTo(camera.stageX(x), camera.stageY(y));
  }

  /** All of the way that an agent has come. */
  drawWay(agent) {
    const { moment, stage } = this;
    const { context } = stage;
    context.beginPath();
    moment.recording.walk(agent, moment.tick, (_, cell) => context.lineTo(...stage.middleOf(cell)));
    if (moment.state[agent] !== GONE) context.lineTo(...this.agents.middleOf(agent));
    context.strokeStyle = stage.colours.outline;
    context.globalAlpha = 0.6;
    context.lineWidth = clamp(stage.radius * 0.3, 1.5, 4);
    context.lineJoin = "round";
    context.stroke();
    context.globalAlpha = 1;
  }
}
