// The tempo of the frames: how far the units have come on their way into the newest tick.

const SHORTEST_MS = 16;
const LONGEST_MS = 500; // a unit never glides longer than this

export class Tempo {
  constructor() {
    this.last = -Infinity; // when the newest tick came
    this.interval = 100; // milliseconds from one to the next, smoothed
  }

  arrived(now) {
    const gap = Math.min(Math.max(now - this.last, SHORTEST_MS), LONGEST_MS);
    this.interval += 0.3 * (gap - this.interval);
    this.last = now;
  }

  /** From 0, where the units were, to 1, where they are. */
  phase(now) {
    return Math.min(Math.max((now - this.last) / this.interval, 0), 1);
  }
}
