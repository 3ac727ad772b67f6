/** The messages of the native socket, whichever way they go: what a page asks of a voice, and what the voice answers. */

const PART = 1000; // characters in one message

export class Messages {
  /**
   * `listener`: created(message), audio(header, Int16Array), flushed(message), revised(message), skipped(message),
   * done(message), failed(message), and what the way itself has to tell. Subclasses have `send(message)`, which takes an object.
   */
  constructor(listener) {
    this.listener = listener;
  }

  /** A message of the voice's; `sound`: an ArrayBuffer, where it comes with some. */
  heard(message, sound) {
    const { listener } = this;
    if (message.type === "speech.audio") listener.audio(message, new Int16Array(sound));
    else if (message.type === "session.created") listener.created(message);
    else if (message.type === "speech.flushed") listener.flushed(message);
    else if (message.type === "speech.revised") listener.revised(message);
    else if (message.type === "speech.skipped") listener.skipped(message);
    else if (message.type === "speech.done") listener.done(message);
    else if (message.type === "error") listener.failed(message);
  }

  /** Choose for the contexts that begin later: `settings()` is asked when it is sent. */
  choose(settings) {
    this.send({ type: "session.update", session: settings() });
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
