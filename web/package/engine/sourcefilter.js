/**
 * Source-filter synthesis with state, as `sayahead/vocoders/sourcefilter.py` has it (`anew`): spectral parts and pitch per frame
 * to samples, a few frames at a time.
 */

import { Fourier } from "./fourier.js";
import { normals } from "./noise.js";
import { joined } from "./numbers.js";

const round = Math.fround;
const RATE = 24000;
const N_FFT = 1200;
export const HOP = 300;
export const BINS = 601;
export const PARTS = 5;
const HOPS = N_FFT / HOP;
/** Frames whose spectra overlap into the sound of the frame before them, and how many more their pitch reaches. */
export const OVERHANG = 2;
const REACH = 4;
export const UNVOICED_HZ = 40;
const TOP_HZ = 11000;
const NOISE_BLOCK = 32;
const CEILING = 7; // of the logarithm of a magnitude

const fourier = new Fourier(N_FFT);
const window = Float32Array.from({ length: N_FFT }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / N_FFT));
// Over a quarter of the transform's length, by which the transform itself would divide.
const analysis = window.map((value) => 4 * value);
// Four overlapping squared Hann windows sum to 1.5 everywhere.
const synthesis = window.map((value) => value / 1.5);
const toward = Float32Array.from({ length: HOP }, (_, n) => ((n + 0.5) / HOP + 0.5) % 1);
const share = Float32Array.from({ length: N_FFT }, (_, n) => Math.min((n + 0.5) / HOP, 1));

/** What the synthesis keeps between steps, before a sentence's first frame, which is number `frame` of the session. */
export function silent(frame) {
  return {
    frame,
    phase: 0, // of the pulses in turns, where that frame begins
    f0: new Float32Array(0), // of the frame before it
    tail: new Float32Array(N_FFT), // overlap-add sums that later spectra still add to
    source: new Float32Array(OVERHANG * HOP), // pulses of the two frames before it
    expected: new Float32Array(0), // pieces in the tail of frames that were only expected
  };
}

/** {samples, state}: `final` frames of `spectrum` (rows of 3005) and `f0`, both held where they are too short. */
export function filtered(spectrum, f0, state, { final, seed, ended }) {
  const begins = !state.f0.length;
  const pitch = held(joined(begins ? f0.subarray(0, 1) : state.f0, f0.subarray(0, final + REACH)), final + REACH + 1, 1);
  const last = ended ? final : final + OVERHANG;
  const rows = held(spectrum.subarray(0, last * PARTS * BINS), last, PARTS * BINS);
  const { pulses, turns } = pulsed(pitch.subarray(0, final + OVERHANG + 3), state.phase);
  if (ended) pulses.fill(0, final * HOP);
  const source = joined(state.source, pulses);
  const skip = begins ? 0 : OVERHANG;
  const pieces = shaped(rows, source, state.frame, seed);
  const sums = overlapped(pieces.subarray(skip * N_FFT), state.tail, skip);
  fade(sums, pieces, state.expected);
  return {
    samples: sums.slice(0, final * HOP),
    state: {
      frame: state.frame + final,
      phase: turns[final * HOP - 1] % 1,
      f0: pitch.slice(final, final + 1),
      tail: sums.slice(final * HOP, final * HOP + N_FFT),
      source: source.slice(final * HOP, (final + OVERHANG) * HOP),
      expected: pieces.slice(final * N_FFT),
    },
  };
}

/** Rows, the last one repeated where there are fewer than `count`. */
function held(rows, count, width) {
  const missing = count - rows.length / width;
  if (missing <= 0) return rows;
  const last = rows.subarray(rows.length - width);
  return joined(rows, ...Array.from({ length: missing }, () => last));
}

/** Pulses of all frames of `f0` but the first and the last, and the turns of their phase. */
function pulsed(f0, phase) {
  const size = (f0.length - 2) * HOP;
  const pulses = new Float32Array(size);
  const turns = new Float64Array(size);
  let sum = 0;
  for (let n = 0; n < size; n++) {
    const frame = Math.floor(n / HOP);
    const place = n % HOP;
    const from = frame + (place < HOP / 2 ? 0 : 1);
    const weight = toward[place];
    const curve = round(round(f0[from] * round(1 - weight)) + round(f0[from + 1] * weight));
    const hertz = Math.max(curve, UNVOICED_HZ);
    sum += hertz;
    turns[n] = phase + sum / RATE;
    if (curve > UNVOICED_HZ) pulses[n] = pulse(hertz, turns[n]);
  }
  return { pulses, turns };
}

/** All harmonics below 11 kHz at unit amplitude: sum cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2. */
function pulse(hertz, turns) {
  const angle = round(2 * Math.PI * (turns - Math.floor(turns)));
  const order = Math.floor(round(TOP_HZ / hertz)) + 0.5;
  const below = round(2 * round(Math.sin(round(angle * 0.5))));
  return Math.abs(below) <= 2e-3 ? order - 0.5 : Math.sin(round(order * angle)) / below - 0.5;
}

/** Windowed samples (1200 a frame) of frames with the parts `rows`. */
function shaped(rows, source, frame, seed) {
  const frames = rows.length / (PARTS * BINS);
  const pieces = new Float32Array(frames * N_FFT);
  const seen = new Float64Array(N_FFT);
  const bins = new Float64Array(2 * BINS);
  for (let t = 0; t < frames; t++) {
    for (let n = 0; n < N_FFT; n++) seen[n] = source[t * HOP + n] * analysis[n];
    fourier.forward(seen, bins);
    spectrum(rows.subarray(t * PARTS * BINS, (t + 1) * PARTS * BINS), bins, noise(frame + t, seed));
    fourier.backward(bins, seen);
    for (let n = 0; n < N_FFT; n++) pieces[t * N_FFT + n] = seen[n] * synthesis[n];
  }
  return pieces;
}

/** (1202,) real and imaginary parts of a frame's noise. */
function noise(frame, seed) {
  const block = Math.floor(frame / NOISE_BLOCK);
  const at = frame - block * NOISE_BLOCK;
  return normals(seed, block, NOISE_BLOCK * 2 * BINS).subarray(at * 2 * BINS, (at + 1) * 2 * BINS);
}

/** What the source's spectrum `bins` becomes by a frame's parts; in place. */
function spectrum(parts, bins, drawn) {
  const loudness = (value) => Math.exp(Math.min(value, CEILING));
  for (let k = 0; k < BINS; k++) {
    const magnitude = loudness(parts[k]) / N_FFT;
    const angle = Math.PI * Math.tanh(parts[BINS + k]);
    const c = magnitude * Math.cos(angle);
    const s = magnitude * Math.sin(angle);
    const re = bins[2 * k];
    const im = bins[2 * k + 1];
    const breath = loudness(parts[2 * BINS + k]);
    const rest = loudness(parts[3 * BINS + k]);
    const phase = parts[4 * BINS + k];
    bins[2 * k] = re * c - im * s + breath * drawn[2 * k] + rest * Math.cos(phase);
    bins[2 * k + 1] = re * s + im * c + breath * drawn[2 * k + 1] + rest * Math.sin(phase);
  }
}

/** Sums from the first new frame on: the tail, and the pieces of frames `skip` and after. */
function overlapped(pieces, tail, skip) {
  const frames = pieces.length / N_FFT;
  const sums = new Float32Array((skip + frames + HOPS) * HOP);
  sums.set(tail);
  // A spectrum's window begins two hops before its frame does; what lies before the first frame is dropped.
  for (let t = 0; t < frames; t++) {
    const begin = (skip + t - OVERHANG) * HOP;
    for (let n = Math.max(0, -begin); n < N_FFT; n++) sums[begin + n] += pieces[t * N_FFT + n];
  }
  return sums;
}

/** Replace in the sums the pieces that were expected by the first of those that are known. */
function fade(sums, pieces, expected) {
  const count = Math.min(pieces.length, expected.length) / N_FFT;
  for (let t = 0; t < count; t++) {
    const begin = (OVERHANG - t) * HOP;
    for (let n = begin; n < N_FFT && n - begin < sums.length; n++) {
      const change = round(pieces[t * N_FFT + n] - expected[t * N_FFT + n]);
      sums[n - begin] += share[n - begin] * change;
    }
  }
}
