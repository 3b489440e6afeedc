// The heat over the map: what the planners can show, and the jam, which is worked out here.

import { fillSelect } from "./fields.js";
import { JamHeat } from "./jam.js";
import { byId } from "./page.js";

export class HeatMenu {
  constructor(play) {
    this.play = play;
    this.chosen = ""; // the name of an overlay, "jam", or nothing
    this.offered = []; // by pane, the overlays that its planner can draw
    this.jams = []; // by pane
    this.asked = []; // by pane, the name of the overlay that the server sends
  }

  start() {
    byId("heat").addEventListener("change", ({ target }) => this.choose(target.value));
  }

  /** Take the overlays of every pane; what was chosen stays chosen if there still is one. */
  offer(panes) {
    this.offered = panes;
    this.asked = [];
    const all = new Map(panes.flat().map((overlay) => [overlay.name, overlay]));
    const words = ({ name, of_agent: ofAgent }) => (ofAgent ? `${name} of the unit` : name);
    const named = [...all.values()].map((overlay) => [overlay.name, words(overlay).replaceAll("_", " ")]);
    const isThere = this.chosen === "jam" || all.has(this.chosen);
    fillSelect(byId("heat"), [["", "none"], ["jam", "where units stand"], ...named]);
    if (this.chosen) this.choose(isThere ? this.chosen : "");
  }

  choose(name) {
    this.chosen = name;
    byId("heat").value = name;
    this.jams = [];
    for (const pane of this.play.panes) pane.setHeat(null);
    if (name === "jam") for (const pane of this.play.panes) this.moved(pane);
    this.ask();
    this.play.schedule();
  }

  next() {
    const { options, selectedIndex } = byId("heat");
    this.choose(options[(selectedIndex + 1) % options.length].value);
    this.play.say(`Heat: ${byId("heat").selectedOptions[0].text}`);
  }

  /** Ask the server for the overlay, or for none. */
  ask() {
    const { panes, selection, orders } = this.play;
    panes.forEach(({ number }) => {
      const overlay = this.offered[number]?.find(({ name }) => name === this.chosen);
      const agent = overlay?.of_agent ? (selection.first ?? null) : null;
      const name = overlay && (!overlay.of_agent || agent !== null) ? overlay.name : null;
      if (overlay && name === null) this.play.say("Select a unit to see what it knows.");
      if (name === null && !this.asked[number]) return; // it sends none anyway
      this.asked[number] = name;
      orders.send("overlay", { pane: number, name, agent });
    });
  }

  /** Another unit is selected: what an overlay shows of it is out of date. */
  selected() {
    if (!this.offered.flat().some(({ name, of_agent: ofAgent }) => ofAgent && name === this.chosen)) return;
    for (const pane of this.play.panes) pane.setHeat(null);
    this.ask();
  }

  /** The units of a pane have moved. */
  moved(pane) {
    if (this.chosen !== "jam") return;
    const { number, units, size } = pane;
    this.jams[number] ??= new JamHeat(...size, units);
    this.jams[number].add(units);
    pane.setHeat(this.jams[number].bytes);
  }
}
