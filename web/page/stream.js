/** The way to the voice and back: a worker of this page. */

import { Messages } from "./messages.js";

export class Stream extends Messages {
  /** `listener` hears loading(bytes), starting() and lost(sentence), too: there will never be a voice. */
  constructor(listener) {
    super(listener);
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

  send(message) {
    this.worker.postMessage(JSON.stringify(message));
  }
}
