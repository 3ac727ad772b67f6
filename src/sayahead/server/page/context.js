/** An open context of the native socket: the text that the server has of it, and where that is in the page's text. */

import { Points } from "./places.js";

export class Context {
  /** `base`: the place in the page's text where its text begins. */
  constructor(id, base) {
    Object.assign(this, { id, base });
    this.points = new Points();
    this.origin = null; // the player's sample at which its sound begins
    this.revisions = []; // {mark, unit}: revisions that were not answered yet
    this.marks = 0;
  }

  get text() {
    return this.points.text;
  }

  add(part) {
    this.points.add(part);
  }

  /** The place in the page's text of one in the server's, which counts code points. */
  place(point) {
    return this.base + this.points.of(point);
  }

  /** Take back the text from a unit on; {at, mark} of the revision. */
  cut(unit) {
    const mark = ++this.marks;
    this.points.keep(unit);
    this.revisions.push({ mark, unit });
    return { at: this.points.count(), mark };
  }

  /** The server answers a revision; whether it could be made from where it was asked for. */
  revised({ revise_id: mark, at }) {
    const found = this.revisions.find((each) => each.mark === mark);
    if (!found) return true;
    const exact = at === [...this.text.slice(0, found.unit)].length;
    if (exact) this.revisions = this.revisions.filter((each) => each !== found);
    return exact;
  }

  /** The place from which on the server's text may still be another, as it has not answered yet; or Infinity. */
  get doubtful() {
    return this.base + Math.min(...this.revisions.map(({ unit }) => unit));
  }

  /** Whether words lie in text that was taken back, and were spoken before the server knew. */
  stale(words) {
    const least = Math.min(...this.revisions.map(({ unit }) => [...this.text.slice(0, unit)].length));
    return words.some(({ end }) => end > least);
  }
}
