/** The banner that stays while the server is gone: why, and when it is tried again. */

import { get, write } from "./sheet.js";

export class Banner {
  /** `again()` is called where a person does not want to wait. */
  constructor(again) {
    this.timer = 0;
    get("again").addEventListener("click", again);
    // A machine that was asleep, or without a network, is not to wait for the next attempt.
    addEventListener("online", () => this.shown && again());
  }

  get shown() {
    return !get("banner").hidden;
  }

  /** The server is gone; the next attempt is in `waitS` seconds. */
  show(sentence, waitS) {
    get("banner").hidden = false;
    // Said once: what has not changed is not read out again.
    write(get("gone"), `${sentence} Your text is kept, and spoken once the server is back.`);
    const due = performance.now() + waitS * 1000;
    const count = () => {
      const leftS = Math.ceil((due - performance.now()) / 1000);
      write(get("next"), leftS > 0 ? `Next attempt in ${leftS} s.` : "Trying…");
    };
    clearInterval(this.timer);
    this.timer = setInterval(count, 250);
    count();
  }

  /** It is back; whether it was gone. */
  hide() {
    const { shown } = this;
    clearInterval(this.timer);
    get("banner").hidden = true;
    write(get("gone"), "");
    return shown;
  }
}
