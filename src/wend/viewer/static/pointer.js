// The pointer on the stage: the wheel and two fingers zoom, a drag moves the map, a click is a click.
//
// Its host has a property `following`, whether the camera follows an agent, and these methods, which the pointer calls:
// clicked(event), doubleClicked(), grabbed() while the map is dragged, schedule() when there is something new to draw.
// A host may also have
//   stroke(event)        what a drag that begins here does instead of moving the map: an object with the methods
//                        move(place), end(place) and cancel(); or null
//   clickedAside(place)  a click with another button, or a long press; a drag with another button moves the map

const CLICK_REACH = 4; // pixels; a click with an unsteady hand is still a click
const FINGER_REACH = 10;
const LONG_PRESS_MS = 550;

export class Pointer {
  constructor(canvas, camera, host) {
    this.canvas = canvas;
    this.camera = camera;
    this.host = host;
    this.place = null; // where on the stage it is, in pixels
    this.drag = null; // where it began, and whether it has moved far enough to be one
    this.pressed = new Map(); // where the button and the fingers that are down are, by pointer
  }

  start() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.lift(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => this.host.doubleClicked());
    if (this.host.clickedAside) canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Where it points at something: nowhere if it is not on the stage, or drags. */
  get target() {
    return this.drag?.moved ? null : this.place;
  }

  wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1);
    const factor = Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)); // ctrl: two fingers on a touchpad
    this.zoom([event.offsetX, event.offsetY], factor);
  }

  /** Zoom around a pixel; around the agent that the camera follows if there is one. */
  zoom(around, factor) {
    const { camera, host } = this;
    camera.zoomAt(...(host.following ? [camera.width / 2, camera.height / 2] : around), factor);
    host.schedule();
  }

  press(event) {
    const isAside = event.button !== 0;
    if (isAside && !this.host.clickedAside) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.place = [event.offsetX, event.offsetY];
    this.pressed.set(event.pointerId, this.place);
    this.endStroke("cancel"); // of the first of two fingers
    const isTouch = event.pointerType === "touch";
    const hasMoved = this.pressed.size > 1; // two fingers never click
    this.drag = { from: this.place, moved: hasMoved, isAside, reach: isTouch ? FINGER_REACH : CLICK_REACH };
    if (hasMoved || isAside) return;
    this.drag.stroke = this.host.stroke?.(event);
    if (isTouch && this.host.clickedAside) this.drag.timer = setTimeout(() => this.pressLong(), LONG_PRESS_MS);
  }

  pressLong() {
    if (this.drag.moved) return;
    this.drag.moved = true; // what follows is no click
    this.endStroke("cancel");
    this.host.clickedAside(this.place);
  }

  move(event) {
    this.place = [event.offsetX, event.offsetY];
    const before = [...this.pressed.values()];
    const last = this.pressed.get(event.pointerId);
    if (last) this.pressed.set(event.pointerId, this.place);
    if (last && before.length === 1) this.dragBy(this.place[0] - last[0], this.place[1] - last[1]);
    if (last && before.length === 2) this.pinch(before, [...this.pressed.values()]);
    this.host.schedule();
  }

  /** Two fingers: what is between them stays there, and grows as their distance does. */
  pinch([[x0, y0], [x1, y1]], [[x2, y2], [x3, y3]]) {
    const middle = [(x2 + x3) / 2, (y2 + y3) / 2];
    if (!this.host.following) this.camera.panBy(middle[0] - (x0 + x1) / 2, middle[1] - (y0 + y1) / 2);
    this.zoom(middle, Math.hypot(x3 - x2, y3 - y2) / Math.max(Math.hypot(x1 - x0, y1 - y0), 1));
  }

  dragBy(x, y) {
    const [fromX, fromY] = this.drag.from;
    const [nowX, nowY] = this.place;
    if (!this.drag.moved && Math.hypot(nowX - fromX, nowY - fromY) < this.drag.reach) return;
    this.drag.moved = true;
    clearTimeout(this.drag.timer);
    if (this.drag.stroke) {
      this.drag.stroke.move(this.place);
      return;
    }
    this.host.grabbed();
    this.canvas.classList.add("dragging");
    this.camera.panBy(x, y);
  }

  release(event) {
    const { drag } = this;
    if (drag?.moved) this.endStroke("end");
    else if (drag?.isAside) this.host.clickedAside(this.place);
    else if (drag) this.host.clicked(event);
    this.lift(event);
  }

  /** A finger or the button is up again; the finger that is left goes on with the drag. */
  lift(event) {
    this.pressed.delete(event.pointerId);
    if (this.pressed.size === 0) this.endDrag();
  }

  /** Bring a stroke to its "end", or "cancel" it. */
  endStroke(how) {
    clearTimeout(this.drag?.timer);
    this.drag?.stroke?.[how](this.place);
    if (this.drag) this.drag.stroke = null;
  }

  endDrag() {
    this.endStroke("cancel");
    this.drag = null;
    this.canvas.classList.remove("dragging");
    this.host.schedule();
  }

  leave() {
    this.place = null;
    this.host.schedule();
  }
}
