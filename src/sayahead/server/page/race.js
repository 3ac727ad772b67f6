/** A race: the same text, arriving at the same pace, spoken word by word and sentence by sentence. */

import { Lane } from "./lane.js";
import { Feeder, PACES } from "./pace.js";
import { duration } from "./stats.js";

export const TEXT =
  "Most voices wait until a sentence is whole before they say a word of it. This one starts at the first.";

export class Race {
  /**
   * `elements` {words, sentences} are the lanes'; `told`: changed(), settings(mode) for a context, or without a mode
   * those of the page, problem(sentence), ready(): resolves when the voice is loaded.
   */
  constructor(stream, elements, told) {
    Object.assign(this, { stream, told });
    const about = { text: TEXT, changed: told.changed };
    this.lanes = [new Lane("incremental", elements.words, about), new Lane("sentence", elements.sentences, about)];
    for (const lane of this.lanes) lane.button.addEventListener("click", () => this.replay(lane));
    this.feeder = null;
    this.runs = 0;
    this.preparing = false;
  }

  get busy() {
    return this.preparing || this.feeder !== null || this.lanes.some((lane) => lane.busy);
  }

  /** Both lanes get the text at a pace; the first is heard, the other only measured. */
  async start(pace) {
    this.stop();
    const run = ++this.runs;
    this.preparing = true;
    this.told.changed();
    await Promise.all(this.lanes.map((lane) => lane.player.open()));
    await this.told.ready();
    if (run !== this.runs) return;
    this.preparing = false;
    this.told.changed();
    if (!this.stream.connected) return;
    const { next, gapS } = PACES[pace];
    let arrivalS = 0;
    for (let at = 0; at < TEXT.length; at = next(TEXT, at)) arrivalS += gapS();
    this.lanes.forEach((lane, i) => lane.begin(`race-${run}-${lane.mode}`, { arrivalS, audible: i === 0 }));
    this.feeder = new Feeder(() => this.step(PACES[pace]));
  }

  step({ next, gapS }) {
    const [{ arrived: at }] = this.lanes;
    if (at >= TEXT.length) {
      this.halt();
      for (const lane of this.lanes) this.stream.end(lane.context.id);
      return null;
    }
    const part = TEXT.slice(at, next(TEXT, at));
    for (const lane of this.lanes) {
      // A context takes the settings that hold when it begins.
      if (at === 0) this.stream.choose(() => this.told.settings(lane.mode));
      lane.send(part);
      this.stream.append(lane.context.id, part);
    }
    if (at === 0) this.stream.choose(this.told.settings);
    this.told.changed();
    return gapS();
  }

  halt() {
    this.feeder?.stop();
    this.feeder = null;
    for (const lane of this.lanes) lane.feeder = null;
  }

  /** Silent at once. */
  stop() {
    this.runs++;
    this.preparing = false;
    this.halt();
    for (const lane of this.lanes) {
      if (lane.context && !lane.done) this.stream.cancel(lane.context.id);
      if (lane.busy) lane.silence();
    }
    this.told.changed();
  }

  replay(lane) {
    for (const each of this.lanes) each.silence();
    lane.replay();
    this.told.changed();
  }

  // What the server says.

  audio(header, samples) {
    for (const lane of this.lanes) lane.audio(header, samples);
    this.told.changed();
  }

  done({ context_id: id }) {
    this.lanes.find((lane) => lane.context?.id === id)?.finish();
  }

  failed({ message, context_id: id }) {
    if (!this.lanes.some((lane) => lane.context?.id === id)) return;
    this.told.problem(message);
    this.stop();
  }

  lost(sentence) {
    if (!this.lanes.some((lane) => lane.context && !lane.done)) return;
    this.told.problem(sentence);
    this.stop();
  }

  look() {
    // A second is as wide in one lane as in the other.
    const spanS = Math.max(...this.lanes.map((lane) => lane.reach));
    for (const lane of this.lanes) lane.look(spanS);
  }

  /** Who won, as a sentence; "" before both were heard. */
  get verdict() {
    const [words, sentences] = this.lanes.map((lane) => lane.firstS ?? null);
    if (words === null || sentences === null) return "";
    return `Word by word was heard ${duration(sentences - words)} sooner.`;
  }
}
