// The heat over the map: what the server can show of each pane, by the names that it gives.

import { fillSelect } from "./fields.js";
import { byId } from "./page.js";

export const JAM_HEAT = "waiting"; // the overlay that every pane has: where units have stood of late

export class HeatMenu {
  constructor(play) {
    this.play = play;
    this.chosen = ""; // the name of an overlay, or nothing
    this.offered = []; // by pane, the overlays that can be drawn of it
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
    const words = ({ name, of_agent: ofAgent }) => (ofAgent ? `${name}, of the unit` : name).replaceAll("_", " ");
    fillSelect(byId("heat"), [["", "none"], ...[...all.values()].map((overlay) => [overlay.name, words(overlay)])]);
    if (this.chosen) this.choose(all.has(this.chosen) ? this.chosen : "");
  }

  choose(name) {
    this.chosen = name;
    byId("heat").value = name;
    byId("heat").title = this.overlays(name)[0]?.about ?? "";
    for (const pane of this.play.panes) pane.setHeat(null);
    this.ask();
    this.play.schedule();
  }

  next() {
    const { options, selectedIndex } = byId("heat");
    this.choose(options[(selectedIndex + 1) % options.length].value);
    this.play.say(`Heat: ${byId("heat").selectedOptions[0].text}`);
  }

  /** The overlays of this name, of one pane or both. */
  overlays(name) {
    return this.offered.flat().filter((overlay) => overlay.name === name);
  }

  /** Ask the server for the overlay, or for none. */
  ask() {
    const { panes, selection, orders } = this.play;
    for (const { number } of panes) {
      const overlay = this.offered[number]?.find(({ name }) => name === this.chosen);
      const agent = overlay?.of_agent ? (selection.first ?? null) : null;
      const name = overlay && (!overlay.of_agent || agent !== null) ? overlay.name : null;
      if (overlay && name === null) this.play.say("Select a unit to see what it knows.");
      if (name === null && !this.asked[number]) continue; // it sends none anyway
      this.asked[number] = name;
      orders.send("overlay", { pane: number, name, agent });
    }
  }

  /** Another unit is selected: what an overlay shows of a unit is out of date. */
  selected() {
    if (!this.overlays(this.chosen).some(({ of_agent: ofAgent }) => ofAgent)) return;
    for (const pane of this.play.panes) pane.setHeat(null);
    this.ask();
  }
}
