// The replay page: a recording, a moment of it, a player that moves it, and what shows it.
//
//   Recording -> Moment -> TerrainLayer, PastLayer, AgentLayer -> Stage
//                  ^                     Inspector                  ^
//               Player <- Timeline, commands                     Camera <- Pointer

import { AgentLayer } from "./agents.js";
import { Camera } from "./camera.js";
import { bindCommands, showHelp } from "./commands.js";
import { showDetails } from "./details.js";
import { Inspector } from "./inspector.js";
import { Moment } from "./moment.js";
import { GONE, HOME, MOVING, NO_AGENT, WAITING } from "./moves.js";
import { byId, counted, spreadName } from "./page.js";
import { PastLayer, TRAIL_TICKS } from "./past.js";
import { Player } from "./player.js";
import { Pointer } from "./pointer.js";
import { Recording, survey } from "./recording.js";
import { Stage } from "./stage.js";
import { TerrainLayer } from "./terrain.js";
import { Timeline } from "./timeline.js";

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
  deselect: {
    keys: ["escape"],
    shown: ["Esc"],
    what: "let go of the selected agent",
    run: (replay) => replay.select(NO_AGENT),
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

class Replay {
  constructor(recording) {
    this.recording = recording;
    this.survey = survey(recording);
    this.moment = new Moment(recording, this.survey.checkpoints);
    this.camera = new Camera(recording.width, recording.height, recording.bounds);
    this.stage = new Stage(byId("map"), this.camera);
    this.terrain = new TerrainLayer(this.stage, this.moment);
    this.agents = new AgentLayer(this.stage, this.moment);
    this.past = new PastLayer(this.stage, this.moment, this.agents);
    this.inspector = new Inspector(this.moment, this.camera);
    this.player = new Player(recording.ticks, () => this.schedule());
    this.timeline = new Timeline(recording, this.survey, this.player);
    this.pointer = new Pointer(byId("map"), this.camera, this);
    this.shows = { goals: false, ids: false, trails: false, waits: false, hues: false };
    this.selected = NO_AGENT;
    this.following = false;
  }

  start() {
    const { width, height, ticks, agents, edits, spread, spreadPeak, reasons } = this.recording;
    byId("ticks").textContent = ticks;
    byId("tick").style.minWidth = `${String(ticks).length}ch`;
    byId("away").hidden = this.survey.present.every((count) => count === agents);
    byId("edit-key").hidden = edits.length === 0;
    byId("waits").hidden = reasons.length === 0;
    byId("spread-key").hidden = byId("spread-caption").hidden = spread.length === 0;
    byId("spread-peak").textContent = spreadPeak.toFixed(1);
    byId("map").ariaLabel = `Map of ${width} × ${height} cells with ${counted(agents, "agent")}`;
    showDetails(this.recording, (tick) => this.player.seek(tick));
    showHelp(COMMANDS, POINTER_HELP);
    bindCommands(COMMANDS, this);
    this.timeline.start();
    this.pointer.start();
    this.bindSurroundings();
  }

  /** Follow the size of the window, its pixel density and the colour scheme. */
  bindSurroundings() {
    const resize = () => {
      this.stage.resize();
      this.timeline.graph.draw();
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
    byId("speed").value = `${player.speed}×`;
    byId("play").ariaLabel = TOGGLE_LABELS[player.state];
    document.body.dataset.state = player.state;
    this.timeline.show();
  }

  showToggles() {
    for (const [name, on] of Object.entries(this.shows)) {
      document.querySelector(`[data-command="${name}"]`).ariaPressed = String(on);
      document.body.classList.toggle(name, on);
    }
    byId("message").textContent = this.shows.ids && this.agents.crowded ? "Zoom in to read the ids" : "";
  }
}

async function main() {
  const recording = await Recording.read(byId("data").textContent);
  byId("message").textContent = "";
  new Replay(recording).start();
}

main().catch((error) => {
  const advice = "The page needs a browser of 2024 or later.";
  byId("message").textContent = `This run cannot be shown: ${error.message}. ${advice}`;
  throw error;
});
