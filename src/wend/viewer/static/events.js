// The list of what happened: events and violations, all or those of one agent or one kind; a click leads there.
//
// It shows a bounded number of rows at a time, however many there are. Kinds that it does not know are listed like all
// others, by their name and their fields.

import { byId, counted, element } from "./page.js";

const LISTED = 100; // rows
const VIOLATION = "violation";
const LISTED_PLACES = 3; // of a field; of more, it says how many

const pointName = ([x, y]) => `(${x}, ${y})`;
const isPoint = (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
const isPoints = (value) => Array.isArray(value) && value.every(isPoint);

/** A field of an event in words. */
function fieldName([name, value]) {
  if (name !== "agents" && isPoint(value)) return `${name} ${pointName(value)}`;
  if (isPoints(value) && value.length <= LISTED_PLACES) return `${name} ${value.map(pointName).join(" ") || "none"}`;
  if (Array.isArray(value)) return counted(value.length, name.replace(/s$/, ""));
  return `${name} ${value !== null && typeof value === "object" ? JSON.stringify(value) : (value ?? "none")}`;
}

/** What an event says beside its tick, kind and agent; what goes without saying is left out. */
function eventText(event) {
  const { tick, kind, agent, ...fields } = event;
  if (kind === "planner") return `${fields.algorithm}: ${fields.reason}`;
  if (String(fields.asked) === String(fields.goal)) delete fields.asked;
  if (kind === "added" && fields.controlled === true) delete fields.controlled;
  if (kind === "added" && fields.pinned === false) delete fields.pinned;
  return Object.entries(fields).map(fieldName).join(", ");
}

/** All that happened, as items { tick, kind, title, agents, text(), place }; by tick, those without one at the end. */
export function itemsOf({ events, violations }) {
  const ofEvents = events.map((event) => ({
    tick: event.tick,
    kind: event.kind,
    title: Number.isInteger(event.agent) ? `${event.kind}, agent ${event.agent}` : event.kind,
    agents: event.agents ?? [event.agent, event.other].filter((agent) => Number.isInteger(agent)),
    text: () => eventText(event),
    place: event.agent === undefined ? (event.cells?.[0] ?? event.target) : undefined,
  }));
  const ofViolations = violations.map((violation) => {
    const [, tick, text] = /^tick (\d+): (.*)$/s.exec(violation) ?? [undefined, Infinity, violation];
    const [, ...agents] = /agent (\d+)(?: and (\d+))?/.exec(text) ?? [];
    const known = agents.filter((digits) => digits !== undefined).map(Number);
    return { tick: Number(tick), kind: VIOLATION, title: VIOLATION, agents: known, text: () => text };
  });
  return [...ofEvents, ...ofViolations].sort((a, b) => (a.tick === b.tick ? 0 : a.tick - b.tick));
}

export class EventList {
  /** `jump(item)` is called where one is clicked. */
  constructor(jump) {
    this.jump = jump;
    this.items = [];
    this.found = []; // those that the filters let through
    this.first = 0; // of those that are listed
    this.tick = 0;
    byId("event-agent").addEventListener("input", () => this.filter());
    byId("event-kind").addEventListener("change", () => this.filter());
    byId("events-earlier").addEventListener("click", () => this.turn(-LISTED));
    byId("events-later").addEventListener("click", () => this.turn(LISTED));
    byId("events-close").addEventListener("click", () => this.toggle());
  }

  load(recording) {
    this.items = itemsOf(recording);
    const counts = new Map();
    for (const { kind } of this.items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const option = (kind, text) => Object.assign(element("option", text), { value: kind });
    const kinds = [...counts].map(([kind, count]) => option(kind, `${kind} (${count})`));
    byId("event-kind").replaceChildren(option("", `all kinds (${this.items.length})`), ...kinds);
    byId("event-agent").value = "";
    byId("event-agent").max = recording.agents - 1;
    this.filter();
  }

  get isOpen() {
    return !byId("events").hidden;
  }

  toggle() {
    byId("events").hidden = this.isOpen;
    if (this.isOpen) this.filter();
  }

  /** Open the list of what is illegal in the run. */
  showViolations() {
    byId("events").hidden = false;
    byId("event-kind").value = VIOLATION;
    byId("event-agent").value = "";
    this.filter();
  }

  /** List what the filters let through, from around the tick of now. */
  filter() {
    const [kind, agent] = [byId("event-kind").value, byId("event-agent").valueAsNumber]; // NaN: any agent
    const passes = (item) => (kind === "" || item.kind === kind) && (isNaN(agent) || item.agents.includes(agent));
    this.found = this.items.filter(passes);
    const next = Math.max(this.found.findIndex(({ tick }) => tick >= this.tick), 0);
    this.first = Math.floor(next / LISTED) * LISTED;
    this.list();
    byId("event-list").children[next - this.first]?.scrollIntoView({ block: "nearest" });
  }

  turn(rows) {
    this.first += rows;
    this.list();
  }

  list() {
    if (!this.isOpen) return;
    const { first, found } = this;
    const listed = found.slice(first, first + LISTED);
    byId("event-list").replaceChildren(...listed.map((item) => this.row(item)));
    byId("event-list").scrollTop = 0;
    const range = listed.length < found.length ? `${first + 1}–${first + listed.length} of ${found.length}` : "";
    byId("event-range").value = found.length === 0 ? "Nothing of this kind happened." : range;
    byId("events-earlier").disabled = first === 0;
    byId("events-later").disabled = first + LISTED >= found.length;
    this.mark();
  }

  row(item) {
    const tick = Number.isFinite(item.tick) ? item.tick : "–";
    const button = element("button", element("b", tick), element("span", item.title), element("small", item.text()));
    button.type = "button";
    button.classList.toggle(VIOLATION, item.kind === VIOLATION);
    button.addEventListener("click", () => this.jump(item));
    return element("li", button);
  }

  /** Show which rows are of a tick. */
  show(tick) {
    if (tick === this.tick) return;
    this.tick = tick;
    this.mark();
  }

  mark() {
    const rows = byId("event-list").children;
    for (let i = 0; i < rows.length; i += 1) {
      rows[i].classList.toggle("now", this.found[this.first + i].tick === this.tick);
    }
  }
}
