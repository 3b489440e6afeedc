// The menu of scenes: another map, problem, number of units, seed, algorithm, and a second algorithm beside it.

import { fieldFor, fillSelect, readFields } from "./fields.js";
import { byId } from "./page.js";

/** A generator's text, "arena:seed=3,width=96", as its name and what it sets. */
export function parseMap(text) {
  const [name, rest = ""] = text.split(":", 2);
  const pairs = rest.split(",").filter(Boolean).map((pair) => pair.split("="));
  return { name, set: Object.fromEntries(pairs.map(([key, value]) => [key, Number(value)])) };
}

/** The text of a generator with these values; those that are not set differently are left out. */
export function mapText(name, parameters, values) {
  const told = parameters.filter((parameter) => values[parameter.name] !== parameter.value);
  return told.length ? `${name}:${told.map(({ name: key }) => `${key}=${values[key]}`).join(",")}` : `${name}:`;
}

export class Menu {
  constructor(play) {
    this.play = play;
  }

  start() {
    byId("map-name").addEventListener("change", () => this.showMapFields({}));
    byId("scene-form").addEventListener("submit", (event) => {
      event.preventDefault();
      byId("menu").hidePopover();
      this.play.begin(this.wanted);
    });
  }

  /** Take what the server offers. */
  offer({ maps, problems, algorithms, given }) {
    this.maps = maps;
    const names = maps.map(({ name }) => [name, name]);
    fillSelect(byId("map-name"), given ? [["given", given], ...names] : names, given ? "given" : names[0][0]);
    this.showMapFields({});
    fillSelect(byId("problem"), problems.map(({ name }) => [name, name]), problems[0].name);
    const known = algorithms.map(({ name, title }) => [name, title ?? name]);
    fillSelect(byId("algorithm"), known, known[0][0]);
    fillSelect(byId("versus"), [["", "nobody"], ...known]);
    fillSelect(byId("compare-with"), [["", "…"], ...known]);
  }

  /** Show the scene that is on the stage. */
  show(scene) {
    const { name, set } = parseMap(scene.map);
    byId("map-name").value = name;
    this.showMapFields(set);
    byId("problem").value = scene.problem;
    byId("agents").value = scene.agents;
    byId("scene-seed").value = scene.seed;
    byId("budget").value = scene.budget ?? "";
    byId("algorithm").value = scene.panes[0].algorithm;
    byId("versus").value = scene.panes[1]?.algorithm ?? "";
  }

  get parameters() {
    return this.maps.find(({ name }) => name === byId("map-name").value)?.parameters ?? [];
  }

  showMapFields(set) {
    byId("map-fields").replaceChildren(...this.parameters.map((p) => fieldFor(p, set[p.name] ?? p.value)));
  }

  /** What the form asks for. */
  get wanted() {
    const name = byId("map-name").value;
    const values = readFields(byId("map-fields"));
    const budget = byId("budget").valueAsNumber;
    return {
      map: name === "given" ? name : mapText(name, this.parameters, values),
      problem: byId("problem").value,
      agents: byId("agents").valueAsNumber,
      seed: byId("scene-seed").valueAsNumber,
      budget: Number.isFinite(budget) ? budget : null,
      algorithm: byId("algorithm").value,
      parameters: {},
      versus: byId("versus").value || null,
      versus_parameters: {},
    };
  }
}
