/** What may be chosen for a speech, by the names that these options have everywhere in sayahead. */
export interface Options {
  /** One of those that were loaded (by default the first): each line is a set of them. */
  voice?:
    | "heart" | "heart-bright" | "heart-low"
    | "am_michael" | "am_fenrir" | "am_puck" | "af_bella" | "af_sarah" | "bf_emma" | "bm_george"
    | "ef_dora"
    | "ff_siwis"
    | "if_sara"
    | "pf_dora" | "pm_alex";
  /** When to speak: `lookahead:k=1` (a word behind, the default), `lookahead:k=0`, `learned`, `wait-all`, ... */
  policy?: string;
  /** 0.5 to 2. */
  speed?: number;
  /** Factor on the samples. */
  volume?: number;
  /** Semitones. */
  pitch?: number;
  /** Factor on how far the pitch moves. */
  pitch_range?: number;
  /** Factor on the resonances of the vocal tract. */
  formants?: number;
  /** Seconds of sound held back at the right end until more text arrives. */
  hold_back_s?: number;
  /** Of the noise in the sound. */
  seed?: number;
  /** How words are said: `{ Nguyen: "/ˈwɪn/", SQL: "sequel" }`. */
  lexicon?: Record<string, string>;
  markup?: "none" | "ssml";
  /** Samples per second; 24000. */
  sample_rate?: number;
}

export interface Word {
  /** As it is spoken. */
  text: string;
  /** As it is written, without markup; empty if it goes on with what the word before stands for. */
  written: string;
  /** Whether a sentence, a heading or an item of a list ends with it. */
  ends: boolean;
  /** Its first character in the text, and its end. */
  start: number;
  end: number;
  /** When it begins and ends, in seconds from the first sample. */
  onsetS: number;
  offsetS: number;
}

export interface Chunk {
  /** In [-1, 1]. */
  samples: Float32Array<ArrayBuffer>;
  sampleRate: number;
  startS: number;
  durationS: number;
  /** The words that begin in it. */
  words: Word[];
}

/** A text being spoken; its chunks come in order, without gaps. Who stops to iterate cancels it. */
export interface Speech extends AsyncIterable<Chunk> {
  push(text: string): Speech;
  /** Speak all so far without waiting for more; with `end: false` the sentence goes on. */
  flush(options?: { end?: boolean }): Speech;
  /** No more text comes. */
  finish(): Speech;
  cancel(): void;
  /** All samples, once they are there. */
  all(): Promise<Float32Array<ArrayBuffer>>;
  /** Play it as it comes, until it is over. */
  play(context?: AudioContext): Promise<void>;
}

export interface Voice {
  /** Speak a text, the pieces of one as they come, or, without a text, what is pushed. */
  speak(text?: string | Iterable<string> | AsyncIterable<string>, options?: Options): Speech;
  /** Let go of the voice, and of what it still speaks. */
  close(): void;
}

export interface Loading {
  /** `heart`, the default, is American; the others are of `family`: American and British English, and four languages. */
  voices?: "heart" | "english" | "spanish" | "french" | "italian" | "portuguese";
  /** Where the package's files lie, if a bundler has moved `index.js` away from them. */
  base?: string | URL;
  /** Hears how much has arrived. */
  loading?: (bytes: number, total: number) => void;
}

/** Load a set of voices: 26 MB or some more, which the browser keeps. Rejects where it cannot be had. */
export function load(options?: Loading): Promise<Voice>;
