// The live page: what the server shows, what the reader asks and orders, and the frames in between.
//
//   Link -> Pane (Units -> painter, Marks) -> stage          Why, Curves, Heads, Menu: what is said around it
//     ^                                         |
//   Orders <- tools, commands <- Pointer, keys -+

import { Camera } from "./camera.js";
import { bindCommands, showHelp } from "./commands.js";
import { COMMANDS, POINTER_HELP } from "./controls.js";
import { Curves, costOf } from "./curves.js";
import { CELLS_FRAME, FULL_FRAME, MAP_FRAME, OVERLAY_FRAME } from "./frames.js";
import { clamp } from "./geometry.js";
import { Heads } from "./heads.js";
import { HeatMenu, JAM_HEAT } from "./heat.js";
import { findJam } from "./jam.js";
import { Link } from "./link.js";
import { Marks } from "./marks.js";
import { Menu } from "./menu.js";
import { NO_AGENT } from "./moves.js";
import { Orders } from "./orders.js";
import { byId, counted } from "./page.js";
import { readColours } from "./palette.js";
import { Pane } from "./pane.js";
import { Pointer } from "./pointer.js";
import { Selection } from "./selection.js";
import { Tempo } from "./tempo.js";
import { TOOLS } from "./tools.js";
import { Why } from "./why.js";

const CLOSE_UP = 18; // pixels per cell when a single unit is looked at
const CURVES_MS = 150; // between two drawings of the curves
const MESSAGE_MS = 6000;
const REASON_MS = 15000;
const STATES_IN_WORDS = {
  building: "Building the scene …",
  resting: "All units are at rest. Give an order, or start another scene.",
  broken: "There is nothing to play. Start another scene.",
};

class Play {
  constructor() {
    this.colours = readColours();
    this.camera = new Camera(1, 1, { x0: 0, y0: 0, x1: 1, y1: 1 });
    this.panes = [];
    this.pointers = [];
    this.link = new Link(this);
    this.selection = new Selection(() => this.selected());
    this.orders = new Orders(this.link, this.selection);
    this.marks = new Marks(this.colours);
    this.why = new Why(this);
    this.heads = new Heads(this);
    this.heat = new HeatMenu(this);
    this.menu = new Menu(this);
    this.curves = new Curves(() => this.drawCurves());
    this.tempo = new Tempo();
    this.phase = 1; // how far the units have come on their way into the newest tick
    this.tool = "select";
    this.shows = { ids: false, hues: false, curves: true };
    this.following = false; // whether the camera follows the selected unit
    this.box = null; // the selection box that is being drawn
    this.cursor = null; // the cell of the keyboard's cursor
    this.note = null; // a place that is pointed out
    this.state = "connecting";
    this.offered = null; // what the server offers
    this.scene = null; // what it shows
    this.newest = 0; // the number of the newest frame
    this.acknowledged = 0;
    this.keepsSelection = false; // when the next scene comes
  }

  start() {
    showHelp(COMMANDS, POINTER_HELP);
    bindCommands(COMMANDS, this);
    this.menu.start();
    this.heads.start();
    this.heat.start();
    byId("retry").addEventListener("click", () => this.link.connect());
    byId("seed").addEventListener("change", ({ target }) => this.reseed(target));
    byId("find").addEventListener("change", ({ target }) => this.find(target.valueAsNumber));
    byId("compare-with").addEventListener("change", ({ target }) => this.compare(target.value));
    new ResizeObserver(() => this.resize()).observe(byId("panes"));
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.recolour());
    if (window.matchMedia("(max-width: 720px)").matches) this.flip("curves"); // the map needs the room
    this.take("select");
    this.link.connect();
  }

  resize() {
    for (const pane of this.panes) pane.resize();
    this.drawCurves();
    this.render(performance.now()); // at once: a resized canvas is empty until it is drawn
  }

  recolour() {
    this.colours = this.marks.colours = readColours();
    for (const pane of this.panes) pane.recolour(this.colours);
    this.drawCurves();
    this.schedule();
  }

  // --- what the server says -------------------------------------------------------------------------------------

  linkChanged(state, seconds, reason) {
    byId("link").dataset.state = state;
    byId("link").textContent = { open: "live", waiting: "server gone", refused: "refused" }[state] ?? "connecting";
    if (state === "connecting" || state === "greeting") return; // the banner stays until there is an answer
    byId("banner").hidden = state === "open";
    const again = `The server is gone. Trying again in ${counted(Math.ceil(seconds), "second")}.`;
    byId("banner-text").textContent = state === "refused" ? `The server refuses: ${reason}.` : again;
  }

  heard(message) {
    const hear = {
      welcome: () => this.welcome(message),
      scene: () => this.show(message),
      state: () => this.setState(message.name, message.ticks_per_second),
      tick: () => this.tick(message),
      why: () => this.why.take(message),
      verdict: () => this.judge(message.sentence),
      notice: () => this.announce(message.text),
      refused: () => message.of === "why" || this.say(`Refused: ${message.reason}`), // a unit has left meanwhile
    };
    hear[message.type]?.();
    this.schedule();
  }

  welcome(message) {
    this.isResumed = this.offered?.session === message.session;
    this.newest = this.acknowledged = 0;
    this.offered = message;
    this.menu.offer(message);
  }

  /** Another scene, the same one with another algorithm, or the same one again after the link was lost. */
  show(scene) {
    const isSame = this.scene?.scene === scene.scene && (this.isResumed ?? true);
    const before = isSame ? this.scene.panes.map(({ reason }) => reason) : [];
    this.isResumed = undefined;
    this.scene = scene;
    if (!isSame) this.beginScene(scene);
    this.panes.forEach((pane, number) => {
      pane.title = scene.panes[number].title ?? scene.panes[number].algorithm;
      pane.above.ariaLabel = `Map of ${scene.width} × ${scene.height} cells, units moved by ${pane.title}`;
      this.heads.build(pane, scene.panes[number]);
    });
    byId("title").textContent = `${scene.map.replace(/:$/, "")} · ${scene.problem} · ${counted(scene.units, "unit")}`;
    byId("seed").value = scene.seed;
    this.menu.show(scene);
    this.heat.offer(scene.panes.map(({ overlays }) => overlays));
    this.setState(scene.state, scene.ticks_per_second);
    for (const { title, reason } of scene.panes.filter(({ reason }, number) => before[number] && reason !== before[number])) {
      this.say(`${title}, ${reason}`, REASON_MS);
    }
  }

  beginScene({ width, height, panes }) {
    while (this.panes.length > panes.length) this.panes.pop().element.remove();
    while (this.panes.length < panes.length) this.addPane();
    byId("panes").dataset.count = panes.length;
    this.pointers.length = panes.length;
    for (const pane of this.panes) pane.clear(width, height);
    for (const pane of this.panes) pane.resize();
    this.camera.aim(width, height, { x0: 0, y0: 0, x1: width, y1: height });
    this.curves.clear();
    this.note = null;
    this.judge("");
    if (!this.keepsSelection) this.selection.set([]);
    this.keepsSelection = false;
    this.why.choose(this.selection.size === 1 ? this.selection.first : NO_AGENT);
  }

  addPane() {
    const pane = new Pane(this.panes.length, this.camera, this.colours, () => this.schedule());
    this.panes.push(pane);
    byId("panes").append(pane.element);
    pane.start();
    const host = {
      isFollowing: () => this.following,
      get following() {
        return this.isFollowing();
      },
      clicked: (event) => this.clicked(pane, event),
      doubleClicked: () => {},
      grabbed: () => this.grabbed(),
      schedule: () => this.schedule(),
      stroke: (event) => TOOLS[this.tool].stroke?.(this, pane, event) ?? null,
      clickedAside: (place) => this.clickedAside(pane, place),
    };
    const pointer = new Pointer(pane.above, this.camera, host);
    pointer.start();
    this.pointers.push(pointer);
    pane.above.addEventListener("keydown", (event) => this.moveCursor(pane, event));
    pane.above.addEventListener("blur", () => (this.cursor = null));
  }

  setState(name, speed) {
    const isUrgent = name === "building" || this.state === "building"; // else what is being said is said to its end
    if (name !== this.state) this.announced = "";
    this.state = name;
    document.body.dataset.state = name === "running" ? "playing" : name;
    byId("play").ariaLabel = name === "running" ? "Pause" : "Go on";
    if (speed !== undefined) this.orders.speed = speed;
    byId("speed").value = `${this.orders.speed}/s`;
    if (isUrgent || this.silence === undefined) this.say(this.wordsOfState(), Infinity);
  }

  tick({ tick, panes }) {
    this.curves.add(tick, panes);
    this.curvesTimer ??= setTimeout(() => this.drawCurves(), CURVES_MS);
    this.heads.show(panes);
  }

  judge(sentence) {
    byId("verdict").textContent = byId("verdict").title = sentence;
  }

  /** Take a frame. One that does not fit to what is known is answered with a wish for a full one. */
  framed(frame) {
    this.newest = Math.max(this.newest, frame.number);
    this.schedule();
    const pane = this.panes[frame.pane];
    if (this.scene === null || frame.scene !== this.scene.scene || pane === undefined) return;
    if (frame.kind === OVERLAY_FRAME && !this.heat.asked[frame.pane]) return; // it was on its way when it was let go
    if (!pane.take(frame)) {
      this.orders.send("full");
      return;
    }
    if ([MAP_FRAME, CELLS_FRAME, OVERLAY_FRAME].includes(frame.kind)) return;
    if (frame.pane === 0) this.tempo.arrived(performance.now());
    if (frame.kind === FULL_FRAME && frame.pane === 0) this.selection.keep((unit) => pane.units.has(unit));
  }

  /** What the server has to say; while a scene is built, or there is none, it stays. */
  announce(words) {
    this.announced = words.charAt(0).toUpperCase() + words.slice(1);
    this.say(this.announced);
  }

  wordsOfState() {
    return (["building", "broken"].includes(this.state) && this.announced) || (STATES_IN_WORDS[this.state] ?? "");
  }

  say(words, milliseconds = MESSAGE_MS) {
    byId("message").textContent = words;
    clearTimeout(this.silence);
    this.silence = undefined;
    if (milliseconds < Infinity) this.silence = setTimeout(() => this.say(this.wordsOfState(), Infinity), milliseconds);
  }

  // --- what the reader does -------------------------------------------------------------------------------------

  /** What the scene is made from; starting with it again gives the same scene. */
  get recipe() {
    const { map, problem, agents, seed, budget, panes } = this.scene;
    return {
      map,
      problem,
      agents,
      seed,
      budget,
      algorithm: panes[0].algorithm,
      parameters: panes[0].parameters,
      versus: panes[1]?.algorithm ?? null,
      versus_parameters: panes[1]?.parameters ?? {},
    };
  }

  begin(recipe, keepsSelection = false) {
    this.keepsSelection = keepsSelection;
    this.orders.send("new", recipe);
  }

  again() {
    if (this.scene) this.begin(this.recipe, true);
  }

  reseed(input) {
    input.blur();
    if (this.scene) this.begin({ ...this.recipe, seed: input.valueAsNumber });
  }

  compare(algorithm) {
    byId("compare-with").value = "";
    if (algorithm) this.begin({ ...this.recipe, versus: algorithm, versus_parameters: {} }, true);
  }

  toggle() {
    this.orders.send(this.state === "running" ? "pause" : "resume");
  }

  take(tool) {
    this.tool = tool;
    document.body.dataset.tool = tool;
    byId("hint").textContent = TOOLS[tool].hint;
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.ariaPressed = String(button.dataset.tool === tool);
    }
    this.schedule();
  }

  /** Take a tool that tells the selected units something. */
  takeForSelection(tool) {
    if (this.selection.size === 0) this.say("Select units first.");
    else this.take(tool);
  }

  flip(what) {
    this.shows[what] = !this.shows[what];
    document.querySelector(`[data-command="${what}"]`).ariaPressed = String(this.shows[what]);
    document.body.classList.toggle(`no-${what}`, !this.shows[what]);
    this.drawCurves();
    this.schedule();
  }

  /** From how many pixels away a unit is meant. */
  reach(event) {
    return event.pointerType === "touch" ? 18 : 7;
  }

  clicked(pane, event) {
    this.note = null;
    TOOLS[this.tool].click(this, pane, [event.offsetX, event.offsetY], event);
  }

  clickedAside(pane, place) {
    if (this.tool !== "select" && this.tool !== "hand") this.take("select");
    else this.order("move", pane.cellAt(place), "accent");
  }

  pick(pane, unit, isMore) {
    if (isMore && unit !== NO_AGENT) this.selection.toggle(unit);
    else this.selection.set(unit === NO_AGENT ? [] : [unit]);
  }

  selected() {
    if (this.selection.size !== 1) this.watch(false);
    this.mayBeCovered = this.selection.size === 1;
    this.why.choose(this.selection.size === 1 ? this.selection.first : NO_AGENT);
    this.heat.selected();
    this.schedule();
  }

  selectAll() {
    if (!this.scene) return;
    const { units } = this.panes[0];
    this.selection.set([...Array(units.count).keys()].filter((unit) => units.has(unit)));
  }

  /** Let go: of what is pointed out, then of the tool, then of the selection. */
  letGo() {
    document.activeElement?.blur();
    if (this.note) this.note = null;
    else if (this.tool !== "select") this.take("select");
    else this.selection.set([]);
    this.schedule();
  }

  isOnMap([x, y]) {
    return x >= 0 && y >= 0 && x < this.scene.width && y < this.scene.height;
  }

  order(how, cell, colour) {
    if (!this.isOnMap(cell)) return;
    const objection = this.orders.tell("order", { to: cell, how });
    if (objection) this.say(objection);
    else this.marks.signal(cell, this.colours[colour], performance.now());
    this.schedule();
  }

  tell(type, fields, done) {
    this.say(this.orders.tell(type, fields) || done);
  }

  paint(cells, as) {
    this.orders.paint(cells.filter((cell) => this.isOnMap(cell)), as);
    this.schedule();
  }

  addUnits(cells) {
    this.orders.add(cells.filter((cell) => this.isOnMap(cell)));
    this.schedule();
  }

  // --- where the camera looks -----------------------------------------------------------------------------------

  fit() {
    this.watch(false);
    this.camera.fit();
    this.schedule();
  }

  grabbed() {
    this.watch(false);
  }

  /** Whether the camera follows the selected unit. */
  watch(isFollowing) {
    this.following = isFollowing && this.selection.size === 1;
    byId("camera").ariaPressed = String(this.following);
    if (this.following) this.camera.scale = Math.max(this.camera.scale, CLOSE_UP);
    this.schedule();
  }

  /** The card has grown over the unit that it is about: move the map so that both are seen. */
  uncover() {
    this.mayBeCovered = false;
    const [pane] = this.panes;
    const [card, view] = [byId("card"), pane.above].map((shown) => shown.getBoundingClientRect());
    const [x, y] = pane.stageOf(this.selection.first, this.phase);
    const [right, down] = [card.left - view.left - x, card.top - view.top - y];
    if (right > 0 || down > 0 || card.bottom - view.top < y || card.right - view.left < x) return;
    if (card.width > view.width / 2) this.camera.panBy(0, down - 40);
    else this.camera.panBy(right - 40, 0);
    this.schedule();
  }

  find(unit) {
    byId("find").value = "";
    byId("find").blur(); // so that keys are commands again
    if (!this.panes[0]?.units.has(unit)) {
      this.say(`There is no unit ${unit}.`);
      return;
    }
    this.selection.set([unit]);
    this.watch(true);
  }

  showJam() {
    this.heat.choose(JAM_HEAT);
    const jams = this.panes.map(({ units }) => findJam(units));
    const worst = jams.indexOf(jams.reduce((a, b) => ((b?.units ?? 0) > (a?.units ?? 0) ? b : a), null));
    if (worst < 0) {
      this.say("There is no jam: nowhere do three units stand close together, away from their goals.");
      return;
    }
    const { cell, units, reach } = jams[worst];
    this.note = { pane: worst, cell, reach, words: `${counted(units, "unit")} stand here` };
    this.watch(false);
    this.camera.scale = clamp(this.camera.scale, CLOSE_UP / 2, CLOSE_UP);
    this.camera.centreOn(...cell);
    const where = this.panes.length > 1 ? ` of ${this.panes[worst].title}` : "";
    this.say(`The jam${where} is around (${cell.join(", ")}): ${units} units stand there, away from their goals.`, 12000);
  }

  /** The keyboard's cursor on the map: arrows move it, Enter clicks, with Shift aside. */
  moveCursor(pane, event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!steps && event.key !== "Enter") return;
    event.preventDefault();
    const { camera, scene } = this;
    const [x, y] = this.cursor ?? [Math.floor(camera.x), Math.floor(camera.y)];
    const far = event.shiftKey ? 5 : 1;
    const [dx, dy] = steps ?? [0, 0];
    this.cursor = [clamp(x + dx * far, 0, scene.width - 1), clamp(y + dy * far, 0, scene.height - 1)];
    const place = pane.stageOfCell(this.cursor);
    if (place[0] < 0 || place[1] < 0 || place[0] > camera.width || place[1] > camera.height) {
      camera.centreOn(...this.cursor);
    }
    if (event.key === "Enter" && event.shiftKey) this.clickedAside(pane, place);
    else if (event.key === "Enter") TOOLS[this.tool].click(this, pane, place, event);
    this.schedule();
  }

  // --- frames ---------------------------------------------------------------------------------------------------

  /** Ask for one frame; several wishes before it comes are one. */
  schedule() {
    if (this.request !== undefined) return;
    this.request = requestAnimationFrame((now) => {
      this.request = undefined;
      this.render(now);
      this.acknowledge();
      if (this.phase < 1 || this.marks.isLively(now)) this.schedule();
    });
  }

  /** Tell the server what has been drawn; until then it sends only a few frames more. */
  acknowledge() {
    if (this.newest === this.acknowledged) return;
    if (this.orders.send("ack", { frame: this.newest })) this.acknowledged = this.newest;
  }

  render(now) {
    if (this.scene === null) return;
    this.phase = this.tempo.phase(now);
    this.orders.flush();
    this.why.ask(now);
    const { camera, selection } = this;
    if (this.following && this.panes[0].units.has(selection.first)) {
      camera.centreOn(...this.panes[0].units.middle(selection.first, this.phase));
    }
    for (const pane of this.panes) this.draw(pane, now);
    this.why.show();
    if (this.mayBeCovered && this.why.answers[0]) this.uncover();
  }

  draw(pane, now) {
    const { camera, selection, phase, marks, shows } = this;
    pane.draw({ camera, selection, phase, hued: shows.hues });
    const why = this.why.answers[pane.number];
    if (why) marks.drawWhy(pane, why, phase);
    const areIdsShown = shows.ids && marks.drawIds(pane, phase);
    if (shows.ids && !areIdsShown && pane.number === 0) byId("hint").textContent = "Zoom in to read the ids.";
    marks.drawSignals(pane, now);
    if (this.box?.pane === pane) marks.drawBox(pane, this.box);
    if (this.note?.pane === pane.number) marks.drawNote(pane, this.note);
    const target = this.pointers[pane.number].target;
    if (this.cursor) marks.drawBrush(pane, this.cursor, 1);
    else if (target && TOOLS[this.tool].brush) marks.drawBrush(pane, pane.cellAt(target), 1);
    pane.above.classList.toggle("on-unit", target !== null && pane.unitAt(target, phase) !== NO_AGENT);
  }

  /** A few times per second, and when a tick is chosen. */
  drawCurves() {
    clearTimeout(this.curvesTimer);
    this.curvesTimer = undefined;
    if (this.shows.curves) this.curves.draw();
    const { shown } = this.curves;
    const panes = this.curves.row(shown);
    if (panes) byId("cost").textContent = costOf(shown, panes, this.panes.map(({ title }) => title));
  }
}

const play = new Play();
play.start();
globalThis.wendPlay = play; // for the console, tests and benchmarks
