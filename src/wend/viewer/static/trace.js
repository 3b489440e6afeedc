// The reader of traces (.wend). docs/formats/trace.md describes the format, field by field.
//
// Whatever is not as the format says is a FileError, so that the rest of the page can rely on what is read here.

import { FileError, entriesOf, unpack } from "./archive.js";
import { ABSENT, NO_AGENT } from "./moves.js";

export const LARGEST_FILE = 512 * 2 ** 20; // bytes; what a page can hold in memory
const FORMAT = "wend-trace";
const MAJOR = 1;
const MOST = 2 ** 31 - 1; // ticks, agents, columns, rows
const MOST_CELLS = 2 ** 26;
const LARGEST_TEXT = 256 * 2 ** 20;

const PLACES = ["at", "to", "goal", "asked", "nearest", "target"]; // fields that hold a place, in any event
const LISTS = ["cells", "waypoints"]; // ... and a list of places
const NEEDED = {
  added: ["agent", "at", "goal"],
  removed: ["agent"],
  teleported: ["agent", "at", "to"],
  ordered: ["agent", "goal"],
  followed: ["agent", "other"],
  group: ["agents", "target", "mode"],
  routed: ["agent", "waypoints"],
  pinned: ["agent", "pinned"],
  planner: ["algorithm", "parameters", "reason"],
  blocked: ["cells"],
  unblocked: ["cells"],
};

/** Read the bytes of a file. A trace has the fields of its header, and
 *   blocked          uint8[cells] 1 where a wall is at the start
 *   moves            uint8[ticks, agents] codes
 *   planMs           float64[ticks]
 *   expansions       bigint64[ticks]
 *   waits, reasons   int32[waits, 4] tick, agent, waits for, reason; texts
 *   events           objects, in order */
export async function readTrace(bytes) {
  if (bytes.length > LARGEST_FILE) {
    throw new FileError(`the file has ${bytes.length} bytes; this page reads up to ${LARGEST_FILE}`);
  }
  const entries = entriesOf(bytes);
  const header = readHeader(await readJson(entries, "header.json"));
  const { ticks, agents, width, height, waits } = header;
  const trace = {
    ...header,
    blocked: readMap(await readText(entries, "map.txt"), width, height),
    moves: await readArray(entries, "moves.bin", Uint8Array, ticks * agents),
    planMs: await readArray(entries, "plan_ms.bin", Float64Array, ticks),
    expansions: await readArray(entries, "expansions.bin", BigInt64Array, ticks),
    events: readEvents(await readText(entries, "events.jsonl"), header),
    waits: waits > 0 ? await readArray(entries, "waits.bin", Int32Array, 4 * waits) : new Int32Array(0),
    reasons: waits > 0 ? await readJson(entries, "reasons.json") : [],
  };
  if (trace.moves.some((code) => code > ABSENT)) throw new FileError("moves.bin holds an unknown code");
  if (!trace.planMs.every(Number.isFinite)) throw new FileError("plan_ms.bin holds what is not a number");
  checkWaits(trace);
  return trace;
}

// Entries

/** An entry's bytes. A large one that unpacks to many times its size is refused, as it may be made to fill the memory. */
function readEntry(entries, name, atMost) {
  const entry = entries.get(name);
  if (entry === undefined) throw new FileError(`it is no run of Wend: the entry ${name} is missing`);
  const [free, ratio] = /\.jsonl?$/.test(name) ? [8 * 2 ** 20, 10] : [24 * 2 ** 20, 100];
  return unpack(entry, Math.min(atMost, Math.max(free, ratio * entry.packed.length)));
}

async function readText(entries, name) {
  const bytes = await readEntry(entries, name, LARGEST_TEXT);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileError(`${name} is not text in UTF-8`);
  }
}

async function readJson(entries, name) {
  return parse(await readText(entries, name), name);
}

function parse(text, name) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FileError(`${name} is not valid JSON: ${error.message}`);
  }
}

async function readArray(entries, name, Numbers, count) {
  const wanted = count * Numbers.BYTES_PER_ELEMENT;
  const bytes = await readEntry(entries, name, wanted);
  if (bytes.length !== wanted) throw new FileError(`${name} holds ${bytes.length} bytes where ${wanted} belong`);
  return new Numbers(bytes.buffer, 0, count);
}

// What they hold

function check(holds, problem) {
  if (!holds) throw new FileError(problem);
}

const isCount = (value, most = MOST) => Number.isInteger(value) && value >= 0 && value <= most;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function readHeader(header) {
  check(isObject(header) && header.format === FORMAT, `header.json does not say that this is a ${FORMAT}`);
  const major = Number.parseInt(header.version, 10);
  check(major >= 0, "header.json names no version");
  check(major <= MAJOR, `the run was written as version ${header.version}; this page reads up to ${MAJOR}.x`);
  const read = { waits: 0, ...header };
  for (const name of ["ticks", "agents", "width", "height", "waits"]) {
    check(isCount(read[name]), `header.json: ${name} is not a whole number from 0 to ${MOST}`);
  }
  check(read.width * read.height > 0, "the map has no cells");
  check(read.width * read.height <= MOST_CELLS, `the map has more than ${MOST_CELLS} cells, too many for this page`);
  check(isObject(read.meta), "header.json: meta is not an object");
  return read;
}

function readMap(text, width, height) {
  const rows = text.trimEnd().split(/\r?\n/);
  check(rows.length === height, `map.txt has ${rows.length} rows where ${height} belong`);
  const wrong = rows.findIndex((row) => row.length !== width);
  check(wrong < 0, `map.txt, line ${wrong + 1}: ${rows[wrong]?.length} letters where ${width} belong`);
  const letters = rows.join("");
  check(!/[^.@]/.test(letters), "map.txt holds letters other than . and @");
  return Uint8Array.from(letters, (letter) => (letter === "." ? 0 : 1));
}

function readEvents(text, header) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let added = 0;
  const events = lines.map((line, i) => {
    const place = `events.jsonl, line ${i + 1}`;
    const event = parse(line, place);
    checkEvent(event, header, place);
    if (event.kind === "added") check(event.agent === added++, `${place}: agents are not added in order`);
    return event;
  });
  check(added === header.agents, `events.jsonl adds ${added} of ${header.agents} agents`);
  return events;
}

function checkEvent(event, { ticks, agents, width, height }, place) {
  const isPoint = (point) =>
    Array.isArray(point) && point.length === 2 && isCount(point[0], width - 1) && isCount(point[1], height - 1);
  const isAgent = (agent) => agent === undefined || agent === null || isCount(agent, agents - 1);
  check(isObject(event) && typeof event.kind === "string", `${place}: an event has a kind`);
  check(isCount(event.tick, ticks), `${place}: the run has no such tick`);
  for (const name of NEEDED[event.kind] ?? []) {
    check(event[name] !== undefined, `${place}: a ${event.kind} event has the field ${name}`);
  }
  const points = [
    ...PLACES.filter((name) => event[name] !== undefined).map((name) => event[name]),
    ...LISTS.flatMap((name) => event[name] ?? []),
  ];
  check(points.every(isPoint), `${place}: names a place that is not on the map`);
  const concerned = event.kind === "group" ? event.agents : [event.agent, event.other];
  check(Array.isArray(concerned) && concerned.every(isAgent), `${place}: tells of an agent that is never added`);
}

function checkWaits({ waits, reasons, ticks, agents }) {
  const isText = (reason) => typeof reason === "string";
  check(Array.isArray(reasons) && reasons.every(isText), "reasons.json is not a list of texts");
  const between = (value, low, most) => value >= low && value < most;
  for (let i = 0; i < waits.length; i += 4) {
    const [tick, agent, other, reason] = waits.subarray(i, i + 4);
    const isKnown =
      between(tick, i > 0 ? waits[i - 4] : 0, ticks) &&
      between(agent, 0, agents) &&
      between(other, NO_AGENT, agents) &&
      between(reason, 0, reasons.length);
    check(isKnown, "waits.bin tells of a tick, an agent or a reason that there is not");
  }
}
