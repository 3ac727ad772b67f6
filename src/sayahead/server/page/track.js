/** The words of a text that have sound, and how far a listener has got in them. */

const AUDIBLE = 104; // -50 dBFS

/**
 * A word is {text, start, end, onset, offset (samples of the player's stream), typed, ready, heard (seconds, or null),
 * mode}; its places count UTF-16 units of the text.
 */
export class Track {
  /** `told`: heard(word), first(seconds, mode). */
  constructor(player, told) {
    Object.assign(this, { player, told });
    this.reset();
  }

  reset() {
    this.words = []; // that have sound
    this.count = 0; // of them that were heard, or begun
    this.heardEnd = 0; // place up to which the text was heard
    this.skips = []; // [start, end) that was not spoken
    this.unread = []; // [start, end) that the voice cannot read
    this.phrases = []; // {start, first, sound, mode}: until their first sound was heard
    this.firsts = []; // {first, time}: when a phrase's first letter was typed, and its first sound heard
  }

  /** Sound of a context; `typed(place)` says when the text up to there was typed. */
  take(context, header, samples, { mode, typed }) {
    const { player } = this;
    context.origin ??= player.pushed;
    const at = player.pushed;
    player.append(samples);
    for (const { word, written, ends, start, end, onset_s: onsetS, offset_s: offsetS } of header.words) {
      const stop = context.place(end);
      const before = this.words.at(-1);
      // A mark that stands alone is no word: it belongs to the one before it.
      if (!/[\p{L}\p{N}]/u.test(word)) {
        if (before) before.end = Math.max(before.end, stop);
        continue;
      }
      const onset = context.origin + onsetS * player.rate;
      this.words.push({
        text: word, written, ends, start: context.place(start), end: stop, onset, offset: context.origin + offsetS * player.rate,
        typed: typed(stop), ready: player.arrival(onset), heard: null, mode,
      });
      const phrase = this.phrases.find((each) => each.sound === null && each.start < stop);
      if (phrase) {
        const from = Math.max(0, Math.round(onset - at));
        const loud = samples.findIndex((x, i) => i >= from && Math.abs(x) > AUDIBLE);
        phrase.sound = loud < 0 ? onset : at + loud;
      }
    }
  }

  /** The place up to which the text has sound. */
  get ready() {
    return this.words.at(-1)?.end ?? 0;
  }

  /** Follow the sound; to be called often. */
  follow() {
    const position = this.player.heard();
    for (let word = this.words[this.count]; word && word.onset < position; word = this.words[this.count]) {
      word.heard = this.player.timeOf(word.onset);
      this.heardEnd = Math.max(this.heardEnd, word.end);
      this.count++;
      this.told.heard(word);
    }
    while (this.phrases.length && this.phrases[0].sound !== null && this.phrases[0].sound < position) {
      const { first, sound, mode } = this.phrases.shift();
      const time = this.player.timeOf(sound);
      if (time === null) continue;
      this.firsts.push({ first, time });
      this.told.first(time - first, mode);
    }
  }

  /** The word that is heard right now, or null. */
  get current() {
    const word = this.words[this.count - 1];
    return word && this.busy && this.player.heard() < word.offset ? word : null;
  }

  /** What became of the text from `start` to `end`: now, heard, ready, typed, skipped, unread (the voice cannot) or ghost (it did not arrive yet). */
  state(start, end, current = this.current) {
    if (current && start < current.end && end > current.start) return "now";
    if (this.skips.some(([a, b]) => start >= a && start < b)) return "skipped";
    if (this.unread.some(([a, b]) => start < b && end > a)) return "unread";
    if (start < this.heardEnd) return "heard";
    if (start < this.ready) return "ready";
    return start < this.arrived || !this.feeder ? "typed" : "ghost";
  }
}
