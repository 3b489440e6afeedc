// The header and the panel of details: what the trace says about the run, whatever of it there is.

import { byId, element, fillPairs } from "./page.js";

/** Show them; `showViolations()` is called where their number is clicked. */
export function showDetails(recording, showViolations) {
  const { meta, violations } = recording;
  const title = [meta.algorithm, meta.map].filter(Boolean).join(" on ") || "Replay";
  byId("title").textContent = title;
  byId("title").title = title;
  document.title = `${title} – Wend replay`;
  const size = [
    ["map size", `${recording.width} × ${recording.height}`],
    ["agents", recording.agents],
    ["ticks", recording.ticks],
  ];
  const facts = [...size, ["seed", meta.seed], ["stopped by", meta.stopped_by]];
  const known = facts.filter(([, value]) => value !== undefined).map(([name, value]) => fact(name, String(value)));
  if (violations.length > 0) known.push(violationsFact(violations.length, showViolations));
  byId("facts").replaceChildren(...known);
  fillPairs(byId("meta"), [...size, ...Object.entries(meta)]);
}

function fact(name, value) {
  const made = element("div", element("dt", name), element("dd", value));
  made.title = value;
  made.classList.toggle("warning", name === "stopped by" && value !== "done");
  return made;
}

function violationsFact(count, showViolations) {
  const button = element("button", count);
  button.type = "button";
  button.addEventListener("click", showViolations);
  const made = element("div", element("dt", "violations"), element("dd", button));
  made.classList.add("warning");
  return made;
}
