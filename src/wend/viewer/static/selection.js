// The units that are selected, as a set, and as a byte per unit for the painters.

export class Selection {
  constructor(changed) {
    this.changed = changed; // called after every change
    this.units = new Set();
    this.version = 0;
  }

  get size() {
    return this.units.size;
  }

  /** The one selected unit, or the first of several; undefined if there is none. */
  get first() {
    return this.units.values().next().value;
  }

  get list() {
    return [...this.units];
  }

  has(unit) {
    return this.units.has(unit);
  }

  /** Select these units, and only these. */
  set(units) {
    this.units = new Set(units);
    this.version += 1;
    this.changed();
  }

  add(units) {
    this.set([...this.units, ...units]);
  }

  toggle(unit) {
    this.set(this.has(unit) ? this.list.filter((other) => other !== unit) : [...this.units, unit]);
  }

  /** Forget units that are no more. */
  keep(isThere) {
    const kept = this.list.filter(isThere);
    if (kept.length < this.size) this.set(kept);
  }

  bytesFor(count) {
    const bytes = new Uint8Array(count);
    for (const unit of this.units) bytes[unit] = 1; // nothing where there is no such unit
    return bytes;
  }
}
