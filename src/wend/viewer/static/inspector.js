// The inspector: a card about the selected agent, and a tooltip about the one under the pointer.

import { clamp } from "./geometry.js";
import { FOLLOWS, GONE, NO_AGENT, PINNED, STATE_NAMES, UNCONTROLLED } from "./moves.js";
import { byId, counted, element, fillPairs, placeName } from "./page.js";

const LISTED_WAITS = 4;

export class Inspector {
  constructor(scene, camera) {
    this.scene = scene;
    this.camera = camera;
  }

  /** Show the agents, either of which may be NO_AGENT; `pointer` is where on the stage the pointer is. */
  show(selected, following, hovered, pointer) {
    const [card, tooltip] = [byId("card"), byId("tooltip")];
    card.hidden = selected === NO_AGENT;
    const note = following ? "Following. Drag to stop, Esc to let go." : "Esc to let go.";
    if (!card.hidden) this.describe(card, selected, note);
    tooltip.hidden = hovered === NO_AGENT || hovered === selected;
    if (!tooltip.hidden) this.describe(tooltip, hovered, "");
    if (!tooltip.hidden) this.moveTooltip(tooltip, pointer);
  }

  describe(box, agent, note) {
    const { scene } = this;
    const state = scene.state[agent];
    const list = element("dl");
    list.className = "pairs";
    fillPairs(list, [
      ["State", STATE_NAMES[state]],
      ...(state === GONE ? [] : [["Cell", placeName(scene.cell[agent], scene.width)]]),
      ["Goal", placeName(scene.goal[agent], scene.width)],
      ["Waited", counted(scene.waited(agent), "tick")],
      ...this.specials(agent),
      ...this.reasons(agent),
    ]);
    const small = element("p", note);
    small.className = "note";
    box.replaceChildren(element("h2", `Agent ${agent}`), list, ...(note ? [small] : []));
  }

  /** What is special about an agent. */
  specials(agent) {
    const [flags, leader] = [this.scene.flags[agent], this.scene.leader[agent]];
    return [
      ...(flags & FOLLOWS ? [["Follows", `agent ${leader}`]] : []),
      ...(flags & PINNED ? [["Pinned", "no other may push it"]] : []),
      ...(flags & UNCONTROLLED ? [["Moved by", "the program"]] : []),
    ];
  }

  /** Whom an agent waits for, and why, as far as the run says. */
  reasons(agent) {
    const wait = this.scene.wait(agent);
    if (wait === null) return [];
    const chain = this.scene.waitsFor(agent);
    const named = chain.slice(0, LISTED_WAITS);
    if (named.length < chain.length) named.push(`${chain.length - named.length} more`);
    return [...(named.length > 0 ? [["Waits for", `agent ${named.join(" → ")}`]] : []), ["Why", wait.reason]];
  }

  /** Beside the pointer, on the side where there is room. */
  moveTooltip(tooltip, [x, y]) {
    const { width, height } = this.camera;
    const left = x + 16 + tooltip.offsetWidth < width ? x + 16 : x - 16 - tooltip.offsetWidth;
    const top = clamp(y + 16, 0, Math.max(height - tooltip.offsetHeight - 8, 0));
    tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
