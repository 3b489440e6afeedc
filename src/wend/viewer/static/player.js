// The clock of a replay: a state machine over play, step, seek and the end of the run.

import { clamp } from "./geometry.js";

const TICKS_PER_SECOND = 5; // at speed 1
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const COMFORTABLE_SECONDS = 40; // the speed at the start is the slowest that shows the run in this time

/** For each state, what each signal leads to, and what is done on the way. */
const MACHINE = {
  paused: {
    toggle: { to: "playing" },
    step: { to: "paused" },
    seek: { to: "paused" },
    finish: { to: "ended" },
  },
  playing: {
    toggle: { to: "paused", action: (player) => player.settle() },
    step: { to: "paused" },
    seek: { to: "playing" },
    finish: { to: "ended" },
  },
  ended: {
    toggle: { to: "playing", action: (player) => player.rewind() },
    step: { to: "paused" },
    seek: { to: "paused" },
    finish: { to: "ended" },
  },
};

export class Player {
  constructor(ticks, changed) {
    this.ticks = ticks;
    this.changed = changed; // called after every change that shows
    this.state = "paused";
    this.time = 0; // in ticks; a fraction is on the way to the next tick
    const wanted = ticks / TICKS_PER_SECOND / COMFORTABLE_SECONDS;
    this.gear = SPEEDS.findIndex((speed) => speed >= Math.max(wanted, 1));
    if (this.gear < 0) this.gear = SPEEDS.length - 1;
    this.goTo(0);
  }

  get speed() {
    return SPEEDS[this.gear];
  }

  get tick() {
    return Math.floor(this.time);
  }

  send(signal) {
    const { to, action } = MACHINE[this.state][signal];
    this.state = to;
    action?.(this);
    this.changed();
  }

  toggle() {
    this.send("toggle");
  }

  step(ticks) {
    this.send("step");
    this.goTo(ticks > 0 ? this.tick + ticks : Math.ceil(this.time) + ticks);
  }

  seek(tick) {
    this.send("seek");
    this.goTo(tick);
  }

  shift(gears) {
    this.gear = clamp(this.gear + gears, 0, SPEEDS.length - 1);
    this.changed();
  }

  /** Let the time pass that a frame took. */
  advance(seconds) {
    if (this.state === "playing") this.goTo(this.time + seconds * TICKS_PER_SECOND * this.speed);
  }

  rewind() {
    this.time = 0;
  }

  /** A pause shows a tick and not the way between two. */
  settle() {
    this.goTo(Math.round(this.time));
  }

  goTo(time) {
    this.time = clamp(time, 0, this.ticks);
    if (this.time === this.ticks) this.send("finish");
    else this.changed();
  }
}
