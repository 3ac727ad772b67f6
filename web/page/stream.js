/** The way to the voice and back: a worker of this page. */

import { Messages } from "./messages.js";

export class Stream extends Messages {
  /**
   * `listener` hears loading(bytes, total) and lost(sentence), too: there will never be a voice. `voices`: which are loaded, a name
   * of voices.js.
   */
  constructor(listener, voices = "heart") {
    super(listener);
    this.worker = new Worker(new URL(`../sayahead-web/worker.js?voices=${voices}`, import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = ({ message }) => listener.lost(message || "The voice's worker cannot be loaded.");
  }

  receive({ type, bytes, total, message, sound }) {
    const { listener } = this;
    if (type === "loading") listener.loading(bytes, total);
    else if (type === "failed") listener.lost(message);
    else this.heard(JSON.parse(message), sound);
  }

  send(message) {
    this.worker.postMessage(JSON.stringify(message));
  }
}
