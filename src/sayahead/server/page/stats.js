/** How late speech is: quantiles of each kind of delay, for each way of reading. */

export const MODES = ["incremental", "sentence"];
export const KINDS = ["first", "ready", "heard"];
const MOST = 5000;

export class Stats {
  constructor() {
    this.clear();
  }

  clear() {
    this.modes = Object.fromEntries(
      MODES.map((mode) => [mode, { first: [], ready: [], heard: [], gaps: 0 }]),
    );
  }

  add(mode, kind, seconds) {
    const list = this.modes[mode][kind];
    list.push(seconds);
    if (list.length > MOST) list.shift();
  }

  gap(mode) {
    this.modes[mode].gaps++;
  }

  /** The quantile `q` of a kind in seconds, or null where nothing was measured. */
  quantile(mode, kind, q) {
    const list = this.modes[mode][kind].toSorted((a, b) => a - b);
    if (!list.length) return null;
    const place = q * (list.length - 1);
    const low = Math.floor(place);
    const high = Math.min(low + 1, list.length - 1);
    return list[low] + (list[high] - list[low]) * (place - low);
  }
}

/** "84 ms" or "1.24 s". */
export function duration(seconds) {
  if (seconds === null) return "–";
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}
