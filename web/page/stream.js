/** The way to the voice and back: the messages of the native socket, to a worker of this page. */

const PART = 1000; // characters in one message

export class Stream {
  /**
   * `listener`: loading(bytes), starting(), audio(header, Int16Array), flushed(message), revised(message), done(message),
   * failed(message), lost(sentence): there will never be a voice.
   */
  constructor(listener) {
    this.listener = listener;
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = ({ message }) => listener.lost(message || "The voice's worker cannot be loaded.");
  }

  receive({ type, bytes, message, sound }) {
    const { listener } = this;
    if (type === "loading") listener.loading(bytes);
    else if (type === "starting") listener.starting();
    else if (type === "failed") listener.lost(message);
    else this.heard(JSON.parse(message), sound);
  }

  heard(message, sound) {
    const { listener } = this;
    if (message.type === "speech.audio") listener.audio(message, new Int16Array(sound));
    else if (message.type === "speech.flushed") listener.flushed(message);
    else if (message.type === "speech.revised") listener.revised(message);
    else if (message.type === "speech.done") listener.done(message);
    else if (message.type === "error") listener.failed(message);
  }

  send(message) {
    this.worker.postMessage(JSON.stringify(message));
  }

  /** Choose for the contexts that begin later. */
  choose(session) {
    this.send({ type: "session.update", session });
  }

  append(context, text) {
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + PART);
      // A character beyond the first plane is not cut in two.
      if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end++;
      this.send({ type: "input_text.append", context_id: context, text: text.slice(at, end) });
      at = end;
    }
  }

  /** From a code point of the context's text on, it is now `text`. */
  revise(context, { at, mark, text = "" }) {
    this.send({ type: "input_text.revise", context_id: context, at, text, revise_id: mark });
  }

  /** No more text comes for a context; it may have had none. */
  end(context) {
    this.send({ type: "input_text.end", context_id: context });
  }

  flush(context, mark, end) {
    this.send({ type: "input_text.flush", context_id: context, flush_id: mark, end });
  }

  cancel(context) {
    this.send({ type: "input_text.cancel", context_id: context });
  }
}
