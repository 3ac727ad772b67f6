/** The last seconds on one time axis: when each word was typed, when its sound was ready, when it was heard. */

import { now } from "./player.js";
import { duration } from "./stats.js";

const PAST = 0.72; // the part of the width that lies behind now
const GAP = 6; // between two labels
const SMALL = "11px ui-sans-serif, system-ui, sans-serif";
const FONT = "12px ui-sans-serif, system-ui, sans-serif";
const BOLD = "600 12px ui-sans-serif, system-ui, sans-serif";
const NAMES = ["ink", "soft", "faint", "line", "accent", "mark", "sheet"];

export class Timeline {
  constructor(canvas, speaker, player) {
    Object.assign(this, { canvas, speaker, player });
    this.end = null; // the moment of the last picture
    this.colours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours();
      this.draw(this.end ?? now());
    });
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    this.ink = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  resize() {
    const scale = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    Object.assign(this, { width, height });
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.pen = this.canvas.getContext("2d");
    this.pen.scale(scale, scale);
    this.draw(this.end ?? now());
  }

  /** Draw how things are at a moment. */
  draw(moment) {
    if (!this.pen) return;
    this.end = moment;
    const { pen, width, height } = this;
    this.gutter = width > 600 ? 84 : 56;
    this.seconds = Math.max(3.5, Math.min(9, (width - this.gutter) / 105));
    const left = moment - this.seconds * PAST;
    this.x = (time) => this.gutter + ((time - left) / this.seconds) * (width - this.gutter);
    this.tall = 30;
    this.lanes = { typed: 62, ready: Math.round(height * 0.42), heard: height - 72 };
    pen.clearRect(0, 0, width, height);
    this.grid(left);
    const words = this.speaker.words.filter((word) => {
      const heard = word.heard ?? this.player.timeOf(word.onset);
      return Math.max(word.ready, heard ?? word.ready) > left - 2 && (word.typed ?? word.ready) < left + this.seconds;
    });
    this.threads(words);
    this.wave(left);
    this.labels(words);
    this.firsts(left);
    if (words.length) this.line(this.x(moment), 20, height - 40, this.ink.accent, 1);
    this.names();
  }

  /** The lanes' names, on a margin that nothing runs over. */
  names() {
    const { pen, ink, lanes, gutter } = this;
    pen.fillStyle = ink.sheet;
    pen.fillRect(0, 0, gutter - 8, this.height);
    pen.font = FONT;
    pen.fillStyle = ink.soft;
    for (const name of ["typed", "ready", "heard"]) pen.fillText(name, 14, lanes[name] + 4);
  }

  /** A text that stays legible on lines. */
  write(text, x, y, colour) {
    const { pen, ink } = this;
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = ink.sheet;
    pen.strokeText(text, x, y);
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  line(x, top, bottom, colour, width) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(Math.round(x) + 0.5, top);
    pen.lineTo(Math.round(x) + 0.5, bottom);
    pen.stroke();
  }

  /** Seconds since the first letter of the last phrase. */
  grid(left) {
    const { pen, ink } = this;
    const zero = this.speaker.firsts.at(-1)?.first ?? this.speaker.phrases[0]?.first ?? null;
    pen.font = SMALL;
    const begin = zero === null ? Math.ceil(left) : zero + Math.ceil(left - zero);
    for (let second = begin; second < left + this.seconds; second++) {
      const x = this.x(second);
      this.line(x, 20, this.height - 40, ink.line, 1);
      if (zero !== null && second > zero - 0.5) this.write(`${Math.round(second - zero)} s`, x - 8, 14, ink.soft);
    }
    pen.strokeStyle = ink.line;
    pen.lineWidth = 1;
    for (const y of [this.lanes.typed, this.lanes.ready]) {
      pen.beginPath();
      pen.moveTo(this.gutter, y + 0.5);
      pen.lineTo(this.width, y + 0.5);
      pen.stroke();
    }
  }

  /** From typed over ready to heard. */
  threads(words) {
    const { pen, ink, lanes } = this;
    for (const word of words) {
      const typed = this.x(word.typed ?? word.ready);
      const ready = this.x(word.ready);
      const moment = word.heard ?? this.player.timeOf(word.onset);
      pen.globalAlpha = 0.8;
      pen.lineWidth = 1.25;
      pen.strokeStyle = ink.faint;
      pen.beginPath();
      pen.moveTo(typed, lanes.typed);
      pen.lineTo(ready, lanes.ready);
      pen.stroke();
      // Words that wait for long would cover the rest.
      if (moment !== null && this.x(moment) < this.width) {
        pen.globalAlpha = word.heard === null ? 0.5 : 0.8;
        pen.strokeStyle = word.heard === null ? ink.faint : ink.accent;
        pen.beginPath();
        pen.moveTo(ready, lanes.ready);
        pen.lineTo(this.x(moment), lanes.heard);
        pen.stroke();
      }
      pen.globalAlpha = 1;
      this.dot(typed, lanes.typed, ink.soft);
      this.dot(ready, lanes.ready, word.heard === null ? ink.soft : ink.accent);
    }
  }

  dot(x, y, colour) {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.arc(x, y, 2.5, 0, 7);
    this.pen.fill();
  }

  /** The sound, where it was heard and where it will be. */
  wave(left) {
    const { pen, player, lanes, ink } = this;
    const width = Math.round(0.01 * player.rate);
    const step = 2;
    const { tall } = this;
    const across = this.width - this.gutter;
    for (let x = this.gutter; x < this.width; x += step) {
      const time = left + ((x - this.gutter) / across) * this.seconds;
      const from = this.position(time);
      if (from === null) continue;
      const to = from + (this.seconds / across) * step * player.rate;
      let peak = 0;
      for (let i = Math.floor(from / width); i <= Math.floor(to / width); i++) peak = Math.max(peak, player.peaks[i] ?? 0);
      const half = Math.max(0.75, peak ** 0.65 * tall);
      pen.fillStyle = time <= this.end ? ink.accent : ink.faint;
      pen.fillRect(x, lanes.heard - half, step - 0.5, half * 2);
    }
  }

  /** The sample that is heard at a moment, or null. */
  position(time) {
    const { runs, pushed, rate } = this.player;
    for (let i = runs.length - 1; i >= 0; i--) {
      const run = runs[i];
      if (time < run.time) continue;
      const at = run.at + (time - run.time) * rate;
      return at < (run.end ?? pushed) ? at : null;
    }
    return null;
  }

  /** How long the first sound of each phrase took. */
  firsts(left) {
    const { pen, ink, lanes } = this;
    pen.font = BOLD;
    for (const { first, time } of this.speaker.firsts) {
      if (time < left - 1) continue;
      const [from, to] = [this.x(first), this.x(time)];
      const y = lanes.heard - this.tall - 14;
      pen.fillStyle = ink.mark;
      pen.fillRect(from, y, Math.max(2, to - from), 3);
      pen.fillRect(to - 1, y, 2, lanes.heard - y);
      this.write(`first sound ${duration(time - first)}`, to + 6, y + 5, ink.mark);
    }
  }

  /** The words, in two rows where they crowd. */
  labels(words) {
    const { pen, lanes, ink } = this;
    pen.font = FONT;
    const rows = { typed: [-Infinity, -Infinity], heard: [-Infinity, -Infinity] };
    const place = (lane, text, x, y, colour) => {
      const row = rows[lane].findIndex((end) => x > end);
      if (row < 0) return;
      this.write(text, x, y + (lane === "typed" ? -15 : 15) * row, colour);
      rows[lane][row] = x + pen.measureText(text).width + GAP;
    };
    for (const word of words) {
      place("typed", word.text, this.x(word.typed ?? word.ready) - 3, lanes.typed - 9, ink.soft);
      const moment = word.heard ?? this.player.timeOf(word.onset);
      if (moment !== null) place("heard", word.text, this.x(moment), this.height - 24, word.heard === null ? ink.soft : ink.ink);
    }
  }
}
