// The script of the replay page, in the order in which the data flows through it:
//
//   Recording  the whole run, as the page carries it
//   Moment     the world after one tick; can be moved to any other tick
//   Player     the clock: a state machine over play, step, seek and the end of the run
//   View       which part of the map the stage shows, and how large
//   Painter    draws a moment through a view
//   Graph      the shares of agents at their goal and moving, and the spread of a group, over time
//   Viewer     ties them to the page: commands, pointer, counters, panels
//
// Words are those of the library: a cell is y * width + x, a tick is one step of the world. "At tick t" means after t
// ticks, with all orders and map edits given by then. An agent's move number t leads from tick t to tick t + 1.

const WAIT = 0; // codes 1..8 are moves, clockwise cardinals first: N E S W NE SE SW NW
const ABSENT = 9;
const DX = [0, 0, 1, 0, -1, 1, 1, -1, -1, 0]; // by code
const DY = [0, -1, 0, 1, 0, -1, 1, 1, -1, 0];
const NO_CELL = -(2 ** 31); // not -1: a trace that Wend did not make may lead an agent off the map, and back
const NO_AGENT = -1;

const MOVING = 0;
const WAITING = 1;
const HOME = 2;
const GONE = 3;
const STATE_NAMES = ["moving", "waiting", "at goal", "not on the map"];

const CHECKPOINT_TICKS = 64; // a jump replays at most this many ticks
const TICKS_PER_SECOND = 5; // at speed 1
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const COMFORTABLE_SECONDS = 40; // the speed at the start is the slowest that shows the run in this time
const TRAIL_TICKS = 20;
const WAYPOINT_REACH = 3; // cells; so near, an agent has passed a waypoint
const HUES = 24;
const LARGEST_CELL = 96; // pixels; closer there is nothing more to see
const SMALLEST_TEXT = 8; // pixels
const READABLE_AGENTS = 150; // so few ids can be read at any zoom
const LISTED_VIOLATIONS = 200; // the first ones tell what went wrong
const TAU = 2 * Math.PI;

const byId = (id) => document.getElementById(id);
const rowOf = (cell, width) => Math.floor(cell / width);
const columnOf = (cell, width) => cell - rowOf(cell, width) * width;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// --- the run --------------------------------------------------------------------------------------------------------

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

/** What an agent is about, with `code` as its next move. One that is pushed off its goal is home until it has left. */
function stateOf(cell, goal, code) {
  if (cell === goal) return HOME;
  return code === WAIT || code === ABSENT ? WAITING : MOVING;
}

class Recording {
  static async read(text) {
    const data = JSON.parse(text);
    const names = ["blocked", "moves", "added", "orders", "routes", "edits", "spread"];
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
    this.blocked = unpackBits(buffers.blocked, this.width * this.height); // [cells] 1 where a wall is, at the start
    this.moves = new Uint8Array(buffers.moves); // [agents, ticks] codes
    this.added = rows(buffers.added, 3); // [agents] tick, cell, goal
    this.orders = rows(buffers.orders, 3); // tick, agent, goal; by tick
    this.routes = rows(buffers.routes, 3); // tick, agent, waypoint, or -1 where there is none; by tick, in their order
    this.edits = rows(buffers.edits, 3); // tick, cell, blocked; by tick
    this.spread = new Float32Array(buffers.spread); // [ticks + 1] of the group ordered last, NaN where there is none; or []
    this.spreadPeak = this.spread.reduce((peak, spread) => (spread > peak ? spread : peak), 0);
    this.offset = DX.map((dx, code) => DY[code] * this.width + dx);
    this.ordersOf = Array.from({ length: this.agents }, () => []);
    for (const order of this.orders) this.ordersOf[order[1]].push(order);
    this.routesOf = Array.from({ length: this.agents }, () => []);
    for (const waypoint of this.routes) this.routesOf[waypoint[1]].push(waypoint);
  }

  /** The move that an agent makes at a tick; at the last tick, the one that led there. */
  code(agent, tick) {
    return this.ticks === 0 ? WAIT : this.moves[agent * this.ticks + Math.min(tick, this.ticks - 1)];
  }

  /** Call visit(tick, cell, goal, code) for every tick up to `last` at which the agent is on the map. */
  walk(agent, last, visit) {
    const orders = this.ordersOf[agent];
    let [tick, cell, goal] = this.added[agent];
    for (let next = 0; tick <= last && cell !== NO_CELL; tick += 1) {
      for (; next < orders.length && orders[next][0] <= tick; next += 1) goal = orders[next][2];
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

  /** How many ticks an agent has stood still away from its goal. */
  waited(agent, tick) {
    let count = 0;
    this.walk(agent, tick - 1, (_, cell, goal, code) => {
      if (stateOf(cell, goal, code) === WAITING) count += 1;
    });
    return count;
  }
}

/** One pass over the run: agents by state at every tick, and everybody's cell at every checkpoint. */
function survey(recording) {
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

// --- one tick of it -------------------------------------------------------------------------------------------------

/** Values that change at known ticks: set to any tick by making the changes up to it, or taking back those after it. */
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

class Moment {
  constructor(recording, checkpoints) {
    const { agents, added } = recording;
    this.recording = recording;
    this.checkpoints = checkpoints;
    this.tick = 0;
    this.cell = new Int32Array(agents); // NO_CELL where the agent is not on the map
    this.goals = new Changes(Int32Array.from(added, (row) => row[2]), recording.orders);
    this.terrain = new Changes(recording.blocked.slice(), recording.edits);
    this.state = new Uint8Array(agents);
    this.x = new Float32Array(agents); // middle of each agent, in cells; between two cells while it moves
    this.y = new Float32Array(agents);
    this.entering = new Map(); // tick -> agents
    added.forEach(([tick], agent) => {
      if (!this.entering.has(tick)) this.entering.set(tick, []);
      this.entering.get(tick).push(agent);
    });
    this.load(0);
  }

  /** Go to a tick, and `fraction` of the way to the next; return the cells whose terrain changed. */
  seek(tick, fraction) {
    if (tick < this.tick || tick - this.tick > CHECKPOINT_TICKS) this.load(Math.floor(tick / CHECKPOINT_TICKS));
    while (this.tick < tick) this.step();
    this.goals.seek(tick);
    this.place(fraction);
    return this.terrain.seek(tick);
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
    for (const agent of this.entering.get(this.tick) ?? []) cell[agent] = recording.added[agent][1];
  }

  place(fraction) {
    const { recording, cell, state, x, y } = this;
    const { width } = recording;
    for (let agent = 0; agent < cell.length; agent += 1) {
      const at = cell[agent];
      const code = recording.code(agent, this.tick);
      state[agent] = at === NO_CELL ? GONE : stateOf(at, this.goals.values[agent], code);
      x[agent] = columnOf(at, width) + 0.5 + DX[code] * fraction;
      y[agent] = rowOf(at, width) + 0.5 + DY[code] * fraction;
    }
  }

  /** The agent nearest to a place within `reach`, all in cells; NO_AGENT if none is. */
  nearest(x, y, reach) {
    let best = NO_AGENT;
    let bestSquare = reach * reach;
    for (let agent = 0; agent < this.cell.length; agent += 1) {
      const square = (this.x[agent] - x) ** 2 + (this.y[agent] - y) ** 2;
      if (this.state[agent] !== GONE && square <= bestSquare) [best, bestSquare] = [agent, square];
    }
    return best;
  }
}

// --- the clock ------------------------------------------------------------------------------------------------------

/** The state machine: for each state, what each signal leads to, and what is done on the way. */
const MACHINE = {
  paused: {
    toggle: { to: "playing" },
    step: { to: "paused" },
    seek: { to: "paused" },
    finish: { to: "ended" },
  },
  playing: {
    toggle: { to: "paused", action: (player) => player.settle() },
    step: { to: "paused" },
    seek: { to: "playing" },
    finish: { to: "ended" },
  },
  ended: {
    toggle: { to: "playing", action: (player) => player.rewind() },
    step: { to: "paused" },
    seek: { to: "paused" },
    finish: { to: "ended" },
  },
};

class Player {
  constructor(ticks, changed) {
    this.ticks = ticks;
    this.changed = changed; // called after everything that shows
    this.state = "paused";
    this.time = 0; // in ticks; a fraction is on the way to the next tick
    const wanted = ticks / TICKS_PER_SECOND / COMFORTABLE_SECONDS;
    this.gear = SPEEDS.findIndex((speed) => speed >= Math.max(wanted, 1));
    if (this.gear < 0) this.gear = SPEEDS.length - 1;
    this.goTo(0);
  }

  get speed() {
    return SPEEDS[this.gear];
  }

  get tick() {
    return Math.floor(this.time);
  }

  send(signal) {
    const { to, action } = MACHINE[this.state][signal];
    this.state = to;
    action?.(this);
    this.changed();
  }

  toggle() {
    this.send("toggle");
  }

  step(ticks) {
    this.send("step");
    this.goTo(ticks > 0 ? this.tick + ticks : Math.ceil(this.time) + ticks);
  }

  seek(tick) {
    this.send("seek");
    this.goTo(tick);
  }

  shift(gears) {
    this.gear = clamp(this.gear + gears, 0, SPEEDS.length - 1);
    this.changed();
  }

  /** Let the time pass that a frame took. */
  advance(seconds) {
    if (this.state === "playing") this.goTo(this.time + seconds * TICKS_PER_SECOND * this.speed);
  }

  rewind() {
    this.time = 0;
  }

  /** A pause shows a tick and not the way between two. */
  settle() {
    this.goTo(Math.round(this.time));
  }

  goTo(time) {
    this.time = clamp(time, 0, this.ticks);
    if (this.time === this.ticks) this.send("finish");
    else this.changed();
  }
}

// --- the stage ------------------------------------------------------------------------------------------------------

class View {
  constructor(mapWidth, mapHeight, focus) {
    this.mapWidth = mapWidth;
    this.mapHeight = mapHeight;
    this.focus = focus; // the columns and rows that "fit" shows, as half-open ranges
    this.resize(1, 1, 1);
    this.fit();
  }

  /** Take the size of the stage in CSS pixels, and how many device pixels one of them is. */
  resize(width, height, density) {
    this.width = width;
    this.height = height;
    this.density = density;
    if (this.fitted) this.fit();
  }

  /** The scale at which all of the focus is seen: whole device pixels per cell where cells are large enough to tell. */
  get fitScale() {
    const margin = 24;
    const { x0, y0, x1, y1 } = this.focus;
    const scale = Math.min((this.width - margin) / (x1 - x0), (this.height - margin) / (y1 - y0));
    const device = scale * this.density;
    return clamp(device > 6 ? Math.floor(device) / this.density : scale, 0.01, LARGEST_CELL);
  }

  /** Put all of the focus into the stage. */
  fit() {
    this.fitted = true;
    this.scale = this.fitScale; // CSS pixels per cell
    this.x = (this.focus.x0 + this.focus.x1) / 2; // what is in the middle of the stage, in cells
    this.y = (this.focus.y0 + this.focus.y1) / 2;
  }

  centreOn(x, y) {
    this.fitted = false;
    this.x = clamp(x, 0, this.mapWidth);
    this.y = clamp(y, 0, this.mapHeight);
  }

  panBy(pixelsX, pixelsY) {
    this.centreOn(this.x - pixelsX / this.scale, this.y - pixelsY / this.scale);
  }

  /** Zoom, and keep what is under a pixel of the stage under it. */
  zoomAt(pixelX, pixelY, factor) {
    const [x, y] = this.toMap(pixelX, pixelY);
    const scale = clamp(this.scale * factor, this.fitScale / 2, LARGEST_CELL);
    this.scale = scale;
    this.centreOn(x - (pixelX - this.width / 2) / scale, y - (pixelY - this.height / 2) / scale);
  }

  get showsAll() {
    return this.scale <= this.fitScale;
  }

  /** Where column 0 and row 0 begin on the stage, on a device pixel so that edges are sharp. */
  get left() {
    return Math.round((this.width / 2 - this.x * this.scale) * this.density) / this.density;
  }

  get top() {
    return Math.round((this.height / 2 - this.y * this.scale) * this.density) / this.density;
  }

  toMap(pixelX, pixelY) {
    return [(pixelX - this.left) / this.scale, (pixelY - this.top) / this.scale];
  }

  /** The columns and rows that the stage shows, as half-open ranges. */
  get shown() {
    const [x0, y0] = this.toMap(0, 0);
    const [x1, y1] = this.toMap(this.width, this.height);
    return {
      x0: Math.max(Math.floor(x0), 0),
      y0: Math.max(Math.floor(y0), 0),
      x1: Math.min(Math.ceil(x1), this.mapWidth),
      y1: Math.min(Math.ceil(y1), this.mapHeight),
    };
  }
}

/** The page's colours of now, which follow the colour scheme. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const hue = (i) => `hsl(${Math.round((i * 137.508) % 360)} ${colour("hue-tail")})`; // neighbours differ most
  return {
    cells: [colour("floor"), colour("wall"), colour("opened"), colour("closed")],
    states: [colour("moving"), colour("waiting"), colour("home")],
    hues: Array.from({ length: HUES }, (_, i) => hue(i)),
    spread: colour("spread"),
    grid: colour("grid"),
    line: colour("line"),
    outline: colour("outline"),
    halo: colour("halo"),
    text: colour("text"),
  };
}

/** Colours as the numbers that stand for them in an ImageData, found by painting them. */
function toPixels(colours) {
  const canvas = document.createElement("canvas");
  canvas.width = colours.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  colours.forEach((colour, i) => {
    context.fillStyle = colour;
    context.fillRect(i, 0, 1, 1);
  });
  return new Uint32Array(context.getImageData(0, 0, colours.length, 1).data.buffer);
}

/** Make a canvas as large as it appears, in device pixels, and its context count in CSS pixels. */
function prepareCanvas(canvas) {
  const density = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(Math.round(width * density), 1);
  canvas.height = Math.max(Math.round(height * density), 1);
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  return { context, width, height, density };
}

const disc = (path, x, y, radius) => {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, TAU);
};
const ring = (path, x, y, radius) => {
  disc(path, x, y, radius);
  path.moveTo(x + radius * 0.45, y);
  path.arc(x, y, radius * 0.45, 0, TAU, true); // the other way round: a hole
};
const square = (path, x, y, radius) => path.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
const diamond = (path, x, y, radius) => {
  path.moveTo(x, y - radius);
  path.lineTo(x + radius, y);
  path.lineTo(x, y + radius);
  path.lineTo(x - radius, y);
  path.closePath();
};
const SHAPES = [disc, ring, square]; // by state, so that colours are not all there is to tell them apart

class Painter {
  constructor(canvas, moment, view) {
    this.canvas = canvas;
    this.moment = moment;
    this.recording = moment.recording;
    this.view = view;
    this.map = document.createElement("canvas"); // one pixel per cell, scaled when drawn
    this.map.width = this.recording.width;
    this.map.height = this.recording.height;
    this.resize();
    this.recolour();
  }

  resize() {
    const { context, width, height, density } = prepareCanvas(this.canvas);
    this.context = context;
    this.view.resize(width, height, density);
  }

  recolour() {
    this.colours = readColours();
    const palette = toPixels(this.colours.cells);
    const image = new ImageData(this.map.width, this.map.height);
    new Uint32Array(image.data.buffer).forEach((_, cell, pixels) => (pixels[cell] = palette[this.terrainOf(cell)]));
    this.map.getContext("2d").putImageData(image, 0, 0);
  }

  /** Paint cells of the map anew whose terrain changed. */
  repaint(cells) {
    const context = this.map.getContext("2d");
    for (const cell of cells) {
      context.fillStyle = this.colours.cells[this.terrainOf(cell)];
      context.fillRect(columnOf(cell, this.map.width), rowOf(cell, this.map.width), 1, 1);
    }
  }

  /** 0 floor, 1 wall, 2 floor that was a wall at the start, 3 wall that was floor. */
  terrainOf(cell) {
    const now = this.moment.terrain.values[cell];
    return now === this.recording.blocked[cell] ? now : now + 2;
  }

  /** Draw everything. `shows` says what: goals, ids, trails, hues; `marked` are the agents to point out. */
  draw(shows, selected, marked) {
    this.shows = shows;
    this.radius = Math.max(this.view.scale * 0.38, 2);
    this.visible = this.findVisible();
    this.context.clearRect(0, 0, this.view.width, this.view.height);
    this.drawMap();
    if (this.view.scale >= 10) this.drawGrid();
    if (shows.trails) this.drawTrails();
    if (selected !== NO_AGENT) this.drawPast(selected);
    if (shows.goals) this.drawGoals();
    this.drawAgents();
    for (const agent of marked) this.drawMark(agent);
    if (shows.ids && !this.crowded) this.drawIds();
  }

  /** Whether there are too many ids on the stage to read any. */
  get crowded() {
    return this.idSize < SMALLEST_TEXT && this.visible.length > READABLE_AGENTS;
  }

  /** The size of text, in pixels, at which the longest id fits into its agent; a digit is 0.6 as wide as that. */
  get idSize() {
    const digits = String(this.recording.agents - 1).length;
    return Math.min((2 * this.radius) / (0.6 * Math.max(digits, 2)), 20);
  }

  screenX(x) {
    return this.view.left + x * this.view.scale;
  }

  screenY(y) {
    return this.view.top + y * this.view.scale;
  }

  middleOf(cell) {
    const { width } = this.recording;
    return [this.screenX(columnOf(cell, width) + 0.5), this.screenY(rowOf(cell, width) + 0.5)];
  }

  findVisible() {
    const { x0, y0, x1, y1 } = this.view.shown;
    const { x, y, state } = this.moment;
    const onStage = (agent) => x[agent] > x0 - 1 && x[agent] < x1 + 1 && y[agent] > y0 - 1 && y[agent] < y1 + 1;
    return [...state.keys()].filter((agent) => state[agent] !== GONE && onStage(agent));
  }

  drawMap() {
    const { context, view } = this;
    const { x0, y0, x1, y1 } = view.shown;
    if (x1 <= x0 || y1 <= y0) return;
    const [left, top] = [this.screenX(x0), this.screenY(y0)];
    const [width, height] = [(x1 - x0) * view.scale, (y1 - y0) * view.scale];
    context.imageSmoothingEnabled = view.scale * view.density < 1;
    context.drawImage(this.map, x0, y0, x1 - x0, y1 - y0, left, top, width, height);
    context.strokeStyle = this.colours.line;
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  }

  drawGrid() {
    const { context } = this;
    const { density } = this.view;
    const { x0, y0, x1, y1 } = this.view.shown;
    const [left, top, right, bottom] = [this.screenX(x0), this.screenY(y0), this.screenX(x1), this.screenY(y1)];
    const sharp = (pixel) => Math.round(pixel * density) / density;
    context.fillStyle = this.colours.grid;
    for (let x = x0 + 1; x < x1; x += 1) context.fillRect(sharp(this.screenX(x)), top, 1 / density, bottom - top);
    for (let y = y0 + 1; y < y1; y += 1) context.fillRect(left, sharp(this.screenY(y)), right - left, 1 / density);
  }

  /** One path per colour; `add(path, agent)` puts an agent's part into its colour's path. */
  gather(agents, add) {
    const colours = this.shows.hues ? this.colours.hues : this.colours.states;
    const paths = colours.map(() => new Path2D());
    for (const agent of agents) add(paths[this.colourIndex(agent)], agent);
    return paths.map((path, i) => ({ path, colour: colours[i] }));
  }

  colourIndex(agent) {
    return this.shows.hues ? agent % HUES : this.moment.state[agent];
  }

  drawAgents() {
    const { state, x, y } = this.moment;
    const add = (path, agent) => {
      const shape = this.radius < 3 ? square : SHAPES[state[agent]];
      shape(path, this.screenX(x[agent]), this.screenY(y[agent]), this.radius);
    };
    for (const { path, colour } of this.gather(this.visible, add)) {
      this.context.fillStyle = colour;
      this.context.fill(path);
    }
  }

  drawGoals() {
    const { state, goals } = this.moment;
    const away = [...state.keys()].filter((agent) => state[agent] === MOVING || state[agent] === WAITING);
    const add = (path, agent) => diamond(path, ...this.middleOf(goals.values[agent]), this.radius * 0.9);
    this.context.lineWidth = clamp(this.radius / 5, 1, 2.5);
    for (const { path, colour } of this.gather(away, add)) {
      this.context.strokeStyle = colour;
      this.context.stroke(path);
    }
  }

  drawTrails() {
    this.context.globalAlpha = 0.45;
    this.context.lineWidth = clamp(this.radius * 0.5, 1, 6);
    this.context.lineJoin = "round";
    for (const { path, colour } of this.gather(this.visible, (path, agent) => this.addTrail(path, agent))) {
      this.context.strokeStyle = colour;
      this.context.stroke(path);
    }
    this.context.globalAlpha = 1;
  }

  /** The last ticks of an agent's way, from where it is now backwards; one line per straight run. */
  addTrail(path, agent) {
    const { recording, moment } = this;
    const { width } = recording;
    let [x, y] = [columnOf(moment.cell[agent], width) + 0.5, rowOf(moment.cell[agent], width) + 0.5];
    path.moveTo(this.screenX(moment.x[agent]), this.screenY(moment.y[agent]));
    const first = Math.max(recording.added[agent][0], moment.tick - TRAIL_TICKS);
    for (let tick = moment.tick - 1, run = WAIT; tick >= first; tick -= 1) {
      const code = recording.code(agent, tick);
      if (code !== run) path.lineTo(this.screenX(x), this.screenY(y));
      [x, y, run] = [x - DX[code], y - DY[code], code];
    }
    path.lineTo(this.screenX(x), this.screenY(y));
  }

  /** All of the way that an agent has come. */
  drawPast(agent) {
    const { context, moment } = this;
    context.beginPath();
    this.recording.walk(agent, moment.tick, (_, cell) => context.lineTo(...this.middleOf(cell)));
    if (moment.state[agent] !== GONE) context.lineTo(this.screenX(moment.x[agent]), this.screenY(moment.y[agent]));
    context.strokeStyle = this.colours.outline;
    context.globalAlpha = 0.6;
    context.lineWidth = clamp(this.radius * 0.3, 1.5, 4);
    context.lineJoin = "round";
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Point an agent out: a ring around it, its goal, its waypoints, and a line that joins them. */
  drawMark(agent) {
    const { context, moment } = this;
    if (moment.state[agent] === GONE) return;
    const [x, y] = [this.screenX(moment.x[agent]), this.screenY(moment.y[agent])];
    const [goalX, goalY] = this.middleOf(moment.goals.values[agent]);
    const waypoints = this.recording.waypoints(agent, moment.tick).map((cell) => this.middleOf(cell));
    const size = Math.max(this.radius, 5);
    const path = new Path2D();
    disc(path, x, y, size + 3);
    diamond(path, goalX, goalY, size);
    for (const [waypointX, waypointY] of waypoints) disc(path, waypointX, waypointY, size / 2);
    context.strokeStyle = this.colours.outline;
    context.lineWidth = 2;
    context.stroke(path);
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(x, y);
    for (const waypoint of waypoints) context.lineTo(...waypoint);
    context.lineTo(goalX, goalY);
    context.lineWidth = 1.5;
    context.stroke();
    context.setLineDash([]);
  }

  /** Ids inside the agents where they fit, else above them. */
  drawIds() {
    const { context, moment } = this;
    const fits = this.idSize >= SMALLEST_TEXT;
    context.font = `600 ${Math.max(this.idSize, SMALLEST_TEXT + 1)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = this.colours.halo;
    context.fillStyle = this.colours.text;
    for (const agent of this.visible) {
      const [x, y] = [this.screenX(moment.x[agent]), this.screenY(moment.y[agent]) - (fits ? 0 : this.radius + 7)];
      context.strokeText(agent, x, y);
      context.fillText(agent, x, y);
    }
  }
}

class Graph {
  constructor(canvas, recording, { counts, present }) {
    this.canvas = canvas;
    this.recording = recording;
    this.share = (state, tick) => (present[tick] ? counts[state][tick] / present[tick] : 0);
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    const { states, cells, spread } = readColours();
    context.clearRect(0, 0, width, height);
    this.drawHome(context, width, height, states[HOME]);
    this.drawMoving(context, width, height, states[MOVING]);
    this.drawSpread(context, width, height, spread);
    this.drawEdits(context, width, cells[3]);
  }

  /** A share, by tick, as a line from left to right; one point per pixel where there is one. */
  trace(context, width, height, share) {
    context.beginPath();
    for (let x = 0; x <= width; x += 1) {
      const tick = Math.round((x / width) * this.recording.ticks);
      context.lineTo(x, height - 1 - share(tick) * (height - 2)); // no point if NaN
    }
  }

  drawHome(context, width, height, colour) {
    this.trace(context, width, height, (tick) => this.share(HOME, tick));
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
    context.lineTo(width, height);
    context.lineTo(0, height);
    context.fillStyle = colour;
    context.globalAlpha = 0.25;
    context.fill();
    context.globalAlpha = 1;
  }

  drawMoving(context, width, height, colour) {
    this.trace(context, width, height, (tick) => this.share(MOVING, tick));
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }

  /** The spread of the group, as a share of its peak. */
  drawSpread(context, width, height, colour) {
    const { spread, spreadPeak } = this.recording;
    this.trace(context, width, height, (tick) => spread[tick] / Math.max(spreadPeak, 1));
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.stroke();
  }

  /** A notch at every tick at which the map was edited. */
  drawEdits(context, width, colour) {
    const { edits, ticks } = this.recording;
    context.fillStyle = colour;
    for (const [tick] of edits) context.fillRect((tick / Math.max(ticks, 1)) * width - 1, 0, 2, 7);
  }
}

// --- the page -------------------------------------------------------------------------------------------------------

/** Everything that a key or a button can do. `keys` are compared in lower case; `shown` and `what` make up the help. */
const COMMANDS = {
  toggle: { keys: [" "], shown: ["Space"], what: "play or pause", run: ({ player }) => player.toggle() },
  back: {
    keys: ["arrowleft"],
    shown: ["←"],
    what: "a tick back; with Shift, ten",
    run: ({ player }, event) => player.step(event.shiftKey ? -10 : -1),
  },
  forward: {
    keys: ["arrowright"],
    shown: ["→"],
    what: "a tick forward; with Shift, ten",
    run: ({ player }, event) => player.step(event.shiftKey ? 10 : 1),
  },
  start: { keys: ["home"], shown: ["Home"], what: "to the start", run: ({ player }) => player.seek(0) },
  end: { keys: ["end"], shown: ["End"], what: "to the end", run: ({ player }) => player.seek(Infinity) },
  faster: { keys: ["+", "="], shown: ["+"], what: "faster, up to 64×", run: ({ player }) => player.shift(1) },
  slower: { keys: ["-", "_"], shown: ["−"], what: "slower, down to 0.25×", run: ({ player }) => player.shift(-1) },
  goals: { keys: ["g"], shown: ["G"], what: "all goals", run: (viewer) => viewer.flip("goals") },
  ids: { keys: ["i"], shown: ["I"], what: "the agents' ids", run: (viewer) => viewer.flip("ids") },
  trails: {
    keys: ["t"],
    shown: ["T"],
    what: `where the agents were in the last ${TRAIL_TICKS} ticks`,
    run: (viewer) => viewer.flip("trails"),
  },
  hues: { keys: ["c"], shown: ["C"], what: "colours by agent, not state", run: (viewer) => viewer.flip("hues") },
  fit: { keys: ["0"], shown: ["0", "double click"], what: "the whole map", run: (viewer) => viewer.fit() },
  deselect: {
    keys: ["escape"],
    shown: ["Esc"],
    what: "let go of the selected agent",
    run: (viewer) => viewer.select(NO_AGENT),
  },
  help: { keys: ["?", "h"], shown: ["?"], what: "this help", run: () => byId("help").togglePopover() },
};

const POINTER_HELP = [
  [["wheel"], "zoom around the pointer"],
  [["drag"], "move the map"],
  [["point at"], "what an agent is doing, and its goal"],
  [["click"], "select an agent, follow it and see its way"],
];

const TOGGLE_LABELS = { paused: "Play", playing: "Pause", ended: "Play again" };

/** An element with text or with children. Text stays text: nothing from the run is ever parsed as markup. */
function element(tag, ...content) {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}

/** Fill a list of terms and descriptions. */
function fillPairs(list, pairs) {
  const items = pairs.flatMap(([term, what]) => [element("dt", ...[term].flat()), element("dd", String(what))]);
  list.replaceChildren(...items);
}

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const spreadName = (spread) => (Number.isFinite(spread) ? spread.toFixed(1) : "–");
const placeName = (cell, width) => `(${columnOf(cell, width)}, ${rowOf(cell, width)})`;

class Viewer {
  constructor(recording) {
    this.recording = recording;
    this.survey = survey(recording);
    this.moment = new Moment(recording, this.survey.checkpoints);
    this.view = new View(recording.width, recording.height, recording.bounds);
    this.painter = new Painter(byId("map"), this.moment, this.view);
    this.graph = new Graph(byId("graph"), recording, this.survey);
    this.player = new Player(recording.ticks, () => this.schedule());
    this.shows = { goals: false, ids: false, trails: false, hues: false };
    this.selected = NO_AGENT;
    this.following = false;
    this.pointer = null; // where on the stage it is, in pixels
  }

  start() {
    const { width, height, ticks, agents, edits, spread, spreadPeak } = this.recording;
    showRun(this.recording, (tick) => this.player.seek(tick));
    showHelp();
    byId("slider").max = ticks;
    byId("ticks").textContent = ticks;
    byId("tick").style.minWidth = `${String(ticks).length}ch`;
    byId("away").hidden = this.survey.present.every((count) => count === agents);
    byId("edit-key").hidden = edits.length === 0;
    byId("spread-key").hidden = byId("spread-caption").hidden = spread.length === 0;
    byId("spread-peak").textContent = spreadPeak.toFixed(1);
    byId("map").ariaLabel = `Map of ${width} × ${height} cells with ${counted(agents, "agent")}`;
    this.bindButtons();
    this.bindKeys();
    this.bindTimeline();
    this.bindStage();
    this.bindSurroundings();
  }

  // Commands

  run(name, event) {
    COMMANDS[name].run(this, event);
  }

  flip(what) {
    this.shows[what] = !this.shows[what];
    this.schedule();
  }

  fit() {
    this.following = false;
    this.view.fit();
    this.schedule();
  }

  select(agent) {
    this.selected = agent;
    this.following = agent !== NO_AGENT;
    this.schedule();
  }

  // Frames

  /** Ask for one frame; several wishes before it comes are one. */
  schedule() {
    if (this.request !== undefined) return;
    this.request = requestAnimationFrame((now) => this.frame(now));
  }

  /** A frame that plays asks for the next one by moving the player. Time counts from the first frame after a rest. */
  frame(now) {
    this.request = undefined;
    const seconds = this.lastFrame === undefined ? 0 : Math.min(now - this.lastFrame, 100) / 1000;
    const playing = this.player.state === "playing";
    this.lastFrame = playing ? now : undefined;
    this.player.advance(seconds);
    this.render();
  }

  render() {
    const { player, moment, view } = this;
    this.painter.repaint(moment.seek(player.tick, player.time - player.tick));
    if (this.following && !view.showsAll && moment.state[this.selected] !== GONE) {
      view.centreOn(moment.x[this.selected], moment.y[this.selected]);
    }
    this.hovered = this.findHovered();
    const marked = new Set([this.selected, this.hovered]);
    marked.delete(NO_AGENT);
    this.painter.draw(this.shows, this.selected, marked);
    this.showState();
    this.showAgents();
  }

  /** The agent under the pointer: a small one counts from a few pixels away. */
  findHovered() {
    if (this.pointer === null || this.drag?.moved) return NO_AGENT;
    return this.moment.nearest(...this.view.toMap(...this.pointer), Math.max(0.6, 7 / this.view.scale));
  }

  showState() {
    const { player, survey: { counts, present } } = this;
    const { tick } = player;
    byId("tick").value = tick;
    byId("moving").value = counts[MOVING][tick];
    byId("waiting").value = counts[WAITING][tick];
    byId("home").value = counts[HOME][tick];
    byId("spread").value = spreadName(this.recording.spread[tick]);
    byId("absent").value = this.recording.agents - present[tick];
    byId("slider").value = tick;
    document.body.style.setProperty("--progress", `${(player.time / Math.max(player.ticks, 1)) * 100}%`);
    byId("speed").value = `${player.speed}×`;
    byId("play").ariaLabel = TOGGLE_LABELS[player.state];
    document.body.dataset.state = player.state;
    this.showToggles();
  }

  showToggles() {
    for (const [name, on] of Object.entries(this.shows)) {
      document.querySelector(`[data-command="${name}"]`).ariaPressed = String(on);
      document.body.classList.toggle(name, on);
    }
    byId("message").textContent = this.shows.ids && this.painter.crowded ? "Zoom in to read the ids" : "";
  }

  showAgents() {
    const [card, tooltip] = [byId("card"), byId("tooltip")];
    card.hidden = this.selected === NO_AGENT;
    const note = this.following ? "Following. Drag to stop, Esc to let go." : "Esc to let go.";
    if (!card.hidden) this.describe(card, this.selected, note);
    tooltip.hidden = this.hovered === NO_AGENT || this.hovered === this.selected;
    if (!tooltip.hidden) this.describe(tooltip, this.hovered, "");
    if (!tooltip.hidden) this.moveTooltip(tooltip);
    byId("map").classList.toggle("on-agent", this.hovered !== NO_AGENT);
  }

  describe(box, agent, note) {
    const { moment, recording } = this;
    const { width } = recording;
    const state = moment.state[agent];
    const list = element("dl");
    list.className = "pairs";
    fillPairs(list, [
      ["State", STATE_NAMES[state]],
      ...(state === GONE ? [] : [["Cell", placeName(moment.cell[agent], width)]]),
      ["Goal", placeName(moment.goals.values[agent], width)],
      ["Waited", counted(recording.waited(agent, moment.tick), "tick")],
    ]);
    const small = element("p", note);
    small.className = "note";
    box.replaceChildren(element("h2", `Agent ${agent}`), list, ...(note ? [small] : []));
  }

  /** Beside the pointer, on the side where there is room. */
  moveTooltip(tooltip) {
    const [x, y] = this.pointer;
    const left = x + 16 + tooltip.offsetWidth < this.view.width ? x + 16 : x - 16 - tooltip.offsetWidth;
    const top = clamp(y + 16, 0, Math.max(this.view.height - tooltip.offsetHeight - 8, 0));
    tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  // Input

  bindButtons() {
    // A button that was clicked would keep the focus, and take the next press of the space bar for itself.
    document.addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
    for (const button of document.querySelectorAll("[data-command]")) {
      const { shown, what } = COMMANDS[button.dataset.command];
      button.title = `${what} (${shown[0]})`;
      button.addEventListener("click", (event) => this.run(button.dataset.command, event));
    }
  }

  bindKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && event.target.closest("button")) return; // the button that has the focus is pressed
      const key = event.key.toLowerCase();
      const name = Object.keys(COMMANDS).find((command) => COMMANDS[command].keys.includes(key));
      if (name === undefined) return;
      event.preventDefault();
      this.run(name, event);
    });
  }

  bindTimeline() {
    byId("slider").addEventListener("input", (event) => this.player.seek(event.target.valueAsNumber));
    const frame = byId("graph-frame");
    const seek = (event) => {
      const { left, width } = frame.getBoundingClientRect();
      this.player.seek(Math.round(clamp((event.clientX - left) / width, 0, 1) * this.recording.ticks));
    };
    frame.addEventListener("pointerdown", (event) => {
      frame.setPointerCapture(event.pointerId);
      seek(event);
    });
    frame.addEventListener("pointermove", (event) => frame.hasPointerCapture(event.pointerId) && seek(event));
  }

  bindStage() {
    const canvas = byId("map");
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.endDrag());
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => this.fit());
  }

  wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1);
    const around = this.following ? [this.view.width / 2, this.view.height / 2] : [event.offsetX, event.offsetY];
    this.view.zoomAt(...around, Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016))); // ctrl: two fingers on a touchpad
    this.schedule();
  }

  press(event) {
    if (event.button !== 0) return;
    byId("map").setPointerCapture(event.pointerId);
    this.pointer = [event.offsetX, event.offsetY];
    this.drag = { from: this.pointer, moved: false };
  }

  move(event) {
    const [x, y] = this.pointer ?? [event.offsetX, event.offsetY];
    this.pointer = [event.offsetX, event.offsetY];
    if (this.drag) this.dragBy(event.offsetX - x, event.offsetY - y);
    this.schedule();
  }

  /** A drag begins after a few pixels, so that a click with an unsteady hand is still a click. */
  dragBy(x, y) {
    const [fromX, fromY] = this.drag.from;
    const [nowX, nowY] = this.pointer;
    if (!this.drag.moved && Math.hypot(nowX - fromX, nowY - fromY) < 4) return;
    this.drag.moved = true;
    this.following = false;
    byId("map").classList.add("dragging");
    this.view.panBy(x, y);
  }

  release() {
    if (this.drag && !this.drag.moved) this.select(this.findHovered());
    this.endDrag();
  }

  endDrag() {
    this.drag = undefined;
    byId("map").classList.remove("dragging");
    this.schedule();
  }

  leave() {
    this.pointer = null;
    this.schedule();
  }

  /** Follow the size of the window, its pixel density and the colour scheme. */
  bindSurroundings() {
    const resize = () => {
      this.painter.resize();
      this.graph.draw();
      this.render(); // at once: a resized canvas is empty until it is drawn
    };
    new ResizeObserver(resize).observe(byId("stage"));
    window.addEventListener("resize", resize);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.painter.recolour();
      resize();
    });
  }
}

/** The header and the details: what the trace says about the run, whatever of it there is. */
function showRun(recording, jump) {
  const { meta, violations } = recording;
  const title = [meta.algorithm, meta.map].filter(Boolean).join(" on ") || "Replay";
  byId("title").textContent = title;
  byId("title").title = title;
  document.title = `${title} – Wend replay`;
  const size = [
    ["map size", `${recording.width} × ${recording.height}`],
    ["agents", recording.agents],
    ["ticks", recording.ticks],
  ];
  const facts = [
    ...size,
    ["seed", meta.seed],
    ["stopped by", meta.stopped_by],
    ["violations", violations.length || undefined],
  ].filter(([, value]) => value !== undefined);
  byId("facts").replaceChildren(...facts.map(([name, value]) => fact(name, String(value))));
  fillPairs(byId("meta"), [...size, ...Object.entries(meta)]);
  const listed = violations.slice(0, LISTED_VIOLATIONS);
  if (listed.length < violations.length) listed.push(`and ${violations.length - listed.length} more`);
  byId("violations").hidden = violations.length === 0;
  byId("violation-list").replaceChildren(...listed.map((text) => violationItem(text, jump)));
}

function fact(name, value) {
  const made = element("div", element("dt", name), element("dd", value));
  made.title = value;
  const bad = name === "violations" || (name === "stopped by" && value !== "done");
  made.classList.toggle("warning", bad);
  return made;
}

/** A violation; one that names its tick is a button that leads there. */
function violationItem(text, jump) {
  const tick = /^tick (\d+)/.exec(text)?.[1];
  if (tick === undefined) return element("li", text);
  const button = element("button", text);
  button.addEventListener("click", () => {
    byId("details").hidePopover();
    jump(Number(tick));
  });
  return element("li", button);
}

function showHelp() {
  const commands = Object.values(COMMANDS).map(({ shown, what }) => [shown, what]);
  const keys = (shown) => shown.flatMap((key) => [element("kbd", key), " "]);
  fillPairs(byId("keys"), [...commands, ...POINTER_HELP].map(([shown, what]) => [keys(shown), what]));
}

async function main() {
  const recording = await Recording.read(byId("data").textContent);
  byId("message").textContent = "";
  new Viewer(recording).start();
}

main().catch((error) => {
  const advice = "The page needs a browser of 2024 or later.";
  byId("message").textContent = `This run cannot be shown: ${error.message}. ${advice}`;
  throw error;
});
