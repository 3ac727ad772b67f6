/**
 * Segments to sound (`sayahead/engine/synthesizer.py`): acoustic model, then vocoder; hold-back, and the silence around
 * sentences. A state is never changed: a step gives another one.
 */

import { FEATURES, HOP } from "./decoder.js";
import { joined, rint } from "./numbers.js";

export const RATE = 24000;
const MAX_FRAMES = rint((12 * RATE) / HOP); // that the vocoder makes in one go
const AUDIBLE = Math.fround(10 ** (-50 / 20));

export class TwoStage {
  /** `pauses`: {lead, pause} around a sentence, in samples. */
  constructor(acoustic, vocoder, pauses) {
    Object.assign(this, { acoustic, vocoder, pauses });
  }

  /** The state before the first word of a session. `rendering`: {speed, holdBackS, blindHoldBackS, seed, shape, own}. */
  initial(rendering) {
    return { rendering, ...this.begun(0, 0), rest: null };
  }

  /** A fresh sentence: its first frame, and samples of the session before it. */
  begun(frame, emitted) {
    return {
      acoustic: this.acoustic.initial(),
      vocoder: this.vocoder.initial(frame),
      frame,
      frames: 0,
      // Where frame 0 lies; samples emitted; silent ones that wait for something audible; silence at the end; words.
      progress: { origin: emitted, emitted, lead: new Float32Array(0), silence: 0, unheard: [], timed: 0 },
    };
  }

  /** {samples, words, ended, more, state} of a segment, with what was left of the one before; see `Segment` in types.py. */
  step(segment, state) {
    const speeches = [];
    while (state.rest) {
      speeches.push(this.more(state));
      ({ state } = speeches.at(-1));
    }
    const { rendering } = state;
    let heldS = segment.speak === segment.ids.length ? rendering.blindHoldBackS : rendering.holdBackS;
    if (segment.breath) heldS = 0;
    const frames = this.acoustic.step(segment, state.acoustic, rendering, rint((heldS * RATE) / HOP));
    const pause = frames.ended ? rint(this.pauses.pause * segment.pause) : null;
    const words = [...moved(state.progress.unheard, frames.drawn), ...frames.words];
    speeches.push(this.vocoded(frames.final, frames.right, pause, { ...state, acoustic: frames.state }, words));
    if (speeches.length === 1) return speeches[0];
    const samples = joined(...speeches.map((speech) => speech.samples));
    return { ...speeches.at(-1), samples, words: speeches.flatMap((speech) => speech.words) };
  }

  /** What is left of the segment before. */
  more(state) {
    return this.vocoded(...state.rest, state, state.progress.unheard);
  }

  /** The second stage for final frames, or for the first of them where there are too many for one piece. */
  vocoded(final, right, pause, state, words) {
    const { rendering } = state;
    const most = MAX_FRAMES * FEATURES;
    const rest = most < final.length ? [final.subarray(most), right, pause] : null;
    if (rest) [final, right, pause] = [final.subarray(0, most), joined(rest[0], right), null];
    const ended = pause !== null;
    const how = { seed: rendering.seed, shape: rendering.shape, own: rendering.own, ended };
    const made = this.vocoder.step(final, right, state.vocoder, how);
    const { samples, words: timed, progress } = this.emitted(made.samples, state.progress, words, pause);
    const frames = state.frames + final.length / FEATURES;
    const next = ended
      ? { ...state, ...this.begun(state.frame + frames, progress.emitted), acoustic: state.acoustic, rest: null }
      : { ...state, vocoder: made.state, progress, frames, rest };
    return { samples, words: timed, ended, more: rest !== null, state: next };
  }

  /** Bound the silence at both ends of a sentence, and time the words that begin in the rest. */
  emitted(samples, { origin, emitted, lead, silence, timed }, timings, pause) {
    const loud = audibleEnds(samples);
    const before = emitted;
    if (lead) {
      const first = loud ? loud[0] : samples.length;
      const cut = Math.max(0, lead.length + first - this.pauses.lead);
      samples = joined(lead, samples).subarray(cut);
      origin -= cut;
      if (!loud && pause === null) {
        const progress = { origin, emitted, lead: samples, silence, unheard: timings, timed };
        return { samples: new Float32Array(0), words: [], progress };
      }
    }
    silence = loud ? loud[1] : silence + samples.length;
    if (pause !== null) samples = padded(samples, pause - silence);
    emitted += samples.length;
    const [words, unheard] = [[], []];
    for (const [first, end] of timings) {
      // What was held back may have become shorter than the end of its word that was told.
      let onset = Math.max(origin + first * HOP, before, timed);
      let offset = origin + end * HOP;
      if (pause !== null) {
        // A model may count the silence after a sentence as part of its last phoneme.
        onset = Math.min(onset, emitted - 1);
        offset = Math.min(offset, emitted - pause);
      }
      if (onset < emitted) {
        timed = Math.max(onset, offset);
        words.push([onset, timed]);
      } else unheard.push([first, end]);
    }
    return { samples, words, progress: { origin, emitted, lead: null, silence, unheard, timed } };
  }
}

/** Samples with so many more of silence, or fewer. */
function padded(samples, change) {
  if (change <= 0) return samples.subarray(0, Math.max(0, samples.length + change));
  return joined(samples, new Float32Array(change));
}

/** How many samples lie before the first audible one, and behind the last; null where there is none. */
function audibleEnds(samples) {
  const first = samples.findIndex((value) => Math.abs(value) > AUDIBLE);
  return first < 0 ? null : [first, samples.length - 1 - samples.findLastIndex((value) => Math.abs(value) > AUDIBLE)];
}

/** First and end frames of words after something before or in them was lengthened. */
function moved(words, drawn) {
  const place = (frame) => drawn.reduce((at, [first, by]) => (frame >= first ? at + by : at), frame);
  return words.map(([first, end]) => [place(first), place(end)]);
}
