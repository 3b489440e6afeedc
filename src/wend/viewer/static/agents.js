// The layer of the agents: their bodies, goals and ids, and the marks of those that are pointed out.

import { arrow, diamond, disc, ring, square, triangle } from "./canvas.js";
import { clamp } from "./geometry.js";
import { FOLLOWS, GONE, MOVING, NO_AGENT, PINNED, UNCONTROLLED, WAITING } from "./moves.js";
import { HUES } from "./palette.js";

const SHAPES = [disc, ring, square]; // by state, so that colours are not all there is to tell them apart
const SMALLEST_SHAPE = 3; // pixels of radius; smaller agents are all squares
const SMALLEST_TEXT = 8; // pixels
const READABLE_AGENTS = 150; // up to this many, ids can be read at any zoom

export class AgentLayer {
  constructor(stage, scene) {
    this.stage = stage;
    this.scene = scene;
    this.visible = []; // the agents on the stage
    this.byHue = false; // whether colours tell agents apart, and not states
  }

  /** Call before drawing: what follows is for the scene and the camera as they are now. */
  prepare(byHue) {
    this.byHue = byHue;
    const { x0, y0, x1, y1 } = this.stage.camera.shown;
    const { x, y, state } = this.scene;
    const onStage = (agent) => x[agent] > x0 - 1 && x[agent] < x1 + 1 && y[agent] > y0 - 1 && y[agent] < y1 + 1;
    this.visible = [...state.keys()].filter((agent) => state[agent] !== GONE && onStage(agent));
  }

  /** The agent at a pixel of the stage, or NO_AGENT: a small one counts from a few pixels away. */
  at(pixelX, pixelY) {
    const { camera } = this.stage;
    const { x, y, state } = this.scene;
    const [mapX, mapY] = camera.toMap(pixelX, pixelY);
    let best = NO_AGENT;
    let bestSquare = Math.max(0.6, 7 / camera.scale) ** 2;
    for (let agent = 0; agent < state.length; agent += 1) {
      const distance = (x[agent] - mapX) ** 2 + (y[agent] - mapY) ** 2;
      if (state[agent] !== GONE && distance <= bestSquare) [best, bestSquare] = [agent, distance];
    }
    return best;
  }

  /** The middle of an agent, in pixels. */
  middleOf(agent) {
    const { camera } = this.stage;
    return [camera.stageX(this.scene.x[agent]), camera.stageY(this.scene.y[agent])];
  }

  /** One path per colour; `add(path, agent)` puts an agent's part into its colour's path. */
  gather(agents, add) {
    const { hues, states } = this.stage.colours;
    const colours = this.byHue ? hues : states;
    const paths = colours.map(() => new Path2D());
    for (const agent of agents) add(paths[this.byHue ? agent % HUES : this.scene.state[agent]], agent);
    return paths.map((path, i) => ({ path, colour: colours[i] }));
  }

  drawBodies() {
    const { context, radius } = this.stage;
    const { state } = this.scene;
    const add = (path, agent) => {
      const shape = radius < SMALLEST_SHAPE ? square : SHAPES[state[agent]];
      shape(path, ...this.middleOf(agent), radius);
    };
    for (const { path, colour } of this.gather(this.visible, add)) {
      context.fillStyle = colour;
      context.fill(path);
    }
  }

  /** Mark the agents that are special: a dot in those that are pinned, a triangle in those that follow another, a line
   * around those that the program moves. */
  drawSpecials() {
    const { context, colours, radius } = this.stage;
    const { flags } = this.scene;
    if (radius < SMALLEST_SHAPE) return;
    const [ground, sign, around] = [new Path2D(), new Path2D(), new Path2D()];
    for (const agent of this.visible) {
      const [x, y] = this.middleOf(agent);
      if (flags[agent] & (PINNED | FOLLOWS)) disc(ground, x, y, radius * 0.62);
      if (flags[agent] & PINNED) disc(sign, x, y, radius * 0.3);
      if (flags[agent] & FOLLOWS) triangle(sign, x, y, radius * 0.5);
      if (flags[agent] & UNCONTROLLED) disc(around, x, y, radius * 1.25);
    }
    context.fillStyle = colours.halo;
    context.fill(ground);
    context.fillStyle = context.strokeStyle = colours.outline;
    context.fill(sign);
    context.lineWidth = clamp(radius / 5, 1, 2.5);
    context.stroke(around);
  }

  drawGoals() {
    const { context, radius } = this.stage;
    const { state, goal } = this.scene;
    const away = [...state.keys()].filter((agent) => state[agent] === MOVING || state[agent] === WAITING);
    const add = (path, agent) => diamond(path, ...this.stage.middleOf(goal[agent]), radius * 0.9);
    context.lineWidth = clamp(radius / 5, 1, 2.5);
    for (const { path, colour } of this.gather(away, add)) {
      context.strokeStyle = colour;
      context.stroke(path);
    }
  }

  /** Point an agent out: a ring around it, its goal, its waypoints, a line that joins them, and one to its leader. */
  drawMark(agent) {
    const { stage, scene } = this;
    const { context } = stage;
    if (scene.state[agent] === GONE) return;
    const [x, y] = this.middleOf(agent);
    const [goalX, goalY] = stage.middleOf(scene.goal[agent]);
    const waypoints = scene.waypoints(agent).map((cell) => stage.middleOf(cell));
    const size = Math.max(stage.radius, 5);
    const path = new Path2D();
    disc(path, x, y, size + 3);
    diamond(path, goalX, goalY, size);
    for (const [waypointX, waypointY] of waypoints) disc(path, waypointX, waypointY, size / 2);
    context.strokeStyle = stage.colours.outline;
    context.lineWidth = 2;
    context.stroke(path);
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(x, y);
    for (const waypoint of waypoints) context.lineTo(...waypoint);
    context.lineTo(goalX, goalY);
    const leader = scene.leader[agent];
    if (leader !== NO_AGENT && scene.state[leader] !== GONE) {
      context.moveTo(x, y);
      context.lineTo(...this.middleOf(leader));
    }
    context.lineWidth = 1.5;
    context.stroke();
    context.setLineDash([]);
  }

  /** Mark agents whose move is illegal: a thick ring around each, as large on a small map as on a large one. */
  drawAccused(agents) {
    const { context, colours, radius } = this.stage;
    const path = new Path2D();
    for (const agent of agents) disc(path, ...this.middleOf(agent), Math.max(radius, 5) + 4);
    context.strokeStyle = colours.bad;
    context.lineWidth = 3;
    context.stroke(path);
  }

  /** A line from each of these agents to the one that it waits for, with a head where it ends. */
  drawWaits(agents) {
    const { context, radius, colours } = this.stage;
    const path = new Path2D();
    for (const agent of agents) {
      const other = this.scene.wait(agent)?.waitsFor ?? NO_AGENT;
      if (other !== NO_AGENT && this.scene.state[other] !== GONE) {
        arrow(path, ...this.middleOf(agent), ...this.middleOf(other), radius * 0.8, clamp(radius * 0.7, 4, 12));
      }
    }
    context.strokeStyle = colours.outline;
    context.lineWidth = clamp(radius / 4, 1.5, 3);
    context.stroke(path);
  }

  /** Whether there are too many ids on the stage to read any. */
  get crowded() {
    return this.idSize < SMALLEST_TEXT && this.visible.length > READABLE_AGENTS;
  }

  /** The size of text, in pixels, at which the longest id fits into its agent; a digit is 0.6 as wide as that. */
  get idSize() {
    const digits = String(this.scene.state.length - 1).length;
    return Math.min((2 * this.stage.radius) / (0.6 * Math.max(digits, 2)), 20);
  }

  /** Ids inside the agents where they fit, else above them; none if the stage is crowded. */
  drawIds() {
    if (this.crowded) return;
    const { context, colours, radius } = this.stage;
    const fits = this.idSize >= SMALLEST_TEXT;
    context.font = `600 ${Math.max(this.idSize, SMALLEST_TEXT + 1)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = colours.halo;
    context.fillStyle = colours.text;
    for (const agent of this.visible) {
      const [x, middle] = this.middleOf(agent);
      const y = middle - (fits ? 0 : radius + 7);
      context.strokeText(agent, x, y);
      context.fillText(agent, x, y);
    }
  }
}
