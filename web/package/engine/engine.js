/** What makes sound of segments: what `python/web_voices.py` calls. */

import { Decoder } from "./decoder.js";
import { floats, whole } from "./graphs.js";
import { Heart } from "./heart.js";
import { rint } from "./numbers.js";
import { Encoder } from "./resample.js";
import { RATE, TwoStage } from "./twostage.js";

/**
 * `graphs` by name: text, prosody, decoder and oov, each with `call`; `voice`: voice.json of the voice that they are of;
 * `speakers`: what is each speaker's own, the numbers of each graph in turn (Float32Array), where there are several.
 */
export function engine(graphs, voice, speakers = null) {
  const { model } = voice;
  const decoder = new Decoder(graphs.decoder, model.right);
  const pauses = { lead: rint(voice.lead_in_s * RATE), pause: rint(voice.pause_s * RATE) };
  const stages = new TwoStage(new Heart(graphs, model, decoder.context), decoder, pauses);
  const owns = speakers && ownOf(speakers, voice.sizes);
  return {
    /** A session's state before its first word. */
    initial: (speed, holdBackS, blindHoldBackS, seed, pitch, range, formants, speaker = 0) =>
      stages.initial({ speed, holdBackS, blindHoldBackS, seed, shape: { pitch, range, formants }, own: owns?.[speaker] ?? {} }),
    /** {samples, words (first and last sample of each), ended, more, state}. */
    step(state, ids, speak, places, ends, breath, speeds, stretch, pause) {
      const words = Array.from({ length: places.length / 2 }, (_, n) => [places[2 * n], places[2 * n + 1]]);
      return flat(stages.step({ ids, speak, words, ends, breath, speeds: speeds ?? null, stretch, pause }, state));
    },
    /** The same of what is left of the segment before. */
    rest: (state) => flat(stages.more(state)),
    encoder: (source, target) => new Encoder(source, target),
    /** The one output of a graph for its one input, both (1, N) whole numbers. */
    whole(name, input, numbers) {
      const { data } = whole(numbers);
      const [made] = Object.values(graphs[name].call({ [input]: { data, shape: [1, data.length] } }));
      return Array.from(made.data, Number);
    },
  };
}

const flat = (speech) => ({ ...speech, words: speech.words.flat() });

/** Of each speaker, the inputs by graph; `widths`: how many numbers each graph has of one, in the order of `numbers`. */
function ownOf(numbers, widths) {
  const width = Object.values(widths).reduce((sum, value) => sum + value, 0);
  return Array.from({ length: numbers.length / width }, (_, speaker) => {
    let at = speaker * width;
    return Object.fromEntries(
      Object.entries(widths).map(([graph, size]) => {
        const speaks = floats(numbers.subarray(at, at + size), size);
        at += size;
        return [graph, { speaker: speaks }];
      }),
    );
  });
}
