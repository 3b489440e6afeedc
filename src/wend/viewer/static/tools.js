// The tools: what a click and a drag on the map do, by mouse, by finger and by the keyboard's cursor alike.
//
// A tool has a `hint`, and click(play, pane, place, event) or stroke(play, pane, event), or both. An order is given
// once, then the tool goes back to selecting; brushes stay until another tool is taken.

import { NO_AGENT } from "./moves.js";

const order = (how, colour) => (play, pane, place) => {
  play.order(how, pane.cellAt(place), colour);
  play.take("select");
};

const brush = (paint) => ({
  brush: true,
  click: (play, pane, place) => play.paint([pane.cellAt(place)], paint),
  stroke: (play, pane, event) => new BrushStroke(play, pane, event, (cells) => play.paint(cells, paint)),
});

export const TOOLS = {
  select: {
    hint: "Click a unit to ask it why, drag a box around several. Right click, or a long press, sends them there.",
    click: (play, pane, place, event) => play.pick(pane, pane.unitAt(place, play.phase, play.reach(event)), event.shiftKey),
    stroke: (play, pane, event) => new BoxStroke(play, pane, event),
  },
  hand: { hint: "Drag the map.", click: (play, pane, place, event) => TOOLS.select.click(play, pane, place, event) },
  move: { hint: "Click where the selected units shall go.", click: order("move", "accent") },
  attack: { hint: "Click where the selected units shall go together, as a group.", click: order("attack", "bad") },
  follow: {
    hint: "Click the unit that the selected units shall follow.",
    click: (play, pane, place, event) => {
      const other = pane.unitAt(place, play.phase, play.reach(event));
      if (other !== NO_AGENT) play.tell("follow", { other }, `They follow unit ${other}.`);
      play.take("select");
    },
  },
  wall: { hint: "Draw walls.", ...brush("wall") },
  erase: { hint: "Erase walls.", ...brush("free") },
  add: {
    hint: "Click or drag to add units.",
    brush: true,
    click: (play, pane, place) => play.addUnits([pane.cellAt(place)]),
    stroke: (play, pane, event) => new BrushStroke(play, pane, event, (cells) => play.addUnits(cells)),
  },
};

/** Draws a box, and selects what is in it. */
class BoxStroke {
  constructor(play, pane, event) {
    Object.assign(this, { play, pane, adds: event.shiftKey, from: [event.offsetX, event.offsetY] });
  }

  boxTo([x, y]) {
    const [fromX, fromY] = this.from;
    return { x: Math.min(x, fromX), y: Math.min(y, fromY), width: Math.abs(x - fromX), height: Math.abs(y - fromY) };
  }

  move(place) {
    this.play.box = { pane: this.pane, ...this.boxTo(place) };
  }

  end(place) {
    const { x, y, width, height } = this.boxTo(place ?? this.from);
    const { camera, units } = this.pane;
    const found = units.inside(...camera.toMap(x, y), ...camera.toMap(x + width, y + height), this.play.phase);
    this.cancel();
    if (this.adds) this.play.selection.add(found);
    else this.play.selection.set(found);
  }

  cancel() {
    this.play.box = null;
  }
}

/** Passes over cells; each is handed on once, and none in between is left out. */
class BrushStroke {
  constructor(play, pane, event, act) {
    Object.assign(this, { play, pane, act, last: pane.cellAt([event.offsetX, event.offsetY]), done: new Set() });
  }

  move(place) {
    const to = this.pane.cellAt(place);
    const cells = line(this.last, to).filter(([x, y]) => !this.done.has(`${x},${y}`));
    for (const [x, y] of cells) this.done.add(`${x},${y}`);
    this.last = to;
    if (cells.length > 0) this.act(cells);
  }

  end() {}

  cancel() {}
}

/** The cells of a straight line, both ends included. */
export function line([x0, y0], [x1, y1]) {
  const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
  return Array.from({ length: steps + 1 }, (_, i) => {
    const share = steps ? i / steps : 0;
    return [Math.round(x0 + (x1 - x0) * share), Math.round(y0 + (y1 - y0) * share)];
  });
}
