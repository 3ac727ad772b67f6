/** The voice of an agent in a page: text goes to `sayahead serve` as it is written, and each word is heard at once; see README.md. */

import { Messages } from "./messages.js";
import { Player } from "./player.js";

const LOOK_MS = 20; // how often it is asked how much was heard

/**
 * Connect to a server. `url`: of its socket, with a token of `POST /v1/tokens`. `session`: the options of the
 * turns, by the names of the socket (`{ voice: "heart", speed: 1.1 }`).
 */
export async function connect(url, { session = {} } = {}) {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const conversation = new Conversation(socket, session);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = ({ reason }) => reject(new Error(reason || `${url} cannot be reached.`));
  });
  socket.onclose = ({ reason }) => conversation.lost(reason || "The connection broke.");
  return conversation;
}

class Conversation extends Messages {
  constructor(socket, session) {
    super({ created() {}, revised() {}, flushed() {}, skipped() {} });
    Object.assign(this.listener, {
      audio: (header, samples) => this.turns.get(header.context_id)?.audio(header, samples),
      done: ({ context_id: id }) => this.turns.get(id)?.complete(),
      failed: ({ context_id: id, message, gone }) => {
        if (gone) this.turns.get(id)?.fail(new Error(message));
      },
    });
    Object.assign(this, { socket, session, turns: new Map(), count: 0, header: null });
    this.player = new Player(() => this.look());
    socket.onmessage = ({ data }) => this.receive(data);
  }

  /** Call it from a click or a key: browsers are silent before one. */
  async open() {
    await this.player.open();
    if (!this.player.way) throw new Error("There is no sound: is ring.worklet.js beside index.js?");
  }

  /** Say a text, or the pieces of one as they come. Turns are heard one after the other. */
  speak(text, { onWord = () => {} } = {}) {
    this.choose(() => ({ ...this.session, sample_rate: this.player.rate }));
    return new Turn(this, `turn-${this.count++}`, typeof text === "string" ? [text] : text, onWord);
  }

  /** Fall silent: every turn is over. What was heard of the one that was heard. */
  cancel() {
    const [first, ...later] = this.turns.values();
    for (const turn of later.reverse()) turn.cancel();
    return first?.cancel() ?? null;
  }

  /** The server need say no more of a turn. */
  silence(name) {
    this.send({ type: "input_text.cancel", context_id: name });
  }

  /** Fall silent, and disconnect. */
  close() {
    this.cancel();
    this.socket.onclose = null;
    this.socket.close();
    this.player.context?.close();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  receive(data) {
    if (typeof data !== "string") {
      this.heard(this.header, data);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "speech.audio") this.header = message;
    else this.heard(message);
  }

  lost(reason) {
    for (const turn of [...this.turns.values()]) turn.fail(new Error(reason));
  }

  /** The turn that is heard now. */
  get current() {
    return this.turns.values().next().value;
  }

  look() {
    this.current?.look();
  }

  /** A turn is over: the next one is heard. */
  over(turn) {
    const first = this.current === turn;
    this.turns.delete(turn.name);
    // What was heard is not kept.
    if (!this.turns.size) this.player.clear();
    else if (first) this.current.begin();
  }
}

class Turn {
  constructor(conversation, name, pieces, onWord) {
    Object.assign(this, { conversation, name, onWord, player: conversation.player });
    this.text = "";
    this.words = []; // {text, written, start, end, onset, offset}: samples of the player
    this.waiting = []; // sound that comes while an earlier turn is heard
    this.origin = null; // where in the player's stream it begins
    this.told = 0; // words of which onWord was told
    this.all = false; // whether all of its sound has come
    this.result = null; // what was heard, once it is over
    /** What was heard, once it is over; rejects with the error that ended it. */
    this.finished = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.finished.catch(() => {});
    this.pieces = pieces[Symbol.asyncIterator]?.() ?? pieces[Symbol.iterator]();
    conversation.turns.set(name, this);
    if (conversation.current === this) this.begin();
    this.write();
  }

  /** Fall silent at once; what was heard. Of a turn that is over, that, and nothing else happens. */
  cancel() {
    if (!this.result) this.end(true);
    return this.result;
  }

  /** What was heard so far. */
  heard() {
    return this.result ?? this.measure(this.player.heard(), true);
  }

  async write() {
    try {
      for (;;) {
        const { done, value } = await this.pieces.next();
        if (this.result) return;
        if (done) break;
        this.text += value;
        this.conversation.append(this.name, value);
      }
      this.conversation.end(this.name);
    } catch (error) {
      this.fail(error);
    }
  }

  begin() {
    this.timer = setInterval(() => this.look(), LOOK_MS);
    for (const [header, samples] of this.waiting.splice(0)) this.audio(header, samples);
    if (this.all) this.complete();
  }

  audio(header, samples) {
    if (this.conversation.current !== this) {
      this.waiting.push([header, samples]);
      return;
    }
    const { player } = this;
    this.origin ??= player.pushed;
    player.unsettle();
    player.append(samples);
    for (const { word: text, written = text, start, end, onset_s: onsetS, offset_s: offsetS } of header.words) {
      const [onset, offset] = [onsetS, offsetS].map((seconds) => this.origin + seconds * player.rate);
      this.words.push({ text, written, start, end, onset, offset });
    }
  }

  complete() {
    this.all = true;
    if (this.conversation.current === this) this.player.settle();
    this.look();
  }

  /** Tell what is heard by now; end where that is all. */
  look() {
    if (this.result || this.conversation.current !== this) return;
    const at = this.player.heard();
    while (this.told < this.words.length && this.words[this.told].onset <= at) this.onWord(this.words[this.told++]);
    if (this.all && !this.player.sounding) this.end(false);
  }

  fail(error) {
    if (!this.result) this.end(true, error);
  }

  end(interrupted, error) {
    const { conversation, player } = this;
    const heard = conversation.current === this;
    const at = heard && interrupted ? player.cut() : player.pushed;
    clearInterval(this.timer);
    this.result = this.measure(at, interrupted);
    if (interrupted) conversation.silence(this.name);
    // The model need not go on.
    this.pieces.return?.();
    conversation.over(this);
    if (error) this.reject(error);
    else this.resolve(this.result);
  }

  /** What was heard up to a sample: of each word, more than half. */
  measure(at, interrupted) {
    const count = this.words.filter(({ onset, offset }) => (onset + offset) / 2 < at).length;
    const text = [...this.text]; // places are counted in code points
    const end = !interrupted ? text.length : count ? this.words[count - 1].end : 0;
    const playedS = this.origin === null ? 0 : Math.max(0, at - this.origin) / this.player.rate;
    return { words: count, text: text.slice(0, end).join(""), unsaid: text.slice(end).join(""), playedS, interrupted };
  }
}
