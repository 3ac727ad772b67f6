/** Places in a text, in UTF-16 units. */

/** Where two texts differ: [start, end) of the first became `size` units; null where they do not. */
export function difference(before, after) {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let same = 0;
  while (same < most - start && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return { start, end: before.length - same, size: after.length - same - start };
}

/** Where the word begins that a place is in or behind. */
export function wordStart(text, place) {
  let at = Math.min(place, text.length);
  while (at > 0 && !/\s/.test(text[at - 1])) at--;
  return at;
}

/** When which part of a text was typed, or arrived; seconds. */
export class Marks {
  list = []; // {end, time}, in the order of both

  /** The text up to `end` is there since `time`. */
  add(end, time) {
    this.list.push({ end, time });
  }

  /** What lies behind a place is to be typed anew. */
  keep(place) {
    this.list = this.list.filter(({ end }) => end <= place);
  }

  /** When the text up to a place was there, or null. */
  when(place) {
    return this.list.find(({ end }) => end >= place)?.time ?? null;
  }
}

/** A text that grows, of which others count the code points. */
export class Points {
  text = "";
  unit = 0; // as far as was counted
  point = 0;

  add(part) {
    this.text += part;
  }

  /** Forget the text from a unit on. */
  keep(unit) {
    this.text = this.text.slice(0, unit);
    if (this.unit > unit) this.point = this.unit = 0;
  }

  /** Code points of all of it. */
  count() {
    this.of(Infinity);
    return this.point;
  }

  /** The unit at which a code point begins. */
  of(point) {
    if (point < this.point) this.point = this.unit = 0;
    while (this.point < point && this.unit < this.text.length) {
      this.unit += this.text.codePointAt(this.unit) > 0xffff ? 2 : 1;
      this.point++;
    }
    return this.unit;
  }
}
