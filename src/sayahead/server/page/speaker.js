/**
 * The text and its speech: what was sent, what has sound by now, what was heard; and what an edit, a stop or a change of
 * settings means for all that.
 *
 * Places count UTF-16 units of the text, as the editor does; the socket counts code points.
 */

import { Context } from "./context.js";
import { Feeder, PACES } from "./pace.js";
import { difference, Marks, wordStart } from "./places.js";
import { now } from "./player.js";
import { Track } from "./track.js";

const PAUSE_S = 1.2; // a typist who rests so long wants to hear what is there
const EDIT_S = 0.8; // one who changes what was sent goes on changing for a while
const IN_VAIN = 3; // connections lost at the same place of a text: it may be the text
const AHEAD = 6000; // characters that may wait at the server

export class Speaker extends Track {
  /**
   * `told`: begun(), opens() before a context, changed(), heard(word), first(seconds, mode), gap(mode), stopped(words heard, words sent),
   * problem(sentence).
   */
  constructor(stream, player, told) {
    super(player, told);
    this.stream = stream;
    this.text = "";
    this.pace = "fast";
    this.mode = "incremental";
    this.lookahead = 1;
    this.names = 0;
    this.feeder = null;
    this.timer = 0;
    this.context = null; // the Context that takes text
    this.fresh();
  }

  fresh() {
    this.reset();
    this.arrived = 0; // the text up to here was sent, or never will be
    this.marks = new Marks();
    this.lost = { words: -1, times: 0 }; // that had sound when the connection broke last; how often it did there
    this.editing = false; // a change within what was sent, that may go on
    this.forget();
    this.told.begun();
  }

  /** There is no context any more. */
  forget() {
    this.context = null;
    this.unflushed = false;
    this.asked = this.answered = 0; // flushes
  }

  // What a person does.

  /** The editor's text is now `next`. `pasted`: it did not come from keys, so it arrives at the chosen pace. */
  edit(next, { pasted = false } = {}) {
    const change = difference(this.text, next);
    if (!change) return;
    // What was heard since the last frame stays.
    this.follow();
    const before = this.text;
    this.text = next;
    if (!next.trim()) {
      this.clear();
      return;
    }
    const { start, end, size } = change;
    this.marks.keep(start);
    const words = /\S\s+\S/.test(next.slice(start, start + size));
    if (start < this.arrived) this.correct(change, { before, words });
    if (!this.feeder) {
      this.marks.add(start + size, now());
      this.marks.add(next.length, now());
    }
    if (pasted && words) {
      this.heardEnd = Math.min(this.heardEnd, wordStart(next, start));
      this.rewind(start);
      this.feed();
    } else if (!this.feeder) this.typed();
    this.told.changed();
  }

  /** A change of what was sent; `words`: several are new. */
  correct({ start, end, size }, { before, words }) {
    const last = end >= this.arrived;
    // A word that has sound is whole without the blank behind it, too.
    const blanks = last && size === 0 && start <= this.ready && !before.slice(start, end).trim();
    const tail = last && !blanks;
    // Another text may end as this one did.
    if ((tail || words) && wordStart(this.text, start) === 0) {
      this.clear();
      return;
    }
    const silent = blanks || (!tail && (!this.busy || end <= this.heardEnd));
    if (!silent) this.takeBack(start);
    this.editing = !silent && !tail;
    this.shift(start, end, { delta: size - (end - start), tail });
    if (this.context) this.context.base = this.arrived - this.context.text.length;
  }

  /** Move all places behind a change; at the `tail` of the text, what is new was not spoken. */
  shift(start, end, { delta, tail }) {
    const inside = tail ? start : Math.max(start, end + delta);
    const place = (at) => (at > end || (at === end && !tail) ? at + delta : Math.min(at, inside));
    for (const word of this.words) {
      word.start = place(word.start);
      word.end = place(word.end);
    }
    this.skips = this.skips.map(([a, b]) => [place(a), place(b)]);
    this.unread = this.unread.map(([a, b]) => [place(a), place(b)]);
    this.heardEnd = place(this.heardEnd);
    this.arrived = place(this.arrived);
  }

  /** Take a text that is spoken only when somebody plays it. */
  put(text) {
    this.clear();
    this.text = text;
    this.arrived = text.length;
  }

  /** Speak the text from its beginning, as if it arrived just now. */
  play() {
    this.quit();
    this.player.clear();
    this.fresh();
    this.feed();
    this.told.changed();
  }

  /** Silent at once; what was not heard will not be. */
  stop() {
    const ready = this.words.length;
    this.quit();
    const position = this.player.cut();
    this.words.length = this.count;
    const last = this.words.at(-1);
    if (last) last.offset = Math.min(last.offset, position);
    this.skips.push([this.heardEnd, this.text.length]);
    this.arrived = this.text.length;
    this.told.stopped(this.count, ready);
    this.told.changed();
  }

  /** Forget all. */
  clear() {
    this.quit();
    this.player.clear();
    this.fresh();
    this.told.changed();
  }

  quit() {
    clearTimeout(this.timer);
    this.feeder?.stop();
    this.feeder = null;
    this.editing = false;
    if (this.context) this.stream.cancel(this.context.id);
    this.forget();
    this.phrases = [];
  }

  /** Go on with other settings from the next word. */
  again() {
    if (!this.busy) {
      // A context keeps its settings: the next word begins one anew.
      if (this.context) this.stream.cancel(this.context.id);
      this.forget();
      return;
    }
    this.rewind(this.heardEnd);
    if (!this.feeder) this.typed();
  }

  /** Take back the word that a place is in or behind, and all that follows, unless it was heard; it will be sent again. */
  takeBack(to) {
    const place = Math.max(wordStart(this.text, to), this.heardEnd);
    const { context } = this;
    if (!context || place < Math.max(this.ready, context.base)) {
      this.rewind(to);
      return;
    }
    // None of it has sound: the server may change it where it stands.
    let unit = Math.min(place - context.base, context.text.length);
    // A blank behind what was heard stays, if one is still there.
    const blank = /\s$/.test(this.text.slice(0, Math.min(to, place)));
    while (blank && unit < context.text.length && /\s/.test(context.text[unit])) unit++;
    const waits = this.pending;
    this.stream.revise(context.id, context.cut(unit));
    this.unflushed = waits;
    this.arrived = Math.min(context.base + unit, this.arrived);
    this.unskip();
  }

  /** Take back what lies behind a place and was not heard, with its sound; it will be sent again, in a new context. */
  rewind(to) {
    const place = Math.max(wordStart(this.text, to), this.heardEnd);
    let kept = this.words.findIndex((word, i) => i >= this.count && (word.end > place || this.partial(word)));
    if (kept < 0) kept = this.words.length;
    const cut = kept < this.words.length;
    this.words.length = kept;
    const last = this.words.at(-1);
    if (cut) this.player.cut(last ? Math.round(last.offset) : null);
    const { context } = this;
    if (context) {
      const told = last && last.end > context.base ? last.end : context.base;
      this.arrived = Math.min(place, this.pending || cut ? told : place, this.arrived);
      this.stream.cancel(context.id);
      this.forget();
    } else this.arrived = Math.min(this.arrived, place);
    this.unskip();
  }

  /** What will be sent again is not skipped. */
  unskip() {
    const sent = (places) => places.map(([a, b]) => [a, Math.min(b, this.arrived)]).filter(([a, b]) => a < b);
    this.skips = sent(this.skips);
    this.unread = sent(this.unread);
  }

  /** Whether some of a word's sound is still to come. */
  partial(word) {
    return this.pending && word.offset > this.player.pushed + 1;
  }

  // The way of the text.

  /** Send what was typed: whole words, and all after a pause. */
  typed() {
    clearTimeout(this.timer);
    if (!this.editing) {
      const end = wordStart(this.text, this.text.length);
      if (end > this.arrived) this.send(end);
      if (this.arrived === this.text.length && this.text.endsWith("\n")) this.flush();
    }
    if (this.arrived < this.text.length || this.unflushed) {
      this.timer = setTimeout(() => this.rest(), (this.editing ? EDIT_S : PAUSE_S) * 1000);
    }
  }

  /** The typist rests. */
  rest() {
    if (this.editing) {
      this.editing = false;
      this.typed();
      return;
    }
    this.send(this.text.length);
    this.flush({ end: this.mode === "sentence" });
    this.told.changed();
  }

  /** Let the text behind `arrived` come at the chosen pace. */
  feed() {
    clearTimeout(this.timer);
    this.editing = false;
    this.marks.keep(this.arrived);
    this.feeder?.stop();
    this.feeder = new Feeder(() => this.step());
  }

  step() {
    const { text, arrived } = this;
    if (arrived >= text.length) {
      this.feeder.stop();
      this.feeder = null;
      this.flush();
      this.told.changed();
      return null;
    }
    const pace = PACES[this.pace];
    // The server keeps only so much waiting.
    if (arrived - this.ready > AHEAD && this.context) return 0.05;
    const end = pace.next(text, arrived);
    this.marks.add(end, now());
    this.send(end);
    this.told.changed();
    return pace.gapS();
  }

  send(end) {
    const part = this.text.slice(this.arrived, end);
    const speaks = part.trim() !== "";
    if (speaks && !this.context) {
      this.told.opens();
      this.context = new Context(`c${++this.names}`, this.arrived);
    }
    if (this.context) {
      if (speaks && !this.unflushed) {
        const start = this.arrived + part.search(/\S/);
        this.phrases.push({ start, first: this.marks.when(start + 1) ?? now(), sound: null, mode: this.mode });
      }
      this.context.add(part);
      this.stream.append(this.context.id, part);
      if (speaks) {
        this.unflushed = true;
        this.player.unsettle();
      }
    }
    this.arrived = end;
  }

  /** Have all that was sent spoken; without `end` its sentence goes on. */
  flush({ end = true } = {}) {
    if (!this.context || !this.unflushed) return;
    this.unflushed = false;
    this.stream.flush(this.context.id, ++this.asked, end);
  }

  // What the server says.

  audio(header, samples) {
    const { context } = this;
    if (header.context_id !== context?.id) return;
    if (context.stale(header.words)) {
      this.contradict();
      return;
    }
    this.take(context, header, samples, { mode: this.mode, typed: (place) => this.marks.when(place) });
    if (header.words.length) this.told.changed();
  }

  flushed({ context_id: id, flush_id: mark }) {
    if (id !== this.context?.id) return;
    this.answered = mark;
    if (!this.pending) this.player.settle();
    this.told.changed();
  }

  revised(message) {
    if (message.context_id === this.context?.id && !this.context.revised(message)) this.contradict();
  }

  /** The voice cannot read a part of the text. */
  skipped({ context_id: id, start, end }) {
    if (id !== this.context?.id) return;
    const [from, to] = [this.context.place(start), this.context.place(end)];
    if (!this.unread.some(([a, b]) => a === from && b === to)) this.unread.push([from, to]);
    this.told.changed();
  }

  /** The server had spoken what was taken back; it was not heard: from there on, anew. */
  contradict() {
    this.rewind(this.context.doubtful);
    if (!this.feeder) this.typed();
    this.told.changed();
  }

  failed({ code, message, context_id: id, gone }) {
    // What ends the connection is told by gone(), which may help.
    if ((id === null && gone) || (id !== null && id !== this.context?.id)) return;
    if (code !== "idle") this.told.problem(message);
    if (gone || code !== "idle") this.drop();
  }

  /** The connection is gone, and what the server had of the text with it: the next one is sent all that has no sound. */
  gone(sentence) {
    if (!this.context || !this.pending) {
      this.forget();
      return;
    }
    const { words, lost } = this;
    this.lost = { words: words.length, times: words.length > lost.words ? 1 : lost.times + 1 };
    if (this.lost.times >= IN_VAIN) {
      this.refused(sentence);
      return;
    }
    const last = words.at(-1);
    // A word that broke off before its middle was not heard.
    if (last && this.count === words.length && this.player.pushed < (last.onset + last.offset) / 2) {
      this.count--;
      this.heardEnd = Math.min(this.heardEnd, last.start);
    }
    this.rewind(this.arrived);
    if (!this.feeder) this.typed();
    this.told.changed();
  }

  /** There will be no connection. */
  refused(sentence) {
    if (this.pending || this.feeder) this.told.problem(sentence);
    this.drop();
  }

  /** Send no more; what has sound is heard. */
  drop() {
    const waits = this.pending || this.feeder;
    this.feeder?.stop();
    this.feeder = null;
    clearTimeout(this.timer);
    this.forget();
    if (waits) {
      this.skips.push([this.ready, this.text.length]);
      this.arrived = this.text.length;
    }
    this.told.changed();
  }

  /** The player ran dry. */
  dry() {
    if (!this.owed) return;
    this.player.steady();
    this.told.gap(this.mode);
  }

  // How things stand.

  /** Whether text was sent whose sound is still to come. */
  get pending() {
    return this.unflushed || this.asked > this.answered;
  }

  get busy() {
    // What is being edited will be sent when the typist rests.
    const edited = this.editing && this.arrived < this.text.length;
    return this.feeder !== null || edited || this.pending || this.player.sounding;
  }

  /** Whether the server has all that it needs for more sound. */
  get owed() {
    if (!this.pending) return false;
    if (this.asked > this.answered) return true;
    const open = this.text.slice(this.words.at(-1)?.end ?? this.context.base, this.arrived);
    if (this.mode === "sentence") return /[.!?]["')\]]*\s+\S+\s/.test(open);
    return (open.match(/\S\s/g) ?? []).length > this.lookahead + 2;
  }

  /** Follow the sound; to be called often. */
  follow() {
    super.follow();
    if (!this.busy && this.heardEnd < this.arrived) this.heardEnd = this.arrived; // dashes and the like
  }
}
