// What keys, buttons and the pointer do on the live page.

import { byId } from "./page.js";

const tool = (name, key, what) => ({ keys: [key], shown: [key.toUpperCase()], what, run: (play) => play.take(name) });
const order = (name, key, what) => ({ ...tool(name, key, what), run: (play) => play.takeForSelection(name) });

export const COMMANDS = {
  toggle: { keys: [" "], shown: ["Space"], what: "pause, go on", run: (play) => play.toggle() },
  step: { keys: ["."], shown: ["."], what: "one tick", run: ({ orders }) => orders.send("step") },
  faster: { keys: ["+", "="], shown: ["+"], what: "faster", run: ({ orders }) => orders.shift(1) },
  slower: { keys: ["-", "_"], shown: ["−"], what: "slower", run: ({ orders }) => orders.shift(-1) },
  select: tool("select", "s", "select units"),
  hand: tool("hand", "g", "move the map by dragging"),
  all: { keys: ["q"], shown: ["Q"], what: "select all units", run: (play) => play.selectAll() },
  move: order("move", "m", "then click: the selected units go there"),
  attack: order("attack", "a", "then click: they go there as a group that stays together"),
  follow: order("follow", "f", "then click a unit: they follow it"),
  hold: { keys: ["h"], shown: ["H"], what: "they stay where they are", run: (play) => play.tell("hold", {}, "They hold.") },
  wall: tool("wall", "w", "draw walls"),
  erase: tool("erase", "e", "erase walls"),
  add: tool("add", "u", "add units"),
  remove: {
    keys: ["delete", "backspace"],
    shown: ["Delete"],
    what: "remove the selected units",
    run: (play) => play.tell("remove", {}, ""),
  },
  camera: {
    keys: ["c"],
    shown: ["C"],
    what: "the camera follows the selected unit",
    run: (play) => play.watch(!play.following),
  },
  find: { keys: ["/"], shown: ["/"], what: "find a unit by its id", run: () => byId("find").focus() },
  jam: { keys: ["j"], shown: ["J"], what: "find the jam", run: (play) => play.showJam() },
  heat: { keys: ["o"], shown: ["O"], what: "the next heat over the map", run: ({ heat }) => heat.next() },
  ids: { keys: ["i"], shown: ["I"], what: "the units' ids", run: (play) => play.flip("ids") },
  hues: { keys: ["k"], shown: ["K"], what: "colours by group, not state", run: (play) => play.flip("hues") },
  curves: { keys: ["v"], shown: ["V"], what: "the curves", run: (play) => play.flip("curves") },
  fit: { keys: ["0"], shown: ["0"], what: "the whole map", run: (play) => play.fit() },
  menu: { keys: ["n"], shown: ["N"], what: "another scene", run: () => byId("menu").togglePopover() },
  again: { keys: ["r"], shown: ["R"], what: "this scene again, from the start", run: (play) => play.again() },
  deselect: { keys: ["escape"], shown: ["Esc"], what: "let go of tool or selection", run: (play) => play.letGo() },
  help: { keys: ["?"], shown: ["?"], what: "this help", run: () => byId("help").togglePopover() },
};

export const POINTER_HELP = [
  [["click"], "select a unit and ask why; with Shift, one more"],
  [["drag"], "select the units in a box"],
  [["right click", "long press"], "send the selected units there"],
  [["wheel", "two fingers"], "zoom"],
  [["right drag", "two fingers"], "move the map"],
  [["Tab", "arrows", "Enter"], "on the map: move a cursor, click there; with Shift + Enter, send"],
];
