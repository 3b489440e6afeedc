// How far a group is spread: the mean distance of its units from their common centre, in cells.

import { columnOf, rowOf } from "./geometry.js";

/** Of the group that was ordered last, at every tick; NaN where there is none, [] if no group was ever ordered. */
export function spreadOf(recording) {
  const { groups, ticks } = recording;
  if (groups.length === 0) return new Float32Array(0);
  const spread = new Float32Array(ticks + 1).fill(NaN);
  groups.forEach(({ tick, agents }, i) => {
    const end = groups[i + 1]?.tick ?? ticks + 1;
    if (end > tick) spread.set(spreadBetween(recording, agents, tick, end), tick);
  });
  return spread;
}

function spreadBetween(recording, agents, begin, end) {
  const [count, sumX, sumY, sum] = [0, 1, 2, 3].map(() => new Float64Array(end - begin));
  const cells = recording.width * recording.height;
  const visit = (add) => {
    for (const agent of agents) {
      recording.walk(agent, end - 1, (tick, cell) => {
        const isThere = tick >= begin && cell >= 0 && cell < cells; // no cell where a foreign trace leads it off the map
        if (isThere) add(tick - begin, columnOf(cell, recording.width), rowOf(cell, recording.width));
      });
    }
  };
  visit((i, x, y) => {
    count[i] += 1;
    sumX[i] += x;
    sumY[i] += y;
  });
  visit((i, x, y) => (sum[i] += Math.hypot(x - sumX[i] / count[i], y - sumY[i] / count[i])));
  return sum.map((distance, i) => distance / count[i]);
}
