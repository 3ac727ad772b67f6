/** Pitch, pitch range and formants, changed between the network and the synthesis: `sayahead/vocoders/formants.py`. */

import { rint } from "./numbers.js";
import { BINS, PARTS, UNVOICED_HZ } from "./sourcefilter.js";

const MIDDLE_HZ = 189; // the usual pitch of the speaker, about which the range is widened
const MIN_HZ = 45;
const MAX_HZ = 1200;
const BIN_HZ = 20;

/** Whether a shape changes nothing. */
export const plain = ({ pitch, range, formants }) => pitch === 0 && range === 1 && formants === 1;

/** Pitch of frames in Hz; unvoiced ones stay as they are. */
export function shapedPitch(f0, { pitch, range }) {
  return f0.map((hertz) => {
    if (!(hertz > UNVOICED_HZ)) return hertz;
    const moved = MIDDLE_HZ * 2 ** (Math.log2(hertz / MIDDLE_HZ) * range + pitch / 12);
    return Math.min(Math.max(moved, MIN_HZ), MAX_HZ);
  });
}

/** Spectral parts with formants moved, as loud with the pitch `after` as with `before`; frames without one are unvoiced. */
export function shapedSpectrum(spectrum, before, after, { formants }) {
  const made = spectrum.slice();
  const places = Float64Array.from({ length: BINS }, (_, k) => Math.min(k / formants, BINS - 1));
  const width = PARTS * BINS;
  for (let t = 0; t * width < made.length && t < before.length; t++) {
    if (!(before[t] > UNVOICED_HZ)) continue;
    const louder = 0.5 * Math.log(after[t] / before[t]);
    const old = spectrum.subarray(t * width, (t + 1) * width);
    for (let k = 0; k < BINS; k++) {
      // Read where the harmonics were: elsewhere the network was never heard.
      const harmonic = Math.max((places[k] * BIN_HZ) / before[t], 1);
      const low = Math.floor(harmonic);
      const weight = Math.fround(harmonic - low);
      const [below, above] = [low, low + 1].map((n) => Math.min(rint((n * before[t]) / BIN_HZ), BINS - 1));
      made[t * width + k] = old[below] * (1 - weight) + old[above] * weight + louder;
      made[t * width + BINS + k] = weight < 0.5 ? old[BINS + below] : old[BINS + above];
    }
  }
  return made;
}
