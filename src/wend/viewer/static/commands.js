// Commands: a table of what keys and buttons do, from which the keyboard, the buttons and the help are made.
//
// A table maps names to { keys, shown, what, run }. `keys` are compared in lower case; `shown` and `what` make up the
// help; run(target, event) carries the command out. A button's data-command is the name of its command.

import { byId, element, fillPairs } from "./page.js";

export function bindCommands(commands, target) {
  bindButtons(commands, target);
  bindKeys(commands, target);
}

function bindButtons(commands, target) {
  // A button that was clicked would keep the focus, and take the next press of the space bar for itself.
  document.addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
  for (const button of document.querySelectorAll("[data-command]")) {
    const { shown, what, run } = commands[button.dataset.command];
    button.title = `${what} (${shown[0]})`;
    button.addEventListener("click", (event) => run(target, event));
  }
}

function bindKeys(commands, target) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button")) return; // the button that has the focus is pressed
    const key = event.key.toLowerCase();
    if (event.target.matches("input:not([type=range]), select") && key !== "escape") return; // it is typed into
    if (key === "escape" && document.querySelector(":popover-open")) return; // the browser closes the panel
    const command = Object.values(commands).find(({ keys }) => keys.includes(key));
    if (command === undefined) return;
    event.preventDefault();
    command.run(target, event);
  });
}

/** Fill the help: the commands, then `more` pairs of what is done and what it does. */
export function showHelp(commands, more) {
  const pairs = Object.values(commands).map(({ shown, what }) => [shown, what]);
  const keys = (shown) => shown.flatMap((key) => [element("kbd", key), " "]);
  fillPairs(byId("keys"), [...pairs, ...more].map(([shown, what]) => [keys(shown), what]));
}
