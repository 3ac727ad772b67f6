/** A lane of the race: one way to read the text, its clock, its words and its sound. */

import { Context } from "./context.js";
import { Mirror } from "./mirror.js";
import { now, Player } from "./player.js";
import { duration } from "./stats.js";
import { Track } from "./track.js";

const LETTERS_PER_S = 17; // of speech, for the scale
const TICK_S = 2;

export class Lane extends Track {
  /** `element` has a clock, a script, a canvas and a button; `text` is what will be read; `told`: changed(). */
  constructor(mode, element, { text, ...told }) {
    super(new Player(() => told.changed()), { heard: () => {}, first: (seconds) => this.stop(seconds) });
    const find = (selector) => element.querySelector(selector);
    Object.assign(this, { mode, element, clock: find(".clock"), canvas: find("canvas"), button: find("button") });
    this.mirror = new Mirror(find(".script"));
    Object.assign(this, { context: null, begun: null, firstS: null, spanS: 11, drawn: false });
    // Before it begins, the text is there as what will come.
    Object.assign(this, { text, arrived: 0, feeder: true });
    this.show();
  }

  /** Before its text comes: a context by a name, silent lanes too. */
  begin(name, { arrivalS, audible }) {
    this.player.clear();
    this.reset();
    this.context = new Context(name, 0);
    Object.assign(this, { arrived: 0, feeder: true, done: false, begun: null, firstS: null, audible });
    this.spanS = arrivalS + this.text.length / LETTERS_PER_S;
    this.replayed = this.drawn = false;
    this.element.dataset.state = "waiting";
    this.button.hidden = true;
    this.player.mute(!audible);
    this.player.unsettle();
  }

  /** More of the text has come. */
  send(part) {
    if (this.begun === null) {
      this.begun = now();
      this.phrases.push({ start: 0, first: this.begun, sound: null, mode: this.mode });
    }
    this.context.add(part);
    this.arrived += part.length;
  }

  audio(header, samples) {
    if (header.context_id !== this.context?.id) return;
    this.take(this.context, header, samples, { mode: this.mode, typed: () => null });
  }

  /** All its sound is there. */
  finish() {
    this.done = true;
    this.sound = this.player.samples();
    this.player.settle();
  }

  /** The first sound is heard. */
  stop(seconds) {
    this.firstS ??= seconds;
    this.element.dataset.state = "speaking";
  }

  /** Play its sound again, so that it is heard. */
  replay() {
    this.player.clear();
    Object.assign(this, { count: 0, heardEnd: 0, replayed: true });
    for (const word of this.words) word.heard = null;
    this.player.mute(false);
    this.player.append(this.sound);
    this.player.settle();
  }

  silence() {
    this.player.cut();
    if (this.done) return;
    this.context = null;
    this.element.dataset.state = "over";
  }

  get busy() {
    return this.context !== null && (!this.done || this.player.sounding);
  }

  /** The seconds that its axis needs. */
  get reach() {
    return this.busy && this.begun !== null && !this.replayed ? Math.max(this.spanS, now() - this.begun) : this.spanS;
  }

  /** Follow the sound, and show how things stand, on an axis of `spanS` seconds. */
  look(spanS) {
    if (spanS > this.spanS) {
      this.spanS = spanS;
      this.drawn = false;
    }
    if (!this.context) {
      if (!this.drawn) this.draw();
      this.drawn = true;
      return;
    }
    this.follow();
    const seconds = this.firstS ?? (this.begun === null ? 0 : now() - this.begun);
    const text = this.firstS === null ? `${seconds.toFixed(2)} s` : duration(seconds);
    if (this.clock.textContent !== text) this.clock.textContent = text;
    const { busy } = this;
    if (!busy) this.element.dataset.state = "over";
    this.button.hidden = busy;
    this.show();
    if (busy || !this.drawn) this.draw();
    this.drawn = !busy;
  }

  show() {
    const { current } = this;
    this.mirror.show(this.text, (start, end) => this.state(start, end, current));
  }

  /** Silence, then sound, on an axis of seconds. */
  draw() {
    // A replay is another time than the race's.
    if (this.replayed) return;
    const { canvas, player } = this;
    const style = getComputedStyle(this.element);
    const ink = (name) => style.getPropertyValue(`--${name}`).trim();
    const scale = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const elapsed = this.begun === null ? 0 : now() - this.begun;
    const { spanS } = this;
    canvas.dataset.seconds = spanS;
    const x = (seconds) => (seconds / spanS) * width;
    const middle = (height - 14) / 2;
    pen.font = "11px ui-sans-serif, system-ui, sans-serif";
    for (let second = 0; second < spanS; second += TICK_S) {
      pen.fillStyle = ink("line");
      pen.fillRect(Math.round(x(second)), 0, 1, height - 12);
      pen.fillStyle = ink("soft");
      if (x(second) + 24 < width) pen.fillText(`${second} s`, x(second), height - 2);
    }
    const silent = x(Math.min(this.firstS ?? elapsed, spanS));
    pen.fillStyle = ink("mark");
    pen.fillRect(0, middle - 1.5, silent, 3);
    if (this.begun === null) return;
    const peakS = 0.01;
    pen.fillStyle = ink("accent");
    for (const run of player.runs) {
      const end = Math.min(player.heard(), run.end ?? player.pushed);
      for (let at = run.at; at < end; at += (spanS / width) * 2 * player.rate) {
        const place = x(run.time - this.begun + (at - run.at) / player.rate);
        const peak = player.peaks[Math.floor(at / (peakS * player.rate))] ?? 0;
        const half = Math.max(0.75, peak ** 0.65 * middle);
        pen.fillRect(place, middle - half, 1.5, half * 2);
      }
    }
  }
}
