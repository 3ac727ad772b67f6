/** What makes sound of segments: what `python/web_voices.py` calls. */

import { Decoder } from "./decoder.js";
import { whole } from "./graphs.js";
import { Heart } from "./heart.js";
import { rint } from "./numbers.js";
import { Encoder } from "./resample.js";
import { RATE, TwoStage } from "./twostage.js";

/** `graphs` by name: text, prosody, decoder and oov, each with `call`; `voice`: the default voice's voice.json. */
export function engine(graphs, voice) {
  const { model } = voice;
  const decoder = new Decoder(graphs.decoder, model.right);
  const pauses = { lead: rint(voice.lead_in_s * RATE), pause: rint(voice.pause_s * RATE) };
  const stages = new TwoStage(new Heart(graphs, model, decoder.context), decoder, pauses);
  return {
    /** A session's state before its first word. */
    initial: (speed, holdBackS, blindHoldBackS, seed, pitch, range, formants) =>
      stages.initial({ speed, holdBackS, blindHoldBackS, seed, shape: { pitch, range, formants } }),
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
