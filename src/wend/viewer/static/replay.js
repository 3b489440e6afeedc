// The replay page: a recording, a moment of it, a player that moves it, and what shows it.
//
//   file -> Recording -> Moment -> TerrainLayer, PastLayer, AgentLayer -> Stage
//                          ^                     Inspector                  ^
//                       Player <- Timeline, EventList, commands          Camera <- Pointer

import { AgentLayer } from "./agents.js";
import { FileError } from "./archive.js";
import { Camera } from "./camera.js";
import { bindCommands, showHelp } from "./commands.js";
import { showDetails } from "./details.js";
import { EventList } from "./events.js";
import { bindFiles, bytesOfPage } from "./file.js";
import { Inspector } from "./inspector.js";
import { Moment } from "./moment.js";
import { FOLLOWS, GONE, HOME, MOVING, NO_AGENT, PINNED, UNCONTROLLED, WAITING } from "./moves.js";
import { byId, counted, numberName, spreadName } from "./page.js";
import { PastLayer, TRAIL_TICKS } from "./past.js";
import { Player } from "./player.js";
import { Pointer } from "./pointer.js";
import { Recording, survey } from "./recording.js";
import { Stage } from "./stage.js";
import { TerrainLayer } from "./terrain.js";
import { Timeline } from "./timeline.js";
import { readTrace } from "./trace.js";

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
  goals: { keys: ["g"], shown: ["G"], what: "all goals", run: (replay) => replay.flip("goals") },
  ids: { keys: ["i"], shown: ["I"], what: "the agents' ids", run: (replay) => replay.flip("ids") },
  trails: {
    keys: ["t"],
    shown: ["T"],
    what: `where the agents were in the last ${TRAIL_TICKS} ticks`,
    run: (replay) => replay.flip("trails"),
  },
  waits: { keys: ["w"], shown: ["W"], what: "who waits for whom", run: (replay) => replay.flip("waits") },
  hues: { keys: ["c"], shown: ["C"], what: "colours by agent, not state", run: (replay) => replay.flip("hues") },
  fit: { keys: ["0"], shown: ["0", "double click"], what: "the whole map", run: (replay) => replay.fit() },
  find: { keys: ["/"], shown: ["/"], what: "find an agent by its id, and follow it", run: () => byId("find-id").focus() },
  events: { keys: ["e"], shown: ["E"], what: "the list of events", run: ({ events }) => events.toggle() },
  open: { keys: ["o"], shown: ["O"], what: "open another run (.wend)", run: () => byId("file").click() },
  deselect: {
    keys: ["escape"],
    shown: ["Esc"],
    what: "let go of the selected agent, or leave a field",
    run: (replay) => replay.letGo(),
  },
  help: { keys: ["?", "h"], shown: ["?"], what: "this help", run: () => byId("help").togglePopover() },
};

const POINTER_HELP = [
  [["wheel", "two fingers"], "zoom"],
  [["drag"], "move the map"],
  [["point at"], "what an agent is doing, and its goal"],
  [["click"], "select an agent, follow it and see its way"],
  [["drop a file"], "open another run (.wend)"],
];

const TOGGLE_LABELS = { paused: "Play", playing: "Pause", ended: "Play again" };

/** The page with a run on it; another one can be loaded at any time. */
class Replay {
  constructor(recording) {
    this.shows = { goals: false, ids: false, trails: false, waits: false, hues: false };
    this.camera = new Camera(recording.width, recording.height, recording.bounds);
    this.stage = new Stage(byId("map"), this.camera);
    this.pointer = new Pointer(byId("map"), this.camera, this);
    this.timeline = new Timeline((tick) => this.player.seek(tick));
    this.events = new EventList((item) => this.jump(item));
    this.load(recording);
    this.pointer.start();
    showHelp(COMMANDS, POINTER_HELP);
    bindCommands(COMMANDS, this);
    byId("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(byId("find-id").valueAsNumber);
    });
    this.bindSurroundings();
  }

  load(recording) {
    this.recording = recording;
    this.survey = survey(recording);
    this.moment = new Moment(recording, this.survey.checkpoints);
    this.selected = NO_AGENT;
    this.following = false;
    this.camera.aim(recording.width, recording.height, recording.bounds);
    this.terrain = new TerrainLayer(this.stage, this.moment);
    this.agents = new AgentLayer(this.stage, this.moment);
    this.past = new PastLayer(this.stage, this.moment, this.agents);
    this.inspector = new Inspector(this.moment, this.camera);
    this.player = new Player(recording.ticks, () => this.schedule());
    this.timeline.load(recording, this.survey);
    this.timeline.draw();
    this.events.load(recording);
    showDetails(recording, () => this.events.showViolations());
    this.showKeys();
    this.schedule();
  }

  /** Show what there is to say about the whole run: the keys to what is drawn, as far as it occurs. */
  showKeys() {
    const { width, height, ticks, agents, edits, flags, spread, spreadPeak, reasons } = this.recording;
    const any = (flag) => flags.some(([, , value]) => value & flag);
    byId("ticks").textContent = ticks;
    byId("tick").style.minWidth = `${String(ticks).length}ch`;
    byId("away").hidden = this.survey.present.every((count) => count === agents);
    byId("edit-key").hidden = edits.length === 0;
    byId("follows-key").hidden = !any(FOLLOWS);
    byId("pinned-key").hidden = !any(PINNED);
    byId("uncontrolled-key").hidden = !any(UNCONTROLLED);
    byId("waits").hidden = reasons.length === 0;
    byId("spread-key").hidden = byId("spread-caption").hidden = spread.length === 0;
    byId("spread-peak").textContent = spreadPeak.toFixed(1);
    byId("find-id").max = Math.max(agents - 1, 0);
    byId("map").ariaLabel = `Map of ${width} × ${height} cells with ${counted(agents, "agent")}`;
  }

  /** Follow the size of the window, its pixel density and the colour scheme. */
  bindSurroundings() {
    const resize = () => {
      this.stage.resize();
      this.timeline.draw();
      this.render(); // at once: a resized canvas is empty until it is drawn
    };
    new ResizeObserver(resize).observe(byId("stage"));
    window.addEventListener("resize", resize);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.stage.recolour();
      this.terrain.recolour();
      resize();
    });
  }

  // What commands and the pointer do

  flip(what) {
    this.shows[what] = !this.shows[what];
    this.schedule();
  }

  fit() {
    this.following = false;
    this.camera.fit();
    this.schedule();
  }

  select(agent) {
    this.selected = agent;
    this.following = agent !== NO_AGENT;
    this.schedule();
  }

  letGo() {
    document.activeElement.blur();
    this.select(NO_AGENT);
  }

  /** Select an agent, and look at it from near. */
  find(agent) {
    byId("find-id").blur();
    this.select(agent);
    if (this.moment.state[agent] !== GONE) this.camera.approach(this.moment.x[agent], this.moment.y[agent]);
  }

  /** Go to where and when something of the list happened. */
  jump({ tick, kind, agents, place }) {
    if (Number.isFinite(tick)) this.player.seek(tick);
    if (kind !== "group" && agents.length > 0 && agents[0] < this.recording.agents) this.select(agents[0]);
    if (place !== undefined && !this.camera.showsAll) {
      this.following = false;
      this.camera.centreOn(place[0] + 0.5, place[1] + 0.5);
    }
  }

  clicked() {
    this.select(this.findHovered());
  }

  doubleClicked() {
    this.fit();
  }

  grabbed() {
    this.following = false;
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
    const { player, moment, camera, selected, following } = this;
    this.terrain.repaint(moment.seek(player.tick, player.time - player.tick));
    if (following && !camera.showsAll && moment.state[selected] !== GONE) {
      camera.centreOn(moment.x[selected], moment.y[selected]);
    }
    const hovered = this.findHovered();
    this.draw(hovered);
    this.showState();
    this.showToggles();
    this.inspector.show(selected, following, hovered, this.pointer.place);
    byId("map").classList.toggle("on-agent", hovered !== NO_AGENT);
  }

  findHovered() {
    const { target } = this.pointer;
    return target === null ? NO_AGENT : this.agents.at(...target);
  }

  draw(hovered) {
    const { stage, terrain, past, agents, shows, selected } = this;
    const marked = new Set([selected, hovered]);
    marked.delete(NO_AGENT);
    agents.prepare(shows.hues);
    stage.clear();
    terrain.draw();
    if (shows.trails) past.drawTrails();
    if (selected !== NO_AGENT) past.drawWay(selected);
    if (shows.goals) agents.drawGoals();
    agents.drawBodies();
    agents.drawSpecials();
    if (shows.waits) agents.drawWaits(agents.visible);
    for (const agent of marked) {
      agents.drawMark(agent);
      agents.drawWaits([agent, ...this.moment.waitsFor(agent)]);
    }
    agents.drawAccused(this.accused());
    if (shows.ids) agents.drawIds();
  }

  /** The agents whose illegal move has just been made, or is under way. */
  accused() {
    const { recording, player } = this;
    const ticks = player.time > player.tick ? [player.tick, player.tick + 1] : [player.tick];
    const known = (agent) => agent < recording.agents && this.moment.state[agent] !== GONE;
    return ticks.flatMap((tick) => recording.accused.get(tick) ?? []).filter(known);
  }

  showState() {
    const { player, recording, survey: { counts, present } } = this;
    const { tick } = player;
    byId("tick").value = tick;
    byId("moving").value = counts[MOVING][tick];
    byId("waiting").value = counts[WAITING][tick];
    byId("home").value = counts[HOME][tick];
    byId("spread").value = spreadName(recording.spread[tick]);
    byId("absent").value = recording.agents - present[tick];
    byId("planning").value = tick > 0 ? `${numberName(recording.planMs[tick - 1])} ms` : "–";
    byId("expansions").value = tick > 0 ? recording.expansions[tick - 1].toLocaleString("en") : "–";
    byId("speed").value = `${player.speed}×`;
    byId("play").ariaLabel = TOGGLE_LABELS[player.state];
    document.body.dataset.state = player.state;
    this.timeline.show(player);
    this.events.show(tick);
  }

  showToggles() {
    for (const [name, on] of Object.entries(this.shows)) {
      document.querySelector(`[data-command="${name}"]`).ariaPressed = String(on);
      document.body.classList.toggle(name, on);
    }
    byId("message").textContent = this.shows.ids && this.agents.crowded ? "Zoom in to read the ids" : "";
  }
}

let replay; // undefined until there is a run to show

/** Show the run in a file; if it is not one, say why, and leave everything as it is. `bytes` may be a promise. */
async function open(bytes) {
  byId("problem").hidden = true;
  byId("message").textContent = "Unpacking the run …";
  try {
    const recording = new Recording(await readTrace(await bytes));
    document.body.classList.remove("empty");
    if (replay) replay.load(recording);
    else replay = new Replay(recording);
  } catch (error) {
    byId("problem").textContent = `This run cannot be shown: ${error.message}.`;
    byId("problem").hidden = false;
    if (!(error instanceof FileError)) throw error;
  } finally {
    byId("message").textContent = "";
  }
}

bindFiles(open);
const carried = bytesOfPage();
if (carried) open(carried);
