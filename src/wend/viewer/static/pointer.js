// The pointer on the stage: the wheel zooms, a drag moves the map, a click is a click.
//
// Its host has a property `following`, whether the camera follows an agent, and these methods, which the pointer calls:
// clicked(), doubleClicked(), grabbed() while the map is dragged, schedule() when there is something new to draw.

const CLICK_REACH = 4; // pixels; a click with an unsteady hand is still a click

export class Pointer {
  constructor(canvas, camera, host) {
    this.canvas = canvas;
    this.camera = camera;
    this.host = host;
    this.place = null; // where on the stage it is, in pixels
    this.drag = null; // where it began, and whether it has moved far enough to be one
  }

  start() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.endDrag());
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => this.host.doubleClicked());
  }

  /** Where it points at something: nowhere if it is not on the stage, or drags. */
  get target() {
    return this.drag?.moved ? null : this.place;
  }

  wheel(event) {
    event.preventDefault();
    const { camera, host } = this;
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1);
    const around = host.following ? [camera.width / 2, camera.height / 2] : [event.offsetX, event.offsetY];
    camera.zoomAt(...around, Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016))); // ctrl: two fingers on a touchpad
    host.schedule();
  }

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.place = [event.offsetX, event.offsetY];
    this.drag = { from: this.place, moved: false };
  }

  move(event) {
    const [x, y] = this.place ?? [event.offsetX, event.offsetY];
    this.place = [event.offsetX, event.offsetY];
    if (this.drag) this.dragBy(event.offsetX - x, event.offsetY - y);
    this.host.schedule();
  }

  dragBy(x, y) {
    const [fromX, fromY] = this.drag.from;
    const [nowX, nowY] = this.place;
    if (!this.drag.moved && Math.hypot(nowX - fromX, nowY - fromY) < CLICK_REACH) return;
    this.drag.moved = true;
    this.host.grabbed();
    this.canvas.classList.add("dragging");
    this.camera.panBy(x, y);
  }

  release() {
    if (this.drag && !this.drag.moved) this.host.clicked();
    this.endDrag();
  }

  endDrag() {
    this.drag = null;
    this.canvas.classList.remove("dragging");
    this.host.schedule();
  }

  leave() {
    this.place = null;
    this.host.schedule();
  }
}
