/** The default voice's second stage (`sayahead/vocoders/heart.py`): its decoder, then source-filter synthesis. */

import { plain, shapedPitch, shapedSpectrum } from "./formants.js";
import { count, floats } from "./graphs.js";
import { filtered, OVERHANG, silent } from "./sourcefilter.js";

export { HOP } from "./sourcefilter.js";
/** Numbers of a frame: its encoding, pitch and energy. */
export const FEATURES = 130;
const ENCODING = 128;
const INPUTS = [3, FEATURES];
const CACHE = [24, 256];

export class Decoder {
  /** `right`: provisional frames that the network sees after those whose spectra it makes. */
  constructor(graph, right) {
    this.graph = graph;
    this.context = OVERHANG + right;
  }

  /** The state before a sentence whose first frame is number `frame` of the session. */
  initial(frame) {
    return { inputs: zeros(INPUTS), cache: zeros(CACHE), filter: silent(frame) };
  }

  /** {samples, state} of final frames and of those expected after them, rows of FEATURES. */
  step(final, right, state, { seed, ended, shape, own }) {
    const size = final.length / FEATURES;
    if (!size) return { samples: new Float32Array(0), state };
    const rows = [final, right.subarray(0, this.context * FEATURES)];
    const total = rows[0].length / FEATURES + rows[1].length / FEATURES;
    const encoding = new Float32Array(total * ENCODING);
    const f0 = new Float32Array(total);
    const energy = new Float32Array(total);
    for (let t = 0; t < total; t++) {
      const [part, at] = t < size ? [rows[0], t] : [rows[1], t - size];
      encoding.set(part.subarray(at * FEATURES, at * FEATURES + ENCODING), t * ENCODING);
      f0[t] = part[at * FEATURES + ENCODING];
      energy[t] = part[at * FEATURES + ENCODING + 1];
    }
    const out = this.graph.call({
      sound_encoding: floats(encoding, total, ENCODING),
      f0: floats(f0, total),
      energy: floats(energy, total),
      rows: count(Math.min(size + OVERHANG, total)),
      commit: count(size),
      input_cache: floats(state.inputs, ...INPUTS),
      cache: floats(state.cache, ...CACHE),
      ...own.decoder,
    });
    let spectrum = out.spectrum.data;
    let pitch = f0;
    if (!plain(shape)) {
      pitch = shapedPitch(f0, shape);
      spectrum = shapedSpectrum(spectrum, f0, pitch, shape);
    }
    const { samples, state: filter } = filtered(spectrum, pitch, state.filter, { final: size, seed, ended });
    return { samples, state: { inputs: out.next_input_cache.data, cache: out.next_cache.data, filter } };
  }
}

const zeros = (shape) => new Float32Array(shape.reduce((a, b) => a * b, 1));
