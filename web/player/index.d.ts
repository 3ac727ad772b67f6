/** What a listener heard of a turn; `text + unsaid` is all text that was written. */
export interface Heard {
  /** How many words: of each, more than half of the sound was heard. */
  words: number;
  text: string;
  unsaid: string;
  /** Seconds of its sound that were heard. */
  playedS: number;
  /** Whether it was silenced before its end. */
  interrupted: boolean;
}

export interface Word {
  /** As it is spoken: "nine thirty". */
  text: string;
  /** As it is written: "9:30"; empty if it goes on with what the word before stands for. */
  written: string;
  /** Its place in the turn's text, in code points. */
  start: number;
  end: number;
}

export interface Turn {
  /** What was heard, once it is over; rejects with the error that ended it. */
  finished: Promise<Heard>;
  /** Fall silent at once; what was heard. Of a turn that is over, that, and nothing else happens. */
  cancel(): Heard;
  /** What was heard so far. */
  heard(): Heard;
}

export interface Conversation {
  /** Call it from a click or a key: browsers are silent before one. */
  open(): Promise<void>;
  /** Say a text, or the pieces of one as they come. Turns are heard one after the other. */
  speak(
    text: string | Iterable<string> | AsyncIterable<string>,
    options?: { onWord?: (word: Word) => void },
  ): Turn;
  /** Fall silent: every turn is over. What was heard of the one that was heard; null where there was none. */
  cancel(): Heard | null;
  /** Fall silent, and disconnect. */
  close(): void;
}

/** Connect to the socket of `sayahead serve`; `session`: the options of its `session.update`. */
export function connect(url: string | URL, options?: { session?: Record<string, unknown> }): Promise<Conversation>;
