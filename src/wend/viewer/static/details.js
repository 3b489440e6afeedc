// The header and the panel of details: what the trace says about the run, whatever of it there is.

import { byId, element, fillPairs } from "./page.js";

const LISTED_VIOLATIONS = 200; // the first ones tell what went wrong

/** Show them; `jump(tick)` is called where a violation is clicked. */
export function showDetails(recording, jump) {
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
  const facts = [
    ...size,
    ["seed", meta.seed],
    ["stopped by", meta.stopped_by],
    ["violations", violations.length || undefined],
  ].filter(([, value]) => value !== undefined);
  byId("facts").replaceChildren(...facts.map(([name, value]) => fact(name, String(value))));
  fillPairs(byId("meta"), [...size, ...Object.entries(meta)]);
  const listed = violations.slice(0, LISTED_VIOLATIONS);
  if (listed.length < violations.length) listed.push(`and ${violations.length - listed.length} more`);
  byId("violations").hidden = violations.length === 0;
  byId("violation-list").replaceChildren(...listed.map((text) => violationItem(text, jump)));
}

function fact(name, value) {
  const made = element("div", element("dt", name), element("dd", value));
  made.title = value;
  const bad = name === "violations" || (name === "stopped by" && value !== "done");
  made.classList.toggle("warning", bad);
  return made;
}

/** A violation; one that names its tick is a button that leads there. */
function violationItem(text, jump) {
  const tick = /^tick (\d+)/.exec(text)?.[1];
  if (tick === undefined) return element("li", text);
  const button = element("button", text);
  button.addEventListener("click", () => {
    byId("details").hidePopover();
    jump(Number(tick));
  });
  return element("li", button);
}
