/** Voices in this tab; see README.md. */

import { VOICES } from "./voices.js";

const RATE = 24000; // samples per second of the voice

/**
 * Load voices, by a name of voices.js. `base`: where this package's files lie; `loading(bytes, total)` hears what has arrived.
 */
export function load({ voices = "heart", base = new URL("./", import.meta.url), loading = () => {} } = {}) {
  if (!(voices in VOICES)) throw new Error(`There are no voices ${voices}: choose one of ${Object.keys(VOICES).join(", ")}.`);
  const place = new URL(`worker.js?voices=${voices}`, new URL(base, location.href));
  const voice = new Voice(new Worker(place, { type: "module" }), loading);
  return voice.ready;
}

class Voice {
  constructor(worker, loading) {
    this.worker = worker;
    this.loading = loading;
    this.speeches = new Map();
    this.count = 0;
    worker.onmessage = ({ data }) => this.receive(data);
    worker.onerror = ({ message }) => this.lost(message || "The voice's worker cannot be loaded.");
    const first = new Speech(this, "loaded");
    this.ready = first.finish().all().then(() => this);
  }

  /** Speak a text, the pieces of one as they come, or what is pushed. */
  speak(text, options = {}) {
    this.send({ type: "session.update", session: options });
    const speech = new Speech(this, `speech-${this.count++}`);
    speech.push("");
    if (text !== undefined) feed(speech, typeof text === "string" ? [text] : text);
    return speech;
  }

  /** Let go of the voice, and of what it still speaks. */
  close() {
    this.worker.terminate();
    for (const speech of this.speeches.values()) speech.over();
  }

  send(message) {
    this.worker.postMessage(JSON.stringify(message));
  }

  receive({ type, bytes, total, message, sound }) {
    if (type === "loading") this.loading(bytes, total);
    else if (type === "failed") this.lost(message);
    else {
      const told = JSON.parse(message);
      this.speeches.get(told.context_id)?.hear(told, sound);
    }
  }

  /** There will never be sound again. */
  lost(reason) {
    for (const speech of this.speeches.values()) speech.over(new Error(reason));
  }
}

class Speech {
  constructor(voice, name) {
    Object.assign(this, { voice, name, chunks: [], wake: () => {}, ended: false, error: null });
    voice.speeches.set(name, this);
  }

  /** More text. */
  push(text) {
    return this.say("append", { text });
  }

  /** Speak all so far without waiting for more; with `end: false` the sentence goes on. */
  flush({ end = true } = {}) {
    return this.say("flush", { flush_id: 0, end });
  }

  /** No more text comes. */
  finish() {
    return this.say("end");
  }

  /** Fall silent. */
  cancel() {
    this.say("cancel");
    this.chunks.length = 0;
    this.over();
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        while (this.chunks.length) yield this.chunks.shift();
        if (this.error) throw this.error;
        if (this.ended) return;
        await new Promise((resolve) => (this.wake = resolve));
      }
    } finally {
      if (!this.ended) this.cancel();
    }
  }

  /** All samples, once they are there. */
  async all() {
    const chunks = [];
    for await (const { samples } of this) chunks.push(samples);
    const all = new Float32Array(chunks.reduce((size, { length }) => size + length, 0));
    chunks.reduce((at, samples) => (all.set(samples, at), at + samples.length), 0);
    return all;
  }

  /** Play it as it comes, until it is over; browsers want a gesture before. */
  async play(context = new AudioContext({ sampleRate: RATE })) {
    let end = 0;
    for await (const { samples, sampleRate } of this) {
      const buffer = new AudioBuffer({ length: samples.length, sampleRate });
      buffer.copyToChannel(samples, 0);
      const source = new AudioBufferSourceNode(context, { buffer });
      source.connect(context.destination);
      end = Math.max(end, context.currentTime + 0.02);
      source.start(end);
      end += buffer.duration;
    }
    while (context.currentTime < end) await new Promise((resolve) => setTimeout(resolve, 1000 * (end - context.currentTime)));
  }

  say(kind, rest) {
    if (!this.ended) this.voice.send({ type: `input_text.${kind}`, context_id: this.name, ...rest });
    return this;
  }

  hear(told, sound) {
    if (told.type === "speech.audio" && sound.byteLength) this.chunks.push(chunk(told, new Int16Array(sound)));
    else if (told.type === "error") this.over(new Error(told.message));
    else if (told.type === "speech.done") this.over();
    this.wake();
  }

  over(error = null) {
    Object.assign(this, { ended: true, error });
    this.voice.speeches.delete(this.name);
    this.wake();
  }
}

function chunk({ start_s: startS, duration_s: durationS, words }, pcm) {
  return {
    samples: Float32Array.from(pcm, (value) => value / 32767),
    sampleRate: Math.round(pcm.length / durationS),
    startS,
    durationS,
    words: words.map(({ word, written, ends = false, start, end, onset_s: onsetS, offset_s: offsetS }) => ({
      text: word, written, ends, start, end, onsetS, offsetS,
    })),
  };
}

/** Push the pieces of a text as they come; a text that breaks off is an error of the speech. */
async function feed(speech, pieces) {
  try {
    for await (const piece of pieces) {
      if (speech.ended) return;
      speech.push(piece);
    }
    speech.finish();
  } catch (error) {
    speech.cancel();
    speech.over(error);
  }
}
