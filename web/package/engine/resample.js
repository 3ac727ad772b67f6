/** 16-bit samples at a rate: `sayahead/sound/resample.py` and `to_pcm16` of `sayahead/sound/pcm.py`. */

import { joined, rint } from "./numbers.js";

const CROSSINGS = 24; // zero crossings of the filter to each side, at the lower of the two rates
const BETA = 8; // Kaiser's
const EDGE = 0.92; // where the band ends, as a part of the lower rate's half

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

/** From `source` to `target` samples per second; the output does not depend on how the input was cut. */
export class Resampler {
  constructor(source, target) {
    const common = divisor(source, target);
    this.up = target / common;
    this.down = source / common;
    this.half = Math.ceil((CROSSINGS * Math.max(this.up, this.down)) / this.up);
    this.bank = phases(this.up, this.down, this.half);
    // The input from sample number `first` on; before the first sample there is silence.
    this.tail = new Float32Array(this.half);
    this.first = -this.half;
    this.made = 0;
    this.taken = 0;
  }

  /** What no later input changes. */
  push(samples) {
    this.taken += samples.length;
    return this.render(samples, this.taken - this.half);
  }

  /** The rest; input and output then last equally long. */
  finish() {
    return this.render(new Float32Array(this.half), this.taken);
  }

  /** Output whose place in the input lies before sample `end`. */
  render(samples, end) {
    const { up, down, half, bank } = this;
    this.tail = joined(this.tail, samples);
    const until = Math.max(this.made, Math.ceil((end * up) / down));
    const out = new Float32Array(until - this.made);
    for (let n = this.made; n < until; n++) {
      const at = n * down;
      const base = Math.floor(at / up) - half + 1 - this.first;
      const row = (at % up) * 2 * half;
      let sum = 0;
      for (let k = 0; k < 2 * half; k++) sum += this.tail[base + k] * bank[row + k];
      out[n - this.made] = sum;
    }
    this.made = until;
    const keep = Math.max(0, Math.floor((until * down) / up) - half + 1 - this.first);
    this.tail = this.tail.slice(keep);
    this.first += keep;
    return out;
  }
}

/** Filters: row p weighs the input around an output that lies p / up after an input sample. */
function phases(up, down, half) {
  const bank = new Float32Array(up * 2 * half);
  const band = EDGE * Math.min(1, up / down);
  for (let p = 0; p < up; p++) {
    const row = Float64Array.from({ length: 2 * half }, (_, k) => {
      const distance = k + 1 - half - p / up;
      const sinc = distance ? Math.sin(Math.PI * band * distance) / (Math.PI * band * distance) : 1;
      return band * sinc * bessel(BETA * Math.sqrt(Math.max(0, 1 - (distance / half) ** 2)));
    });
    const sum = row.reduce((a, b) => a + b, 0);
    row.forEach((weight, k) => (bank[p * 2 * half + k] = weight / sum));
  }
  return bank;
}

/** The modified Bessel function of the first kind and order 0. */
function bessel(x) {
  let sum = 1;
  for (let k = 1, term = 1; term > 1e-17 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** Samples as they are sent. */
export class Encoder {
  constructor(source, target) {
    this.resampler = source === target ? null : new Resampler(source, target);
    this.pieces = [];
  }

  /** Take in samples, or so many silent ones, at a volume. */
  take(samples, gain) {
    const sound = typeof samples === "number" ? new Float32Array(samples) : samples;
    this.pieces.push(gain === 1 ? sound : sound.map((value) => value * gain));
  }

  /** (S,) 16-bit samples: those that no later ones change. */
  give() {
    const sound = joined(new Float32Array(0), ...this.pieces.splice(0)).map(bounded);
    return pcm16(this.resampler ? this.resampler.push(sound) : sound);
  }

  /** (S,) the rest. */
  finish() {
    return this.resampler ? pcm16(this.resampler.finish()) : new Int16Array(0);
  }
}

/** In [-1, 1]; what is no number is silence. */
const bounded = (value) => Math.min(Math.max(value || 0, -1), 1);

const pcm16 = (samples) => Int16Array.from(samples, (value) => rint(Math.fround(bounded(value) * 32767)));
